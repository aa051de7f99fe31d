#!/usr/bin/env bash
# A stop that comes while a certificate is made is heard at once, not when the look has ended: the round is saved as one to be
# looked at again, and the resumed run writes the same lines, traces and model as one that was left alone.
set -euo pipefail
program=$1
. "$2/tests/cli.sh"
export OPENBLAS_NUM_THREADS=1
ways='{every: 1, budget: 1000000000}'
cat >rnn.yaml <<Y
data: {name: sequences, n: 6, test_n: 1, dim: 6, length: 7, targets: 2, phi: 0.3}
model: {name: rnn, width: 128}
optim: {name: gd, lr: 1.0e-5}
rounds: 2
certify: $ways
threads: 1
Y
cat >relu_twin.yaml <<Y
data: {name: ackley, n: 800, test_n: 2, dim: 6}
model: {name: relu_twin, width: 128, layers: 3}
optim: {name: gd, lr: 1.0e-6}
rounds: 2
certify: $ways
threads: 1
Y
cat >relu_deep.yaml <<Y
data: {name: sphere, n: 800, test_n: 2, dim: 40, phi: 0}
model: {name: relu_deep, width: 200, layers: 4}
optim: {name: gd, lr: 1.0e-4}
rounds: 2
certify: $ways
threads: 1
Y

# cut NAME FILE: ends the run as soon as FILE is there, which is when the next look begins; goes on; compares.
cut() {
    local pid code=0 file
    rm -rf cut
    "$program" train "$1.yaml" --trace --quiet --out cut >out 2>err &
    pid=$!
    for _ in $(seq 4000); do [ -e "cut/$2" ] && break || sleep 0.005; done
    kill -TERM $pid
    wait $pid || code=$?
    [ $code = 130 ] && grep -q 'while its certificate was made, all saved' err || complain "$1, $2: exit $code: $(cat err)"
    "$program" train "$1.yaml" --trace --quiet --resume --out cut >out 2>err || fail "$1, $2, resumed: $(cat err)"
    cmp <(grep '"certificate"' "$1/metrics.jsonl") <(grep '"certificate"' cut/metrics.jsonl) || complain "$1, $2: other certificates"
    [ "$(model_hash "$1")" = "$(model_hash cut)" ] || complain "$1, $2: another model"
    for file in "$1"/trace/*; do cmp "$file" "cut/trace/${file##*/}" || complain "$1, $2: another ${file##*/}"; done
}
for name in rnn relu_twin relu_deep; do
    "$program" train $name.yaml --trace --quiet --out $name >out 2>&1 || fail "$name: $(cat out)"
done
cut rnn trace/round-000000.safetensors
cut relu_twin trace/data.safetensors          # the look before the first round
cut relu_twin trace/round-000000.safetensors  # what changed in a round needs the weights before it
cut relu_twin trace/round-000001.safetensors  # the last one
cut relu_deep trace/round-000000.safetensors
