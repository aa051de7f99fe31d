#!/usr/bin/env bash
# mlp.sh PROGRAM SOURCE: a training step of 784-1024-1024-10 at batch 128 on two threads, ours and
# PyTorch's in turn, five times each, so that a noisy machine is noisy for both.
set -eu
program=$1 source=$2 threads=2 repeats=100
# shellcheck source=bench/kernels.sh
. "$source/bench/kernels.sh"
data=$([ -d /usr/share/datasets/fashion-mnist ] && echo fashion-mnist || echo glyphs)
ours() { "$program" bench "$source/bench/mlp.yaml" --set threads=$threads --set "data.name=$data" --repeats $repeats "$@"; }
numbers() { ours --json | "$python" -c '
import json, sys
b = json.load(sys.stdin)
print(b["step"]["min_ms"], b["step"]["median_ms"])'; }
echo "784-1024-1024-10, batch 128, $threads threads; $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs); commit $(git -C "$source" rev-parse --short HEAD)"
ours
if ! "$python" -c 'import torch' 2>/dev/null; then
    echo "no PyTorch here to compare with (apt-get install python3-torch)"
    exit 0
fi
for _ in 1 2 3 4 5; do
    echo "ours $(numbers)"
    echo "PyTorch $("$python" "$source/bench/torch_mlp.py" $threads $repeats)"
done | "$python" "$source/bench/compare.py"
