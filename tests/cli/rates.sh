#!/usr/bin/env bash
# Certificates of runs whose rate follows a schedule: conditions look at the largest step of the run, promises at the step
# that each round has. Once masked-neurons and LoFT (certify_loft.sh) read optim.lr alone: their bounds were those of a run that never was.
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
"$program" train shallow.yaml --out masked --quiet > out 2>&1 || fail "$(cat out)"
"$program" train shallow.yaml --out ist --quiet --set scheme.name=ist --set scheme.xi=0.5 > out 2>&1 || fail "$(cat out)"
"$python" - <<'P' || fail "certificates do not take the rates of the rounds"
import json, math
def eta(t, T=8, lr=0.2, final=0.01, warm=2):
    return lr * (t + 1) / (warm + 1) if t < warm else final + (lr - final) * (1 + math.cos(math.pi * (t - warm) / (T - warm))) / 2
most = max(eta(t) for t in range(8))
def near(a, b, what): assert abs(a / b - 1) < 1e-9, (what, a, b)
def certificates(run): return [l for l in map(json.loads, open(run + "/metrics.jsonl")) if l.get("event") == "certificate"]
theta = lambda xi, p: 1 - (1 - xi) ** p
for run, where, rate in (("masked", "Theorem 3", lambda e, l: e * theta(.6, 2) * 2 * l / 4),
                         ("ist", "Theorem 4", lambda e, l: (1 - (1 - e * l / 2) ** 2) / 2)):
    lines = certificates(run)
    first = lines[0]["kept"]
    for l in lines[1:]:
        row = lambda place, words: [q for q in l["rows"] if q["where"].startswith(place) and words in q["quantity"]][0]
        k, lam = l["round"], first["lambda_0"]
        floor = row(where, "proven floor")["measured"]
        left = math.prod(1 - rate(eta(t), lam) for t in range(k))
        start = first["loss"] if run != "ist" else row("Theorem 3", "C = 1")["measured"] ** 2 * 20
        near(row(where, "proven rate of this round")["measured"], rate(eta(k - 1), lam), run)
        near(row(where, "L_k: product")["required"], left * start + floor, run)
        near(row("", "step eta")["measured"], most, run)
        assert row("", "a constant rate")["verdict"] == "fails"
P
# A warm-up begins with the smallest step of the run, a constant rate has one.
"$program" certify shallow.yaml --set optim.schedule=constant --set optim.warmup=0 --json > before.json
"$python" -c 'import json
rows = json.load(open("before.json"))["rows"]
assert [r for r in rows if "constant rate" in r["quantity"]][0]["verdict"] == "holds"
assert any("proven rate per round" in r["quantity"] for r in rows)' || fail "a constant rate"
