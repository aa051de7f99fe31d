#!/usr/bin/env bash
# optim.clip as a user has it: every step beside PyTorch's clip_grad_norm_, the same bits on any number of threads,
# refused where no process has the whole gradient, no theorem with it.
set -eu
program=$1 source=$2
. "$2/tests/cli.sh"
cat > run.yaml <<'Y'
data: {name: glyphs, n: 200, test_n: 40}
model: {name: mlp, hidden: [16, 12]}
optim: {lr: 0.05, clip: 1.2}
rounds: 6
batch: 20
eval: {every: 0}
Y
train() { "$program" train run.yaml --out "$1" --quiet "${@:2}" >/dev/null 2>log || fail "$*: $(cat log)"; }
train one --set threads=1
train three --set threads=3
cmp one/model.safetensors three/model.safetensors || complain "threads change the bits"
train free --set optim.clip=0
cmp -s one/model.safetensors free/model.safetensors && complain "nothing was clipped"
train far --set optim.clip=1000000
if command -v mpirun >/dev/null && ldd "$program" | grep -q libmpi; then
    code=0
    mpirun --allow-run-as-root --oversubscribe -n 3 "$program" train run.yaml --out crew --quiet --set scheme.name=gpipe --set scheme.workers=2 >log 2>&1 || code=$?
    [ $code -ne 0 ] && grep -q "optim.clip needs the whole gradient" log || complain "gpipe with mpirun: exit $code, $(cat log)"
fi
cat > theory.yaml <<'Y'
data: {name: sphere, n: 20, dim: 10, task: regress}
model: {name: shallow, width: 200}
optim: {name: gd, lr: 0.001, clip: 5}
rounds: 2
Y
"$program" certify theory.yaml --json >certificate.json
grep -q "gradients are clipped to 5" certificate.json || complain "theorems"

with_python numpy torch yaml
train a --trace
train b --trace --set optim.name=adamw --set optim.lr=0.003 --set optim.clip=0.5 --set backend=ref
train c --trace --set scheme.name=local_sgd --set scheme.workers=2 --set scheme.local_steps=2
train d --trace --set scheme.micro_batches=4
python "$source/tests/python/torch_recipe.py" a b c d || fail "PyTorch"
python - "$source" <<'PY' || fail "far clip"
import sys; sys.path.insert(0, sys.argv[1] + "/tests/python"); import safetensors_numpy
far, free = (safetensors_numpy.load(f"{n}/model.safetensors")[0] for n in ("far", "free"))
assert all((far[k] == free[k]).all() for k in free), "a clip that is never reached changes numbers"
PY
