#!/usr/bin/env bash
# ntk.sh PROGRAM SOURCE [growth]: tangent kernels, ours and PyTorch's in turn on the same threads, so that a noisy
# machine is noisy for both; and memory at n = 20,000. With `growth`: our times as n, m and depth grow.
set -eu
program=$1 source=$2 what=${3:-compare} threads=${THREADS:-2} rounds=${ROUNDS:-5}
# shellcheck source=bench/kernels.sh
. "$source/bench/kernels.sh"
here="$(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs); commit $(git -C "$source" rev-parse --short HEAD)"
# numbers KEY RUN-FILE ARGUMENTS...: min, median and peak memory of KEY (kernel or product).
numbers() {
    local key=$1 file=$2
    shift 2
    "$program" ntk "$source/bench/$file" --json --set threads="$threads" "$@" | "$python" -c '
import json, sys
b = json.load(sys.stdin)
key = sys.argv[1]
print(b[key + "_min_ms"], b[key + "_median_ms"], b["peak_mb"])' "$key"
}
peer() { "$python" "$source/bench/torch_ntk.py" "$1" "$threads" "$2"; }
# compare TITLE OURS PEER
compare() {
    echo "$1"
    for _ in $(seq "$rounds"); do echo "ours $($2)"; echo "PyTorch $($3)"; done | "$python" "$source/bench/compare.py"
}
product_ours() { numbers product ntk-shallow.yaml -n 2000 --repeats 5; }
product_peer() { peer product 3; }
shallow_ours() { numbers kernel ntk-shallow.yaml -n 2000 --repeats 5; }
shallow_peer() { peer shallow 3; }
exact_ours() { numbers kernel ntk-mlp.yaml -n 500 --repeats 3; }
exact_peer() { peer exact 1; }

if [ "$what" = growth ]; then
    echo "growth of kernels, $threads threads; $here"
    printf '%-44s %12s %12s %9s\n' kernel "min ms" "median ms" "peak MB"
    line() {
        local title=$1 least median peak
        shift
        read -r least median peak < <("$@")
        printf '%-44s %12.2f %12.2f %9.0f\n' "$title" "$least" "$median" "$peak"
    }
    for n in 500 1000 2000; do line "H(k), m = 8192, n = $n" numbers kernel ntk-shallow.yaml -n $n --repeats 5; done
    for m in 2048 4096 16384; do
        line "H(k), n = 2000, m = $m" numbers kernel ntk-shallow.yaml -n 2000 --repeats 5 --set model.width=$m
    done
    for n in 125 250 500 1000; do line "exact, width 1024, 4 layers, n = $n" numbers kernel ntk-mlp.yaml -n $n --repeats 2; done
    for m in 256 512; do
        line "exact, 4 layers, n = 500, width $m" numbers kernel ntk-mlp.yaml -n 500 --repeats 2 --set "model.hidden=[$m,$m,$m]"
    done
    for hidden in 512 512,512 512,512,512,512 512,512,512,512,512,512,512,512; do
        depth=$(($(tr -cd , <<<"$hidden" | wc -c) + 2))
        line "exact, width 512, n = 500, L = $depth" numbers kernel ntk-mlp.yaml -n 500 --repeats 2 --set "model.hidden=[$hidden]"
    done
    exit 0
fi
echo "tangent kernels, $threads threads; $here"
if ! "$python" -c 'import torch' 2>/dev/null; then
    echo "no PyTorch here to compare with (apt-get install python3-torch)"
    exit 0
fi
compare "H(k), n = 2000, m = 8192: all pairs of patterns, from bits; PyTorch's product of floats" product_ours product_peer
compare "H(k), n = 2000, m = 8192: whole, from samples and weights" shallow_ours shallow_peer
rounds=2
compare "exact kernel of 784-1024-1024-1024-1, n = 500; PyTorch's gradients sample by sample" exact_ours exact_peer
echo "H(k), n = 20,000, m = 8192:"
"$program" ntk "$source/bench/ntk-shallow.yaml" --set data.n=20000 -n 20000 --set threads="$threads" --json |
    "$python" -c 'import json, sys; b = json.load(sys.stdin); print("%.1f s, peak memory %.2f GiB (the issue allows 24)" % (b["kernel_min_ms"] / 1e3, b["peak_mb"] / 1024))'
