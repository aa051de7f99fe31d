#!/usr/bin/env bash
# Tickets, distances and the rule that stops at settled rankings look at the axes that the run's scheme cuts. Once they
# took LoFT's default whatever scheme.stages, strided and axes said.
set -eu
program=$1 source=$2
. "$source/tests/cli.sh"

cat >run.yaml <<Y
data: {name: glyphs, n: 32, test_n: 8}
model: {name: preresnet18, width: 4}
optim: {lr: 0.05}
distance: {every: 1}
epochs: 2
batch: 8
Y
# axes NAME EXPECTED SECTION: a run of loft, and the axes that everything after it looks at
axes() {
    local name=$1 expected=$2
    { cat run.yaml; echo "$3"; } >"$name.yaml"
    "$program" train "$name.yaml" --out "$name" --quiet >/dev/null
    local csv distance pruned
    csv=$(tail -n +2 "$name/distance.csv" | cut -d, -f1 | sort -u | tr '\n' ' ')
    [ "$csv" = "$expected" ] || complain "$name: distance.csv has $csv, not $expected"
    distance=$("$program" distance "$name/model.safetensors" "$name/model.safetensors" --json | grep -o '"layer":"[^"]*"' | cut -d'"' -f4 | sort -u | tr '\n' ' ')
    [ "$distance" = "$expected" ] || complain "$name: tessera distance has $distance, not $expected"
    "$program" prune "$name/model.safetensors" --ratio 0.5 --out "$name/ticket.safetensors" --quiet >/dev/null
    pruned=$("$program" info "$name/ticket.safetensors" | sed -n 's/^  widths: *"\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' | tr -d ' ' | tr ',' '\n' | cut -d= -f1 | sort -u | tr '\n' ' ')
    [ "$pruned" = "$expected" ] || complain "$name: prune took $pruned, not $expected"
}
axes third 'layer3.1.inner ' 'scheme: {name: loft, workers: 2, stages: [3]}'
axes strided 'layer3.0.inner layer3.1.inner ' 'scheme: {name: loft, workers: 2, stages: [3], strided: true}'
axes named 'layer1.0.inner ' 'scheme: {name: loft, workers: 2, axes: layer1.0.inner}'
axes default 'layer2.1.inner layer3.1.inner layer4.1.inner ' 'scheme: {name: loft, workers: 2}'
axes dense 'layer2.1.inner layer3.1.inner layer4.1.inner ' 'scheme: {name: dense}'
axes ticket 'layer4.1.inner ' 'ticket: {axes: layer4.1.inner}'

# the whole pipeline
{ cat third.yaml; echo 'ticket: {ratios: [0.5], epochs: 1, seconds: 0.1}'; } >line.yaml
"$program" ticket line.yaml --out line --quiet >/dev/null
"$program" info line/ticket-0.5/ticket.safetensors | grep -q 'widths: *"*layer3.1.inner=8"*$' || complain "the pipeline pruned: $("$program" info line/ticket-0.5/ticket.safetensors | grep widths)"
