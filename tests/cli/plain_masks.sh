#!/usr/bin/env bash
# Networks trained in shares whose whole has the factor xi, the chance of a unit (shallow, cnn1). Once it was in our
# program alone: PyTorch's plain module gave twice our prediction at xi = 0.5, and scheme loft was missing in a list
# of chances, so that its whole network was S times too large.
set -eu
program=$1 source=$2
. "$source/tests/cli.sh"
with_python torch yaml numpy
check() { python "$source/tests/python/plain_masks.py" "$@"; }

cat >shallow.yaml <<Y
data: {name: sphere, n: 20, test_n: 5, dim: 8, task: regress}
model: {name: shallow, width: 64}
optim: {name: gd, lr: 0.05, momentum: 0}
rounds: 40
Y
cat >cnn1.yaml <<Y
data: {name: glyphs, n: 24, test_n: 5}
model: {name: cnn1, width: 16}
loss: mse
optim: {lr: 0.5, momentum: 0}
rounds: 20
batch: 8
Y
train() { # train NAME RUN-FILE OPTION...: a run and its outputs on the training set
    local name=$1 file=$2
    shift 2
    "$program" train "$file" --out "$name" --trace --quiet "$@" >/dev/null
    predict "$name/model.safetensors" "$name.npy"
}
predict() { "$program" predict "$1" --train-set --quiet --out "$2" >/dev/null; }
loss_of() { "$program" eval "$1/model.safetensors" --train-set --json | sed -E 's/.*"loss": *([^,}]*).*/\1/'; }

# 1. every scheme: the file in the plain module gives our outputs
pairs=()
for model in shallow cnn1; do
    for scheme in 'name: dense' 'name: dropout, xi: 0.7' 'name: multisample, xi: 0.5, workers: 2' 'name: masked, xi: 0.3, workers: 3' \
        'name: masked, draw: chunks, workers: 4' 'name: ist, workers: 4, local_steps: 2' 'name: loft, axes: all, workers: 4, local_steps: 2' \
        'name: masked, xi: 0.5, workers: 2, scale: none'; do
        name=$model-$(tr -dc 'a-z0-9' <<<"$scheme")
        { cat $model.yaml; echo "scheme: {$scheme}"; } >"$name.yaml"
        train "$name" "$name.yaml"
        pairs+=("$name/model.safetensors" "$name.npy")
    done
done
check same "${pairs[@]}" || complain "a model file is not its plain module"

# 2. loft with all axes draws the shares of ist: the same weights, the same whole
for model in shallow cnn1; do
    loft=$(loss_of $model-nameloftaxesallworkers4localsteps2) ist=$(loss_of $model-nameistworkers4localsteps2)
    echo "$model: loft $loft, ist $ist"
    [ "$loft" = "$ist" ] || complain "$model: the whole of loft has loss $loft, that of ist with the same shares $ist"
done

# 3. what is made of such a file computes what it computed: a ticket, a run that begins from it (with any scheme), the
#    same file as our first version wrote it
pairs=()
for model in shallow cnn1; do
    run=$model-namemaskedxi03workers3
    whole=$run/model.safetensors
    "$program" prune "$whole" --ratio 0.5 --axes all --out $run/pruned.safetensors >/dev/null
    predict $run/pruned.safetensors $model-pruned.npy
    check same $run/pruned.safetensors $model-pruned.npy || complain "$model: a ticket is not its plain module"
    for scheme in 'name: dense' 'name: masked, xi: 0.25, workers: 2'; do
        name=on-$model-$(tr -dc 'a-z0-9' <<<"$scheme")
        { cat $model.yaml; echo "scheme: {$scheme}"; } >"$name.yaml"
        train "$name" "$name.yaml" --init $whole --set optim.lr=0 --set rounds=1
        pairs+=("$name.npy" "$run.npy")
    done
    check age $whole 0.3 old-$model.safetensors
    predict old-$model.safetensors old-$model.npy
    pairs+=("old-$model.npy" "$run.npy")
    train from-old-$model $model.yaml --init old-$model.safetensors --set optim.lr=0 --set rounds=1
    pairs+=("from-old-$model.npy" "$run.npy")
done
check outputs "${pairs[@]}" || complain "a model made from a model computes something else"

# 4. the factor is in the weights, for whoever reads them with our library, too
"$program" info shallow-namemaskedxi03workers3/model.safetensors >info
grep -Eq '^a .* 0\.300$' info || complain "info does not show a = +-0.3: $(cat info)"
