#!/usr/bin/env bash
# zero_error.sh PROGRAM: relu_deep on the sphere with n = 200, L = 1 to 5, four losses, GD and SGD: the
# iteration at which the training error is zero. A Markdown table; WIDTH=512.
set -eu
program=$1 width=${WIDTH:-512}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cat > "$work/run.yaml" <<Y
data: {name: sphere, n: 200, test_n: 50, dim: 10, phi: 0.1}
model: {name: relu_deep, layers: 1, width: $width}
optim: {momentum: 0}
batch: 20
rounds: 20000
stop: {metric: error}
checkpoint: {every: 0}
Y
field() { sed -E "s/.*\"$2\":([^,}]*).*/\1/" <<< "$1"; }
echo "Iterations to zero training error, n = 200, m = $width; step 4/m (GD), 1/m (SGD, batch 20)"
echo
echo "| loss | method | L = 1 | 2 | 3 | 4 | 5 |"
echo "|---|---|--:|--:|--:|--:|--:|"
for loss in hinge squared_hinge exponential logistic; do
    for how in gd sgd; do
        lr=$(awk -v m="$width" -v h=$how 'BEGIN { print (h == "gd" ? 4 : 1) / m }')
        every=$([ $how = gd ] && echo 10 || echo 1)
        line="| $loss | $how |"
        for L in 1 2 3 4 5; do
            "$program" train "$work/run.yaml" --out "$work/r" --quiet --set loss=$loss --set optim.name=$how \
                --set model.layers=$L --set optim.lr="$lr" --set eval.every="$every" > /dev/null
            last=$(tail -1 "$work/r/metrics.jsonl")
            [ "$(field "$last" train_accuracy)" = 1.0 ] && line="$line $(field "$last" round) |" || line="$line - |"
            rm -r "$work/r"
        done
        echo "$line"
    done
done
