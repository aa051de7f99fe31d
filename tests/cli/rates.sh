#!/usr/bin/env bash
# Certificates of runs whose rate follows a schedule: conditions look at the largest step of the run, promises at the step
# that each round has. Once masked-neurons and LoFT read optim.lr alone: their bounds were those of a run that never was.
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
cat > make.py <<'P'
import struct, random
random.seed(1)
def npy(path, shape, x):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (shape,)
    head += " " * ((64 - (len(head) + 11) % 64) % 64) + "\n"
    open(path, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%df" % len(x), *x))
npy("images/x.npy", (10, 1, 5, 5), [random.gauss(0, 1) for _ in range(250)])
npy("images/y.npy", (10,), [random.uniform(-1, 1) for _ in range(10)])
P
mkdir images && "$python" make.py
sed -e 's|^data:.*|data: {path: images, format: npy, split: 0, task: regress, target_scale: none}|' -e 's|name: shallow, width: 100|name: cnn1, width: 40|' \
    -e 's|workers: 2, local_steps: 2, xi: 0.6|workers: 3, xi: 0.5|' shallow.yaml > cnn1.yaml
"$program" train cnn1.yaml --out loft --quiet --set certify.every=1 > out 2>&1 || fail "$(cat out)"
# A share that is the whole, alone: LoFT is gradient descent, and so it must stay under a schedule.
"$program" train cnn1.yaml --out whole --quiet --set scheme.workers=1 --set scheme.xi=1 > out 2>&1 || fail "$(cat out)"
"$python" - <<'P' || fail "certificates do not take the rates of the rounds"
import json, math
def eta(t, T=8, lr=0.2, final=0.01, warm=2):
    return lr * (t + 1) / (warm + 1) if t < warm else final + (lr - final) * (1 + math.cos(math.pi * (t - warm) / (T - warm))) / 2
most = max(eta(t) for t in range(8))
def near(a, b, what): assert abs(a / b - 1) < 1e-9, (what, a, b)
def certificates(run): return [l for l in map(json.loads, open(run + "/metrics.jsonl")) if l.get("event") == "certificate"]
theta = lambda xi, p: 1 - (1 - xi) ** p
for run, where, rate in (("loft", "Corollary 1", lambda e, l: theta(.5, 3) * e * l / 2),):
    lines = certificates(run)
    first = lines[0]["kept"]
    for l in lines[1:]:
        row = lambda place, words: [q for q in l["rows"] if q["where"].startswith(place) and words in q["quantity"]][0]
        k, lam = l["round"], first["lambda_0"]
        floor = row(where, "proven floor")["measured"]
        left = math.prod(1 - rate(eta(t), lam) for t in range(k))
        start = first["loss"]
        near(row(where, "proven rate of this round")["measured"], rate(eta(k - 1), lam), run)
        near(row(where, "L_k: product")["required"], left * start + floor, run)
        near(row("", "step eta")["measured"], most, run)
        assert row("", "a constant rate")["verdict"] == "fails"
    if run == "loft":
        sums = [sum(eta(t) * lines[t]["kept"]["difference"] for t in range(k)) for k in range(9)]
        near(row("Theorem 1", "eta sum_t")["measured"], sums[8], "sum of differences")
        near(row("Theorem 1", "term of the shares")["measured"],
             2 * sum(eta(t) ** 2 for t in range(8)) * theta(.5, 3) ** 2 * .5 * lam / 3, "term of the shares")
        assert lines[8]["kept"]["distance"] > 0
for l in certificates("whole"):
    # The same sums in another order: floats of weights of about 1, 8 steps.
    assert l["kept"]["distance"] < 1e-10 and l["kept"]["difference"] < 1e-10, l["kept"]
P
# A schedule breaks what Theorem 3 of masked neurons assumes, a constant rate does not (the rest is in certify_masked.sh).
"$program" certify shallow.yaml --json > changing.json
"$program" certify shallow.yaml --set optim.schedule=constant --set optim.warmup=0 --json > constant.json
"$python" -c 'import json
def theorem(path): return [t for t in json.load(open(path))["theorems"] if t["theorem"] == "Theorem 3"][0]
assert "a constant rate" in str(theorem("changing.json")["broken"]) and not theorem("constant.json")["broken"]
assert any("proven rate per round" in r["quantity"] for r in json.load(open("constant.json"))["rows"])' || fail "a constant rate"
