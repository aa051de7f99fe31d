#!/usr/bin/env bash
# Adam and AdamW as a user has them: every step beside PyTorch's own, one worker with every unit = dense, stopped and
# resumed = uninterrupted, other processes = one, memory in `cost`, keys that are not read, theorems that do not apply.
set -eu
program=$1 source=$2
. "$2/tests/cli.sh"
cat > run.yaml <<'Y'
data: {name: glyphs, n: 200, test_n: 40}
model: {name: mlp, hidden: [16, 12]}
optim: {name: adamw, lr: 0.003, weight_decay: 0.1}
rounds: 12
batch: 20
eval: {every: 0}
checkpoint: {every: 0.4}
Y
train() { "$program" train run.yaml --out "$1" --quiet "${@:2}" >/dev/null 2>log || fail "$*: $(cat log)"; }

# ---- Resumed = uninterrupted, one worker = dense, crews = one process ----------------------
local_sgd="--set scheme.name=local_sgd --set scheme.workers=2 --set scheme.local_steps=3"
ist="--set scheme.name=ist --set scheme.workers=2"
for settings in "" "--set optim.name=adam" "$local_sgd" "$local_sgd --set scheme.momentum=carry" "$ist" \
    "$ist --set scheme.wire=bf16 --set optim.beta1=0" "--set scheme.name=masked --set scheme.workers=2" \
    "--set scheme.name=loft --set scheme.axes=hidden.0 --set scheme.workers=2 --set scheme.local_steps=2" \
    "--set scheme.name=gpipe --set scheme.workers=2"; do
    rm -rf whole part
    # shellcheck disable=SC2086
    train whole $settings
    # shellcheck disable=SC2086
    train part $settings
    rm part/model.safetensors
    find part/checkpoints -type f | sort | tail -n +2 | xargs rm # the first one is left
    # shellcheck disable=SC2086
    train part --resume $settings
    [ "$(model_hash whole)" = "$(model_hash part)" ] || complain "resumed: another model, with: $settings"
    if [ -n "$(command -v mpirun)" ] && case $settings in *scheme*) true ;; *) false ;; esac; then
        rm -rf crew
        # shellcheck disable=SC2086
        mpirun --allow-run-as-root --oversubscribe -n 3 "$program" train run.yaml --out crew --quiet --set threads=1 $settings >log 2>&1 || complain "mpirun with $settings: $(cat log)"
        [ "$(model_hash whole)" = "$(model_hash crew)" ] || complain "mpirun: another model, with: $settings"
    fi
done
train dense --set optim.name=adam
train one --set optim.name=adam --set scheme.name=local_sgd
tensors() { python -c "
import sys; sys.path.insert(0, '$source/tests/python'); import safetensors_numpy
t, _ = safetensors_numpy.load('$1/model.safetensors'); print({k: v.tobytes() for k, v in t.items()})" | sha256sum; }

# ---- Keys, memory, theorems -----------------------------------------------------------------
refused 2 "optim.name: adam does not read optim.momentum" check run.yaml --set optim.name=adam --set optim.momentum=0.5
refused 2 "optim.name: sgd does not read optim.beta2" check run.yaml --set optim.name=sgd --set optim.beta2=0.9
memory() { "$program" check run.yaml --json --set optim.lr=0.1 --set optim.name="$1" >check.json && field "$(cat check.json)" memory_model; }
cost() { "$program" cost run.yaml --json --set optim.lr=0.1 --set optim.name="$1" >cost.json && field "$(cat cost.json)" memory_worker; }
trained=$((784 * 16 + 16 + 16 * 12 + 12 + 12 * 10 + 10))
[ $(($(memory adam) - $(memory sgd))) = $((4 * trained)) ] || complain "memory of check: $(memory adam) $(memory sgd)"
[ $(($(cost adam) - $(cost sgd))) = $((4 * trained)) ] || complain "memory of cost: $(cost adam) $(cost sgd)"

certified() { # MODEL: every theorem that assumes no momentum is broken by the optimiser
    local words=()
    for pair in rounds=2 optim.name=adam batch=20 "$@"; do words+=(--set "$pair"); done
    echo "seed: 1" > theory.yaml
    "$program" certify theory.yaml --json "${words[@]}" >certificate.json 2>log || fail "certify $*: $(cat log)"
    python3 - "$1" <<'PY' || complain "theorems of $1"
import json, sys
theorems = [t for t in json.load(open("certificate.json"))["theorems"] if "no momentum" in t["assumes"]]
assert theorems and all("the optimiser is adam" in t["broken"] for t in theorems), theorems
PY
}
sphere="data.name=sphere data.n=20 data.dim=10"
# shellcheck disable=SC2086
certified model.name=shallow model.width=200 data.task=regress $sphere
# shellcheck disable=SC2086
certified model.name=grelu model.width=40 data.task=regress $sphere
# shellcheck disable=SC2086
certified model.name=relu_deep model.width=40 model.layers=2 $sphere
certified model.name=rnn model.width=16 data.name=sequences data.n=20

# ---- PyTorch ----------------------------------------------------------------------------------
with_python numpy torch yaml
[ "$(tensors dense)" = "$(tensors one)" ] || complain "one worker with every unit is not dense"
train a --trace
train b --trace --set optim.name=adam --set optim.beta1=0.8 --set optim.beta2=0.99 --set optim.epsilon=1e-5 --set optim.schedule=cosine --set backend=ref
# shellcheck disable=SC2086
train c --trace $local_sgd --set scheme.momentum=carry
# shellcheck disable=SC2086
train d --trace $local_sgd --set optim.name=adam
train e --trace --set optim.name=sgd --set optim.lr=0.05 --set optim.nesterov=true
python "$source/tests/python/torch_recipe.py" a b c d e || fail "PyTorch"
