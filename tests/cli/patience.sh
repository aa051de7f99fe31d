#!/usr/bin/env bash
# stop: {metric: test_loss, patience: N} as a user has it: the run ends N evaluations after its best one, which becomes
# the model; resumed as uninterrupted; sweeps stop alike; refused where nothing is evaluated.
set -eu
program=$1
. "$2/tests/cli.sh"
cat > run.yaml <<'Y'
data: {name: glyphs, n: 60, test_n: 100}
model: {name: mlp, hidden: [64]}
optim: {lr: 0.01, momentum: 0}
stop: {metric: test_loss, patience: 4}
epochs: 60
batch: 20
eval: {every: 1}
checkpoint: {every: 1}
Y
train() { "$program" train run.yaml --out "$1" --quiet "${@:2}" >/dev/null 2>log || fail "$*: $(cat log)"; }
check_end() { # FOLDER METRIC PATIENCE: the lines of metrics say when it should have ended, and what was best
    python3 - "$@" <<'PY' || complain "$*"
import json, sys
folder, metric, patience = sys.argv[1], sys.argv[2], int(sys.argv[3])
lines = [json.loads(l) for l in open(folder + "/metrics.jsonl")]
values = [l["test_loss"] if metric == "test_loss" else 1 - l["test_accuracy"] for l in lines if "test_loss" in l]
best = values.index(min(values))
assert len(values) == best + 1 + patience < 60, (len(values), best)
for k in range(patience, len(values)): # not one evaluation too late
    assert k == len(values) - 1 or min(values[:k + 1 - patience]) > min(values[k + 1 - patience:k + 1]), k
print(f"{folder}: best evaluation {best + 1}, ended after {len(values)}")
json.dump([l for l in lines if "test_loss" in l][best], open("best.json", "w"))
PY
}
train a
check_end a test_loss 4
"$program" eval a/model.safetensors --json >eval.json
python3 -c "
import json
best, model = json.load(open('best.json')), json.load(open('eval.json'))
assert best['test_loss'] == model['loss'], (best, model)" || complain "the model is not the best iterate"
train b --set stop.metric=test_error --set stop.patience=6
check_end b test_error 6
train last --set optim.keep=last
cmp -s a/model.safetensors last/model.safetensors && complain "optim.keep: last kept the best"
# It stops by the same evaluations, so its lines say which one was best, too.
[ "$(tail -1 a/metrics.jsonl | grep -o '"best_round".*"bytes_total"')" = "$(tail -1 last/metrics.jsonl | grep -o '"best_round".*"bytes_total"')" ] ||
    complain "best: $(tail -1 a/metrics.jsonl), with the last kept $(tail -1 last/metrics.jsonl)"
train ema --set optim.ema=0.9
check_end ema test_loss 4

cp -r a part
rm part/model.safetensors
find part/checkpoints -type f | sort | tail -n +2 | xargs rm
train part --resume
[ "$(model_hash a)" = "$(model_hash part)" ] || complain "resumed: another model"
[ "$(timeless a)" = "$(timeless part)" ] || complain "resumed: other metrics"

# A cell of a sweep stops and keeps as the run does.
"$program" sweep run.yaml --grid stop.patience=4 --out sweep --quiet >/dev/null 2>log || fail "sweep: $(cat log)"
cell=$(tail -1 sweep/sweep.jsonl)
[ "$(field "$cell" rounds)" = "$(field "$(tail -1 a/metrics.jsonl)" round)" ] || complain "sweep ended after $cell"
[ "$(field "$cell" loss)" = "$(field "$(cat eval.json)" loss)" ] || complain "sweep kept another: $cell, $(cat eval.json)"

# So does one that a ranking of filters ends between two evaluations: the run judges its last iterate, too, and that one is
# the best here. The cell did not, and gave the one before.
ranks=(--set stop.metric=filter_distance --set stop.window=3 --set stop.below=9 --set distance.every=0.34 --set optim.keep=best
       --set eval.every=1 --set data.n=100)
train ranks "${ranks[@]}" --set stop.patience=5
"$program" sweep run.yaml "${ranks[@]}" --set stop.patience=5 --grid optim.lr=0.01 --out ranked --quiet >/dev/null 2>log || fail "sweep: $(cat log)"
cell=$(tail -1 ranked/sweep.jsonl) last=$(tail -1 ranks/metrics.jsonl)
[ "$(field "$last" round)" = "$(field "$last" best_round)" ] && [ "$(field "$last" round)" != 5 ] || complain "the last is to be the best, between evaluations: $last"
[ "$(field "$cell" loss)" = "$(field "$last" test_loss)" ] || complain "sweep kept another: $cell, $last"

refused 2 "set eval.every above 0" check run.yaml --set eval.every=0
refused 2 "does not read stop.below" check run.yaml --set stop.below=0.5
refused 2 "does not read stop.patience" check run.yaml --set stop.metric=loss
