#!/usr/bin/env bash
# Certificates of the deep ReLU paper: runs in which every row holds, fails, is vacuous, open or does not apply, each row
# of all of them computed anew by numpy; verdicts that do not depend on certify.every, resumed runs; all samples and
# not the first 256; all steps and not all rounds.
set -eu
program=$1
. "$2/tests/cli.sh"
with_python numpy yaml
oracle=$2/tests/python/certificate_deep_relu.py
cat > run.yaml <<'Y'
data: {name: sphere, n: 24, test_n: 4, dim: 6, phi: 0.2}
model: {name: relu_deep, layers: 2, width: 64}
optim: {name: gd, lr: 0.01, momentum: 0}
rounds: 6
eval: {every: 0}
checkpoint: {every: 0}
certify: {every: 1, budget: 1.0e+9, delta: 0.05}
threads: 1
Y
train() { "$program" train run.yaml --trace --quiet "$@" > log 2>&1 || fail "$*: $(tail -3 log)"; }
last() { grep '"certificate"' "$1/metrics.jsonl" | tail -1; }
row() { python -c 'import json, sys
rows = [r for r in json.loads(sys.argv[1])["rows"] if r["where"] == sys.argv[2] and r["quantity"].startswith(sys.argv[3])]
print(*[rows[0][k] for k in sys.argv[4:]])' "$@"; } # a certificate, where, beginning of the quantity, fields

# ---- Runs for every verdict --------------------------------------------------------------------
train --out tiny --set optim.lr=1.0e-5                                  # stays near W(0): Theorem 5.3 says something
train --out zero --set data.n=8 --set optim.lr=0.05 --set rounds=250 --set certify.every=50 --set certify.budget=0.15
train --out epsilon --set data.n=8 --set optim.lr=0.05 --set rounds=60 --set stop.metric=loss --set stop.below=0.3 --set certify.every=20
train --out short --set stop.metric=loss --set stop.below=0.01          # does not get there
train --out vacuous --set stop.metric=loss --set stop.below=5 --set eval.every=100
train --out wild --set optim.lr=4 --set rounds=3 --set loss=hinge       # leaves the region
train --out thrown --set optim.lr=220 --set rounds=1 --set model.layers=3
train --out narrow --set model.layers=3 --set model.width=4 --set data.dim=40
train --out slim --set model.layers=3 --set model.width=4 --set data.dim=40 --set optim.name=sgd --set batch=8
train --out mixed --set model.layers=0 --set 'model.hidden=[64, 24]'
train --out exponential --set loss=exponential --set certify.budget=2 --set certify.every=2
train --out squared --set loss=squared_hinge --set optim.name=sgd --set batch=8
train --out hinge --set loss=hinge
train --out sgd --set optim.name=sgd --set batch=8 --set rounds=20 --set certify.budget=0.15 --set certify.every=5
train --out drawn --set optim.name=sgd --set batch=8 --set data.order=replacement   # Theorem 4.5
train --out found --set optim.name=sgd --set batch=4 --set data.n=8 --set data.order=replacement --set optim.lr=0.05 --set rounds=120 --set certify.every=30
train --out part --set certify.effort=2.0e-6 --set certify.every=6      # time for a part of the pairs and chains only
train --out ist --set scheme.name=ist --set scheme.workers=2 --set optim.momentum=0.9 --set optim.weight_decay=0.001 --set stop.metric=loss --set stop.below=0.01
train --out local --set scheme.name=local_sgd --set scheme.workers=1 --set scheme.local_steps=3
printf '1,2,-1\n2,1,1\n3,-1,-1\n-1,4,1\n2,1,1\n5,-2,-1\n' > same.csv    # samples 2 and 5 are one point
sed 's/^data:.*/data: {path: same.csv, header: no, split: 0}/' run.yaml > csv.yaml
"$program" train csv.yaml --trace --quiet --out same > log 2>&1 || fail "same: $(cat log)"
"$program" train csv.yaml --trace --quiet --out long --set data.normalize=none > log 2>&1 || fail "long: $(cat log)"
python "$oracle" --table tiny zero epsilon short vacuous wild thrown narrow slim mixed exponential squared hinge sgd drawn found part ist local same long ||
    complain "numpy finds other rows"

# ---- One defect of the first version each ------------------------------------------------------
# Corollary 4.4 looked at the first 256 samples, which are easy here: it said 0 on the wrong side, holds; phi was 0.262.
python - <<'P'
import numpy as np
r = np.random.default_rng(1)
x = r.normal(size=(600, 8))
y = np.where(x[:, 0] > 0, 1, -1)
easy = np.argsort(-np.abs(x[:, 0]))[:300]
hard = np.setdiff1d(np.arange(600), easy)
y[hard] = r.choice([-1, 1], 300)
x[599] = x[598] + 0.01 * r.normal(size=8)       # the nearest two come last
order = np.concatenate([easy, hard])
order = np.concatenate([order[(order != 598) & (order != 599)], [598, 599]])
y[599] = y[598]
np.savetxt('late.csv', np.column_stack([x, y])[order], delimiter=',', fmt='%.9g')
P
sed -e 's/^data:.*/data: {path: late.csv, header: no, split: 0}/' -e 's/every: 1/every: 100/' run.yaml > late.yaml
"$program" train late.yaml --trace --quiet --out late --set rounds=60 --set optim.lr=0.1 > log 2>&1 || fail "late: $(cat log)"
python "$oracle" late || complain "600 samples: numpy finds other rows"
wrong=$(row "$(last late)" "Corollary 4.4" "samples on the wrong side" measured verdict)
python -c 'import sys; assert float(sys.argv[1]) > 100 and sys.argv[2] == "fails"' $wrong || complain "Corollary 4.4 does not see the late samples: $wrong"
pair=$(row "$(last late)" "Assumption 3.6" phi quantity)
[[ $pair == *"samples 599 and 600" ]] || complain "phi is not that of the nearest two: $pair"

# At a start without the properties of Theorem 5.1 wrong samples refute nothing: they are shown, and the row says why not.
wrong=$(row "$(last narrow)" "Corollary 4.4" "samples on the wrong side" measured verdict reason)
python -c 'import sys; n, rest = sys.argv[1].split(" ", 1); assert float(n) > 0 and rest.startswith("does not apply Theorem 5.1 ("), rest' "$wrong" ||
    complain "wrong samples at a start that Theorem 5.1 excludes: $wrong"

# IST with momentum and decay had rows of Theorem 4.1.
[ "$(row "$(last ist)" "Corollary 4.4" "L_S" verdict)" = "does not apply" ] || complain "Corollary 4.4 of IST"
if last ist | grep -q 'log10 of width'; then complain "IST is asked for Theorem 4.1's width"; fi
# K counted rounds: three local steps are three steps.
K=$(python -c 'import math; print(math.log10(3))')
a=$(row "$(last local)" "Theorem 4.1" "log10 of the steps K" measured); b=$(row "$(last tiny)" "Theorem 4.1" "log10 of the steps K" measured)
python -c "assert abs($a - $b - $K) < 1e-9, ($a, $b)" || complain "K does not count local steps"
# A width that no double holds.
printf '1,2,-1\n2,1,1\n3,-1,-1\n-1,4,1\n2.0001,1,1\n5,-2,-1\n' > near.csv
"$program" certify csv.yaml --set data.path=near.csv --set model.layers=9 --set model.width=256 --json > huge.json
python -c 'import json; r = [r for r in json.load(open("huge.json"))["rows"] if r["quantity"].startswith("log10 of width")]
assert r and r[0]["measured"] < -308 and "10^" in r[0]["quantity"], r' || complain "a width beyond 10^308"
# Samples that are one point are named.
last same | grep -q 'samples 2 and 5 are 0 apart' || complain "samples that are the same are not named"

# ... also where there is no time for all pairs, and the two are not among those looked at.
"$program" certify csv.yaml --set certify.effort=1.0e-8 --json > same.json
"$program" train csv.yaml --trace --quiet --out unseen --set certify.effort=1.0e-8 > log 2>&1 || fail "unseen: $(cat log)"
python "$oracle" unseen || complain "one point twice: numpy finds other rows"
python - <<'P' || complain "one point twice, unseen in a part of the pairs"
import json
c = json.load(open('same.json'))
r = [r for r in c['rows'] if r['where'] == 'Assumption 3.6'][0]
assert r['verdict'] == 'fails' and r['measured'] == 0 and r['quantity'].endswith('samples 2 and 5') and r['seen']['part'] < 6, r
P

# ---- On the screen and in the report ------------------------------------------------------------
"$program" train run.yaml --out shown --set data.n=8 --set optim.lr=0.05 --set rounds=400 --set stop.metric=error --set eval.every=1 --set certify.every=25 \
    > log 2> err || fail "shown: $(cat err)"
grep -q 'certificate deep-relu-sgd, before the run: .* hold, .* are open' err || complain "nothing is told of the certificate: $(cat err)"
end=$(field "$(last shown)" round)
[ "$end" -lt 400 ] || complain "it did not stop at zero error"
grep -q "after round $end</h3>" shown/report.html && grep -q 'Theorem 5.3 (iv)' shown/report.html || complain "rows are missing in the report"
[ "$(row "$(last shown)" "Corollary 4.4" "samples on the wrong side" measured verdict)" = "0.0 holds" ] || complain "the error it stopped at"

# ---- How often one looks, and resumed ---------------------------------------------------------
for every in 1 7; do train --out every$every --set rounds=21 --set certify.every=$every --set certify.budget=3; done
grep '"certificate"' every7/metrics.jsonl > seven
grep '"certificate"' every1/metrics.jsonl | grep -E '"round":(0|7|14|21),"holds"' > one || true
cmp -s seven one || complain "certify.every changes certificates"
[ "$(wc -l < seven)" = 4 ] || complain "certificates of rounds 0, 7, 14, 21: $(wc -l < seven)"
train --out cut --set rounds=21 --set certify.every=7 --set certify.budget=3 --set checkpoint.every=9
rm -f cut/checkpoints/ckpt-*21.safetensors cut/checkpoints/ckpt-*18.safetensors cut/model.safetensors
"$program" train run.yaml --trace --quiet --out cut --resume --set rounds=21 --set certify.every=7 --set certify.budget=3 --set checkpoint.every=9 > log 2>&1 ||
    fail "resume: $(cat log)"
grep '"certificate"' cut/metrics.jsonl | cmp -s - seven || complain "a resumed run has other certificates"

# ---- Runs that were begun or resumed otherwise -----------------------------------------------------
# A run that began with a model and was resumed forgot it: its theorems of weights as drawn "held", and distances were
# measured from weights that it never had. Of a checkpoint of round 0 that is kept it now knows where it began.
train --out given --init tiny/model.safetensors --set checkpoint.every=1 --set checkpoint.keep=2
cp -r given again && rm again/checkpoints/ckpt-*06.safetensors again/model.safetensors
"$program" train run.yaml --trace --quiet --out again --resume --set checkpoint.every=1 --set checkpoint.keep=2 > log 2>&1 || fail "again: $(cat log)"
[ "$(row "$(last again)" "Theorem 5.1 (i)" "largest |W_l|_2" verdict)" = "does not apply" ] || complain "weights of a model are taken for drawn ones"
grep '"certificate"' given/metrics.jsonl > seven
grep '"certificate"' again/metrics.jsonl | cmp -s - seven || complain "resumed, a run that began with a model has other certificates"
# With --force a run went on without the momentum of its first half, and Lemma 5.5 held of all of it.
train --out changed --set optim.momentum=0.9 --set rounds=3 --set checkpoint.every=1
train --out changed --resume --force --set checkpoint.every=1
[[ $(row "$(last changed)" "Lemma 5.5" "largest" verdict reason) == "does not apply until round 3 other settings were used: optim.momentum: 0.9 -> 0"* ]] ||
    complain "settings of the first rounds are forgotten: $(row "$(last changed)" "Lemma 5.5" "largest" verdict reason)"
train --out longer --set rounds=3 --set checkpoint.every=1
train --out longer --resume --force --set checkpoint.every=1
[ "$(row "$(last longer)" "Lemma 5.5" "largest" verdict)" = holds ] || complain "more rounds are taken for another training"

# ---- Hundreds of layers: pairs of them are more than one sample has time for (it once took minutes) ------------------------
timeout 60 "$program" certify run.yaml --json --set model.layers=400 --set model.width=64 > tall.json || fail "400 layers: exit $? within 60 s"
[ "$(row "$(cat tall.json)" "Theorem 5.1 (v)" "largest" measured verdict)" = "None None" ] || complain "the chains of 400 layers: $(row "$(cat tall.json)" "Theorem 5.1 (v)" "largest" measured verdict)"
grep -q 'Theorem 5.1 (v): a part was looked at; all would take' tall.json || complain "how long 400 layers take is not said"
