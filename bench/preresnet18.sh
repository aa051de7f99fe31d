#!/usr/bin/env bash
# preresnet18.sh PROGRAM SOURCE: a training step of PreActResNet-18 at full width on 3x32x32, batch 64,
# two threads; the layers first, then ours and PyTorch's in turn.
set -eu
program=$1 source=$2 threads=2 repeats=${REPEATS:-5}
ours() { "$program" bench "$source/bench/preresnet18.yaml" --set threads=$threads --repeats "$repeats" "$@"; }
numbers() { ours --json | /usr/bin/python3 -c '
import json, sys
b = json.load(sys.stdin)
print(b["step"]["min_ms"], b["step"]["median_ms"], b["peak_mb"])'; }
echo "PreActResNet-18, 3x32x32, batch 64, $threads threads; $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs); commit $(git -C "$source" rev-parse --short HEAD)"
ours
if ! /usr/bin/python3 -c 'import torch' 2>/dev/null; then
    echo "no PyTorch here to compare with (apt-get install python3-torch)"
    exit 0
fi
for _ in 1 2; do
    echo "ours $(numbers)"
    for layout in channels_last contiguous; do
        echo "PyTorch-$layout $(/usr/bin/python3 "$source/bench/torch_preresnet18.py" $threads "$repeats" $layout)"
    done
done | /usr/bin/python3 "$source/bench/compare.py"
