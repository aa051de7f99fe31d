#!/usr/bin/env bash
# Kernels and certificates as a user asks for them: ntk against numpy, certificates during a run, and what is refused.
# Those of the masked-neurons paper are in certify_masked.sh.
set -u
program=$1
. "$2/tests/cli.sh"
with_python numpy

# ---- Kernels ------------------------------------------------------------------------------------
certified_run 'data: {name: ackley, n: 30, test_n: 5, dim: 8}' 'rounds: 6' 'eval: {every: 0}' 'checkpoint: {every: 0}' 'certify: {every: 2}' >masked.yaml
"$program" train masked.yaml --out run --trace --quiet >out 2>&1 || complain "train: $(cat out)"
"$program" ntk run/model.safetensors -n 30 --out h.npy --spectrum --json >h.json || complain "ntk finite"
"$program" ntk run/model.safetensors -n 30 --kind exact --out e.npy --quiet || complain "ntk exact"
"$program" ntk run/model.safetensors -n 30 --kind infinite --out i.npy --quiet || complain "ntk infinite"
python - <<'EOT' || complain "kernels are not those of numpy"
import json, struct, numpy as np
def tensors(path):
    b = open(path, 'rb').read()
    n = struct.unpack('<Q', b[:8])[0]
    head = json.loads(b[8:8 + n])
    kind = {'F32': '<f4', 'I64': '<i8', 'I32': '<i4'}
    return {k: np.frombuffer(b[8 + n + v['data_offsets'][0]:8 + n + v['data_offsets'][1]],
            kind[v['dtype']]).reshape(v['shape']) for k, v in head.items() if k != '__metadata__'}
x = tensors('run/trace/data.safetensors')['x'].astype(float)
w = tensors('run/model.safetensors')['w'].astype(float)
m, xi = len(w), 0.6
on = (x @ w.T >= 0).astype(float)
h = xi / m * (x @ x.T) * (on @ on.T)
got = np.load('h.npy')
assert got.dtype == np.float64 and np.abs(got - h).max() < 1e-6 * np.abs(h).max(), 'H(k)'
exact = np.load('e.npy')
assert np.abs(exact - xi * h).max() < 1e-5 * np.abs(h).max(), 'exact = xi H(k)'
cosine = np.clip(x @ x.T, -1, 1)
np.fill_diagonal(cosine, 1)     # arccos turns a rounding error there into its root
inf = xi * (x @ x.T) * (np.pi - np.arccos(cosine)) / (2 * np.pi)
assert np.abs(np.load('i.npy') - inf).max() < 1e-6, 'H_inf'
values = np.linalg.eigvalsh(got)
said = json.load(open('h.json'))
assert np.allclose(said['eigenvalues'], values, atol=1e-10)
assert abs(said['lambda_min'] - values[0]) <= said['lambda_min_error'] + 1e-10
EOT
refused 2 "not one of" ntk masked.yaml --output 7 --kind exact
refused 2 "has 30 samples there, not 31" ntk masked.yaml -n 31
refused 2 "must be one of" ntk masked.yaml --kind other
refused 4 "allow more" ntk masked.yaml --kind exact --memory 1e-6
refused 3 "no-such" ntk no-such.safetensors

# ---- Refused ------------------------------------------------------------------------------------
refused 2 "no theorem speaks of model mlp" certify masked.yaml --set model.name=mlp --set model.width=64 --set model.kappa=1
refused 2 "no theorem speaks of model mlp" train masked.yaml --set model.name=mlp --set model.width=64 --set model.kappa=1 --out x
refused 2 "certify.delta" certify masked.yaml --set certify.delta=0.9
refused 3 "no-such.yaml" certify no-such.yaml

# ---- LoFT: H_inf of the paper's network; its certificates are in certify_loft.sh ---------------------
mkdir images
python - <<'EOT'
import numpy as np
r = np.random.default_rng(0)
np.save('images/x.npy', r.normal(size=(8, 1, 5, 5)).astype('f4'))
np.save('images/y.npy', r.uniform(-1, 1, size=8).astype('f4'))
EOT
cat >loft.yaml <<'EOT'
data: {path: images, format: npy, split: 0, task: regress, target_scale: none}
model: {name: cnn1, width: 64}
loss: half_squares
optim: {name: gd, lr: 50, momentum: 0}
scheme: {name: masked, workers: 1, xi: 1}
rounds: 4
EOT
"$program" ntk loft.yaml --kind infinite --out inf.npy --quiet || complain "ntk infinite of cnn1"
python - <<'EOT' || complain "H_inf of cnn1"
import numpy as np
# H_inf of cnn1 from its definition: 1/p^2 sum over pixels of the closed form of patches.
x = np.load('images/x.npy').astype(float)[:, 0]
x /= np.sqrt((x ** 2).sum((1, 2), keepdims=True)) * 3
pad = np.pad(x, ((0, 0), (1, 1), (1, 1)))
h = np.zeros((8, 8))
for i in range(5):
    for j in range(5):
        q = pad[:, i:i + 3, j:j + 3].reshape(8, 9)
        g = q @ q.T
        n = np.sqrt(np.diag(g))
        c = np.clip(g / np.outer(n, n), -1, 1)
        np.fill_diagonal(c, 1)
        h += g * (np.pi - np.arccos(c)) / (2 * np.pi) / 25 ** 2
assert np.abs(np.load('inf.npy') - h).max() < 1e-6 * h.max()
EOT
"$program" reproduce loft/theorem1 --quick --seeds 2 --out t1 --json >t1.json 2>/dev/null || complain "reproduce loft/theorem1"
[ -s t1/theorem1.svg ] && [ -s t1/theorem1.csv ] || complain "no picture of loft/theorem1"
python - <<'EOT' || complain "LoFT's distance does not fall as m and S grow"
import csv
rows = list(csv.DictReader(open('t1/theorem1.csv')))
for panel, top in (('4 shares', 1024.0), ('256 filters', 16.0)):
    both = {float(r['x']): float(r['y']) for r in rows if r['panel'] == panel and r['series'] == 'both together'}
    assert both[top] < both[min(both)] / 2, both
EOT

"$program" reproduce loft/theorem1 --quick --seeds 1 --data ackley --out t2 --json >t2.json 2>err || complain "loft/theorem1 with other data: $(cat err)"
grep -q '12 samples of ackley' t2.json || complain "loft/theorem1 does not say whose data it took"

# ---- The calculator --------------------------------------------------------------------------------
"$program" theory -n 100 -L 4 --json >t.json || complain "theory"
python -c '
import json
t = {r["theory"]: r for r in json.load(open("t.json"))["theories"]}
assert t["GReLU (Noy 2021)"]["width"] == 40000 and t["Du 2019"]["width"] is None' || complain "theory's numbers"
refused 2 "must be" theory -n 0
refused 2 "must be" theory --xi 2
refused 2 "theory" theory more

# ---- Constants over widths ----------------------------------------------------------------------------------------
"$program" certify masked.yaml --widths 64,256,1024,4096 --json >widths.json || complain "certify --widths"
python - <<'P' || complain "constants over widths"
import json, numpy as np
w = json.load(open('widths.json'))
assert w['widths'] == [64, 256, 1024, 4096] and w['numbers'], w
for n in w['numbers']:
    power = np.polyfit(np.log(w['widths']), np.log(n['values']), 1)[0]
    assert abs(power - n['power']) < 1e-9 * max(1, abs(power)) and n['power_low'] <= n['power'] <= n['power_high'], n
order = [n for n in w['numbers'] if n['quantity'].startswith('width m over')]
assert order and all(abs(n['power'] - 1) < 0.2 for n in order if 'B_1' not in n['quantity']), order
P
refused 2 "not a list of 3 to 16 widths" certify masked.yaml --widths 64,x
refused 2 "give at least 3" certify masked.yaml --widths 64,128
echo "kernels and certificates: in order"
