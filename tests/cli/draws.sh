#!/usr/bin/env bash
# What chance decides in a run is what docs/notation.md says it is: shares, batches, changes of images and first weights
# follow from the seed alone (data.order: replacement is in replacement.sh).
set -eu
program=$1 source=$2
. "$source/tests/cli.sh"
with_python numpy yaml

cat >run.yaml <<Y
seed: 1099511627783
data: {name: glyphs, n: 53, test_n: 5}
model: {name: mlp, hidden: [23, 12]}
optim: {lr: 0.005}
rounds: 7
batch: 8
Y
# traced NAME KEY=VALUE...: a run with a trace
traced() {
    local name=$1 set=() key
    shift
    for key; do set+=(--set "$key"); done
    "$program" train run.yaml --out "$name" --quiet --trace "${set[@]}" >/dev/null
}
traced dense data.augment=crop-flip data.pad=3 data.randaugment=3 data.cutout=9
traced dropout scheme.name=dropout scheme.xi=0.7
traced multisample scheme.name=multisample scheme.workers=3 data.augment=flip data.cutout=4
traced masked scheme.name=masked scheme.workers=3 scheme.local_steps=2 scheme.data=shard
traced categorical scheme.name=masked scheme.draw=categorical scheme.workers=3 'scheme.weights=[1, 2.5, 1]'
traced ist scheme.name=ist scheme.workers=4 scheme.local_steps=3 scheme.data=shard data.randaugment=1
traced weighted scheme.name=ist scheme.workers=3 'scheme.weights=[3, 1, 2]'
traced norms scheme.name=local_sgd scheme.workers=2 model.norm=batch seed=3
# A batch as large as the set is a permutation, too: its list was left out of traces, as that of gd is.
traced full batch=53
traced loft 'model.hidden=[256, 256]' model.name=preresnet18 model.width=4 scheme.name=loft scheme.workers=2 'scheme.stages=[1, 2, 3, 4]' scheme.strided=true rounds=2
python "$source/tests/python/draws.py" dense dropout multisample masked categorical ist weighted norms full loft || fail "other draws"
