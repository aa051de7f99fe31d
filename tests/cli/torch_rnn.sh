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

# An empty sequence, and one longer than the array: refused with its row.
for length in 0 13; do
    /usr/bin/python3 - "$work/labels/length.npy" $length <<'PY'
import sys, numpy
at = numpy.load(sys.argv[1])
at[4] = int(sys.argv[2])
numpy.save(sys.argv[1], at)
PY
    code=0
    "$program" train "$work/end.yaml" --out "$work/bad" --quiet > /dev/null 2> "$work/errors" || code=$?
    [ $code = 3 ] && grep -q "row 5: a length of $length; 1 to 12 is expected" "$work/errors" || { echo "length $length: exit $code"; cat "$work/errors"; exit 1; }
done
