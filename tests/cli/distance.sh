#!/usr/bin/env bash
# tessera distance against numpy, between models and along a run; the rule that ends a run when the
# ranking has settled, resumed too; bad input.
set -eu
program=$1 source=$2
. "$2/tests/cli.sh"
numpy() { python "$source/tests/python/distance_numpy.py" "$@"; }
with_python numpy
cat > run.yaml <<'Y'
data: {name: glyphs, n: 300, test_n: 50}
model: {name: mlp, hidden: [24, 16], norm: batch}
optim: {lr: 0.05}
distance: {every: 1}
checkpoint: {every: 1, keep: 100}
epochs: 4
batch: 30
Y
"$program" train run.yaml --out a --quiet > /dev/null
"$program" train run.yaml --out b --quiet --set seed=2 > /dev/null
"$program" prune a/model.safetensors --ratio 0.4 --seconds 0 --out t > /dev/null
"$program" prune b/model.safetensors --ratio 0.6 --seconds 0 --out u > /dev/null
for pair in "a/model.safetensors a/model.safetensors" "a/model.safetensors b/model.safetensors" \
    "a/model.safetensors t" "t a/model.safetensors" "t u"; do
    set -- $pair
    "$program" distance "$1" "$2" --ratio 0.5 --json > said
    numpy "$1" "$2" said || fail "$pair"
done
# Convolutions with random norms: fresh weights of several seeds, in every stage, whole and pruned by chance.
"$program" train run.yaml --out c --quiet --set "model={name: preresnet18, width: 4, hidden: [256, 256], norm: none}" --set rounds=1 --set epochs=0 --set distance.every=0 > /dev/null
for seed in 1 2 3; do
    "$program" prune c/model.safetensors --ratio 0 --reinit --seed $seed --axes all --seconds 0 --out r$seed > /dev/null
    "$program" prune r$seed --ratio 0.37 --criterion random --seed $seed --axes all --seconds 0 --out p$seed > /dev/null
done
for pair in "r1 r2" "r2 r1" "r3 r3" "r1 p2" "p2 r3" "p1 p3"; do
    set -- $pair
    "$program" distance "$1" "$2" --axes all --criterion l2 --ratio 0.5 --ratio 0.3 --json > said
    numpy "$1" "$2" said masks || fail "$pair"
done
numpy csv a || fail "pairs of epochs"
grep -q '"filter_distance":null' a/metrics.jsonl || fail "metrics lack the distance" # five samples before are wanted

# The run ends by itself; resumed from any checkpoint it ends at the same round with the same bits.
stop="--set epochs=40 --set stop.metric=filter_distance --set stop.window=2 --set stop.below=0.2 --set optim.lr=0.02"
"$program" train run.yaml --out s --quiet --json $stop > s.json
rounds=$(python3 -c 'import json; print(json.load(open("s.json"))["rounds"])')
[ "$rounds" -lt 400 ] || fail "it did not stop: $rounds rounds"
python3 - "$rounds" <<'P' || fail "it stopped at the wrong round"
import json, sys
lines = [json.loads(l) for l in open("s/metrics.jsonl")]
far = [(l["round"], l["filter_distance"]) for l in lines]
assert all(f is None for _, f in far[:2]) and all(f > 0.2 for _, f in far[2:-1]) and far[-1][1] <= 0.2
assert far[-1][0] == int(sys.argv[1])
P
"$program" sweep run.yaml --grid optim.lr=0.02 --out w $stop --quiet > /dev/null # a cell of a sweep stops alike
grep -q "\"rounds\":$rounds," w/sweep.jsonl || fail "a sweep: $(cat w/sweep.jsonl)"
rm -rf w
cp -r s r
rm r/model.safetensors r/distance.csv
last=$(ls r/checkpoints | tail -1)
rm "r/checkpoints/$last"
"$program" train run.yaml --out r --resume --quiet --json $stop > r.json
cmp s/model.safetensors r/model.safetensors && cmp s/distance.csv r/distance.csv || fail "resumed"

# Early-bird tickets: the same rule on masks. It ends where distance.csv says that the masks have settled.
bird="--set epochs=40 --set stop.metric=mask_distance --set stop.ratio=0.5 --set stop.window=2 --set optim.lr=0.02"
"$program" train run.yaml --out m --quiet --json $bird > m.json
python3 - <<'P' || fail "masks: it stopped at the wrong round"
import csv, json
lines = [json.loads(l) for l in open("m/metrics.jsonl") if "mask_distance" in l]
far = [l["mask_distance"] for l in lines]
assert far[:2] == [None, None] and all(f > 0.1 for f in far[2:-1]) and far[-1] <= 0.1 and len(far) < 40, far
rows = list(csv.DictReader(open("m/distance.csv")))
column = [c for c in rows[0] if c.startswith("mask") and c.endswith("0.5")][0]
units = {"hidden.0": 24, "hidden.1": 16}
epochs = sorted({float(r["epoch"]) for r in rows})
def mean(a, b):  # over all units
    pairs = [r for r in rows if float(r["reference_epoch"]) == a and float(r["epoch"]) == b]
    assert len(pairs) == 2, pairs
    return sum(units[r["layer"]] * float(r[column]) for r in pairs) / 40
want = max(mean(epochs[-1], epochs[-2]), mean(epochs[-1], epochs[-3]))
assert abs(want - far[-1]) < 1e-6, (want, far[-1])
P

refuse() { refused "$@"; [ ! -s out ] || fail "$*: it said something"; }
sum=$(cat a/model.safetensors t u | sha256sum)
refuse 3 "cannot open" distance a/model.safetensors absent
refuse 3 "is a folder: give" distance a b
refuse 2 "--ratio is the part of the filters to remove" distance t u --ratio 2
refuse 2 "an argument is missing" distance t
"$program" train run.yaml --out w --quiet --set "model.hidden=[20, 16]" --set rounds=1 --set epochs=0 > /dev/null
refuse 2 "are not of one model: hidden.0 has 24 units in one" distance a/model.safetensors w/model.safetensors
refuse 2 "no axis hidden.7 that can be cut" distance t u --axes hidden.7
refuse 2 "stop.metric: the model has no axis" train run.yaml --out new $stop --set "model.hidden=[]"
[ ! -e new ] || fail "it left a folder"
[ "$sum" = "$(cat a/model.safetensors t u | sha256sum)" ] || fail "a file was changed"
echo fine
