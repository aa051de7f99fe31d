#!/usr/bin/env bash
# loft_share.sh PROGRAM SOURCE: a training step of a LoFT worker's share beside that of the whole PreActResNet-18 (3x32x32,
# batch 128) with 2 and 4 workers: time measured in turn, operations and memory as counted (tessera cost).
set -eu
program=$1 source=$2 threads=${THREADS:-2} repeats=${REPEATS:-8} rounds=${ROUNDS:-3} widths=${WIDTHS:-16 64}
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
settings() { echo "--set data.name=glyphs --set data.channels=3 --set data.n=2000 --set data.augment=none --set model.width=$1 --set threads=$threads"; }
numbers() { # width, workers (1 = the whole)
    local scheme="--set scheme.name=loft --set scheme.workers=$2" share=--share
    [ "$2" != 1 ] || { scheme="--set scheme.name=dense --set scheme.workers=1 --set scheme.local_steps=1"; share=; }
    # shellcheck disable=SC2046,SC2086
    "$program" bench "$source/examples/cifar-loft/run.yaml" --repeats "$repeats" --json $share $(settings "$1") $scheme > "$lines.bench"
    # shellcheck disable=SC2046,SC2086
    "$program" cost "$source/examples/cifar-loft/run.yaml" --json $(settings "$1") $scheme > "$lines.cost"
    /usr/bin/python3 -c '
import json, sys
b, c = (json.load(open(sys.argv[1] + end)) for end in (".bench", ".cost"))
print(sys.argv[2], sys.argv[3], b["step"]["min_ms"], b["step"]["median_ms"], c["flops_step"], c["memory_worker"], c["params_share"])' "$lines" "$1" "$2"
    rm -f "$lines.bench" "$lines.cost"
}
echo "PreActResNet-18, 3x32x32, batch 128, $threads threads; $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs); commit $(git -C "$source" rev-parse --short HEAD)"
for _ in $(seq "$rounds"); do
    for width in $widths; do
        for workers in 1 2 4; do numbers "$width" "$workers"; done
    done
done > "$lines"
/usr/bin/python3 - "$lines" <<'PYTHON'
import statistics
import sys

rows = {}
for line in open(sys.argv[1]):
    width, workers, *numbers = line.split()
    rows.setdefault((int(width), int(workers)), []).append([float(n) for n in numbers])
print("width  workers  step, min  median of medians  of the whole's  operations  memory of a worker  numbers")
for (width, workers), runs in sorted(rows.items()):
    whole = rows[width, 1]
    least = min(r[0] for r in runs)
    print(f"{width:5}  {workers:7}  {least:7.1f} ms  {statistics.median(r[1] for r in runs):14.1f} ms  {least / min(r[0] for r in whole):14.3f}"
          f"  {runs[0][2] / whole[0][2]:10.3f}  {runs[0][3] / 1e6:8.1f} MB ({runs[0][3] / whole[0][3]:.3f})  {runs[0][4] / whole[0][4]:.3f}")
PYTHON
