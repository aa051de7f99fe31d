#!/usr/bin/env bash
# Schemes with shares, as a user has them: traced rounds replayed by numpy, stopped and resumed runs
# with one hash, and wrong run files refused with exit 2 and the sentence.
set -eu
program=$1 source=$2
. "$2/tests/cli.sh"

# ---- Must refuse ---------------------------------------------------------------------------
cat > mlp.yaml <<'Y'
data: {name: glyphs, n: 600, test_n: 100}
model: {name: mlp, hidden: [32, 24], norm: batch}
optim: {lr: 0.05, momentum: 0.9, schedule: cosine}
scheme: {name: ist, workers: 4, local_steps: 3}
epochs: 6
batch: 20
eval: {every: 1}
checkpoint: {every: 0.5}
Y
refuse() { refused 2 "$1" train mlp.yaml --out bad --quiet "${@:2}"; [ ! -e bad ] || fail "a folder was left by: $*"; }
refuse "25 workers cannot share the 24 units of axis hidden.1" --set scheme.workers=25
refuse "above 0 and at most 1" --set scheme.name=masked --set scheme.xi=0
refuse "no axis" --set scheme.axes=hidden.9
refuse "scheme.workers" --set scheme.workers=0
refuse "has one worker" --set scheme.name=dense
"$program" check mlp.yaml > /dev/null

# ---- Resumed = uninterrupted ---------------------------------------------------------------
for settings in "" "--set scheme.momentum=carry --set scheme.data=shard --set scheme.local_steps=2" \
    "--trace --set scheme.momentum=carry --set data.augment=crop-flip --set epochs=2" \
    "--set scheme.name=masked --set scheme.xi=0.6 --set scheme.events=step" "--set scheme.name=local_sgd" \
    "--set scheme.name=loft --set scheme.axes=hidden.0,hidden.1 --set scheme.recalibrate=3 --set scheme.events=round" \
    "--set scheme.name=gpipe --set scheme.local_steps=1 --set scheme.micro_batches=2" \
    "--set scheme.name=multisample --set scheme.local_steps=1" "--set scheme.name=dropout --set scheme.workers=1 --set scheme.local_steps=1"; do
    rm -rf a b
    # shellcheck disable=SC2086
    "$program" train mlp.yaml --out a --quiet $settings > /dev/null
    # shellcheck disable=SC2086
    "$program" train mlp.yaml --out b --quiet --set threads=3 $settings > /dev/null 2>&1 & pid=$!
    until compgen -G "b/checkpoints/ckpt-*.safetensors" > /dev/null; do
        kill -0 $pid 2>/dev/null || break
        sleep 0.01
    done
    kill -9 $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    # shellcheck disable=SC2086
    "$program" train mlp.yaml --out b --resume --quiet $settings > /dev/null 2>&1
    [ "$(model_hash a)" = "$(model_hash b)" ] || fail "resumed: another hash, with: $settings"
    [ "$(timeless a)" = "$(timeless b)" ] || fail "metrics differ, with: $settings"
    [ ! -e a/trace ] || diff -rq a/trace b/trace || fail "another trace, with: $settings"
done

# ---- Replay --------------------------------------------------------------------------------
with_python numpy yaml
cat > masked.yaml <<'Y'
data: {name: sphere, n: 100, dim: 50, task: regress, test_n: 20}
model: {name: shallow, width: 4000, kappa: 0.1}
optim: {name: gd, lr: 0.5, momentum: 0}
scheme: {name: masked, workers: 4, local_steps: 3, xi: 0.5, events: round}
rounds: 3
Y
for settings in "" "--set scheme.draw=categorical" "--set optim.name=sgd --set batch=25 --set optim.lr=0.1" "--set backend=ref --set model.width=500"; do
    rm -rf m
    # shellcheck disable=SC2086
    "$program" train masked.yaml --out m --trace --quiet $settings > /dev/null
    python "$source/tests/python/replay_masked.py" m
done
echo "shares: refused, resumed and replayed"
