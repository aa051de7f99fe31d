#!/usr/bin/env bash
# The same run twice, with other thread counts, without prefetching, stopped by Ctrl-C, and killed with
# SIGKILL at 20 random moments and resumed: model.safetensors has one and the same SHA-256.
set -eu
program=$1
. "$2/tests/cli.sh"
cat > run.yaml <<'Y'
data: {name: glyphs, n: 1600, test_n: 200, augment: crop}
model: {name: mlp, hidden: [128, 64], norm: batch}
optim: {lr: 0.05, momentum: 0.9, weight_decay: 1.0e-4, schedule: cosine, warmup: 0.1}
epochs: 6
batch: 64
eval: {every: 0.5}
checkpoint: {every: 0.25}
Y
train() { "$program" train run.yaml --quiet "$@" > /dev/null 2> errors || { code=$?; cat errors; return $code; }; }
begin() { exec "$program" train run.yaml --quiet "$@" > /dev/null 2>&1; } # for &: the pid is the program's own

start=$(date +%s%N)
train --out a
took=$((($(date +%s%N) - start) / 1000000))
want=$(model_hash a)
train --out b --set threads=1 --set data.prefetch=false
[ "$(model_hash b)" = "$want" ] || fail "one thread, no prefetch: another hash"
train --out c --set threads=3
[ "$(model_hash c)" = "$want" ] || fail "three threads: another hash"

seed=${TESSERA_TEST_SEED:-$RANDOM}; RANDOM=$seed
echo "random moments from seed $seed (TESSERA_TEST_SEED repeats them); a run takes $took ms"
killed=0 finished=0
while [ $killed -lt 20 ]; do
    [ -f k/model.safetensors ] && { rm -r k; finished=$((finished + 1)); }
    begin --out k --resume & pid=$!
    sleep "$(awk "BEGIN{print ($RANDOM % 1000) / 1000 * $took / 1000}")"
    kill -9 $pid 2>/dev/null && killed=$((killed + 1))
    wait $pid 2>/dev/null || true
    [ ! -f k/model.safetensors ] || [ "$(model_hash k)" = "$want" ] || fail "after $killed kills: another hash"
done
train --out k --resume
[ "$(model_hash k)" = "$want" ] || fail "killed and resumed: another hash"
# The lines of metrics, but for the time, are those of the undisturbed run too.
[ "$(timeless k)" = "$(timeless a)" ] || fail "metrics differ: $(diff <(timeless k) <(timeless a))"
[ -z "$(find k -name '*.tmp')" ] || fail "temporary files are left"

# Ctrl-C: all saved, exit 130, and the same hash after resuming.
begin --out i & pid=$!
# Not after so many milliseconds: the run may be over by then when the machine has just become faster.
until compgen -G "i/checkpoints/ckpt-*.safetensors" > /dev/null; do
    kill -0 $pid || fail "the run ended without a checkpoint"
    sleep 0.01
done
kill -TERM $pid; code=0; wait $pid || code=$?
[ $code = 130 ] || fail "SIGTERM gave exit $code, not 130"
train --out i --resume
[ "$(model_hash i)" = "$want" ] || fail "stopped and resumed: another hash"

# A position that cannot be is passed over for the checkpoint before it. Strangers among the checkpoints are left alone.
with_python
last=$(find a/checkpoints -name 'ckpt-*' | sort | tail -n 1)
state=$(python -c 'import json, struct, sys
raw = open(sys.argv[1], "rb").read()
print(json.loads(raw[8 : 8 + struct.unpack("<Q", raw[:8])[0]])["__metadata__"]["tessera.state"])' "$last")
rm a/model.safetensors
echo mine > a/checkpoints/notes.txt
spoilt() { # WORDS KEY VALUE
    rm -rf s; cp -r a s
    python "$2/tests/python/set_meta.py" "${last/#a/s}" "$3" "$4"
    train --out s --resume || fail "$3 $4: exit $?"
    grep -qF "$1" errors && grep -q "trying the checkpoint before" errors || fail "$3 $4: $(cat errors)"
    [ "$(model_hash s)" = "$want" ] || fail "$3 $4: another hash"
    [ -f s/checkpoints/notes.txt ] || fail "a file of the user's is gone"
}
spoilt "the position lacks round" "$2" tessera.state "{}"
spoilt "the position lacks" "$2" tessera.state "${state/\"round\":150/\"round\":\"x\"}"
spoilt "it stands at round 151 of a run of 150" "$2" tessera.state "${state/\"round\":150/\"round\":151}"
spoilt "not a round" "$2" tessera.converted 151
cp -r a r
python "$2/tests/python/set_meta.py" "${last/#a/r}" tessera.converted 3
refused 2 "the run file does not say convert_at" train run.yaml --out r --resume --quiet

# tests/golden/run-0.1 is a run that version 0.1 was killed in, after two of its four epochs.
cp -r "$2/tests/golden/run-0.1" old && chmod -R u+w old
"$program" train old/run.yaml --out old --resume --quiet > /dev/null 2> errors || fail "a checkpoint of 0.1: $(cat errors)"
"$program" train old/run.yaml --out new --quiet > /dev/null
[ "$(model_hash old)" = "$(model_hash new)" ] || fail "a run that 0.1 began ends with another hash"
# The first files of 0.1 had no test_rmse, stale and unlooked.
cp -r "$2/tests/golden/run-0.1" first && chmod -R u+w first
python - "$2" first/checkpoints/*.safetensors <<'PY'
import json, struct, subprocess, sys
source, path = sys.argv[1:]
blob = open(path, "rb").read()
state = json.loads(json.loads(blob[8 : 8 + struct.unpack("<Q", blob[:8])[0]])["__metadata__"]["tessera.state"])
for name in ("test_rmse", "stale", "unlooked"):
    state.pop(name, None)
subprocess.run([sys.executable, source + "/tests/python/set_meta.py", path, "tessera.state", json.dumps(state)], check=True)
PY
"$program" train first/run.yaml --out first --resume --quiet > /dev/null 2> errors || fail "a first file of 0.1: $(cat errors)"
[ "$(model_hash first)" = "$(model_hash new)" ] && ! grep -q "trying the checkpoint before" errors || fail "a first file of 0.1: another hash, or not read"
echo "20 kills in $((finished + 1)) runs, one hash"
