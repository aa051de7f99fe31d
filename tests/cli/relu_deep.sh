#!/usr/bin/env bash
# Deep ReLU classifiers as a user has them: zero training error with every loss, by GD and SGD; the
# best iterate of SGD is what is handed over, also after kill -9; shares; one against the rest; and
# data that the theory cannot be true of, refused with the rows.
set -eu
program=$1
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cat > "$work/run.yaml" <<'Y'
data: {name: sphere, n: 60, test_n: 20, dim: 6, phi: 0.1}
model: {name: relu_deep, layers: 2, width: 128}
optim: {name: gd, lr: 0.02, momentum: 0}
rounds: 3000
stop: {metric: error}
eval: {every: 10}
checkpoint: {every: 0}
Y
field() { sed -E "s/.*\"$2\":([^,}]*).*/\1/" <<< "$1"; }
train() { "$program" train "$work/run.yaml" --json --quiet "$@"; }

# ---- Zero error, and the run stops there ----------------------------------------------------
for loss in hinge squared_hinge exponential logistic; do
    for how in gd sgd; do
        lr=0.02; [ $how = gd ] || lr=0.005
        out=$work/$loss-$how
        train --out "$out" --set loss=$loss --set optim.name=$how --set batch=10 --set optim.lr=$lr > "$work/last"
        line=$(tail -1 "$out/metrics.jsonl")
        [ "$(field "$line" train_accuracy)" = 1.0 ] || { echo "$loss, $how: $line"; exit 1; }
        [ "$(field "$line" round)" -lt 3000 ] || { echo "$loss, $how: did not stop: $line"; exit 1; }
        # The model is judged on its own: what stands in the file has the error that was reported.
        got=$("$program" eval "$out/model.safetensors" --train-set --json --quiet)
        [ "$(field "$got" accuracy)" = 1.0 ] || [ $how = sgd ] || { echo "$loss, $how: $got"; exit 1; }
    done
done
train --out "$work/eps" --set stop.metric=loss --set stop.below=0.3 > /dev/null
line=$(tail -1 "$work/eps/metrics.jsonl")
awk -v l="$(field "$line" train_loss)" 'BEGIN { exit !(l <= 0.3) }' || { echo "stopped above epsilon: $line"; exit 1; }

# ---- The best iterate ----------------------------------------------------------------------
sgd="--set optim.name=sgd --set batch=2 --set optim.lr=0.2 --set loss=logistic --set data.name=random-labels --set data.classes=2 --set stop.metric=none --set rounds=120 --set eval.every=0.25"
# shellcheck disable=SC2086
train --out "$work/best" $sgd > /dev/null
best=$(awk -F'"train_loss":' '{split($2, a, ","); if (NR == 1 || a[1] + 0 < m) m = a[1] + 0} END {printf "%.9f", m}' "$work/best/metrics.jsonl")
last=$(field "$(tail -1 "$work/best/metrics.jsonl")" train_loss)
got=$(field "$("$program" eval "$work/best/model.safetensors" --train-set --json --quiet)" loss)
awk -v a="$best" -v b="$got" -v c="$last" 'BEGIN { d = a - b; exit !(d < 1e-6 && d > -1e-6 && c > a) }' ||
    { echo "the best of all was $best, the last $last, the model has $got"; exit 1; }
# shellcheck disable=SC2086
"$program" train "$work/run.yaml" --out "$work/killed" --quiet $sgd --set checkpoint.every=0.5 > /dev/null 2>&1 & pid=$!
until compgen -G "$work/killed/checkpoints/ckpt-*.safetensors" > /dev/null; do kill -0 $pid 2>/dev/null || break; sleep 0.01; done
kill -9 $pid 2>/dev/null || true; wait $pid 2>/dev/null || true
# shellcheck disable=SC2086
train --out "$work/killed" --resume $sgd --set checkpoint.every=0.5 > /dev/null 2>&1
# shellcheck disable=SC2086
train --out "$work/whole" $sgd --set checkpoint.every=0.5 > /dev/null
[ "$(sha256sum < "$work/killed/model.safetensors")" = "$(sha256sum < "$work/whole/model.safetensors")" ] || { echo "killed and resumed: another model"; exit 1; }
# A run that stopped stays stopped.
train --out "$work/eps" --resume --set stop.metric=loss --set stop.below=0.3 > /dev/null 2>&1
[ "$(tail -1 "$work/eps/metrics.jsonl")" = "$line" ] || { echo "a stopped run went on"; exit 1; }

# ---- Shares, several classes, predictions --------------------------------------------------
train --out "$work/ist" --set scheme.name=ist --set scheme.workers=2 --set scheme.local_steps=2 --set rounds=30 > /dev/null
train --out "$work/many" --set data.name=random-labels --set data.classes=4 --set stop.metric=none --set rounds=20 > /dev/null
"$program" predict "$work/hinge-gd/model.safetensors" --train-set --quiet > "$work/said"
awk -F, 'NR > 1 && $2 != $4 { bad++ } END { exit bad > 0 || NR != 61 }' "$work/said" || { echo "predictions are not the labels"; head -3 "$work/said"; exit 1; }

# ---- Refused ------------------------------------------------------------------------------
refuse() { # code, words, file's lines, settings...
    local want=$1 words=$2 code=0; printf '%b' "$3" > "$work/bad.csv"; shift 3
    "$program" train "$work/run.yaml" --out "$work/bad" --quiet --set data.path="$work/bad.csv" --set data.header=no "$@" > /dev/null 2> "$work/errors" || code=$?
    [ $code = "$want" ] || { echo "exit $code, not $want: $words"; cat "$work/errors"; exit 1; }
    grep -qF -- "$words" "$work/errors" || { echo "no '$words':"; cat "$work/errors"; exit 1; }
}
sed -i 's/name: sphere, //' "$work/run.yaml"
rows='1,2,-1\n2,1,1\n3,-1,-1\n-1,4,1\n'
refuse 3 "training samples 2 and 5 are the same point but have labels 1 and -1" "${rows}2,1,-1\n"
refuse 3 "training samples 1 and 5 are the same point" "${rows}2,4,1\n" # of the same direction
refuse 3 "the label of training sample 5 is 3, the others are -1 and +1" "${rows}5,5,3\n"
refuse 3 "the label of training sample 5 is 0.5" "${rows}5,5,0.5\n" --set data.task=regress
refuse 3 "all samples have the same label" '1,2,a\n2,3,a\n' --set data.split=0
refuse 2 "no error to stop at" "${rows}" --set data.task=regress --set loss=mse
refuse 2 "even number of units" "${rows}" --set model.width=7
