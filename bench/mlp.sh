#!/usr/bin/env bash
# mlp.sh PROGRAM SOURCE: a training step of 784-1024-1024-10 at batch 128 on two threads, ours and
# PyTorch's in turn, five times each, so that a noisy machine is noisy for both.
set -eu
program=$1 source=$2 threads=2 repeats=100
data=$([ -d /usr/share/datasets/fashion-mnist ] && echo fashion-mnist || echo glyphs)
ours() { "$program" bench "$source/bench/mlp.yaml" --set threads=$threads --set "data.name=$data" --repeats $repeats "$@"; }
numbers() { ours --json | /usr/bin/python3 -c '
import json, sys
b = json.load(sys.stdin)
print(b["step"]["min_ms"], b["step"]["median_ms"], b["gflops"], b["gemm_gflops"])'; }
echo "784-1024-1024-10, batch 128, $threads threads; $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs); commit $(git -C "$source" rev-parse --short HEAD)"
if ! /usr/bin/python3 -c 'import torch' 2>/dev/null; then
    ours
    echo "no PyTorch here to compare with (apt-get install python3-torch)"
    exit 0
fi
for _ in 1 2 3 4 5; do
    echo "ours $(numbers)"
    echo "torch $(/usr/bin/python3 "$source/bench/torch_mlp.py" $threads $repeats)"
done | /usr/bin/python3 -c '
import statistics, sys
rows = [line.split() for line in sys.stdin]
ours = [[float(v) for v in r[1:]] for r in rows if r[0] == "ours"]
torch = [[float(v) for v in r[1:]] for r in rows if r[0] == "torch"]
best, peer = min(r[0] for r in ours), min(r[0] for r in torch)
middle, peer_middle = statistics.median(r[1] for r in ours), statistics.median(r[1] for r in torch)
print(f"            min ms   median ms")
print(f"tessera   {best:8.2f}    {middle:8.2f}")
print(f"PyTorch   {peer:8.2f}    {peer_middle:8.2f}")
print(f"ratio     {peer / best:8.2f}    {peer_middle / middle:8.2f}")
rate, limit = max(r[2] for r in ours), max(r[3] for r in ours)
print(f"{rate:.0f} GFLOP/s of the {limit:.0f} of a 2048^3 product: {100 * rate / limit:.0f} %")'
