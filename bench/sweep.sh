#!/usr/bin/env bash
# sweep.sh PROGRAM SOURCE [ROUNDS]: the sweep of Figure 2b, 10 values of xi x 8 numbers of workers x 3 seeds at n = 100,
# m = 4000, tau = 5, on Communities and Crime: ours whole, on all cores, and PyTorch's from nine cells, scaled.
# ROUNDS (200, the paper's) scales both. PyTorch is measured before and after ours, with one and with two
# threads; its best counts.
set -eu
program=$1 source=$2 rounds=${3:-200}
export TESSERA_DATA=${TESSERA_DATA:-$source/../shared/data}
[ -d "$TESSERA_DATA/communities-crime" ] || { echo "no Communities and Crime in $TESSERA_DATA"; exit 77; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
"$program" train "$source/bench/sweep.yaml" --set rounds=1 --trace --quiet --out "$work/data" > /dev/null
peer() { for threads in 1 2; do /usr/bin/python3 "$source/bench/torch_sweep.py" "$work/data/trace/data.safetensors" $threads 2 2 | sed "s/$/ $threads/"; done; }
ours() { # name, options
    local name=$1; shift
    "$program" sweep "$source/bench/sweep.yaml" --grid scheme.xi=0.1:1:0.1 --grid scheme.workers=1:8:1 --seeds 3 \
        --set rounds="$rounds" --out "$work/$name" --quiet --json "$@" > "$work/$name.json"
}
echo "10 x 8 cells x 3 seeds, $rounds rounds; $(nproc) cores, $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs); commit $(git -C "$source" rev-parse --short HEAD)"
/usr/bin/python3 -c 'import torch' 2>/dev/null && peer > "$work/peer" || echo "no PyTorch here to compare with (apt-get install python3-torch)"
ours samples
[ ! -s "$work/peer" ] || peer >> "$work/peer"
[ -z "${WEIGHTS:-}" ] || ours weights --weights
/usr/bin/python3 - "$work" "$rounds" <<'P'
import json, os, sys
work, rounds = sys.argv[1], int(sys.argv[2])
times = {}
for name, what in (("samples", "ours"), ("weights", "ours, on weights")):
    if os.path.exists(f"{work}/{name}.json"):
        times[name] = json.load(open(f"{work}/{name}.json"))["seconds"]
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
