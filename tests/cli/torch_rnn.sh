#!/usr/bin/env bash
# Recurrent networks beside PyTorch's nn.RNN: weights from its file, one step, its names, its loss and its
# gradients to 1e-5, with sequences of different lengths, on both backends.
set -eu
program=$1 source=$2
/usr/bin/python3 -c 'import torch, yaml, numpy' 2>/dev/null || { echo "skipped: no PyTorch here"; exit 77; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
mkdir "$work/targets" "$work/labels"
/usr/bin/python3 "$source/tests/python/torch_rnn.py" make "$work"
for backend in cpu ref; do
    for run in "$work"/*.yaml; do
        name=$(basename "$run" .yaml)
        rm -rf "${work:?}/$name"
        "$program" train "$run" --out "$work/$name" --init "$work/$name.safetensors" --trace --quiet --set backend=$backend > /dev/null
    done
    echo "$backend"
    /usr/bin/python3 "$source/tests/python/torch_rnn.py" check "$work"
done
