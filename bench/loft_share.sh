#!/usr/bin/env bash
# loft_share.sh PROGRAM SOURCE: what LoFT saves on PreActResNet-18 (3x32x32, batch 128). First a worker's share beside the whole
# network, with 2 and 4 workers: time of a training step, memory of a worker as counted (tessera cost) and as taken (the most
# the process held). Then tickets beside the network they were cut from: time of a batch and of a training step.
# Everything is measured in turn, ROUNDS times; each number is the least of all rounds and, behind it, the median of the rounds.
set -eu
program=$1 source=$2 threads=${THREADS:-2} repeats=${REPEATS:-8} rounds=${ROUNDS:-5} widths=${WIDTHS:-16 64} ratios=${RATIOS:-0.5 0.8}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
settings() { # width, workers (1 = the whole)
    echo "--set data.name=glyphs --set data.channels=3 --set data.n=640 --set data.test_n=10 --set data.augment=none --set model.width=$1 --set threads=$threads"
    if [ "$2" = 1 ]; then echo "--set scheme.name=dense --set scheme.workers=1 --set scheme.local_steps=1"; else echo "--set scheme.name=loft --set scheme.workers=$2"; fi
}
run=$source/examples/cifar-loft/run.yaml

share() { # width, workers
    local share=--share
    [ "$2" != 1 ] || share=
    # shellcheck disable=SC2046,SC2086
    "$program" bench "$run" --repeats "$repeats" --json $share $(settings "$1" "$2") > "$work/bench"
    # shellcheck disable=SC2046
    "$program" cost "$run" --json $(settings "$1" "$2") > "$work/cost"
    /usr/bin/python3 -c '
import json, sys
b, c = (json.load(open(sys.argv[1] + "/" + name)) for name in ("bench", "cost"))
print(sys.argv[2], sys.argv[3], b["step"]["min_ms"], b["step"]["median_ms"], c["flops_step"], c["memory_worker"], b["peak_mb"], c["params_share"])' "$work" "$1" "$2" >> "$work/shares"
}
ticket() { # width, ratio: prune times both networks in turn
    local model=$work/whole-$1/model.safetensors
    # shellcheck disable=SC2046
    [ -e "$model" ] || "$program" train "$run" --out "$work/whole-$1" --quiet $(settings "$1" 1) --set epochs=0 --set rounds=1 > /dev/null
    "$program" prune "$model" --ratio "$2" --round-to 8 --seconds "${SECONDS_EACH:-2}" --json --force --out "$work/ticket" > "$work/prune"
    /usr/bin/python3 -c '
import json, sys
p = json.load(open(sys.argv[1]))
print(sys.argv[2], sys.argv[3], *(p[k + end] for k in ("ms", "step_ms") for end in ("_before", "_after")), p["params_after"] / p["params_before"], p["flops_after"] / p["flops_before"])' \
        "$work/prune" "$1" "$2" >> "$work/tickets"
}
echo "PreActResNet-18, 3x32x32, batch 128, $threads threads; $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs); commit $(git -C "$source" rev-parse --short HEAD)"
echo "$rounds rounds of $repeats steps"
for _ in $(seq "$rounds"); do
    for width in $widths; do
        for workers in 1 2 4; do share "$width" "$workers"; done
        for ratio in $ratios; do ticket "$width" "$ratio"; done
    done
done
/usr/bin/python3 - "$work" <<'PYTHON'
import statistics
import sys


def read(name):
    rows = {}
    for line in open(sys.argv[1] + "/" + name):
        width, which, *numbers = line.split()
        rows.setdefault((int(width), float(which)), []).append([float(n) for n in numbers])
    return sorted(rows.items())


def both(runs, k, median=None):
    """The least of column k, and the median of the rounds (of another column where a round has its own median)."""
    return min(r[k] for r in runs), statistics.median(r[k if median is None else median] for r in runs)


shares = read("shares")
print("\nwidth  workers     step, ms: min  median   of the whole's: min  median   operations   memory: counted       taken        numbers")
for (width, workers), runs in shares:
    whole = dict(shares)[width, 1]
    (least, middle), (first, second) = both(runs, 0, 1), both(whole, 0, 1)
    print(f"{width:5}  {'whole' if workers == 1 else int(workers):>7}  {least:15.1f} {middle:7.1f}  {least / first:20.3f} {middle / second:7.3f}  {runs[0][2] / whole[0][2]:11.3f}"
          f"  {runs[0][3] / 1e6:8.1f} MB {runs[0][3] / whole[0][3]:.3f}  {runs[0][4]:6.1f} MB {runs[0][4] / whole[0][4]:.3f}  {runs[0][5] / whole[0][5]:.3f}")
print("\nwidth  pruned  batch, ms: whole  ticket  ratio of minima  of medians   step, ms: whole  ticket  ratio of minima  of medians   numbers  operations")
for (width, ratio), runs in read("tickets"):
    cells = []
    for k in (0, 2):
        (least, middle), (after, then) = both(runs, k), both(runs, k + 1)
        cells.append(f"{least:16.2f} {after:7.2f}  {after / least:15.3f}  {then / middle:10.3f}")
    print(f"{width:5}  {ratio:6.0%} {cells[0]}  {cells[1]}  {runs[0][4]:8.3f}  {runs[0][5]:10.3f}")
PYTHON
