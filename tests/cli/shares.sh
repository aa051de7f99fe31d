#!/usr/bin/env bash
# Schemes with shares, as a user has them: traced rounds replayed by numpy, stopped and resumed runs
# with one hash, and wrong run files refused with exit 2 and the sentence.
set -eu
program=$1 source=$2
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

# ---- Must refuse ---------------------------------------------------------------------------
cat > "$work/mlp.yaml" <<'Y'
data: {name: glyphs, n: 600, test_n: 100}
model: {name: mlp, hidden: [32, 24], norm: batch}
optim: {lr: 0.05, momentum: 0.9, schedule: cosine}
scheme: {name: ist, workers: 4, local_steps: 3}
epochs: 6
batch: 20
eval: {every: 1}
checkpoint: {every: 0.5}
Y
refuse() { # words, settings...
    local words=$1 code=0; shift
    "$program" train "$work/mlp.yaml" --out "$work/bad" --quiet "$@" > /dev/null 2> "$work/errors" || code=$?
    [ $code = 2 ] || { echo "exit $code, not 2, with: $*"; cat "$work/errors"; exit 1; }
    grep -q -- "$words" "$work/errors" || { echo "no '$words' with: $*"; cat "$work/errors"; exit 1; }
    [ ! -e "$work/bad" ] || { echo "a folder was left by: $*"; exit 1; }
}
refuse "25 workers cannot share the 24 units of axis hidden.1" --set scheme.workers=25
refuse "above 0 and at most 1" --set scheme.name=masked --set scheme.xi=0
refuse "no axis" --set scheme.axes=hidden.9
refuse "scheme.workers" --set scheme.workers=0
refuse "has one worker" --set scheme.name=dense
"$program" check "$work/mlp.yaml" > /dev/null

# ---- Resumed = uninterrupted ---------------------------------------------------------------
hash_of() { sha256sum < "$1/model.safetensors"; }
strip() { sed -E 's/,"seconds":[^}]*//' "$1/metrics.jsonl"; }
for settings in "" "--set scheme.momentum=carry --set scheme.data=shard --set scheme.local_steps=2" \
    "--set scheme.name=masked --set scheme.xi=0.6 --set scheme.events=step" "--set scheme.name=local_sgd" \
    "--set scheme.name=loft --set scheme.axes=hidden.0,hidden.1 --set scheme.recalibrate=3 --set scheme.events=round" \
    "--set scheme.name=gpipe --set scheme.local_steps=1 --set scheme.micro_batches=2" \
    "--set scheme.name=multisample --set scheme.local_steps=1" "--set scheme.name=dropout --set scheme.workers=1 --set scheme.local_steps=1"; do
    rm -rf "$work/a" "$work/b"
    # shellcheck disable=SC2086
    "$program" train "$work/mlp.yaml" --out "$work/a" --quiet $settings > /dev/null
    # shellcheck disable=SC2086
    "$program" train "$work/mlp.yaml" --out "$work/b" --quiet --set threads=3 $settings > /dev/null 2>&1 & pid=$!
    until compgen -G "$work/b/checkpoints/ckpt-*.safetensors" > /dev/null; do
        kill -0 $pid 2>/dev/null || break
        sleep 0.01
    done
    kill -9 $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    # shellcheck disable=SC2086
    "$program" train "$work/mlp.yaml" --out "$work/b" --resume --quiet $settings > /dev/null 2>&1
    [ "$(hash_of "$work/a")" = "$(hash_of "$work/b")" ] || { echo "resumed: another hash, with: $settings"; exit 1; }
    [ "$(strip "$work/a")" = "$(strip "$work/b")" ] || { echo "metrics differ, with: $settings"; exit 1; }
done

# ---- Replay --------------------------------------------------------------------------------
/usr/bin/python3 -c 'import numpy, yaml' 2>/dev/null || { echo "skipped: no numpy here"; exit 77; }
cat > "$work/masked.yaml" <<'Y'
data: {name: sphere, n: 100, dim: 50, task: regress, test_n: 20}
model: {name: shallow, width: 4000, kappa: 0.1}
optim: {name: gd, lr: 0.5, momentum: 0}
scheme: {name: masked, workers: 4, local_steps: 3, xi: 0.5, events: round}
rounds: 3
Y
for settings in "" "--set scheme.draw=categorical" "--set optim.name=sgd --set batch=25 --set optim.lr=0.1" "--set backend=ref --set model.width=500"; do
    rm -rf "$work/m"
    # shellcheck disable=SC2086
    "$program" train "$work/masked.yaml" --out "$work/m" --trace --quiet $settings > /dev/null
    /usr/bin/python3 "$source/tests/python/replay_masked.py" "$work/m"
done
echo "shares: refused, resumed and replayed"
