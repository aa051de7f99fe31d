#!/usr/bin/env bash
# optim.ema as a user has it: the model is PyTorch's average of the trace's weights, training is what it is without it,
# what is judged is what is written, stopped and resumed = uninterrupted, sweeps judge the average, refusals.
set -eu
program=$1 source=$2
. "$2/tests/cli.sh"
cat > run.yaml <<'Y'
data: {name: glyphs, n: 200, test_n: 40}
model: {name: mlp, hidden: [16, 12]}
optim: {lr: 0.05, ema: 0.8}
rounds: 12
batch: 20
eval: {every: 0.5}
checkpoint: {every: 0.4}
Y
train() { "$program" train run.yaml --out "$1" --quiet "${@:2}" >/dev/null 2>log || fail "$*: $(cat log)"; }
shares="--set model.norm=batch --set scheme.name=ist --set scheme.workers=2 --set scheme.recalibrate=2"
for settings in "" "$shares" "--set optim.keep=best --set optim.name=adamw --set optim.lr=0.01"; do
    rm -rf whole part
    # shellcheck disable=SC2086
    train whole $settings
    # shellcheck disable=SC2086
    train part $settings
    rm part/model.safetensors
    find part/checkpoints -type f | sort | tail -n +2 | xargs rm
    # shellcheck disable=SC2086
    train part --resume $settings
    [ "$(model_hash whole)" = "$(model_hash part)" ] || complain "resumed: another model, with: $settings"
    [ "$(timeless whole)" = "$(timeless part)" ] || complain "resumed: other metrics, with: $settings"
    "$program" eval whole/model.safetensors --json >eval.json
    told=$(tail -1 whole/metrics.jsonl)
    case $settings in *keep*) continue ;; esac
    [ "$(field "$(cat eval.json)" loss)" = "$(field "$told" test_loss)" ] || complain "judged $told, written $(cat eval.json), with: $settings"
done
cat > gated.yaml <<'Y'
data: {name: sphere, n: 20, dim: 10, task: regress, test_n: 4}
model: {name: grelu, width: 40}
optim: {name: gd, lr: 1.0e-4, ema: 0.5}
epochs: 2
Y
memory() { "$program" "$1" run.yaml --json --set optim.ema="$2" >told.json && field "$(cat told.json)" "$3"; }
total=$((784 * 16 + 16 + 16 * 12 + 12 + 12 * 10 + 10))
[ $(($(memory check 0.5 memory_model) - $(memory check 0 memory_model))) = $((4 * total)) ] || complain "memory of check"
[ $(($(memory cost 0.5 memory_worker) - $(memory cost 0 memory_worker))) = $((4 * total)) ] || complain "memory of cost"
refused 2 "would average the weights of two networks" check gated.yaml --set convert_at=1
if command -v mpirun >/dev/null && ldd "$program" | grep -q libmpi; then
    code=0
    mpirun --allow-run-as-root --oversubscribe -n 3 "$program" train run.yaml --out crew --quiet --set scheme.name=gpipe --set scheme.workers=2 >log 2>&1 || code=$?
    [ $code -ne 0 ] && grep -q "optim.ema needs the weights of every round" log || complain "gpipe with mpirun: exit $code, $(cat log)"
fi

with_python numpy torch yaml
train a --trace
train b --trace --set optim.name=adam --set optim.lr=0.003
train c --trace --set scheme.name=local_sgd --set scheme.workers=2 --set model.norm=batch
train without --trace --set optim.ema=0
diff -rq a/trace without/trace || complain "the average changes training"
python "$source/tests/python/torch_recipe.py" a b c || fail "PyTorch"
