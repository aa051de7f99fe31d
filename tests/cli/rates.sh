#!/usr/bin/env bash
# Certificates of runs whose rate follows a schedule (numbers: certify_masked.sh, certify_loft.sh). Once masked-neurons and LoFT read
# optim.lr alone: their bounds were those of a run that never was.
set -euo pipefail
program=$1
. "$2/tests/cli.sh"
python=/usr/bin/python3
cat > shallow.yaml <<'Y'
seed: 3
data: {name: ackley, n: 20, test_n: 5, dim: 6}
model: {name: shallow, width: 100, kappa: 0.5}
loss: half_squares
optim: {name: gd, lr: 0.2, momentum: 0, schedule: cosine, final_lr: 0.01, warmup: 0.25}
scheme: {name: masked, workers: 2, local_steps: 2, xi: 0.6}
rounds: 8
eval: {every: 0}
checkpoint: {every: 0}
certify: {every: 2}
Y
# A schedule breaks what Theorem 3 of masked neurons assumes, a constant rate does not (the rest is in certify_masked.sh).
"$program" certify shallow.yaml --json > changing.json
"$program" certify shallow.yaml --set optim.schedule=constant --set optim.warmup=0 --json > constant.json
"$python" -c 'import json
def theorem(path): return [t for t in json.load(open(path))["theorems"] if t["theorem"] == "Theorem 3"][0]
assert "the rate goes from" in str(theorem("changing.json")["broken"]) and not theorem("constant.json")["broken"]
assert any("proven rate per round" in r["quantity"] for r in json.load(open("constant.json"))["rows"])' || fail "a constant rate"
