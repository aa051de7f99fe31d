#!/usr/bin/env bash
# growth.sh PROGRAM SOURCE: how a step of rnn grows with width m, length L and batch n, and one of relu_deep
# with width, depth and batch: milliseconds (min), GFLOP, part of the sgemm rate, memory of the plan. One
# Markdown table each; THREADS=2, REPEATS=5.
set -eu
program=$1 source=$2 threads=${THREADS:-2} repeats=${REPEATS:-5}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
row() { # what, settings... of $yaml
    local what=$1; shift
    "$program" bench "$yaml" --set threads="$threads" --repeats "$repeats" --json "$@" | /usr/bin/python3 -c '
import json, sys
b = json.load(sys.stdin)
ms = b["step"]["min_ms"]
print("| %s | %.2f | %.2f | %.0f | %.0f | %.1f |" % (sys.argv[1], ms, b["flops_step"] / 1e9, b["flops_step"] / ms / 1e6,
      100 * b["gflops"] / b["gemm_gflops"], b["plan_bytes"] / 1e6))' "$what"
}
head() { printf '\n%s\n\n| %s | min ms | GFLOP | GFLOP/s | %% of sgemm | plan MB |\n|---|--:|--:|--:|--:|--:|\n' "$1" "$2"; }
echo "$threads threads; $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs); commit $(git -C "$source" rev-parse --short HEAD)"
yaml=$source/bench/rnn.yaml
head "rnn: L = 32, n = 64" m
for m in 128 256 512 1024; do row $m --set model.width=$m; done
head "rnn: m = 512, n = 64" L
for L in 8 16 32 64; do row $L --set model.width=512 --set data.length=$L; done
head "rnn: m = 512, L = 32" n
for n in 1 4 16 64; do row $n --set model.width=512 --set batch=$n; done
yaml=$source/bench/relu_deep.yaml
head "relu_deep: 8 layers, n = 256" m
for m in 128 256 512 1024; do row $m --set model.width=$m; done
head "relu_deep: m = 512, n = 256" L
for L in 1 2 4 8; do row $L --set model.width=512 --set model.layers=$L; done
head "relu_deep: m = 512, 8 layers" n
for n in 16 64 256; do row $n --set model.width=512 --set batch=$n; done
