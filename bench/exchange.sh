#!/usr/bin/env bash
# exchange.sh PROGRAM SOURCE: what travelling costs at four workers on this machine: the part of a round that is not training (LoFT,
# 25 local steps, mpirun -n 5), and the rate at which slices are packed beside memcpy's, measured in the same process.
set -eu
program=$1 source=$2
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

packing() {
    cmake --build "$source/build/release" --target bench_packing >/dev/null
    "$source/build/release/bench_packing"
}

round() {
    command -v mpirun >/dev/null || { echo "no mpirun here (openmpi-bin)"; return; }
    cat >"$work/run.yaml" <<'Y'
seed: 1
data: {name: glyphs, n: 3200, test_n: 100, channels: 3}
model: {name: preresnet18, width: 16}
scheme: {name: loft, workers: 4, local_steps: 25}
rounds: 3
batch: 32
threads: 1
eval: {every: 0}
checkpoint: {every: 0}
Y
    mpirun -n 5 "$program" train "$work/run.yaml" --out "$work/out" --quiet >/dev/null 2>"$work/log" || { cat "$work/log"; exit 1; }
    /usr/bin/python3 - "$work/out/metrics.jsonl" <<'P'
import json, sys
lines = [json.loads(x) for x in open(sys.argv[1])]
ranks = [r for x in lines if x.get("event") == "times" for r in x["ranks"]]
rounds = sum(x["rounds"] for x in lines if x.get("event") == "times")
here = ranks[0]
workers = ranks[1:]
whole = here["compute"] + here["send"] + here["wait"]
slowest = max(r["compute"] for r in workers)
print(f"round {1e3 * whole / rounds:.0f} ms, of it the slowest worker trains {1e3 * slowest / rounds:.0f} ms")
print(f"exchange (packing, sending, putting back; all that is not the slowest worker's training): {100 * (1 - slowest / whole):.2f} % of the round")
print(f"coordinator's work {1e3 * here['compute'] / rounds:.1f} ms, its sending {1e3 * here['send'] / rounds:.1f} ms a round")
P
}

packing
round
