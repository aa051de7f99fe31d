#!/usr/bin/env bash
# precision.sh PROGRAM SOURCE: bf16 is refused where the processor has no instructions for it and
# trains where it has; `ref` defines it everywhere, and a model so trained can be used everywhere.
set -eu
program=$1
. "$2/tests/cli.sh"
cat > run.yaml <<'RUN'
data:      {name: glyphs, n: 400, test_n: 200}
model:     {name: cnn1, width: 8}
optim:     {lr: 0.02}
epochs:    2
batch:     20
precision: bf16
RUN
accuracy() { python -c 'import json, sys; print(json.load(sys.stdin)["accuracy"])'; }

"$program" train run.yaml --out ref --quiet --set backend=ref > /dev/null
"$program" train run.yaml --out f32 --quiet --set backend=ref --set precision=f32 > /dev/null
cmp -s ref/model.safetensors f32/model.safetensors && fail "bf16 changed nothing"
grep -q 'precision: bf16' ref/run.yaml || fail "the resolved run file does not say bf16"

# A checkpoint says how it was computed: what was asked for, and whose kernels did it.
newest=$(ls ref/checkpoints | tail -1)
for words in 'precision: bf16' 'conv: auto' '"tessera.kernels":"ref"'; do
    head -c 20000 "ref/checkpoints/$newest" | grep -aqF "$words" || fail "no '$words' in $newest"
done

# The same model on the cpu backend: the same numbers to a sample or two of 200, whose outputs were
# nearly equal.
there=$("$program" eval ref/model.safetensors --json | accuracy)
python - "$there" "$(tail -1 ref/metrics.jsonl)" <<'PYTHON'
import json, sys
got, want = float(sys.argv[1]), json.loads(sys.argv[2])["test_accuracy"]
assert abs(got - want) <= 0.01, (got, want)
PYTHON

code=0
"$program" train run.yaml --out cpu --quiet > /dev/null 2> err || code=$?
if grep -qE 'avx512_bf16|amx_bf16' /proc/cpuinfo; then
    [ $code = 0 ] || fail "this processor has bf16: $(cat err)"
    "$program" train run.yaml --out again --quiet --set threads=1 > /dev/null
    cmp cpu/model.safetensors again/model.safetensors || fail "the number of threads changed the bits"
else
    [ $code = 2 ] || fail "exit $code, not 2"
    grep -q 'run.yaml:6:.*bf16 needs a processor.*backend: ref' err || fail "no such sentence: $(cat err)"
fi
refused 2 f32 train run.yaml --out none --set precision=f16
refused 2 precision train run.yaml --out ref --resume --set backend=ref --set precision=f32
