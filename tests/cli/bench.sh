#!/usr/bin/env bash
# bench.sh PROGRAM SOURCE: a step of the whole network and of one worker's share, as a user times them.
set -eu
program=$1
. "$2/tests/cli.sh"
cat > run.yaml <<'RUN'
data:   {name: glyphs, n: 256}
model:  {name: mlp, hidden: [8, 8]}
scheme: {name: ist, workers: 4}
batch:  16
RUN
value() { python -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

# The whole has every number, the share its own: 2 of 8 units on both hidden axes.
whole=$("$program" bench run.yaml --repeats 2 --json | value params)
share=$("$program" bench run.yaml --repeats 2 --json --share | value params)
[ "$whole" = $((784 * 8 + 8 + 8 * 8 + 8 + 8 * 10 + 10)) ] || fail "the whole has $whole numbers"
[ "$share" = $((784 * 2 + 2 + 2 * 2 + 2 + 2 * 10 + 10)) ] || fail "the share has $share numbers"

# Convolutions are told apart from the rest: none here, most of a step there.
part=$("$program" bench run.yaml --repeats 2 --json | value conv_part)
[ "$part" = 0 ] || [ "$part" = 0.0 ] || fail "an mlp has no convolutions, not $part"
"$program" bench run.yaml --set model.name=preresnet18 --set model.hidden=[256,256] --set model.width=4 --share --repeats 2 > out
grep -q 'layer4.1.conv2 .*conv' out || fail "no row for layer4.1.conv2"
grep -Eq '^[0-9]+ % of the step is not convolution' out || fail "no line for what is not convolution"

# What cannot be is refused with the place and the remedy.
refused 2 'scheme dense trains the whole network' bench run.yaml --share --set scheme.name=dense --set scheme.workers=1
refused 2 'repeats' bench run.yaml --repeats 0
refused 2 'workers' bench run.yaml --share --set scheme.workers=9

# PyTorch is measured with our kernels: every script that runs it says so, and the name is one that OpenBLAS takes.
for script in $(grep -lE 'torch_[a-z0-9]+\.py' "$2"/bench/*.sh "$2"/bench/long/*.sh); do
    grep -q '^\. "$source/bench/kernels.sh"' "$script" || fail "$script measures PyTorch with whatever kernels it finds"
done
core=$("$program" version --json | value core)
OPENBLAS_CORETYPE=$core "$program" version --json | grep -q "\"core\":\"$core\"" || fail "OpenBLAS does not take $core for a core type"
old=$(OPENBLAS_CORETYPE=Nehalem "$program" version --json | value core)
[ "$old" = Nehalem ] || [ "$(uname -m)" != x86_64 ] || fail "core says $old where OPENBLAS_CORETYPE says Nehalem"

# TESSERA_LOOPS names the widest vectors; a name that this machine does not have is refused, not ignored.
TESSERA_LOOPS=base "$program" bench run.yaml --repeats 2 > out
grep -q 'loops base' out || fail "TESSERA_LOOPS=base ran others: $(grep loops out)"
TESSERA_LOOPS=sse9 refused 2 "TESSERA_LOOPS is 'sse9', which this processor does not run" bench run.yaml --repeats 2
