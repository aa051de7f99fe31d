#!/usr/bin/env bash
# What is to be seen on a machine with a GPU, from binaries that were built on another one (bench/device/cuda-pack.sh):
# every op and loss against ref, whole runs beside the CPU, killed and resumed, and how long a step takes beside PyTorch.
#
#   cuda-tests.sh FOLDER [PART ...]      parts: first ops steps runs table ways speed sanitizer; by default all but first
#                                        and steps; and those of cuda-wide.sh: breadth rnn ntk gates sweep faults bf16; shares and trace of
#                                        cuda-shares.sh
#
# Each part is on its own: what fails or takes too long leaves the others. `table` is a step op by op, `ways` the same step
# with one thing done in another way, `speed` ours beside PyTorch's.
#
# FOLDER holds what cuda-pack.sh packed. CUDA's libraries come from the machine: from /usr/local/cuda, or PyTorch's.
set -u
cd "$1" || exit 1
shift
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(ops runs table ways speed sanitizer)
out=${OUT:-$PWD}
libraries=$PWD/lib
for folder in /usr/local/cuda/lib64 $(python3 -c 'import glob, sysconfig
print(*glob.glob(sysconfig.get_paths()["purelib"] + "/nvidia/*/lib"))' 2>/dev/null); do
    libraries+=:$folder
done
export LD_LIBRARY_PATH=$libraries TESSERA_CUDA=$PWD/libtessera-cuda.so TESSERA_TEST_BACKEND=cuda
failed=0 more=() file=""
say() { printf '== %s (%d s)\n' "$1" "$SECONDS"; }
check() { "$@" || { failed=$((failed + 1)) && echo "FAILED: $*"; }; }
# bench NAME SETTING...: a step of PreActResNet-18; its last line, all of it in $out/bench.txt.
bench() {
    local name=$1
    shift
    { echo "== $name: $*" && timeout 40 ./tessera bench "${file:-speed.yaml}" --set backend=cuda -n 10 "${more[@]}" "${@/#/--set=}"; } > bench.one 2>&1
    cat bench.one >> "$out/bench.txt"
    printf '%s: %s\n' "$name" "$(tail -1 bench.one)"
}

# Four LoFT-4 shares: one on its own, then rounds of all four at once.
shares() {
    more=(--share)
    bench "LoFT-4 share, batch 128" precision=bf16 batch=128 scheme.name=loft scheme.workers=4 scheme.local_steps=50 data.n=25600
    more=()
    grep 'round of all' bench.one
}

# Ours, alone on the GPU.
ours() {
    for batch in 128 512; do
        bench "bf16, batch $batch" precision=bf16 batch=$batch
    done
    shares
    TESSERA_CUDNN_TUNE=1 bench "bf16, batch 128, engines timed" precision=bf16 batch=128
    file=mlp.yaml
    bench "mlp, bf16, batch 512" precision=bf16 batch=512
    file=""
    bench "f32, batch 128" batch=128
}

# PyTorch's, one case to a process.
theirs() {
    for case in dense:128 dense:512 share:128 shares:128 mlp:512; do
        timeout 60 python3 cuda-torch.py $case 2>&1 | tail -2 | tee -a "$out/torch.txt"
    done
}

ops() {
    for test in test_device test_backends test_kernels; do
        check timeout 40 ./$test > $test.log 2>&1
        grep -vE 'RUN|====|^$' $test.log | head -12
        cat $test.log >> "$out/ops.txt"
    done
}

steps() { check timeout 40 python3 cuda-runs.py ./tessera "preresnet18 dense" "preresnet18 bf16"; }

. ./cuda-wide.sh
. ./cuda-shares.sh

for part in "${parts[@]}"; do
    say "$part"
    case $part in
    breadth | rnn | ntk | gates | sweep | faults | bf16 | shares | trace) "part_$part" ;;
    ops) ops ;;
    first)
        nvidia-smi -L
        python3 -c 'import torch; print("torch", torch.__version__, "cudnn", torch.backends.cudnn.version())' ;;
    table)
        TESSERA_CUDNN_TELL=1 bench "bf16, batch 128" precision=bf16 batch=128
        grep -E 'cudnn (forward|input|weight)' bench.one | sed 's/.*cudnn //' | head -40
        grep -vE 'warning' bench.one | cut -c1-110 | tail -62 ;;
    ways)
        bench "bf16, batch 512" precision=bf16 batch=512
        TESSERA_CUDA_BESIDE=0 bench "bf16, one stream" precision=bf16 batch=128
        TESSERA_CUDNN_TELL=1 TESSERA_CUDNN_TUNE=1 bench "bf16, engines timed" precision=bf16 batch=128
        bench "f32" batch=128
        TESSERA_CUDA_DW=f32 bench "bf16, dw in f32" precision=bf16 batch=128
        TESSERA_CUDNN=none bench "bf16, no cuDNN" precision=bf16 batch=128 ;;
    runs) check timeout 200 python3 cuda-runs.py ./tessera ;;
    steps) steps ;;
    sanitizer)
        for tool in memcheck initcheck racecheck; do
            timeout 150 compute-sanitizer --tool $tool ./test_device > $tool.log 2>&1 || failed=$((failed + 1))
            echo "$tool, test_device: $(tail -1 $tool.log)"
        done
        timeout 200 compute-sanitizer --tool memcheck ./test_backends > backends.log 2>&1 || failed=$((failed + 1))
        echo "memcheck, test_backends: $(tail -1 backends.log)" ;;
    speed)
        ours
        theirs ;;
    esac
done
say "cuda-tests: $failed failed"
exit $((failed > 0))
