#!/usr/bin/env bash
# Certificates of LoFT: small runs whose rows hold, fail, are vacuous, are open and do not apply, each number and verdict
# compared with an oracle in numpy (tests/python/certificate_loft.py); verdicts that do not depend on how often one looks;
# a resumed run that writes the same lines.
set -euo pipefail
program=$1
. "$2/tests/cli.sh"
with_python numpy yaml
oracle=$2/tests/python/certificate_loft.py

python - <<'EOT2'
import os
import numpy as np
def folder(name, x, y):
    os.makedirs(name)
    np.save(name + '/x.npy', np.asarray(x, 'f4'))
    np.save(name + '/y.npy', np.asarray(y, 'f4'))
r = np.random.default_rng(0)
images = r.normal(size=(8, 1, 5, 5))
folder('images', images, r.uniform(-1, 1, size=8))
folder('twins', images[[0, 1, 2, 1]], r.uniform(-1, 1, size=4))
folder('colour', r.normal(size=(4, 2, 3, 3)), r.uniform(-1, 1, size=4))
# Two images of one pixel: H_inf is 1/2 times the identity, so that widths within reach are wide enough.
for name, y in (('pixels', [3, -2]), ('far', [1000, -1000]), ('even', [1, -1])):
    folder(name, np.reshape([1, -1], (2, 1, 1, 1)), y)
EOT2
cat >run.yaml <<'EOT2'
data: {path: images, format: npy, split: 0, task: regress, target_scale: none}
model: {name: cnn1, width: 64}
loss: half_squares
optim: {name: gd, lr: 50, momentum: 0}
scheme: {name: masked, workers: 4, xi: 0.5}
rounds: 9
eval: {every: 0}
checkpoint: {every: 3}
certify: {every: 1, budget: 1000}
EOT2
train() { # folder, then what is set
    local out=$1 set=()
    shift
    for s; do set+=(--set "$s"); done
    "$program" train run.yaml --out "$out" --trace --quiet "${set[@]}" >out 2>&1 || fail "$out: $(cat out)"
}
pixels=(data.path=pixels model.filter=1 model.width=4096 scheme.xi=0.2 optim.lr=0.1)

train base
train seventh certify.every=7 threads=1
train colour data.path=colour
train pixels "${pixels[@]}" optim.lr=0.03 # within every radius
train slow "${pixels[@]}" rounds=12       # xi < 1/4: slower than the rate that the paper states
train far "${pixels[@]}" data.path=far optim.lr=1 scheme.workers=1 rounds=3
train large "${pixels[@]}" data.path=even model.kappa=10 model.width=1 scheme.workers=1 seed=7 rounds=1
train narrow model.width=2 rounds=2
train wide model.width=4096 rounds=2 certify.budget=1
train whole scheme.workers=1 scheme.xi=1 rounds=4
train dense scheme.name=dense scheme.workers=1 rounds=2
train local scheme.name=local_sgd rounds=2
train several scheme.name=multisample rounds=2
train poor certify.budget=0.3
train part certify.effort=0.0005 certify.budget=10
train few certify.effort=0.0001 certify.budget=10                            # every other sample
train seldom "${pixels[@]}" optim.lr=0.03 certify.budget=0.3                 # met in the rounds looked at
train small "${pixels[@]}" model.width=2 scheme.workers=2 scheme.xi=0.5 optim.lr=0.5 # outputs are as far apart as weights
train cosine optim.schedule=cosine optim.final_lr=1 optim.warmup=0.25 rounds=8 # sums take the step of each round
train ist scheme.name=ist rounds=4
train loft scheme.name=loft scheme.axes=all rounds=2
train uneven scheme.name=ist scheme.weights='[1, 2, 3, 4]' rounds=2 # xi is the mean chance, 1/4
train decay optim.weight_decay=0.01 rounds=3                        # rounds that are not the theorems' have no other draws
train raw data.normalize=none rounds=2 optim.lr=0.5
train twins data.path=twins rounds=2
"$program" train run.yaml --out file --trace --quiet --init base/model.safetensors --set rounds=2 >out 2>&1 || fail "file: $(cat out)"

python "$oracle" base seventh colour pixels slow far large narrow wide whole dense local several poor part few seldom small cosine ist loft uneven decay raw twins --from-file file ||
    fail "certificates are not what the paper and the files of the run say"

python - <<'EOT2' || fail "certificates of LoFT do not say what they must"
import json
def lines(run): return {l['round']: l for l in map(json.loads, open(run + '/metrics.jsonl')) if l.get('event') == 'certificate'}
base, seventh = lines('base'), lines('seventh')
assert list(seventh) == [0, 7, 9] and list(base) == list(range(10))
for k, line in seventh.items(): # once the sum of Theorem 1 was 0 when nobody had looked in between
    assert line['rows'] == base[k]['rows'] and line['kept'] == base[k]['kept'], k
row = lambda line, where, words: next(r for r in line['rows'] if r['where'] == where and words in r['quantity'])
assert row(seventh[9], 'Theorem 1', 'eta sum_t')['measured'] > 0
# Disjoint shares cover every filter: theta was 1 - (1 - 1/4)^4 = 0.684, and gradient descent had that step.
assert row(lines('ist')[4], 'section 5', 'theta')['measured'] == 1
assert row(lines('loft')[2], 'section 5', 'theta')['measured'] == 1
# Of unequal shares the chance is the mean: it was the first worker's, the step beside it 2.5 times as large, and a false reason was told.
uneven = lines('uneven')[2]
assert row(uneven, 'section 5', 'xi')['measured'] == 0.25
assert not any('scheme.scale' in b for t in uneven['theorems'] for b in t['broken'])
assert 'loss_low' not in lines('decay')[3]['kept'] and any('not theirs' in n for n in lines('decay')[3]['notes'])
# One share of everything is gradient descent: not a bit between them.
last = lines('whole')[4]['kept']
assert last['distance'] == 0 and last['difference'] == 0, last
assert any('certify.budget' in n for n in lines('poor')[9]['notes'])
assert any('certify.effort' in n for n in lines('part')[9]['notes'])
EOT2

# A run that was stopped and resumed writes the same certificates: gradient descent and the other draws begin anew.
grep certificate base/metrics.jsonl >uninterrupted
"$program" train run.yaml --out cut --quiet >out 2>&1 || fail "$(cat out)"
rm -f cut/checkpoints/ckpt-000000000009.safetensors cut/model.safetensors
"$program" train run.yaml --out cut --resume --quiet >out 2>&1 || fail "resume: $(cat out)"
grep certificate cut/metrics.jsonl >resumed
cmp -s uninterrupted resumed || fail "certificates of a resumed run differ"

# Each way of training that the theorems do not speak of.
for broken in optim.momentum=0.9 optim.weight_decay=0.01 optim.schedule=cosine optim.name=sgd scheme.local_steps=2 scheme.draw=categorical \
    scheme.draw=chunks scheme.data=shard scheme.wire=bf16 scheme.scale=none; do
    more=()
    [ $broken = optim.name=sgd ] && more=(--set batch=4 --set optim.momentum=0)
    "$program" certify run.yaml --set $broken "${more[@]}" --json >before.json || fail "certify with $broken"
    python - $broken <<'EOT2' || complain "the theorems apply to a run with $broken"
import json, sys
rows = json.load(open('before.json'))['rows']
step = next(r for r in rows if r['where'] == 'appendix C' and 'step' in r['quantity'])
assert step['verdict'] == 'does not apply' and step['reason'], step
lemma = next(r for r in rows if r['where'] == 'Lemma 5' and 'width' in r['quantity'])
assert lemma['verdict'] == 'fails', lemma # a lemma about weights, however they were trained
EOT2
done
echo "certificates of LoFT: in order"
