#!/usr/bin/env bash
# Algorithm 1 of the LoFT paper: traced rounds of every kind of model with pairs of convolutions, replayed by
# PyTorch in double. Images are noise: the black ground of drawn ones puts thousands of equal activations
# beside a kink at once.
set -eu
program=$1 source=$2
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
/usr/bin/python3 -c 'import torch, yaml' 2>/dev/null || { echo "skipped: no torch here"; exit 77; }
mkdir "$work/data"
/usr/bin/python3 - "$work/data" <<'P'
import sys

import numpy

rng = numpy.random.default_rng(1)
for part, n in (("", 40), ("_test", 8)):
    numpy.save(f"{sys.argv[1]}/x{part}.npy", rng.standard_normal((n, 2, 12, 12), dtype=numpy.float32))
    numpy.save(f"{sys.argv[1]}/y{part}.npy", rng.integers(0, 4, n))
P
cat > "$work/run.yaml" <<Y
data: {path: $work/data, format: npy}
model: {name: preresnet18, width: 3}
optim: {lr: 0.05, momentum: 0.9, weight_decay: 0.001}
scheme: {name: loft, workers: 4, local_steps: 3, momentum: reset}
rounds: 2
batch: 8
conv: direct
Y
# Exact sums: Winograd's rounding is three times as large, enough to move an activation over a kink in some of these steps.
# 4 workers do not divide 6 filters: shares of one and of two
run() { # name, settings...
    local name=$1; shift
    "$program" train "$work/run.yaml" --out "$work/$name" --trace --quiet "$@" > /dev/null
}
run preresnet18
run shard --set scheme.data=shard --set scheme.workers=2
run resnet18 --set model.name=resnet18 --set scheme.workers=3
run preresnet34 --set model.name=preresnet34 --set scheme.workers=2 --set rounds=1
run vgg11 --set model.name=vgg11
run moved --set data.augment=crop-flip --set data.pad=2 --set optim.nesterov=true --set optim.schedule=cosine --set scheme.momentum=carry --set scheme.workers=2
OMP_NUM_THREADS=1 /usr/bin/python3 "$source/tests/python/replay_trace.py" "$work"/{preresnet18,shard,resnet18,preresnet34,vgg11,moved}

# A round longer than the run is trained to its end, and that is said.
"$program" train "$work/run.yaml" --out "$work/long" --set model.name=vgg11 --set rounds=0 --set epochs=2 --set scheme.local_steps=20 \
    > /dev/null 2> "$work/errors"
grep -q "one round of 20 steps is 4 epochs, more than the 2 wanted" "$work/errors" || { echo "no warning:"; cat "$work/errors"; exit 1; }
"$program" cost "$work/run.yaml" --set rounds=1 | grep -q "1 round of 3 steps"
code=0
"$program" check "$work/run.yaml" --set model.name=cnn1 2> "$work/errors" || code=$?
[ $code = 2 ] && grep -q "scheme.axes: all" "$work/errors" || { echo "no remedy for a net without pairs:"; cat "$work/errors"; exit 1; }
echo "loft: rounds replayed, long ones told"
