#!/usr/bin/env bash
# rnn.sh PROGRAM SOURCE: a training step of the recurrent network (m = 1024, 32 positions, batch 64) and of
# the eight-layer relu_deep (width 1024, batch 256) on two threads: the layers first, with the part of the
# sgemm rate they reach; then ours and PyTorch's in turn, so that a noisy machine is noisy for both.
set -eu
program=$1 source=$2 threads=${THREADS:-2} repeats=${REPEATS:-5} rounds=${ROUNDS:-3}
# shellcheck source=bench/kernels.sh
. "$source/bench/kernels.sh"
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
ours() { "$program" bench "$source/bench/$1.yaml" --set threads="$threads" --repeats "$repeats" "${@:2}"; }
numbers() { ours "$1" --json | "$python" -c '
import json, sys
b = json.load(sys.stdin)
print(b["step"]["min_ms"], b["step"]["median_ms"], b["peak_mb"], b["params"])'; }
echo "$threads threads; $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs); commit $(git -C "$source" rev-parse --short HEAD)"
for net in rnn relu_deep; do
    echo
    echo "$net"
    ours $net
done
if ! "$python" -c 'import torch' 2>/dev/null; then
    echo "no PyTorch here to compare with (apt-get install python3-torch)"
    exit 0
fi
for net in rnn relu_deep; do
    echo
    echo "$net beside PyTorch"
    for _ in $(seq "$rounds"); do
        echo "ours $(numbers $net)"
        echo "PyTorch $("$python" "$source/bench/torch_rnn.py" $net "$threads" "$repeats")"
    done | "$python" "$source/bench/compare.py"
done
