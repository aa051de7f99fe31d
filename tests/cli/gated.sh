#!/usr/bin/env bash
# Certificates of gated nets and their ReLU twins: before a run, during it against numpy, after a kill, across a conversion, in the report.
set -euo pipefail
program=$1
. "$2/tests/cli.sh"
with_python numpy
cat > run.yaml <<'YAML'
seed: 4
data: {name: ackley, n: 14, test_n: 5, dim: 6}
model: {name: grelu, width: 64, layers: 3}
optim: {name: gd, lr: 5.0e-5, momentum: 0}
rounds: 7
eval: {every: 0}
checkpoint: {every: 1, keep: 100}
certify: {every: 3}
threads: 2
YAML
cat > oracle.py <<'P'
import json, struct, sys, numpy as np
run, gated = sys.argv[1], sys.argv[2] == "grelu"
def tensors(path):
    b = open(path, "rb").read()
    n = struct.unpack("<Q", b[:8])[0]
    return {k: np.frombuffer(b[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]], "<f4" if v["dtype"] == "F32" else "<i8")
            .reshape(v["shape"]).astype(float) for k, v in json.loads(b[8:8 + n]).items() if k != "__metadata__"}
data = tensors(run + "/trace/data.safetensors")
x, y = data["x"], data["y"].reshape(len(data["x"]), -1)
fixed = tensors(run + "/model.safetensors")
at = lambda r: tensors(f"{run}/trace/round-{r:06d}.safetensors")
weights = [[at(r)["before.w.%d.weight" % k] for k in (1, 2, 3)] for r in range(7)]
weights.append([at(6)["after.w.%d.weight" % k] for k in (1, 2, 3)])
C, B = fixed["c.weight"], fixed["b.weight"]
def patterns(W):
    z, on = np.maximum(C @ x.T, 0), []
    for k in range(3):
        z = np.maximum((fixed["psi.%d.weight" % (k + 1)] if gated else W[k]) @ z, 0)
        on.append(z > 0)
    return on
def gradients(W):                       # [n][3] of matrices, and the outputs
    on, out, ys = patterns(W), [], []
    for i in range(len(x)):
        h = [np.maximum(C @ x[i], 0)]
        for k in range(3): h.append(on[k][:, i] * (W[k] @ h[-1]))
        ys.append(B @ h[3])
        f, g = B[0] * on[2][:, i], [None] * 3
        for k in (2, 1, 0):
            g[k] = np.outer(f, h[k])
            if k: f = (f @ W[k]) * on[k - 1][:, i]
        out.append(np.concatenate([a.ravel() for a in g]))
    return np.array(out), np.array(ys)
def whole(W):
    g, ys = gradients(W)
    return ((ys - y)[:, :1] * g).sum(0)
lines = [json.loads(l) for l in open(run + "/metrics.jsonl") if '"certificate"' in l]
assert [l["round"] for l in lines] == [0, 3, 6, 7]
g0, _ = gradients(weights[0])
k0 = g0 @ g0.T
near = lambda a, b, tol=2e-5: abs(a - b) <= tol * max(abs(b), 1e-12)
bits = [np.concatenate([o.T.ravel() for o in patterns(w)]) for w in weights]
for l, last in zip(lines[1:], (0, 3, 6)):
    r, kept = l["round"], l["kept"]
    rows = {(q["where"], q["quantity"][:12]): q for q in l["rows"]}
    g, ys = gradients(weights[r])
    tau = max(np.linalg.norm(weights[r][k] - weights[0][k], 2) for k in range(3))
    assert near(kept["tau"], tau, 1e-3), (kept["tau"], tau)      # power iteration, from below
    ratio = (np.linalg.norm(g - g0, axis=1) / np.linalg.norm(g0, axis=1)).max()
    assert near(kept["ratio"], ratio), (kept["ratio"], ratio)
    d = np.sqrt(np.diag(k0))
    assert near(kept["kernel"], (np.abs(g @ g.T - k0) / np.outer(d, d)).max())
    a, b = whole(weights[r]), whole(weights[r - 1])
    assert near(kept["gradient"], np.linalg.norm(a), 1e-4)
    assert near(kept["gradient_change"], np.linalg.norm(a - b), 1e-2), (kept["gradient_change"], np.linalg.norm(a - b))
    assert near(kept["loss"], ((ys - y) ** 2).sum(), 1e-4)
    assert near(kept["hamming"] + 1, (bits[r] != bits[last]).mean() + 1, 1e-9), (kept["hamming"], (bits[r] != bits[last]).mean())
    dead = lambda b: sum((b.reshape(3, 14, 64)[k].sum(0) == 0) for k in range(3))
    off = [(b.reshape(3, 14, 64).sum(1) == 0) for b in (bits[0], bits[r])]
    assert kept["died"] == (off[1] & ~off[0]).sum()
    born = [q for q in l["rows"] if q["quantity"].startswith("units born dead")][0]
    assert born["measured"] == off[0].sum()
    if gated:
        assert kept["hamming"] == 0 and kept["died"] == 0
        R = [q for q in l["rows"] if q["where"] == "Theorem 3, (7)"][0]["required"]
        assert near(R, 14 ** .5 * 6 * 9 / 64 ** 2.5, 1e-9)
        for name, value in (("alpha_y", 64 / 12), ("beta_x", 27 * 64 / 24), ("alpha_x", 64 / 72), ("beta_y", 27 * 64 / 4)):
            assert near([q for q in l["rows"] if q["quantity"].startswith(name)][0]["required"], value, 1e-9)
        assert near([q for q in l["rows"] if q["quantity"].startswith("width m: n^2")][0]["required"], 14 * 14 * 3)
        assert near([q for q in l["rows"] if q["quantity"].startswith("step eta: d_x")][0]["required"], 6 / (14 ** 4 * 27))
        lam = np.linalg.eigvalsh(g @ g.T)[0]
        got = [q for q in l["rows"] if q["quantity"].startswith("least eigenvalue of the tangent")][0]["measured"]
        assert abs(got - lam) < 1e-4 * np.trace(g @ g.T), (got, lam)
    else:
        assert l["notes"] and any("ReLU net" in t for t in l["notes"])
if not gated: assert max(l["kept"]["hamming"] for l in lines[1:]) > 0, "no pattern changed: the test says nothing"
P
"$program" certify run.yaml --json > before.json
python -c 'import json
rows = json.load(open("before.json"))["rows"]
assert any(r["where"] == "Theorem 1" and r["verdict"] == "fails" for r in rows)
assert any(r["where"] == "(46)" for r in rows) and all(r["verdict"] is not None or r["sense"] is None for r in rows)'
"$program" certify run.yaml > before.txt; grep -q "alpha_x" before.txt && grep -q "conditions hold" before.txt || fail "no text"
"$program" train run.yaml --out a --trace --quiet > out 2>&1 || fail "$(cat out)"
python oracle.py a grelu
"$program" train run.yaml --out t --trace --quiet --set model.name=relu_twin --set optim.lr=2e-4 > out 2>&1 || fail "$(cat out)"
python oracle.py t relu_twin
# A resumed run writes the same lines, from every checkpoint: also in between, where patterns come from it.
certs() { grep '"certificate"' "$1/metrics.jsonl"; }
for last in 1 2 3 4 5 6; do
    rm -rf k; cp -r t k; rm -r k/model.safetensors k/trace
    for r in $(seq $((last + 1)) 7); do rm "$(printf 'k/checkpoints/ckpt-%012d.safetensors' "$r")"; done
    "$program" train run.yaml --out k --resume --quiet --set model.name=relu_twin --set optim.lr=2e-4 > out 2>&1 || fail "$(cat out)"
    [ "$(certs k)" = "$(certs t)" ] || fail "resumed from round $last: other certificates"
done
# (19) and (42) with the rate that each round has, constant or falling; (18) with the largest; a rate that falls is told.
"$program" train run.yaml --out c --quiet --set optim.schedule=cosine --set optim.final_lr=1e-6 --set optim.lr=2e-4 > out 2>&1 || fail "$(cat out)"
python - <<'P' || fail "a schedule of rates"
import json, math
for run, lr, falls in (("a", 5e-5, False), ("c", 2e-4, True)):
    rate = lambda t: 1e-6 + (lr - 1e-6) * (1 + math.cos(math.pi * t / 7)) / 2 if falls else lr
    lines = [l for l in map(json.loads, open(run + "/metrics.jsonl")) if l.get("event") == "certificate"]
    first = lines[0]["kept"]["loss"]
    for i, l in enumerate(lines[1:], 1):
        row = lambda where, words: [q for q in l["rows"] if q["where"] == where and words in q["quantity"]][0]
        half, k = min(x["kept"]["alpha"] for x in lines[:i + 1]) ** 2 * 3 / 2, l["round"]
        left = math.prod(1 - rate(t) * half for t in range(k))
        assert abs(row("(19)", "L_k: ")["required"] / (left * first) - 1) < 1e-9, (run, k)
        assert abs(row("(19)", "proven rate")["measured"] / (rate(k - 1) * half) - 1) < 1e-9
        need, t = math.log(first / l["kept"]["loss"]) / half, 0
        while t < 7 and need > rate(t): need -= rate(t); t += 1
        need = t + need / rate(min(t, 6))
        assert abs(row("(42)", "rounds done")["required"] / need - 1) < 1e-6, (run, k, row("(42)", "rounds done"), need)
        assert row("section 2.1", "constant rate")["verdict"] == ("fails" if falls else "holds")
        assert abs(row("(18)", "step eta")["measured"] / lr - 1) < 1e-9
assert abs(left / (1 - rate(0) * half) ** 7 - 1) > 1e-4, "the falling rates make no difference: the test says nothing"
P
# Across a conversion: gates become patterns; the distance of gradients from another net is not told.
"$program" train run.yaml --out v --quiet --set convert_at=3 --set certify.every=1 > out 2>&1 || fail "$(cat out)"
python - <<'P' || fail "certificates across a conversion"
import json
c = {l["round"]: l for l in map(json.loads, open("v/metrics.jsonl")) if l.get("event") == "certificate"}
assert sorted(c) == list(range(8))
assert c[3]["kept"]["died"] == 0 and "alpha" in c[3]["kept"] and "alpha" not in c[4]["kept"]
assert c[4]["kept"]["gradient_change"] is None and c[5]["kept"]["gradient_change"] > 0
assert any("converted after round 3" in n for n in c[4]["notes"])
P
"$program" report v > /dev/null; grep -q "units born dead" v/report.html || fail "the report has no certificate"
refused 2 "no theorem speaks" certify run.yaml --set model.name=mlp --set model.layers=0
refused 2 "whole number" certify run.yaml --set certify.every=often
refused 2 "unknown option" certify run.yaml --gates
refused 3 "no-such" certify no-such.yaml
