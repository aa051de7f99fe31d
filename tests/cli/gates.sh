#!/usr/bin/env bash
# A gated net in use: exact gates and gates of low rank against numpy, in batches of 1 and more; what is refused.
set -euo pipefail
program=$1
. "$2/tests/cli.sh"
with_python numpy
cat > run.yaml <<'YAML'
seed: 2
data: {name: glyphs, n: 300, test_n: 90}
model: {name: grelu, width: 150, layers: 2}
loss: cross_entropy
optim: {lr: 2.0e-3, momentum: 0.9}
epochs: 2
batch: 50
YAML
"$program" train run.yaml --out a --quiet > /dev/null
m=a/model.safetensors
"$program" predict $m --out plain.npy > /dev/null
for b in 1 7 90 256; do "$program" predict $m --gates exact --batch $b --out b$b.npy --json > b$b.json; done
for r in 5 40 140; do "$program" predict $m --gates lowrank:$r --out low$r.npy --json > low$r.json; done
"$program" eval $m --gates lowrank:40 --batch 3 --json > eval.json
"$program" train run.yaml --out t --trace --quiet --set epochs=0 --set rounds=1 > /dev/null
python - <<'P' || fail "not what numpy says"
import json, numpy as np
plain = np.load("plain.npy")
for b in (1, 7, 90, 256):
    j = json.load(open(f"b{b}.json"))["gates"]
    assert j["agreement"] == 1 and j["agreement_layers"] == [1, 1] and j["difference_mean"] == 0
    assert j["batch"] == min(b, 90) and j["accuracy"] == j["accuracy_exact"] and j["seconds_sample"] > 0
    assert np.abs(np.load(f"b{b}.npy") - plain).max() < 1e-5 * np.abs(plain).max(), b
    if b == 1: assert j["skipping"] >= 2, "rows that are off are left out"
last = 0
for r in (5, 40, 140):
    j = json.load(open(f"low{r}.json"))["gates"]
    assert last < j["agreement"] < 1, "more rank, more agreement"
    last = j["agreement"]
e = json.load(open("eval.json"))
assert e["gates"]["rank"] == 40 and e["gates"]["batch"] == 3 and e["loss"] == e["gates"]["loss"] and e["n"] == 90
assert e["gates"]["agreement"] == json.load(open("low40.json"))["gates"]["agreement"]
P
# The same on the training set, whose inputs a trace has: the nearest product of rank 40, from numpy's SVD.
"$program" predict $m --gates lowrank:40 --train-set --out train.npy --json > train.json
python - <<'P' || fail "low rank is not numpy's"
import json, struct, numpy as np
def tensors(path):
    b = open(path, "rb").read()
    n = struct.unpack("<Q", b[:8])[0]
    return {k: np.frombuffer(b[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]], {"F32": "<f4", "I32": "<i4"}[v["dtype"]])
            .reshape(v["shape"]) for k, v in json.loads(b[8:8 + n]).items() if k != "__metadata__"}
x = tensors("t/trace/data.safetensors")["x"].reshape(300, -1).astype(float)
w = {k: v.astype(float) for k, v in tensors("a/model.safetensors").items()}
h = np.maximum(x @ w["c.weight"].T, 0)
z, low, agree = h, h, []
for k in (1, 2):
    psi = w[f"psi.{k}.weight"]
    u, s, v = np.linalg.svd(psi)
    z, low = np.maximum(z @ psi.T, 0), np.maximum(low @ ((u[:, :40] * s[:40]) @ v[:40]).T, 0)
    agree.append(((z > 0) == (low > 0)).mean())
    h = (low > 0) * (h @ w[f"w.{k}.weight"].T)
j = json.load(open("train.json"))["gates"]
# A gate whose input is 0 to rounding may fall either way: a few of 45,000.
assert np.abs(np.array(j["agreement_layers"]) - agree).max() < 2e-4, (j["agreement_layers"], agree)
y = h @ w["b.weight"].T
off = np.abs(np.load("train.npy") - y).max(1) / np.abs(y).max()
assert np.median(off) < 1e-5 and (off > 1e-3).mean() < 0.1, off.max()
P
"$program" predict $m --gates lowrank:40 --batch 1 > lines.csv 2> said
[ "$(wc -l < lines.csv)" = 91 ] && grep -q "are the exact ones" said || fail "predictions and words go apart"
"$program" eval $m --gates exact | grep -q "a dense ReLU net" || fail "no text"
refused 2 "exact or lowrank:R" predict $m --gates lowrank:0
refused 2 "exact or lowrank:R" eval $m --gates best
refused 2 "less than the width 150" eval $m --gates lowrank:150
refused 2 "batch" predict $m --batch 0
"$program" train run.yaml --out r --quiet --set model.gate_rank=9 --set epochs=1 > /dev/null
"$program" eval r/model.safetensors --gates exact --batch 1 > /dev/null
refused 2 "of low rank already" eval r/model.safetensors --gates lowrank:4
"$program" train run.yaml --out w --quiet --set model.name=relu_twin --set epochs=1 > /dev/null
refused 2 "for gated nets" predict w/model.safetensors --gates exact
