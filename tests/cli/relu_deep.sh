#!/usr/bin/env bash
# Deep ReLU classifiers as a user has them: zero training error with every loss, by GD and SGD; the
# best iterate of SGD is what is handed over, also after kill -9; shares; one against the rest; and
# data that the theory cannot be true of, refused with the rows.
set -eu
program=$1
. "$2/tests/cli.sh"
cat > run.yaml <<'Y'
data: {name: sphere, n: 60, test_n: 20, dim: 6, phi: 0.1}
model: {name: relu_deep, layers: 2, width: 128}
optim: {name: gd, lr: 0.02, momentum: 0}
rounds: 3000
stop: {metric: error}
eval: {every: 10}
checkpoint: {every: 0}
Y
train() { "$program" train run.yaml --json --quiet "$@"; }

# ---- Zero error, and the run stops there ----------------------------------------------------
for loss in hinge squared_hinge exponential logistic; do
    for how in gd sgd; do
        lr=0.02; [ $how = gd ] || lr=0.005
        out=$loss-$how
        train --out "$out" --set loss=$loss --set optim.name=$how --set batch=10 --set optim.lr=$lr > last
        line=$(tail -1 "$out/metrics.jsonl")
        [ "$(field "$line" train_accuracy)" = 1.0 ] || fail "$loss, $how: $line"
        [ "$(field "$line" round)" -lt 3000 ] || fail "$loss, $how: did not stop: $line"
        # The model is judged on its own: what stands in the file has the error that was reported.
        got=$("$program" eval "$out/model.safetensors" --train-set --json --quiet)
        [ "$(field "$got" accuracy)" = 1.0 ] || [ $how = sgd ] || fail "$loss, $how: $got"
    done
done
train --out eps --set stop.metric=loss --set stop.below=0.3 > /dev/null
line=$(tail -1 eps/metrics.jsonl)
awk -v l="$(field "$line" train_loss)" 'BEGIN { exit !(l <= 0.3) }' || fail "stopped above epsilon: $line"

# ---- The best iterate ----------------------------------------------------------------------
sgd="--set optim.name=sgd --set batch=2 --set optim.lr=0.2 --set loss=logistic --set data.name=random-labels --set data.classes=2 --set stop.metric=none --set rounds=120 --set eval.every=0.25"
# shellcheck disable=SC2086
train --out best $sgd > /dev/null
best=$(awk -F'"train_loss":' '{split($2, a, ","); if (NR == 1 || a[1] + 0 < m) m = a[1] + 0} END {printf "%.9f", m}' best/metrics.jsonl)
last=$(field "$(tail -1 best/metrics.jsonl)" train_loss)
got=$(field "$("$program" eval best/model.safetensors --train-set --json --quiet)" loss)
awk -v a="$best" -v b="$got" -v c="$last" 'BEGIN { d = a - b; exit !(d < 1e-6 && d > -1e-6 && c > a) }' ||
    fail "the best of all was $best, the last $last, the model has $got"
# shellcheck disable=SC2086
"$program" train run.yaml --out killed --quiet $sgd --set checkpoint.every=0.5 > /dev/null 2>&1 & pid=$!
until compgen -G "killed/checkpoints/ckpt-*.safetensors" > /dev/null; do kill -0 $pid 2>/dev/null || break; sleep 0.01; done
kill -9 $pid 2>/dev/null || true; wait $pid 2>/dev/null || true
# shellcheck disable=SC2086
train --out killed --resume $sgd --set checkpoint.every=0.5 > /dev/null 2>&1
# shellcheck disable=SC2086
train --out whole $sgd --set checkpoint.every=0.5 > /dev/null
[ "$(model_hash killed)" = "$(model_hash whole)" ] || fail "killed and resumed: another model"
# A run that stopped stays stopped.
train --out eps --resume --set stop.metric=loss --set stop.below=0.3 > /dev/null 2>&1
[ "$(tail -1 eps/metrics.jsonl)" = "$line" ] || fail "a stopped run went on"

# ---- Shares, several classes, predictions --------------------------------------------------
train --out ist --set scheme.name=ist --set scheme.workers=2 --set scheme.local_steps=2 --set rounds=30 > /dev/null
train --out many --set data.name=random-labels --set data.classes=4 --set stop.metric=none --set rounds=20 > /dev/null
"$program" predict hinge-gd/model.safetensors --train-set --quiet > said
awk -F, 'NR > 1 && $2 != $4 { bad++ } END { exit bad > 0 || NR != 61 }' said || fail "predictions are not the labels: $(head -3 said)"

# ---- Refused ------------------------------------------------------------------------------
refuse() { # code, words, the data, settings...
    printf '%b' "$3" > bad.csv
    refused "$1" "$2" train run.yaml --out bad --quiet --set data.path=bad.csv --set data.header=no "${@:4}"
}
sed -i '/^data:/d' run.yaml
rows='1,2,-1\n2,1,1\n3,-1,-1\n-1,4,1\n'
refuse 3 "training samples 2 and 5 are the same point but have labels 1 and -1" "${rows}2,1,-1\n"
refuse 3 "training samples 1 and 5 are the same point" "${rows}2,4,1\n" # of the same direction
refuse 3 "the label of training sample 5 is 3, the others are -1 and +1" "${rows}5,5,3\n"
refuse 3 "the label of training sample 5 is 0.5" "${rows}5,5,0.5\n" --set data.task=regress
refuse 3 "all samples have the same label" '1,2,a\n2,3,a\n' --set data.split=0
refuse 2 "no error to stop at" "${rows}" --set data.task=regress --set loss=mse
refuse 2 "even number of units" "${rows}" --set model.width=7
