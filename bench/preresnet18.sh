#!/usr/bin/env bash
# preresnet18.sh PROGRAM SOURCE: a training step of PreActResNet-18 at full width on 3x32x32, batch 64,
# two threads, and of the share that one of four LoFT workers trains (inner width of the stride-1
# blocks of stages 2 to 4 divided by 4). The layers first, then ours and PyTorch's in turn.
set -eu
program=$1 source=$2 threads=${THREADS:-2} repeats=${REPEATS:-5} rounds=${ROUNDS:-2}
# shellcheck source=bench/kernels.sh
. "$source/bench/kernels.sh"
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
ours() { "$program" bench "$source/bench/preresnet18.yaml" --set threads="$threads" --repeats "$repeats" "$@"; }
numbers() { ours --json "$@" | "$python" -c '
import json, sys
b = json.load(sys.stdin)
print(b["step"]["min_ms"], b["step"]["median_ms"], b["peak_mb"], b["params"])'; }
theirs() { "$python" "$source/bench/torch_preresnet18.py" "$threads" "$repeats" "$@"; }
echo "PreActResNet-18, 3x32x32, batch 64, $threads threads; $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs); commit $(git -C "$source" rev-parse --short HEAD)"
ours
echo
echo "the share of one of four workers"
ours --share
if ! "$python" -c 'import torch' 2>/dev/null; then
    echo "no PyTorch here to compare with (apt-get install python3-torch)"
    exit 0
fi
for _ in $(seq "$rounds"); do
    echo "whole ours $(numbers)"
    echo "share ours $(numbers --share)"
    for layout in channels_last contiguous; do
        echo "whole PyTorch-$layout $(theirs $layout 1)"
        echo "share PyTorch-$layout $(theirs $layout 4)"
    done
done > "$lines"
for net in whole share; do
    echo
    echo "$net"
    sed -n "s/^$net //p" "$lines" | "$python" "$source/bench/compare.py"
done
echo
"$python" - "$lines" <<'PYTHON'
import sys

least = {}
for line in open(sys.argv[1]):
    net, name, ms, *_ = line.split()
    least[net, name] = min(float(ms), least.get((net, name), 1e30))
for (net, name), ms in least.items():
    if net == "whole":
        print(f"{'tessera' if name == 'ours' else name}: a step of the share takes {least['share', name] / ms:.2f} of a step of the whole")
PYTHON
