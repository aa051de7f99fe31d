#!/usr/bin/env bash
# on_divergence: rollback. The rate rises through the run, so that it diverges again and again: back to the last checkpoint that was
# due, on with half the rate. What comes out is what somebody gets who does the same by hand, to the bit; so do kills and stops at any
# moment, damaged checkpoints, other numbers of threads, and processes of mpirun.
set -eu
program=$1
. "$2/tests/cli.sh"
cat > run.yaml <<'Y'
data: {name: sphere, n: 64, test_n: 20, dim: 6, task: regress, prefetch: false}
model: {name: mlp, hidden: [32]}
optim: {lr: 12, momentum: 0.5, warmup: 1}
loss: mse
epochs: 12
batch: 16
eval: {every: 0.5}
checkpoint: {every: 2, keep: 1}
on_divergence: rollback
threads: 1
Y
train() { timeout -s KILL 60 "$program" train run.yaml --quiet "$@" >out 2>err; }
tensors_of() { python -c 'import struct, sys; raw = open(sys.argv[1], "rb").read(); sys.stdout.buffer.write(raw[8 + struct.unpack("<Q", raw[:8])[0]:])' "$1/model.safetensors" | sha256sum; }
told() { grep '"event":"rollback"' "$1/metrics.jsonl" | sed -E 's/.*"round":([0-9]+),"to":([0-9]+),.*"times":([0-9]).*/\1>\2:\3/' | tr '\n' ' '; }
same() { # FOLDER WHAT: model and metrics are those of the undisturbed run
    [ "$(model_hash "$1")" = "$want" ] || complain "$2: another SHA-256"
    [ "$(timeless "$1")" = "$lines" ] || complain "$2: other metrics: $(diff <(echo "$lines") <(timeless "$1"))"
}

# ---- Three times, twice to the same place, and by hand -------------------------------------------
train --out whole || fail "$(cat err)"
want=$(model_hash whole) lines=$(timeless whole)
[ "$(told whole)" = "10>8:1 16>8:2 34>32:3 " ] || fail "it was told so: $(told whole)"
grep -q "warning: diverged in round 16: going back to round 8 and on with half the rate, 0.55102 (2 of 3 times)" err || fail "the terminal: $(cat err)"
grep -aq '"tessera.rollbacks":"\[{\\"round\\":10,\\"to\\":8,' whole/model.safetensors || fail "the model does not tell"
by_hand() { # LR CODE: the rounds up to the next divergence
    rc=0
    train --out hand --set on_divergence=stop --set optim.lr="$1" --resume --force || rc=$?
    [ $rc -eq "$2" ] || fail "by hand at $1: exit $rc, $(cat err)"
}
by_hand 12 5
by_hand 6 5
by_hand 3 5
by_hand 1.5 0
[ "$(tensors_of hand)" = "$(tensors_of whole)" ] || complain "by hand come other weights"
[ "$(grep -v event hand/metrics.jsonl | sed -E 's/,"seconds":[^}]*//')" = "$(grep -v event <<<"$lines")" ] || complain "by hand come other metrics"

# ---- Used up, and refused --------------------------------------------------------------------------
refused 5 "diverged again after 3 rollbacks, at a rate of" train run.yaml --out wild --set optim.lr=1e6 --set optim.warmup=0
[ ! -e wild/model.safetensors ] && [ "$(ls wild/checkpoints)" = ckpt-000000000000.safetensors ] || complain "used up: $(ls wild wild/checkpoints)"
refused 2 "--trace records one way" train run.yaml --out no --trace
refused 2 "does not read on_divergence" sweep run.yaml --grid optim.lr=0.1,0.2 --out no
refused 2 "convert_at" train run.yaml --out no --set model.name=grelu --set model.hidden=[256,256] --set loss=auto --set convert_at=1 --set data.task=regress
[ ! -e no ] || complain "what was refused left a folder"

# ---- Other threads -----------------------------------------------------------------------------------
train --out three --set threads=3 --set data.prefetch=true || fail "$(cat err)"
same three "three threads"

# ---- Kills and stops at system calls -----------------------------------------------------------------
disturbed=0
if strace -o /dev/null true 2>/dev/null; then
    disturb() { # WHAT NUMBER [SETTING...]
        rm -rf cut
        { timeout -s KILL 60 strace -f -qq -o trace -e trace=write,fsync -e "inject=$1:when=$2" "$program" train run.yaml --quiet --out cut \
            "${@:3}" >out 2>err; } 2>/dev/null || true
        disturbed=$((disturbed + 1))
    }
    strace -f -qq -o trace -e trace=write,fsync "$program" train run.yaml --quiet --out count >out 2>err || fail "$(cat err)"
    writes=$(grep -c 'write(' trace) syncs=$(grep -c 'fsync(' trace)
    for ((n = 12; n <= writes; n += writes / 12)); do
        disturb write:signal=KILL $n
        train --out cut --resume || complain "killed at write $n: exit $?, $(cat err)"
        same cut "killed at write $n"
    done
    for ((n = 3; n <= syncs; n += syncs / 6)); do
        disturb fsync:signal=KILL $n
        train --out cut --resume || complain "killed at fsync $n: exit $?, $(cat err)"
        same cut "killed at fsync $n"
    done
    # A stop saves a checkpoint that an undisturbed run does not have: it must not be gone back to. And a second stop on the way.
    for ((n = 20; n <= writes; n += writes / 9)); do
        disturb write:signal=TERM $n
        { timeout -s KILL 60 strace -f -qq -o trace -e trace=write -e "inject=write:signal=TERM:when=15" "$program" train run.yaml --quiet --out cut \
            --resume >out 2>err; } 2>/dev/null || true
        train --out cut --resume || complain "stopped at write $n: exit $?, $(cat err)"
        same cut "stopped at write $n"
    done
    # The checkpoint to go back to is damaged: the one before leads there again, at the old rate.
    for ((n = 20; n <= writes; n++)); do
        disturb write:signal=TERM $n --set checkpoint.keep=9
        newest=$(find cut/checkpoints -name 'ckpt-*' | sort | tail -1 | sed 's/.*ckpt-0*\([0-9]*\)\..*/\1/')
        [ "${newest:-0}" -lt 9 ] || break
    done
    [ "$newest" -lt 15 ] || complain "no stop between rounds 8 and 16: $newest"
    truncate -s -1 cut/checkpoints/ckpt-000000000008.safetensors
    train --out cut --resume || complain "a damaged target: exit $?, $(cat err)"
    grep -q "ckpt-000000000008.*trying the checkpoint before it" err || complain "a damaged target is not named: $(cat err)"
    same cut "a damaged target"
    echo "$disturbed kills and stops of runs with $writes writes and $syncs fsyncs"
    [ $disturbed -ge 20 ] || complain "only $disturbed kills and stops"
fi

# ---- A list that is none -------------------------------------------------------------------------------
rm whole/model.safetensors
for text in '[1]' '{}' '[{"round":9,"to":-1}]' '[{"round":3,"to":8}]' '[{},{},{},{}]' 'no'; do
    python "$2/tests/python/set_meta.py" whole/checkpoints/ckpt-000000000048.safetensors tessera.rollbacks "$text"
    cp -r whole spoilt
    train --out spoilt --resume || complain "a list $text: exit $?, $(cat err)"
    grep -q "ckpt-000000000048.*trying the checkpoint before it" err || complain "a list $text was taken: $(cat err)"
    same spoilt "a list $text"
    rm -r spoilt
done

# What a damaged checkpoint says is not kept with the one before it: the run had enough there, by a loss that it saw two epochs later.
cat > enough.yaml <<'Y'
data: {name: sphere, n: 64, test_n: 20, dim: 6, task: regress, prefetch: false}
model: {name: mlp, hidden: [8]}
optim: {lr: 0.01}
stop: {metric: loss, below: 1000}
epochs: 9
batch: 16
eval: {every: 3}
checkpoint: {every: 1, keep: 9}
threads: 1
Y
"$program" train enough.yaml --out enough --quiet >out 2>err || complain "enough: exit $?, $(cat err)"
[ "$(find enough/checkpoints -name 'ckpt-*' | wc -l)" = 3 ] || complain "enough: $(ls enough/checkpoints)"
want=$(model_hash enough) lines=$(timeless enough)
rm enough/model.safetensors
python "$2/tests/python/set_meta.py" enough/checkpoints/ckpt-000000000012.safetensors tessera.rollbacks no
"$program" train enough.yaml --out enough --quiet --resume >out 2>err || complain "enough, resumed: exit $?, $(cat err)"
grep -q "ckpt-000000000012.*trying the checkpoint before it" err || complain "enough, resumed: $(cat err)"
same enough "what a damaged checkpoint says"

# ---- Schemes, optimisers, what else a checkpoint carries -----------------------------------------------
# of NAME SETTING...: it rolls back, and a resumed run (its newest checkpoint removed, then from that before) has the same bits.
of() {
    local name=$1 hash tell
    shift
    train --out "$name" --set checkpoint.keep=9 "$@" || { complain "$name: exit $?, $(cat err)"; return; }
    [ -n "$(told "$name")" ] || complain "$name: did not diverge"
    hash=$(model_hash "$name") tell=$(timeless "$name")
    for round in 24 8 0; do
        for f in "$name"/checkpoints/*; do [[ $f < $name/checkpoints/ckpt-$(printf %012d $((round + 1))) ]] || rm "$f"; done
        rm -f "$name/model.safetensors"
        train --out "$name" --set checkpoint.keep=9 --set threads=2 "$@" --resume || complain "$name from $round: exit $?, $(cat err)"
        [ "$(model_hash "$name")" = "$hash" ] || complain "$name from round $round: another SHA-256"
        [ "$(timeless "$name")" = "$tell" ] || complain "$name from round $round: other metrics: $(diff <(echo "$tell") <(timeless "$name"))"
    done
}
of best --set optim.keep=best --set optim.ema=0.5 --set distance.every=1
of auto --set backend=auto
of patience --set stop.metric=test_loss --set stop.patience=40
of gpipe --set scheme.name=gpipe --set scheme.workers=2
of local_sgd --set scheme.name=local_sgd --set scheme.workers=3
of masked --set scheme.name=masked --set scheme.workers=3 --set scheme.momentum=carry --set scheme.local_steps=1 --set scheme.events=round
if command -v mpirun >/dev/null && ldd "$program" | grep -q libmpi; then
    ranks() {
        OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 100 mpirun -n 3 \
            "$program" train run.yaml --quiet "$@" >out 2>err
    }
    settings=(--set scheme.name=local_sgd --set scheme.workers=3 --set checkpoint.keep=9)
    ranks --out ranks "${settings[@]}" || complain "with ranks: exit $?, $(cat err)"
    [ "$(model_hash ranks)" = "$(model_hash local_sgd)" ] || complain "with ranks: another SHA-256"
    [ "$(told ranks)" = "$(told local_sgd)" ] || complain "with ranks: $(told ranks)"
    ! ranks --out no --set scheme.name=gpipe --set scheme.workers=2 || complain "gpipe with ranks is not refused"
    grep -q "cannot go back" err || complain "gpipe with ranks: $(cat err)"
fi

# ---- Certificates: the rate is no longer constant ------------------------------------------------------
cat > paper.yaml <<'Y'
data: {name: sphere, n: 24, test_n: 8, dim: 6, task: regress}
model: {name: shallow, width: 64}
optim: {name: gd, lr: 2.5, momentum: 0}
rounds: 12
checkpoint: {every: 2}
certify: {every: 4}
on_divergence: rollback
Y
"$program" train paper.yaml --out paper --quiet 2>err >/dev/null || complain "with certificates: exit $?, $(cat err)"
[ "$(told paper)" = "8>6:1 " ] || complain "with certificates: $(told paper), $(cat err)"
certificate() { grep '"event":"certificate"' paper/metrics.jsonl | sed -n "$(($1 / 4 + 1))p"; } # before the run, then after every fourth round
certificate 4 | grep -q "its rate was halved" && complain "the certificate of round 4 tells of what came later"
certificate 12 | grep -q "the run diverged and its rate was halved: it goes from 2.5 to 1.25" || complain "the certificate does not tell: $(certificate 12 | head -c 800)"
lines=$(timeless paper) want=$(model_hash paper)
for round in 8 6 0; do
    for f in paper/checkpoints/*; do [[ $f < paper/checkpoints/ckpt-$(printf %012d $((round + 1))) ]] || rm "$f"; done
    rm -f paper/model.safetensors
    "$program" train paper.yaml --out paper --quiet --resume >/dev/null 2>err || complain "with certificates, from $round: exit $?, $(cat err)"
    same paper "with certificates, from round $round"
done
# From the start on it is another constant: nothing is broken.
"$program" train paper.yaml --out start --quiet --set checkpoint.every=0 >/dev/null 2>&1 || complain "from the start: exit $?"
[ "$(told start)" = "9>0:1 " ] || complain "from the start: $(told start)"
! grep -q "its rate was halved" start/metrics.jsonl || complain "a rate that was halved before the first round is called broken"
"$program" train paper.yaml --out plain --quiet --set optim.lr=1.25 --set on_divergence=stop >/dev/null 2>&1
[ "$(tensors_of start)" = "$(tensors_of plain)" ] || complain "from the start: other weights than at half the rate"
[ "$(grep -v rollback start/metrics.jsonl | sed -E 's/,"seconds":[^}]*//')" = "$(timeless plain | sed -E 's/,"seconds":[^}]*//')" ] || complain "from the start: other metrics than at half the rate: $(diff <(grep -v rollback start/metrics.jsonl) plain/metrics.jsonl | head -c 600)"
