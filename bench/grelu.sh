#!/usr/bin/env bash
# grelu.sh PROGRAM SOURCE [THREADS [REPEATS]]: what skipping brings, batch 512, half of the gates on, widths 1024, 2048, 4096.
# First each product of a layer beside OpenBLAS's dense one, in one process in turn; the inspector's cost apart, and after how
# many epochs it is repaid. Then whole training steps of grelu, of its ReLU twin (dense) and of the twin with skip: on (inspected
# in every step), in turn, the least and the median of all runs, and the kernels that ran. One JSON object a line. Times of one
# thread are CPU times for the products, the clock's else.
set -euo pipefail
program=$1 source=$2 threads=${3:-2} repeats=${4:-15}
cmake --build "$source/build/release" --target bench_skip >/dev/null
echo "{\"commit\": \"$(git -C "$source" rev-parse --short HEAD)\", \"cpu\": \"$(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs)\"}"
step() { "$program" bench "$source/bench/grelu.yaml" --json --repeats 3 --set threads="$threads" --set model.width="$1" --set model.name="$2" --set skip="$3"; }
for width in 1024 2048 4096; do
    OPENBLAS_NUM_THREADS=$threads "$source/build/release/bench_skip" "$width" 512 0.5 "$threads" "$repeats"
    for _ in 1 2 3; do step "$width" grelu auto; step "$width" relu_twin off; step "$width" relu_twin on; done |
        /usr/bin/python3 -c '
import json, sys
width, names = int(sys.argv[1]), ("grelu", "twin", "twin skipping")
runs = [json.loads(line) for line in sys.stdin]
kind = {name: runs[i::3] for i, name in enumerate(names)}
least = {name: min(r["step"]["min_ms"] for r in k) for name, k in kind.items()}
middle = {name: sorted(r["step"]["median_ms"] for r in k)[len(k) // 2] for name, k in kind.items()}
ran = {name: sorted({l["kernel"] for l in k[0]["layers"] if l["name"].startswith("w.") and "kernel" in l}) for name, k in kind.items()}
for name in names:
    print(json.dumps({"step": name, "layers": 4, "width": width, "batch": 512, "ms": round(least[name], 2), "ms_median": round(middle[name], 2),
                      "ratio_to_twin": round(least["twin"] / least[name], 3), "ratio_median": round(middle["twin"] / middle[name], 3), "kernels": ran[name]}))
' "$width"
done
