#!/usr/bin/env bash
# A gated net trained, resumed, evaluated, converted to a ReLU net and back; what convert refuses.
set -euo pipefail
program=$1
. "$2/tests/cli.sh"
cat > run.yaml <<'YAML'
seed: 3
data: {name: ackley, n: 60, test_n: 20, dim: 12}
model: {name: grelu, width: 160, layers: 2}
optim: {name: gd, lr: 1.0e-4, momentum: 0}
rounds: 30
eval: {every: 10}
threads: 2
YAML
field() { python -c 'import json, sys
v = json.load(open(sys.argv[1]))
for k in sys.argv[2].split("."): v = v[k]
print(v)' "$1" "$2"; }
less() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'; }

"$program" train run.yaml --out a >/dev/null 2>&1
# The same weights with another number of threads, and through shuffled batches computed twice.
"$program" train run.yaml --out b --set threads=1 >/dev/null 2>&1
cmp a/model.safetensors b/model.safetensors >/dev/null || fail "threads changed the weights"
first=$(head -1 a/metrics.jsonl | sed 's/.*"loss":\([^,]*\).*/\1/') last=$(tail -1 a/metrics.jsonl | sed 's/.*"loss":\([^,]*\).*/\1/')
less "$last" "$first" || fail "the loss did not fall: $first $last"

"$program" convert a/model.safetensors --to relu --out relu.safetensors --json > c.json
less "$(field c.json residual)" 1e-4 || fail "not equal on the training points: $(cat c.json)"
less "$(field c.json train.difference_most)" 1e-4 || fail "outputs differ: $(cat c.json)"
"$program" eval a/model.safetensors --train-set --json > e1.json
"$program" eval relu.safetensors --train-set --json > e2.json
python -c 'import json
a, b = (json.load(open(f))["loss"] for f in ("e1.json", "e2.json"))
assert abs(a - b) < 1e-3 * a, (a, b)' || fail "the training loss jumped"

"$program" convert relu.safetensors --to grelu --out back.safetensors --json > d.json
less "$(field d.json test.difference_most)" 1e-4 || fail "grelu with a ReLU net's gates differs: $(cat d.json)"
"$program" convert a/model.safetensors --to relu --out text.safetensors | grep -q "on every one of 60 training points" || fail "no text"

refused 2 "relu_twin" convert a/model.safetensors --to grelu --out x.safetensors
refused 2 "needs --to" convert a/model.safetensors --out x.safetensors
refused 2 "itself" convert a/model.safetensors --to relu --out a/model.safetensors
refused 2 "at least as many units" convert a/model.safetensors --to relu --out x.safetensors --set data.n=200
refused 3 "" convert run.yaml --to relu --out x.safetensors
[ ! -e x.safetensors ] || fail "a refusal left a file"
"$program" convert a/model.safetensors --to relu --out x.safetensors --set data.n=200 --least-squares >/dev/null

# from_relu in a run file; a file that does not fit
"$program" train run.yaml --out c --set model.from_relu=relu.safetensors --set rounds=1 >/dev/null 2>&1
refused 3 "same width" train run.yaml --out d --set model.from_relu=relu.safetensors --set model.width=100
refused 2 "gate_rank" train run.yaml --out e --set model.gate_rank=160
refused 2 "model relu_twin does not read model.gate_rank" train run.yaml --out e --set model.name=relu_twin --set model.gate_rank=5

# Every loss: it falls, in the gated net and in its twin, gates of full and of low rank.
falls() { # settings...
    rm -rf f
    "$program" train run.yaml --out f --quiet --set rounds=12 --set eval.every=1 --set checkpoint.every=0 "$@" > out 2>&1 || fail "$*: $(cat out)"
    local first last
    first=$(sed -n 's/.*"round":1,.*"loss":\([^,]*\).*/\1/p' f/metrics.jsonl) last=$(tail -1 f/metrics.jsonl | sed 's/.*"loss":\([^,]*\).*/\1/')
    less "$last" "$first" || fail "$*: the loss did not fall: $first $last"
}
for model in grelu relu_twin; do
    for loss in mse half_squares huber; do falls --set model.name=$model --set loss=$loss; done
    for loss in cross_entropy hinge squared_hinge exponential logistic half_squares; do
        lr=1e-4; if [ $loss = exponential ]; then lr=1e-12; [ $model = grelu ] || lr=1e-8; fi # outputs of 10 and more at first: e^-z is as steep as it is large
        falls --set model.name=$model --set loss=$loss --set data.name=sphere --set data.phi=0.01 --set optim.lr=$lr
    done
done
falls --set model.gate_rank=5 --set optim.lr=1e-5
