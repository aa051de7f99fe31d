#!/usr/bin/env bash
# data.order: replacement: batches are independent draws, checked from the seed alone, for every scheme; the same bits
# without prefetching, resumed, and under mpirun.
set -eu
program=$1 source=$2
. "$source/tests/cli.sh"
with_python numpy yaml

cat >run.yaml <<Y
seed: 11
data: {name: glyphs, n: 50, test_n: 10, order: replacement}
model: {name: mlp, hidden: [12, 8]}
optim: {lr: 0.05}
rounds: 6
batch: 16
checkpoint: {every: 0.3}
Y
mpi() { command -v mpirun >/dev/null && ldd "$program" | grep -q libmpi; }
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# bits NAME WORKERS SECTION: a run of the scheme in every way
bits() {
    local name=$1 workers=$2 want
    { cat run.yaml; echo "scheme: {$3}"; } >"$name.yaml"
    "$program" train "$name.yaml" --out "$name" --quiet --trace >/dev/null
    python "$source/tests/python/draws.py" "$name" || complain "$name: other samples"
    want=$(model_hash "$name")
    "$program" train "$name.yaml" --out "$name-1" --quiet --set threads=1 --set data.prefetch=false >/dev/null
    [ "$(model_hash "$name-1")" = "$want" ] || complain "$name: other bits without prefetching"
    cp -r "$name" "$name-cut"
    rm "$name-cut/model.safetensors" "$name-cut"/checkpoints/ckpt-00000000000[4-6].safetensors
    "$program" train "$name.yaml" --out "$name-cut" --quiet --resume >/dev/null
    [ "$(model_hash "$name-cut")" = "$want" ] || complain "$name: other bits when resumed"
    if [ "$workers" -gt 1 ] && mpi; then
        timeout 100 mpirun -n 3 "$program" train "$name.yaml" --out "$name-mpi" --quiet --set threads=1 >/dev/null 2>log || complain "$name under mpirun: $(cat log)"
        [ "$(model_hash "$name-mpi")" = "$want" ] || complain "$name: other bits under mpirun"
    fi
}
bits dense 1 'name: dense'
bits dropout 1 'name: dropout'
bits multisample 2 'name: multisample, workers: 2'
bits masked 2 'name: masked, workers: 2, local_steps: 2'
bits ist 2 'name: ist, workers: 2, local_steps: 3'
bits loft 2 'name: loft, axes: all, workers: 2, local_steps: 2'
bits local_sgd 2 'name: local_sgd, workers: 2, local_steps: 2'
bits gpipe 1 'name: gpipe, workers: 2, micro_batches: 2'

# A batch as large as the set is drawn, too, some samples twice: its list was left out of traces, as that of gd is.
"$program" train dense.yaml --out full --quiet --trace --set batch=50 >/dev/null
python "$source/tests/python/draws.py" full || complain "full: other samples"

# an epoch is as long as one of a permutation; shuffling is the default and another run
"$program" train dense.yaml --out shuffled --quiet --set data.order=shuffle >/dev/null
[ "$(model_hash shuffled)" != "$(model_hash dense)" ] || complain "both orders are one"
grep -q '"epoch":2' dense/metrics.jsonl || complain "3 batches of 16 from 50 are an epoch: $(cat dense/metrics.jsonl)"

refused 2 "there is nothing to draw with replacement" train dense.yaml --out gd --set optim.name=gd
