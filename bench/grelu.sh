#!/usr/bin/env bash
# grelu.sh [THREADS [REPEATS]] - the products of a gated layer beside OpenBLAS's dense ones, half of the bits on, batch 512,
# widths 1024, 2048 and 4096; the inspector's cost apart, and after how many epochs it is repaid. One JSON object a line.
set -euo pipefail
cd "$(dirname "$0")/.."
threads=${1:-1} repeats=${2:-15}
cmake --build build/release --target bench_skip >/dev/null
echo "{\"commit\": \"$(git rev-parse --short HEAD)\", \"cpu\": \"$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)\"}"
for width in 1024 2048 4096; do
    OPENBLAS_NUM_THREADS=$threads build/release/bench_skip "$width" 512 0.5 "$threads" "$repeats"
done
