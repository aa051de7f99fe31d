#!/usr/bin/env bash
# A key that the chosen scheme or model does not read is refused, with its place: loft with `draw: bernoulli` and
# wideresnet with `stem: imagenet` once trained on as if nothing had been said.
set -eu
program=$1 source=$2
. "$source/tests/cli.sh"

cat >run.yaml <<Y
data: {name: glyphs, n: 32, test_n: 8}
rounds: 1
batch: 8
Y
# no PLACE-AND-WORDS SECTION...: a run file with these sections is refused so
no() {
    local words=$1
    shift
    { cat run.yaml; printf '%s\n' "$@"; } >one.yaml
    refused 2 "$words" check one.yaml
}
net='model: {name: preresnet18, width: 4}'
no 'scheme loft does not read scheme.draw' "$net" 'scheme: {name: loft, workers: 2, draw: bernoulli}'
grep -q 'one.yaml:[0-9]*:[0-9]*: scheme loft' err || complain "no place: $(cat err)"
no 'model wideresnet does not read model.stem' 'model: {name: wideresnet, depth: 10, factor: 1, stem: imagenet}'
no 'scheme ist does not read scheme.micro_batches' 'scheme: {name: ist, workers: 2, micro_batches: 2}'
no 'scheme dense does not read scheme.xi' 'scheme: {name: dense, xi: 0.3}'
no 'scheme dense does not read scheme.data' 'scheme: {data: shard}'
no 'scheme gpipe does not read scheme.axes' 'scheme: {name: gpipe, workers: 2, axes: all}'
no 'scheme local_sgd does not read scheme.scale' 'scheme: {name: local_sgd, workers: 2, scale: none}'
no 'scheme masked with draw: chunks does not read scheme.xi' 'scheme: {name: masked, workers: 2, draw: chunks, xi: 0.3}'
no 'scheme masked with draw: auto does not read scheme.weights' 'scheme: {name: masked, workers: 2, weights: [1, 2]}'
no 'scheme.axes does not read scheme.stages' "$net" 'scheme: {name: loft, workers: 2, axes: all, stages: [3]}'
no 'model mlp does not read model.width' 'model: {name: mlp, width: 512}'
no 'model shallow does not read model.bias' 'model: {name: shallow, bias: false}'
no 'model relu_deep with 0 model.layers does not read model.width' 'model: {name: relu_deep, width: 128}'
no 'model relu_deep with 2 model.layers does not read model.hidden' 'model: {name: relu_deep, layers: 2, hidden: [8, 8]}'
no 'stop.metric: none does not read stop.below' 'stop: {below: 0.1}'
no 'stop.metric: loss does not read stop.window' 'stop: {metric: loss, window: 3}'
no 'no metric falls below 0' 'stop: {metric: loss, below: -0.5}'

# Of the data, too: glyphs with `classes: 3` were ten classes, and a test_path that is not there was no error.
set_no() { refused 2 "$1" check run.yaml --set "$2"; }
set_no 'data set glyphs does not read data.classes' data.classes=3
set_no 'data set glyphs does not read data.test_path' data.test_path=none.csv
set_no 'data set glyphs does not read data.target' data.target=y
set_no 'a data set with its own test part does not read data.split' data.split=0.5
set_no 'data.augment without crop does not read data.pad' data.pad=7
set_no 'a data set of classes does not read data.unit' data.unit=EUR
printf 'a,b,y\n' >table.csv
for i in 1 2 3 4 5 6 7 8 9; do printf '0.%d,0.%d,%s\n' $i $((10 - i)) "$([ $i -gt 5 ] && echo hi || echo lo)"; done >>table.csv
"$program" check run.yaml --data table.csv --set batch=4 >/dev/null || complain "--data does not forget how glyphs are made"
refused 2 'data set table.csv does not read data.n' check run.yaml --data table.csv --set data.n=5
refused 2 'data set table.csv does not read data.augment' check run.yaml --data table.csv --set data.augment=flip
refused 2 'data set table.csv does not read data.size' check run.yaml --data table.csv --set data.size=8

# The default may stand there: a resolved run file has every key, and reads back.
{ cat run.yaml; echo 'scheme: {name: ist, workers: 2, xi: 0.5, micro_batches: 0}'; } >one.yaml
"$program" train one.yaml --out run --quiet >/dev/null || complain "defaults are refused"
"$program" check run/run.yaml >/dev/null || complain "a resolved run file is refused"

# Where one run file makes another, what the first scheme read is forgotten: fine-tuning, costs side by side.
{ cat run.yaml; echo "$net"; echo 'scheme: {name: loft, workers: 2, stages: [3], weights: [1, 2]}'; echo 'stop: {metric: filter_distance, window: 2, below: 0.01}'; } >loft.yaml
"$program" train loft.yaml --out pre --quiet >/dev/null
"$program" finetune pre/model.safetensors --out fine --quiet --epochs 1 >/dev/null || complain "fine-tuning reads keys of loft"
"$program" cost loft.yaml --compare --json >cost || complain "cost --compare reads keys of loft"
grep -q '"local_sgd"' cost || complain "cost --compare: $(cat cost)"
