#!/usr/bin/env bash
# Every convolutional model: PyTorch writes a file, Tessera starts from it, makes a step, writes its
# own, and PyTorch loads that into a plain module (strict) with the same outputs.
set -eu
program=$1 source=$2
/usr/bin/python3 -c 'import torch, yaml, numpy' 2>/dev/null || { echo "skipped: no PyTorch here"; exit 77; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
exchange() { /usr/bin/python3 "$source/tests/python/exchange_cnn.py" "$@"; }

# describe CHANNELS SHAPE MODEL: one folder for each case (PyTorch is slow to start: once for all).
cases=0
describe() {
    cases=$((cases + 1))
    mkdir "$work/$cases"
    echo "$2" > "$work/$cases/shape"
    cat > "$work/$cases/run.yaml" <<Y
data: {name: glyphs, n: 24, test_n: 10, channels: $1}
model: {$3}
optim: {lr: 0.01, momentum: 0.9, weight_decay: 5.0e-4}
conv: direct
rounds: 1
batch: 16
Y
}
describe 3 3x32x32 "name: preresnet18, width: 8"
describe 1 1x28x28 "name: preresnet34, width: 4, stem: imagenet"
describe 1 1x28x28 "name: resnet18, width: 8"
describe 3 3x32x32 "name: resnet34, width: 4, stem: imagenet"
describe 3 3x32x32 "name: resnet50, width: 4"
describe 1 1x28x28 "name: wide_resnet50_2, width: 2, stem: imagenet"
describe 1 1x28x28 "name: wideresnet, depth: 10, factor: 2"
describe 1 1x28x28 "name: vgg11, width: 8"
describe 3 3x32x32 "name: cnn1, width: 16, filter: 5"

exchange make 10 "$work"/[0-9]
for case in "$work"/[0-9]; do
    model=$case/run/model.safetensors
    "$program" train "$case/run.yaml" --out "$case/run" --init "$case/pt.safetensors" --trace --quiet > /dev/null
    "$program" predict "$model" --train-set --quiet --out "$case/out.npy" > /dev/null
    "$program" info "$model" > "$work/info"
    grep -q 'conv1.weight\|features.0.weight' "$work/info"
done
exchange check "$work"/[0-9]
