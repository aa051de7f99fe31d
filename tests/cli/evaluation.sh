#!/usr/bin/env bash
# evaluation.json against what tessera predict says of each sample: confusions, calibration, examples and their pixels; what
# layers read, by the fast backend against the reference; real targets; and that a page leaves out what is of another model, or damaged.
set -eu
program=$1 source=$2
. "$source/tests/cli.sh"
with_python numpy
cat >run.yaml <<'Y'
seed: 2
data: {name: glyphs, n: 300, test_n: 200}
model: {name: mlp, hidden: [24, 16]}
optim: {lr: 0.1}
epochs: 3
batch: 20
threads: 1
Y
"$program" train run.yaml --out a --quiet >/dev/null
"$program" eval a/model.safetensors --out a/evaluation.json >said
"$program" predict a/model.safetensors --probabilities --json >predictions.json
"$program" report a >/dev/null
python - <<'P'
import base64, json, struct
import numpy as np
e, p = json.load(open("a/evaluation.json")), json.load(open("predictions.json"))
names, rows = p["classes"], p["predictions"]
assert e["classes"] == names and e["n"] == len(rows) == 200 and e["set"] == "test"
given = np.array([names.index(r["given"]) for r in rows])
said = np.array([names.index(r["predicted"]) for r in rows])
sure = np.array([r["probability"] for r in rows])
matrix = np.zeros((10, 10), int)
np.add.at(matrix, (given, said), 1)
assert (matrix == np.array(e["confusion"])).all()
# The error of calibration, written down again (Guo et al. 2017, equation 3). Sums of 200 doubles in another order: 1e-12.
ece, edges = 0, np.linspace(0, 1, 16)
for b, low, high in zip(e["bins"], edges[:-1], edges[1:]):
    inside = (sure > low) & (sure <= high)
    assert b["n"] == inside.sum(), (b, inside.sum())
    if b["n"] == 0:
        assert b["accuracy"] is None and b["confidence"] is None
        continue
    accuracy, confidence = (given == said)[inside].mean(), sure[inside].mean()
    assert abs(b["accuracy"] - accuracy) < 1e-12 and abs(b["confidence"] - confidence) < 1e-12, b
    ece += inside.mean() * abs(accuracy - confidence)
assert abs(e["ece"] - ece) < 1e-12 and sum(b["n"] for b in e["bins"]) == 200
# The pairs, most often first; of each the surest, first the surest of all.
wrong = matrix - np.diag(np.diag(matrix))
assert [c["n"] for c in e["confusions"]] == sorted(wrong[wrong > 0], reverse=True)[:8]
for c in e["confusions"]:
    i, k = names.index(c["given"]), names.index(c["predicted"])
    assert wrong[i, k] == c["n"]
    all_of_it = sorted(sure[(given == i) & (said == k)], reverse=True)[:6]
    assert np.allclose([x["probability"] for x in c["examples"]], all_of_it, rtol=0, atol=1e-12)
    for x in c["examples"]:
        assert given[x["row"] - 1] == i and said[x["row"] - 1] == k
        pixels = base64.b64decode(x["picture"]["pixels"])
        assert len(pixels) == x["picture"]["height"] * x["picture"]["width"] * x["picture"]["channels"] == 784
        assert len(set(pixels)) > 10, "a picture is empty"
assert [l["name"] for l in e["layers"]] == ["layers.0", "layers.1", "layers.2"] or len(e["layers"]) == 3, e["layers"]
for l in e["layers"]:
    assert len(l["counts"]) == 40
assert sum(e["layers"][0]["counts"]) == 64 * 784 and sum(e["layers"][2]["counts"]) == 64 * 16
# The second and third layer read what a ReLU left: zeros, the weakest bin holds them.
assert e["layers"][1]["low"] == 0 and 0 < e["layers"][1]["zeros"] < 1
page = open("a/report.html").read()
for words in ("<h2>Mistakes</h2>", "<h2>Calibration</h2>", 'class="map confusion"', "data:image/bmp;base64,", "taken for"):
    assert words in page, words
P

# What layers read, behind a norm that its convolution computes itself: the fast backend's against the reference's.
cat >conv.yaml <<'Y'
seed: 3
data: {name: glyphs, n: 120, test_n: 70}
model: {name: vgg11, width: 4}
optim: {lr: 0.05}
epochs: 1
batch: 20
threads: 1
Y
"$program" train conv.yaml --out c --quiet >/dev/null
"$program" eval c/model.safetensors --out c/evaluation.json --set backend=cpu >/dev/null
"$program" eval c/model.safetensors --out ref.json --set backend=ref >/dev/null
python - <<'P'
import json
a, b = json.load(open("c/evaluation.json")), json.load(open("ref.json"))
assert [l["name"] for l in a["layers"]] == [l["name"] for l in b["layers"]] and len(a["layers"]) == 9
# The reference and the fast backend round differently: numbers near an edge of a bin may change sides.
for x, y in zip(a["layers"], b["layers"]):
    n = sum(x["counts"])
    assert n == sum(y["counts"]) and abs(x["high"] - y["high"]) < 1e-3 * (abs(y["high"]) + 1), (x, y)
    assert sum(abs(i - k) for i, k in zip(x["counts"], y["counts"])) < 0.02 * n + 4, (x, y)
    assert abs(x["zeros"] - y["zeros"]) < 0.01, (x, y)
assert all(l["low"] == 0 for l in a["layers"][1:]), [l["low"] for l in a["layers"]]
P

# Real targets: predictions beside what is true.
cat >real.yaml <<'Y'
data: {name: sphere, n: 60, dim: 5, task: regress, test_n: 30}
model: {hidden: [8]}
epochs: 2
batch: 20
threads: 1
Y
"$program" train real.yaml --out r --quiet >/dev/null
grep -q 'tessera eval r/model.safetensors --out r/evaluation.json' r/report.html || fail "the page does not say how to see more"
"$program" eval r/model.safetensors --out r/evaluation.json >/dev/null
"$program" report r >/dev/null
python -c '
import json
e = json.load(open("r/evaluation.json"))
assert len(e["given"]) == len(e["predicted"]) == 30 and "confusion" not in e, e
page = open("r/report.html").read()
assert "<h2>Predictions</h2>" in page and "tessera eval" not in page'

# Of several targets the page draws the first, and says so.
mkdir three
python -c '
import numpy
rng = numpy.random.default_rng(1)
x = rng.normal(size=(90, 4)).astype("f4")
numpy.save("three/x.npy", x), numpy.save("three/y.npy", x[:, :3])'
printf 'data: {path: three, format: npy, task: regress}\nmodel: {hidden: [8]}\nepochs: 2\nbatch: 20\nthreads: 1\n' >three.yaml
"$program" train three.yaml --out t --quiet >/dev/null
"$program" eval t/model.safetensors --out t/evaluation.json >/dev/null
"$program" report t >/dev/null
[ "$(field "$(cat t/evaluation.json)" targets)" = 3 ] && grep -q 'The first of 3 targets' t/report.html && ! grep -q 'The first of' r/report.html ||
    fail "several targets: $(grep -o 'The first of[^<]*' [rt]/report.html)"

# Another model's, and a damaged one.
cp a/report.html before.html
cp c/evaluation.json a/evaluation.json
"$program" report a >/dev/null
grep -q 'it is of another model' a/report.html && ! grep -q '<h2>Mistakes' a/report.html || fail "the mistakes of another model are shown"
sed 's/"pixels":"./"pixels":"!/' c/evaluation.json >x && mv x c/evaluation.json
refused 3 'base64' report c
sed 's/"pixels":"!/"pixels":"AAAAA/' c/evaluation.json >x && mv x c/evaluation.json
refused 3 'not those of its shape' report c
refused 2 'without --gates' eval a/model.safetensors --out x.json --batch 4
echo "evaluation: ok"
