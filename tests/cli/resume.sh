#!/usr/bin/env bash
# The same run twice, with other thread counts, without prefetching, stopped by Ctrl-C, and killed with
# SIGKILL at 20 random moments and resumed: model.safetensors has one and the same SHA-256.
set -eu
program=$1
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cat > "$work/run.yaml" <<'Y'
data: {name: glyphs, n: 4000, test_n: 500, augment: crop}
model: {name: mlp, hidden: [128, 64], norm: batch}
optim: {lr: 0.05, momentum: 0.9, weight_decay: 1.0e-4, schedule: cosine, warmup: 0.1}
epochs: 6
batch: 64
eval: {every: 0.5}
checkpoint: {every: 0.25}
Y
train() { "$program" train "$work/run.yaml" --quiet "$@" > /dev/null 2> "$work/errors" || { code=$?; cat "$work/errors"; return $code; }; }
begin() { exec "$program" train "$work/run.yaml" --quiet "$@" > /dev/null 2>&1; } # for &: the pid is the program's own
hash_of() { sha256sum < "$1/model.safetensors"; }

start=$(date +%s%N)
train --out "$work/a"
took=$((($(date +%s%N) - start) / 1000000))
want=$(hash_of "$work/a")
train --out "$work/b" --set threads=1 --set data.prefetch=false
[ "$(hash_of "$work/b")" = "$want" ] || { echo "one thread, no prefetch: another hash"; exit 1; }
train --out "$work/c" --set threads=3
[ "$(hash_of "$work/c")" = "$want" ] || { echo "three threads: another hash"; exit 1; }

seed=${TESSERA_TEST_SEED:-$RANDOM}; RANDOM=$seed
echo "random moments from seed $seed (TESSERA_TEST_SEED repeats them); a run takes $took ms"
killed=0 finished=0
while [ $killed -lt 20 ]; do
    [ -f "$work/k/model.safetensors" ] && { rm -r "$work/k"; finished=$((finished + 1)); }
    begin --out "$work/k" --resume & pid=$!
    sleep "$(awk "BEGIN{print ($RANDOM % 1000) / 1000 * $took / 1000}")"
    kill -9 $pid 2>/dev/null && killed=$((killed + 1))
    wait $pid 2>/dev/null || true
    [ ! -f "$work/k/model.safetensors" ] || [ "$(hash_of "$work/k")" = "$want" ] || { echo "after $killed kills: another hash"; exit 1; }
done
train --out "$work/k" --resume
[ "$(hash_of "$work/k")" = "$want" ] || { echo "killed and resumed: another hash"; exit 1; }
# The lines of metrics, but for the time, are those of the undisturbed run too.
strip() { sed -E 's/,"seconds":[^}]*//' "$1/metrics.jsonl"; }
[ "$(strip "$work/k")" = "$(strip "$work/a")" ] || { echo "metrics differ"; diff <(strip "$work/k") <(strip "$work/a"); exit 1; }
[ -z "$(find "$work/k" -name '*.tmp')" ] || { echo "temporary files are left"; exit 1; }

# Ctrl-C: all saved, exit 130, and the same hash after resuming.
begin --out "$work/i" & pid=$!
# Not after so many milliseconds: the run may be over by then when the machine has just become faster.
until compgen -G "$work/i/checkpoints/ckpt-*.safetensors" > /dev/null; do
    kill -0 $pid || { echo "the run ended without a checkpoint"; exit 1; }
    sleep 0.01
done
kill -TERM $pid; code=0; wait $pid || code=$?
[ $code = 130 ] || { echo "SIGTERM gave exit $code, not 130"; exit 1; }
train --out "$work/i" --resume
[ "$(hash_of "$work/i")" = "$want" ] || { echo "stopped and resumed: another hash"; exit 1; }
echo "20 kills in $((finished + 1)) runs, one hash"
