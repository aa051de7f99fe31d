#!/usr/bin/env bash
# The pages in a browser (tests/pages/pages.py): what is under the cursor, zoom, keys, dark, phone and paper, no request beyond
# the file, large pages in time. TESSERA_SHOTS=DIR keeps a picture of every view.
set -eu
program=$1 source=$2
. "$source/tests/cli.sh"
with_browser

cat >ticket.yaml <<'Y'
seed: 1
data:     {name: glyphs, n: 400, test_n: 200}
model:    {name: vgg11, width: 4}
optim:    {name: sgd, lr: 0.05, momentum: 0.9}
scheme:   {name: loft, workers: 4, local_steps: 2, events: round}
epochs:   2
batch:    40
eval:     {every: 0.2}
distance: {every: 0.5}
ticket:   {whole: 1, axes: inner, ratios: [0.5], epochs: 1, lr: 0.05, seconds: 0.05}
Y
"$program" ticket ticket.yaml --out demo --quiet >said 2>&1 || fail "$(cat said)"
cat >prices.py <<'P'
import random
random.seed(2)
with open("prices.csv", "w") as f:
    f.write("area,rooms,price\n")
    for _ in range(200):
        area, rooms = random.uniform(30, 200), random.randint(1, 7)
        f.write(f"{area:.1f},{rooms},{1500 * area + 20000 * rooms + random.gauss(0, 30000):.0f}\n")
P
python prices.py
cat >prices.yaml <<'Y'
data:   {path: prices.csv, target: price, task: regress, unit: dollars}
model:  {hidden: [16]}
optim:  {lr: 0.02}
epochs: 5
Y
"$program" train prices.yaml --out prices --quiet >said 2>&1 || fail "$(cat said)"
"$program" eval prices/model.safetensors --out prices/evaluation.json --quiet >/dev/null
"$program" report prices >/dev/null
"$program" prune prices/model.safetensors --ratio 0.5 --seconds 0 --out cut.safetensors --quiet >/dev/null
"$program" finetune cut.safetensors --out cut --epochs 2 --quiet >/dev/null
"$program" report prices cut --out losses.html >/dev/null
certified_run 'data: {name: ackley, n: 24, test_n: 5, dim: 8}' 'rounds: 20' 'eval: {every: 1}' 'certify: {every: 2, budget: 1.0e+9}' >certify.yaml
"$program" train certify.yaml --out certify --quiet >said 2>&1 || fail "$(cat said)"
"$program" certify certify.yaml --json >certify/certificate.json
"$program" report certify >/dev/null
cat >sweep.yaml <<'Y'
data: {name: glyphs, n: 100, test_n: 100}
model: {hidden: [16]}
scheme: {name: local_sgd}
epochs: 2
batch: 25
threads: 2
Y
"$program" sweep sweep.yaml --grid optim.lr=0.01,0.03,0.1,0.3,0.5 --grid scheme.workers=1,2,3,4,5 --grid optim.schedule=constant,cosine \
    --grid optim.momentum=0,0.9 --curves --quiet --out sweep >said 2>&1 || fail "$(cat said)"
cp sweep/report.html large-cells.html # 100 of them

# Six runs: two rates, three seeds each.
cat >run.yaml <<'Y'
data: {name: glyphs, n: 100, test_n: 100}
model: {hidden: [16]}
scheme: {name: local_sgd, workers: 2, local_steps: 2}
epochs: 3
batch: 25
threads: 1
Y
for rate in 0.05 0.2; do
    for seed in 1 2 3; do
        "$program" train run.yaml --out six/$rate-$seed --set optim.lr=$rate --set seed=$seed --quiet >/dev/null
    done
done
"$program" report six/* --out six.html >/dev/null
if command -v mpirun >/dev/null && ldd "$program" | grep -q libmpi; then # one of them in three processes
    mpirun --allow-run-as-root --oversubscribe -n 3 "$program" train run.yaml --out ranks --quiet >said 2>&1 || fail "$(cat said)"
fi

# Ten thousand rounds, and fifty runs, as their files would be.
mkdir -p long && cp certify/run.yaml long/
python - <<'P'
import json, math, os
def run(folder, rounds, seed):
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/metrics.jsonl", "w") as f:
        for k in range(1, rounds + 1):
            x = math.exp(-3 * k / rounds) * (1 + 0.1 * math.sin(k * (7 + seed)))
            f.write(json.dumps({"format": 1, "round": k, "epoch": k / 10, "loss": x, "test_loss": 1.1 * x + 0.01 * seed, "rate": 0.1 * (1 - k / rounds) + 1e-4,
                                "test_accuracy": 1 - 0.8 * x, "bytes_total": 1000 * k * 7 ** (seed % 5), "seconds": 0.01 * k}) + "\n")
run("long", 10000, 0)
for i in range(50):
    run("runs/%02d" % i, 200, i)
P
"$program" report long --out large-rounds.html >/dev/null
"$program" report runs/* --out large-runs.html >/dev/null
python "$source/tests/pages/pages.py" "$PWD" || fail "see above"
echo "pages: ok"
