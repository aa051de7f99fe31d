#!/usr/bin/env bash
# python.sh PROGRAM SOURCE [PAIRS]: the same training by the program and from Python, one thread. Both are timed by the run
# itself: `seconds` in its metrics, from its beginning to its last evaluation, on one clock; what a process does before and
# after (loading, the files of the end) is in neither. In pairs whose order alternates; paired.py says whether Python takes
# over 1 % longer. Wants a quiet machine.
set -eu
program=$1 source=$2 pairs=${3:-40}
# shellcheck source=bench/kernels.sh
. "$source/bench/kernels.sh"
export PYTHONPATH=$source/python TESSERA_LIBRARY=${program%/*}/libtessera.so.0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/run.yaml" <<'Y'
data: {name: glyphs, n: 4000, test_n: 500}
model: {name: mlp, hidden: [512, 512]}
optim: {lr: 0.02}
epochs: 5
batch: 64
threads: 1
Y
by_program() { "$program" train "$work/run.yaml" --out "$work/program-$1" --quiet >/dev/null; }
by_python() { "$python" "$source/bench/python_train.py" "$work/run.yaml" "$work/python-$1"; }
echo "MLP 784-512-512-10, 4000 glyphs, 5 epochs, batch 64, one thread; seconds of the run; commit $(git -C "$source" rev-parse --short HEAD)"
by_program warm && by_python warm # files into memory, the processor out of its sleep: does not count
cmp "$work/program-warm/model.safetensors" "$work/python-warm/model.safetensors" && echo "the same bits"
rm -r "$work/program-warm" "$work/python-warm"
for ((i = 0; i < pairs; i++)); do
    if ((i % 2)); then by_program "$i" && by_python "$i"; else by_python "$i" && by_program "$i"; fi
done
"$python" "$source/bench/paired.py" "$work" program python
