#!/usr/bin/env bash
# grelu.sh PROGRAM SOURCE [THREADS [REPEATS]]: what skipping brings, batch 512, half of the gates on, widths 1024, 2048, 4096.
# First each product of a layer beside OpenBLAS's dense one, in one process in turn; the inspector's cost apart, and after how
# many epochs it is repaid. Then whole training steps of grelu and of its ReLU twin (dense), in turn, the least of three runs.
# One JSON object a line. Times of one thread are CPU times for the products, the clock's else.
set -euo pipefail
program=$1 source=$2 threads=${3:-1} repeats=${4:-15}
cmake --build "$source/build/release" --target bench_skip >/dev/null
echo "{\"commit\": \"$(git -C "$source" rev-parse --short HEAD)\", \"cpu\": \"$(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs)\"}"
step() { "$program" bench "$source/bench/grelu.yaml" --json --repeats 3 --set threads="$threads" --set model.width="$1" --set model.name="$2" |
    /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["step"]["min_ms"])'; }
for width in 1024 2048 4096; do
    OPENBLAS_NUM_THREADS=$threads "$source/build/release/bench_skip" "$width" 512 0.5 "$threads" "$repeats"
    for _ in 1 2 3; do echo "$(step "$width" grelu) $(step "$width" relu_twin)"; done |
        awk -v w="$width" 'NR == 1 || $1 < a { a = $1 } NR == 1 || $2 < b { b = $2 }
            END { printf "{\"step\": \"grelu 4 layers\", \"width\": %d, \"batch\": 512, \"ms\": %.2f, \"twin_ms\": %.2f, \"ratio\": %.3f}\n", w, a, b, b / a }'
done
