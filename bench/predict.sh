#!/usr/bin/env bash
# predict.sh PROGRAM SOURCE: one sample through 784-1024-1024-10, as a program waits for it: tsr_predictor_run and PyTorch's
# net(x) without gradients, each on one thread, in turn, five times each, so that a noisy machine is noisy for both; and ONNX
# Runtime (200 calls a time), where tools/onnxruntime has fetched it.
set -eu
program=$1 source=$2 threads=1 calls=2000 runtime=${TESSERA_ONNXRUNTIME:-$2/build/onnxruntime/libonnxruntime.so.1}
# shellcheck source=bench/kernels.sh
. "$source/bench/kernels.sh"
build=$(dirname "$program")
cmake --build "$build" --target bench_predict >/dev/null
echo "one sample, 784-1024-1024-10, $threads thread; $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs); commit $(git -C "$source" rev-parse --short HEAD)"
if ! "$python" -c 'import torch' 2>/dev/null; then
    "$build/bench_predict" $calls $threads 784 1024 1024 10
    echo "no PyTorch here to compare with (apt-get install python3-torch)"
    exit 0
fi
for _ in 1 2 3 4 5; do
    echo "ours $("$build/bench_predict" $calls $threads 784 1024 1024 10)"
    echo "PyTorch $("$python" "$source/bench/torch_predict.py" $threads $calls)"
    [ ! -f "$runtime" ] || echo "onnxruntime $("$build/bench_predict" $calls $threads 784 1024 1024 10 "$runtime")"
done | "$python" "$source/bench/compare.py"
