#!/usr/bin/env bash
# What is to be seen on a machine with a GPU, from binaries that were built on another one (bench/device/cuda-pack.sh):
# every op and loss against ref, whole runs beside the CPU, killed and resumed, and how long a step takes beside PyTorch.
#
#   cuda-tests.sh FOLDER [PART ...]      parts: ops runs sanitizer speed; all by default
#
# FOLDER holds what cuda-pack.sh packed. CUDA's libraries come from the machine: from /usr/local/cuda, or PyTorch's.
set -u
cd "$1" || exit 1
shift
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(ops runs speed sanitizer)
libraries=$PWD/lib
for folder in /usr/local/cuda/lib64 $(python3 -c 'import glob, sysconfig
print(*glob.glob(sysconfig.get_paths()["purelib"] + "/nvidia/*/lib"))' 2>/dev/null); do
    libraries+=:$folder
done
export LD_LIBRARY_PATH=$libraries TESSERA_CUDA=$PWD/libtessera-cuda.so TESSERA_TEST_BACKEND=cuda
failed=0
say() { printf '== %s (%d s)\n' "$1" "$SECONDS"; }
check() { "$@" || { failed=$((failed + 1)) && echo "FAILED: $*"; }; }

for part in "${parts[@]}"; do
    say "$part"
    case $part in
    ops)
        for test in test_device test_kernels test_backends; do
            check timeout 100 ./$test > $test.log 2>&1
            grep -vE 'RUN|====|^$' $test.log | head -20
        done ;;
    runs) check timeout 200 python3 cuda-runs.py ./tessera ;;
    sanitizer)
        for tool in memcheck initcheck racecheck; do
            timeout 150 compute-sanitizer --tool $tool ./test_device > $tool.log 2>&1 || failed=$((failed + 1))
            echo "$tool, test_device: $(tail -1 $tool.log)"
        done
        timeout 200 compute-sanitizer --tool memcheck ./test_backends > backends.log 2>&1 || failed=$((failed + 1))
        echo "memcheck, test_backends: $(tail -1 backends.log)" ;;
    speed)
        for batch in 128 512; do
            timeout 60 ./tessera bench speed.yaml --set batch=$batch --set backend=cuda -n 20 > bench-$batch.txt 2>&1
            tail -45 bench-$batch.txt
        done
        timeout 60 python3 cuda-torch.py 128 512 ;;
    esac
done
say "cuda-tests: $failed failed"
exit $((failed > 0))
