#!/usr/bin/env bash
# Dense PreActResNet-18 on CIFAR-10, alone on the GPU, from the start of the process to its end; about 160 s in all.
#
#   fast.sh PACK      a folder with tessera, libtessera-cuda.so, lib/ and fast.yaml (bench/device/cuda-pack.sh)
pack=$(cd "$1" && pwd) out=${OUT:-$PWD}
libraries=$pack/lib
for folder in /usr/local/cuda/lib64 $(python3 -c 'import glob, sysconfig
print(*glob.glob(sysconfig.get_paths()["purelib"] + "/nvidia/*/lib"))' 2>/dev/null); do libraries+=:$folder; done
export LD_LIBRARY_PATH=$libraries TESSERA_CUDA=$pack/libtessera-cuda.so
fast() { # NAME SETTINGS...
    local name=$1 began
    shift
    began=$(date +%s.%N)
    timeout 90 "$pack/tessera" train "$pack/fast.yaml" --out "/tmp/fast-$name" --quiet --json "$@" > "/tmp/fast-$name.json" 2> "/tmp/fast-$name.err"
    echo "$name $(awk -v a="$began" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f s", b - a }') $(grep -o '"accuracy": *[0-9.]*' "/tmp/fast-$name.json" | head -1) $*" | tee -a "$out/fast.txt"
    tail -1 "/tmp/fast-$name.err"
}
fast b512-24 --set epochs=24
fast b512-40 --set epochs=40
fast b512-80 --set epochs=80
fast b128-30 --set epochs=30 --set batch=128 --set optim.lr=0.1 --set optim.warmup=0.1
fast b128-70 --set epochs=70 --set batch=128 --set optim.lr=0.1 --set optim.warmup=0.05
