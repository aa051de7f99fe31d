#!/usr/bin/env bash
# Smoothed labels and weights of classes as a user has them: every step beside PyTorch's CrossEntropyLoss, parts of a
# batch = the batch, other processes = one, wrong lists and losses refused, evaluations without either.
set -eu
program=$1 source=$2
. "$2/tests/cli.sh"
cat > run.yaml <<'Y'
data: {name: glyphs, n: 200, test_n: 40}
model: {name: mlp, hidden: [16, 12]}
label_smoothing: 0.1
class_weights: "1, 2, 3, 0.5, 1, 1, 4, 1, 0.25, 1"
optim: {lr: 0.05}
rounds: 6
batch: 20
eval: {every: 0}
Y
train() { "$program" train run.yaml --out "$1" --quiet "${@:2}" >/dev/null 2>log || fail "$*: $(cat log)"; }
refuse() { refused 2 "$1" check run.yaml "${@:2}"; }
refuse "class_weights has 2 numbers" --set "class_weights=1, 2"
refuse "a number above 0 for each class" --set "class_weights=1, 2, 3, 4, 5, 6, 7, 8, 9, 0"
refuse "a number above 0 for each class" --set "class_weights=1, , 3"
refuse "a number above 0 for each class" --set "class_weights=some"
refuse "only loss: cross_entropy reads it" --set loss=mse
refuse "only loss: cross_entropy reads it" --set loss=mse --set class_weights=none

# The loss of an evaluation is plain: a run of no change judges as one without either.
train none --set optim.lr=0
train plain --set optim.lr=0 --set label_smoothing=0 --set class_weights=none
loss() { "$program" eval "$1/model.safetensors" --json >eval.json && field "$(cat eval.json)" loss; }
[ "$(loss none)" = "$(loss plain)" ] || complain "an evaluation is smoothed or weighted: $(loss none), $(loss plain)"
[ "$(grep -o '"loss":[^,]*' none/metrics.jsonl)" != "$(grep -o '"loss":[^,]*' plain/metrics.jsonl)" ] || complain "training is neither smoothed nor weighted"

with_python numpy torch yaml
train a --trace
train b --trace --set class_weights=balanced --set backend=ref
train c --trace --set class_weights=none --set scheme.name=local_sgd --set scheme.workers=2
train d --trace --set label_smoothing=0 --set optim.name=adamw --set optim.lr=0.003
train e --trace --set scheme.micro_batches=4
python "$source/tests/python/torch_recipe.py" a b c d e || fail "PyTorch"
