#!/usr/bin/env bash
# python.sh PROGRAM SOURCE: the same training by the program and from Python, one thread, by processor time (the machine may
# be busy), in turn, seven times each. The program's time is that of its whole process, Python's that of the call.
set -eu
program=$1 source=$2
# shellcheck source=bench/kernels.sh
. "$source/bench/kernels.sh"
export PYTHONPATH=$source/python TESSERA_LIBRARY=${program%/*}/libtessera.so.0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/run.yaml" <<'Y'
data: {name: glyphs, n: 4000, test_n: 500}
model: {name: mlp, hidden: [512, 512]}
optim: {lr: 0.02}
epochs: 10
batch: 64
threads: 1
Y
ours() { # milliseconds of user and system time of the program
    local TIMEFORMAT='%U %S'
    { time "$program" train "$work/run.yaml" --out "$work/c$1" --quiet >/dev/null; } 2>&1 |
        awk '{ printf "%.1f %.1f\n", ($1 + $2) * 1e3, ($1 + $2) * 1e3 }'
}
echo "MLP 784-512-512-10, 4000 glyphs, 10 epochs, batch 64, one thread; processor time; commit $(git -C "$source" rev-parse --short HEAD)"
for i in 1 2 3 4 5 6 7; do
    echo "ours $(ours "$i")"
    echo "Python $("$python" "$source/bench/python_train.py" "$work/run.yaml" "$work/p$i")"
done | "$python" "$source/bench/compare.py"
cmp "$work/c1/model.safetensors" "$work/p1/model.safetensors" && echo "the same bits"
