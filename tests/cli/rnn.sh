#!/usr/bin/env bash
# Recurrent networks as a user has them: random targets memorised by GD and by SGD on one sequence at a
# time, with a straight line for log(loss); shares, GPipe; killed and resumed; Japanese Vowels told apart;
# and what cannot be, refused with the rows.
set -eu
program=$1
. "$2/tests/cli.sh"
cat > run.yaml <<'Y'
data: {name: sequences, n: 6, test_n: 1, dim: 20, length: 6, targets: 1, phi: 0.5}
model: {name: rnn, width: 256}
optim: {name: gd, lr: 4.0e-4, momentum: 0}
rounds: 800
eval: {every: 10}
checkpoint: {every: 0}
Y
train() { "$program" train run.yaml --quiet "$@"; }

# ---- Memorised ------------------------------------------------------------------------------
# The loss of every tenth round (GD), of every tenth epoch (SGD); r^2 of the line through log(loss) down to
# 1e-9 of the first, where f32 begins to show.
line() { awk -F'"loss":' '{ split($2, a, ","); if (n > 0 && last < 1e-9 * first) next; y = log(a[1]); x = NR; n++; sx += x; sy += y; sxx += x * x; sxy += x * y; syy += y * y; first = n == 1 ? a[1] : first; last = a[1] }
    END { r = (n * sxy - sx * sy) ^ 2 / ((n * sxx - sx * sx) * (n * syy - sy * sy)); printf "%g %.3f\n", last / first, r }' "$1/metrics.jsonl"; }
for how in gd sgd; do
    [ $how = gd ] && more="" || more="--set optim.name=sgd --set batch=1 --set rounds=3600 --set optim.lr=1.0e-3"
    # shellcheck disable=SC2086
    train --out "$how" $more > /dev/null
    read -r rest straight <<< "$(line "$how")"
    echo "$how: the loss fell to $rest of that of the first rounds, r^2 = $straight"
    awk -v a="$rest" -v r="$straight" 'BEGIN { exit !(a < 1e-6 && r > 0.9) }' || fail "not memorised"
done

# ---- Shares, gpipe, several layers, resumed --------------------------------------------------
small="--set rounds=12 --set model.width=24 --set model.layers=2 --set model.train=all --set optim.lr=1.0e-5 --set optim.name=sgd --set batch=2"
for scheme in "ist --set scheme.workers=3 --set scheme.local_steps=2" "masked --set scheme.workers=2" "gpipe --set scheme.workers=2 --set batch=4" "local_sgd --set scheme.workers=2"; do
    # shellcheck disable=SC2086
    train --out a $small --set checkpoint.every=1 --set threads=1 --set scheme.name=$scheme > /dev/null
    # shellcheck disable=SC2086
    train --out b $small --set checkpoint.every=1 --set threads=3 --set scheme.name=$scheme > /dev/null
    cmp a/model.safetensors b/model.safetensors || fail "threads matter: $scheme"
    rm b/model.safetensors "b/checkpoints/$(ls b/checkpoints | tail -1)" # as if killed before
    # shellcheck disable=SC2086
    train --out b $small --set checkpoint.every=1 --set threads=3 --resume --set scheme.name=$scheme > /dev/null
    cmp a/model.safetensors b/model.safetensors || fail "resumed: $scheme"
    rm -r a b
done
"$program" predict gd/model.safetensors --train-set --quiet --out out.npy > /dev/null
"$program" eval gd/model.safetensors --train-set --quiet > /dev/null

# ---- Refused -----------------------------------------------------------------------------------
refuse() { refused "$1" "$2" train run.yaml --quiet --out bad "${@:3}"; }
refuse 2 "holds sequences: use model: {name: rnn}" --set model.name=mlp
refuse 2 "rnn reads sequences, and sphere has none" --set data.name=sphere
refuse 2 "the loss begins at position 7, but the longest sequence has 6" --set model.first=7
sed -i 's/name: sequences, //' run.yaml
mkdir v
vowels() { printf '%b' "$1" > v/a.train; echo "$2" > v/size_a.train; }
from="--set data.path=v --set data.split=0"
vowels '1 2\n3 4\n\n5 6 7\n\n' '1 1'
# shellcheck disable=SC2086
refuse 3 "line 4: 3 numbers, but the lines before have 2" $from
vowels '\n\n' '1'
# shellcheck disable=SC2086
refuse 3 "there is no sequence in this file" $from
vowels '1 2\n3 4\n\n5 6\n\n' '1 0 1 1'
# shellcheck disable=SC2086
refuse 3 "the sizes must add up to 2" $from

# ---- Japanese Vowels -----------------------------------------------------------------------------
data=$real_data/japanese-vowels
[ -d "$data" ] || { echo "Japanese Vowels is not here ($data): not tried"; exit 0; }
cat > vowels.yaml <<Y
data: {path: $data, normalize: standardize}
model: {name: rnn, width: 128, train: all}
optim: {lr: 0.005, momentum: 0.9, schedule: cosine}
epochs: 30
batch: 30
checkpoint: {every: 0}
Y
got=$("$program" train vowels.yaml --out vowels --quiet --json)
echo "Japanese Vowels: test accuracy $(field "$got" accuracy)"
awk -v a="$(field "$got" accuracy)" 'BEGIN { exit !(a >= 0.95) }' || fail "below 95 %: $got"
