#!/usr/bin/env bash
# sweep.sh PROGRAM SOURCE [ROUNDS]: the sweep of Figure 2b, 10 values of xi x 8 numbers of workers x 3 seeds at n = 100,
# m = 4000, tau = 5, on Communities and Crime: ours whole, on all cores, and PyTorch's from nine cells, scaled.
# ROUNDS (200, the paper's) scales both. PyTorch is measured before and after ours, with one and with two
# threads; its best counts. RATES (0.01 and 0.25): at 0.01 no unit dies, at 0.25 most are soon off for every sample, and
# ours leaves them out. CLOCK=cpu: processor time of one thread each, for a machine that others use.
set -eu
program=$1 source=$2 rounds=${3:-200} clock=${CLOCK:-wall}
# shellcheck source=bench/kernels.sh
. "$source/bench/kernels.sh"
export TESSERA_DATA=${TESSERA_DATA:-$source/../shared/data}
[ -d "$TESSERA_DATA/communities-crime" ] || { echo "no Communities and Crime in $TESSERA_DATA"; exit 77; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
"$program" train "$source/bench/sweep.yaml" --set rounds=1 --trace --quiet --out "$work/data" > /dev/null
counts="1 2" threads=0
[ "$clock" = wall ] || counts=1 threads=1
peer() { # rate
    for n in $counts; do
        "$python" "$source/bench/torch_sweep.py" "$work/data/trace/data.safetensors" "$n" 2 2 "$1" "$clock" | sed "s/$/ $n/"
    done
}
ours() { # name, rate, options
    local name=$1 rate=$2 TIMEFORMAT='%U %S'
    shift 2
    { time "$program" sweep "$source/bench/sweep.yaml" --grid scheme.xi=0.1:1:0.1 --grid scheme.workers=1:8:1 --seeds 3 \
        --set rounds="$rounds" --set optim.lr="$rate" --set threads=$threads --out "$work/$name" --quiet --json "$@" > "$work/$name.json"; } 2> "$work/$name.time"
}
echo "10 x 8 cells x 3 seeds, $rounds rounds; $(nproc) cores, $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs); commit $(git -C "$source" rev-parse --short HEAD)"
for rate in ${RATES:-0.01 0.25}; do
    echo
    echo "rate $rate, $([ "$clock" = wall ] && echo "seconds" || echo "processor time of one thread")"
    rm -rf "$work/peer" "$work/samples" "$work/weights"
    "$python" -c 'import torch' 2>/dev/null && peer "$rate" > "$work/peer" || echo "no PyTorch here to compare with (apt-get install python3-torch)"
    ours samples "$rate"
    [ ! -s "$work/peer" ] || peer "$rate" >> "$work/peer"
    [ -z "${WEIGHTS:-}" ] || ours weights "$rate" --weights
    "$python" - "$work" "$rounds" "$clock" <<'P'
import json, os, sys
work, rounds, clock = sys.argv[1], int(sys.argv[2]), sys.argv[3]
times = {}
for name, what in (("samples", "ours"), ("weights", "ours, on weights")):
    if os.path.exists(f"{work}/{name}"):
        processor = sum(map(float, open(f"{work}/{name}.time").read().split()[-2:]))
        times[name] = processor if clock == "cpu" else json.load(open(f"{work}/{name}.json"))["seconds"]
        print(f"{what:<28}{times[name]:10.1f} s")
best = {}
for line in open(f"{work}/peer") if os.path.exists(f"{work}/peer") else []:
    way, grid, worst, threads = line.split()
    total = float(grid) * 3 * rounds
    print(f"PyTorch, {way:<8} {threads} thread{'s' * (threads != '1'):<2}    {total:10.1f} s   (fit within {100 * float(worst):.0f} %)")
    best[way] = min(best.get(way, total), total)
for way, total in best.items():
    print(f"PyTorch {way} / ours   {total / times['samples']:6.1f}")
P
done
