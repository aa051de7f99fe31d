#!/usr/bin/env bash
# tessera prune as a user would use it: the ticket is an ordinary model file for eval, predict, info,
# prune and train --init; the numbers printed are those of the files; PyTorch loads it; bad input gets
# a sentence and overwrites nothing.
set -eu
program=$1 source=$2
. "$2/tests/cli.sh"
json() { python3 -c "import json,sys; d=json.load(open('$1')); print($2)"; }

describe() { # FOLDER MODEL [BATCH]
    mkdir "$1"
    cat > "$1/run.yaml" <<Y
data: {name: glyphs, n: 64, test_n: 20}
model: {$2}
rounds: 2
batch: ${3-16}
Y
    "$program" train "$1/run.yaml" --out "$1/run" --trace --quiet > /dev/null
    cp "$1/run/trace/data.safetensors" "$1/"
}
describe pre "name: preresnet18, width: 8"
describe res "name: resnet18, width: 4"
describe vgg "name: vgg11, width: 4"
for m in pre res vgg; do
    "$program" prune $m/run/model.safetensors --ratio 0.37 --axes all --out $m/ticket.safetensors --seconds 0 --json > $m/prune.json
    "$program" predict $m/ticket.safetensors --train-set --quiet --out $m/out.npy > /dev/null
done
if /usr/bin/python3 -c 'import torch, yaml, numpy' 2>/dev/null; then
    /usr/bin/python3 "$source/tests/python/ticket_torch.py" pre res vgg || fail "PyTorch"
    describe one "name: resnet18, width: 4" 64
    for n in 0 1; do
        "$program" prune one/run/model.safetensors --ratio 0.5 --axes all --recalibrate $n --out one/of$n.safetensors --seconds 0 > /dev/null
    done
    /usr/bin/python3 "$source/tests/python/ticket_statistics.py" one one/of0.safetensors one/of1.safetensors || fail "statistics"
else
    echo "no PyTorch here: its part is left out"
fi

# The numbers are the files'.
before=$(stat -c %s pre/run/model.safetensors) after=$(stat -c %s pre/ticket.safetensors)
[ "$(json pre/prune.json "d['bytes_before'], d['bytes_after']")" = "$before $after" ] || fail "bytes"
[ "$(json pre/prune.json "d['params_after'] < d['params_before'] and d['flops_after'] < d['flops_before']")" = True ] || fail "smaller"
"$program" info pre/ticket.safetensors --json > info.json
[ "$(json info.json "sum(__import__('math').prod(t['shape']) for t in d['tensors'])")" = "$(json pre/prune.json "d['params_after']")" ] || fail "params"
grep -q 'layer4.1.inner=40' info.json && grep -q 'layer4.stream=40' info.json || fail "widths in info"

# paper: inside of blocks without a stride, behind the first stage; inner: inside of all; all: streams, too.
for axes in paper inner all; do
    "$program" prune $PWD/pre/run/model.safetensors --ratio 0.5 --axes $axes --seconds 0 --out axes --force > /dev/null
    "$program" info axes | sed -n 's/^  widths: *"*\([^"]*\)"*$/\1/p' | tr -d ' ' | tr ',' '\n' | cut -d= -f1 > $axes.txt
done
[ "$(tr '\n' ' ' < paper.txt)" = 'layer2.1.inner layer3.1.inner layer4.1.inner ' ] || fail "paper: $(cat paper.txt)"
[ "$(wc -l < inner.txt)" = 8 ] && ! grep -v inner inner.txt || fail "inner: $(cat inner.txt)"
[ "$(grep -v inner all.txt | tr '\n' ' ')" = 'layer1.stream layer2.stream layer3.stream layer4.stream ' ] && [ "$(wc -l < all.txt)" = 12 ] || fail "all: $(cat all.txt)"

# It is a model like any other.
"$program" eval pre/ticket.safetensors > out; grep -q 'accuracy' out || fail "eval"
"$program" prune pre/ticket.safetensors --ratio 0.5 --round-to 8 --out pre/second --seconds 0.01 > out
grep -q 'layer3.1.conv1 *20x20x3x3 *8x20x3x3' out || fail "pruned again: $(cat out)"
grep -q 'ms -> .* ms' out || fail "times"
"$program" train pre/run.yaml --init pre/second --out pre/more --quiet --set rounds=3 > out
"$program" info pre/more/model.safetensors | grep -q 'layer3.1.inner=8' || fail "widths after training"

# A step that leaves every layer whole is told.
"$program" prune pre/ticket.safetensors --ratio 0.5 --round-to 1000 --out pre/same --seconds 0 > out 2> err
grep -q 'nothing is pruned: 0.5 of so few units, in steps of 1000' err && grep -q '(100.0 %)' out || fail "nothing pruned: $(cat err)"

# Statistics are measured anew, on the same batches with any number of threads, unless the user or the lack of data forbids it.
whole=pre/run/model.safetensors
"$program" prune $whole --ratio 0.5 --out pre/anew --seconds 0 > out
grep -q 'statistics  measured again on 16 batches' out || fail "not measured: $(cat out)"
grep -qa '\\"recalibrate\\":16' pre/anew || fail "not recorded"
"$program" prune $whole --ratio 0.5 --out pre/kept --seconds 0 --recalibrate 0 --json > kept.json
[ "$(json kept.json "d['recalibrate']")" = 0 ] && ! cmp -s pre/anew pre/kept || fail "--recalibrate 0"
"$program" prune $whole --ratio 0 --out pre/copy --seconds 0 --json > copy.json
[ "$(json copy.json "d['recalibrate']")" = 0 ] || fail "a copy was measured"
mkdir lost && sed 's/{name: glyphs, n: 64, test_n: 20}/{path: table.csv, target: y}/; s/preresnet18, width: 8/mlp, hidden: [8], norm: batch/' pre/run.yaml > lost/run.yaml
(cd lost && { echo a,b,y; for i in $(seq 40); do echo "$i,$((i * i % 7)),$((i % 2))"; done; } > table.csv && "$program" train run.yaml --out run --quiet > /dev/null && mv table.csv other.csv)
(cd lost && refused 3 "table.csv" prune run/model.safetensors --ratio 0.5 --out t --seconds 0 --recalibrate 16 && [ ! -e t ] &&
    "$program" prune run/model.safetensors --ratio 0.5 --out t --seconds 0 > out 2> err && grep -q 'table.csv, the training data, is not here' err && grep -q 'statistics  those of the whole network' out &&
    "$program" prune run/model.safetensors --ratio 0.5 --out u --seconds 0 --data other.csv > out && grep -q 'measured again' out && ! cmp -s t u &&
    grep -qa 'path: table.csv' u) || fail "lost data"

# Every layer up to 24 of them, of deeper networks every stage unless asked; the sums are the same.
printf 'data: {name: glyphs, n: 64, test_n: 20}\nmodel: {name: resnet50, width: 2}\nrounds: 1\nbatch: 16\n' > deep.yaml
"$program" train deep.yaml --out deep --quiet > /dev/null
"$program" prune deep/model.safetensors --ratio 0.5 --axes all --seconds 0 --recalibrate 0 --out d > stages
"$program" prune deep/model.safetensors --ratio 0.5 --axes all --seconds 0 --recalibrate 0 --out d --force --layers > each
grep -q '^layer3  *19 layers ' stages && grep -q '(stages of 54 layers; --layers shows each)' stages && [ "$(wc -l < stages)" -lt 20 ] || fail "stages: $(cat stages)"
grep -q '^layer3.5.conv2  *8x8x3x3  *4x4x3x3  *576  *144 ' each || fail "layers: $(cat each)"
python3 - <<'P' || fail "sums of stages"
def sums(path):
    rows = [l.split() for l in open(path) if l.startswith(("conv1", "layer", "fc")) and not l.startswith("layer ")]
    return [sum(int(r[k]) for r in rows) for k in (-4, -3)], len(rows)
(a, n), (b, m) = sums("stages"), sums("each")
assert a == b and (n, m) == (6, 54), (a, b, n, m)
P

# Bad input: a sentence, exit code, nothing written, nothing overwritten.
refuse() { # CODE WORDS ARGUMENTS...
    refused "$1" "$2" prune "${@:3}"
    [ "$(wc -l < err)" -eq 1 ] || fail "$*: not one line"
    [ ! -e new ] || fail "$*: it wrote the ticket"
}
m=pre/run/model.safetensors
sum=$(cat $m pre/ticket.safetensors | sha256sum)
refuse 2 "--ratio must be a number from 0 to" $m --ratio 1 --out new
refuse 2 "give --ratio R, the part of the filters to remove" $m --out new
refuse 2 "give --out FILE" $m --ratio 0.5
refuse 2 "is the model itself" $m --ratio 0.5 --out $m
refuse 2 "is the model itself" $m --ratio 0.5 --force --out ./$m
refuse 2 "already exists" $m --ratio 0.5 --out pre/ticket.safetensors
refuse 2 "has no axis layer9 that can be cut" $m --ratio 0.5 --axes layer9 --out new
refuse 2 "no axis is named" $m --ratio 0.5 --axes " , " --out new
refuse 3 "cannot open" absent --ratio 0.5 --out new
refuse 3 "is a folder" pre/run --ratio 0.5 --out new
refuse 3 "run.yaml" pre/run.yaml --ratio 0.5 --out new
refuse 2 "must be one of l2|l1|bn|fpgm|snip|grasp|random" $m --ratio 0.5 --criterion size --out new
[ "$sum" = "$(cat $m pre/ticket.safetensors | sha256sum)" ] || fail "a file was changed"
echo fine
