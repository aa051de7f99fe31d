#!/usr/bin/env bash
# Faults of the disk: a full one (a small tmpfs), and with strace a failure or a kill at the system
# calls with which a run saves (two of each kind here, on the program as it is installed; tests/faults/ tries all). What was saved before stays whole, a run goes on without a checkpoint
# that could not be written, and the run that is resumed has the SHA-256 of the undisturbed one.
set -u
program=$1
. "$2/tests/cli.sh"
cat > run.yaml <<'Y'
data: {name: glyphs, n: 160, test_n: 20, prefetch: false}
model: {name: mlp, hidden: [16]}
optim: {lr: 0.05}
epochs: 4
batch: 20
checkpoint: {keep: 9}
Y
train() { timeout -s KILL 60 "$program" train run.yaml "$@" >out 2>err; }
train --out whole || fail "$(cat err)"
want=$(model_hash whole)
size=$(stat -c %s whole/checkpoints/ckpt-000000000032.safetensors)
clean() { # clean FOLDER WHAT: no temporary file, no checkpoint is short (the position in it takes a few bytes more or less)
    [ -z "$(find "$1" -name '*.tmp*')" ] || complain "$2: a temporary file is left"
    [ -z "$(find "$1" -name 'ckpt-*' -size -$((size - 2000))c)" ] || complain "$2: a part of a checkpoint is left"
}

# ---- A full disk ---------------------------------------------------------------------------------
# Inside a mount namespace of its own, so that nothing is left mounted whatever happens. 512 kB hold
# the small files and four checkpoints of 100 kB; a ballast takes the room away.
on_full_disk() {
    mkdir -p disk
    mount -t tmpfs -o size=512k none disk || return 77
    # Room for two checkpoints and the model: two warnings, and the run ends well.
    head -c 225000 /dev/zero >disk/ballast
    train --out disk/a || complain "disk full for two checkpoints: exit $?, $(cat err)"
    [ "$(grep -c 'warning: checkpoint of round .* was not saved, training goes on: .*free some space' err)" -eq 2 ] ||
        complain "disk full: not two warnings: $(cat err)"
    clean disk/a "disk full"
    [ "$(model_hash disk/a)" = "$want" ] || complain "disk full: another SHA-256"
    [ "$(find disk/a/checkpoints -name 'ckpt-*' | wc -l)" -eq 2 ] || complain "disk full: $(ls disk/a/checkpoints)"
    rm -r disk/a
    # No room for the model: exit 4, and when there is room again --resume ends the run.
    head -c 275000 /dev/zero >disk/ballast
    train --out disk/a
    rc=$?
    [ $rc -eq 4 ] && grep -q "model.safetensors.*free some space" err || complain "no room for the model: exit $rc, $(cat err)"
    clean disk/a "no room for the model"
    rm disk/ballast
    train --out disk/a --resume || complain "room again: exit $?, $(cat err)"
    grep -q "resumed at round 16 of 32" err || complain "room again: $(cat err)"
    [ "$(model_hash disk/a)" = "$want" ] || complain "room again: another SHA-256"
    # Not one byte left at the start.
    rm -r disk/a
    head -c 600000 /dev/zero >disk/ballast 2>/dev/null
    train --out disk/a
    rc=$?
    [ $rc -eq 4 ] || complain "nothing left at the start: exit $rc, $(cat err)"
    return $failed
}
namespace="unshare -m"
[ "$(id -u)" -eq 0 ] || namespace="unshare -rm"
if $namespace true 2>/dev/null; then
    export -f on_full_disk train model_hash clean complain
    export program want size failed
    $namespace bash -c on_full_disk
    case $? in
    0) ;;
    77) echo "no tmpfs can be mounted here: the full disk was skipped" ;;
    *) failed=1 ;;
    esac
else
    echo "no namespaces here: the full disk was skipped"
fi

# ---- A limit on file sizes -----------------------------------------------------------------------
# Once SIGXFSZ ended the program without a word (exit 153). 30 kB: run.yaml and the metrics fit, a checkpoint does not.
(ulimit -f 30 && train --out limited)
rc=$?
[ $rc -eq 4 ] && grep -q "model.safetensors: cannot write: File too large; raise the limit on file sizes (ulimit -f)" err ||
    complain "ulimit -f 30: exit $rc, $(cat err)"
clean limited "ulimit -f 30"
train --out limited --resume || complain "no limit any more: exit $?, $(cat err)"
[ "$(model_hash limited)" = "$want" ] || complain "no limit any more: another SHA-256"
[ "$(timeless limited)" = "$(timeless whole)" ] || complain "no limit any more: other metrics"
(ulimit -f 0 && train --out limited0) 2>/dev/null # not even the lock, nor what we say (err is a file, too)
rc=$?
[ $rc -eq 4 ] || complain "ulimit -f 0: exit $rc"
"$program" help run-file >help || complain "help: exit $?"
(ulimit -f 1 && "$program" help run-file >shortened 2>/dev/null)
rc=$?
[ $rc -eq 1 ] && [ "$(stat -c %s shortened)" -le 1024 ] || complain "standard output beyond ulimit -f: exit $rc"

# ---- Links in the folder -------------------------------------------------------------------------
# A folder from a stranger must not have us empty what a link in it points at.
for name in run.lock metrics.jsonl; do
    mkdir linked
    echo precious >target
    ln -s ../target "linked/$name"
    train --out linked
    rc=$?
    [ $rc -eq 2 ] && grep -q "linked/$name is a symbolic link" err || complain "$name is a link: exit $rc, $(cat err)"
    [ "$(cat target)" = precious ] || complain "$name is a link: its target has been changed"
    rm "linked/$name"
    train --out linked || complain "$name is no link any more: exit $?, $(cat err)"
    rm -r linked
done
# Nor remove what lies where a link leads to: it was followed, and checkpoints there were replaced and removed.
for name in checkpoints trace; do
    mkdir linked elsewhere
    echo precious >elsewhere/ckpt-000000000001.safetensors
    ln -s ../elsewhere "linked/$name"
    train --out linked --trace
    rc=$?
    [ $rc -eq 2 ] && grep -q "linked/$name is a symbolic link" err || complain "$name is a link: exit $rc, $(cat err)"
    [ "$(ls elsewhere) $(cat elsewhere/*)" = "ckpt-000000000001.safetensors precious" ] || complain "$name is a link: $(ls -l elsewhere)"
    rm -r linked elsewhere
done
# Files that are replaced whole replace a link, too.
mkdir -p linked
for name in model.safetensors report.html; do ln -s ../target "linked/$name"; done
train --out linked || complain "links at the end: exit $?, $(cat err)"
[ "$(cat target)" = precious ] && [ ! -L linked/model.safetensors ] && [ ! -L linked/report.html ] || complain "links at the end: $(ls -l linked)"

# ---- Every system call ---------------------------------------------------------------------------
if ! strace -o /dev/null true 2>/dev/null; then
    echo "strace is not here, or may not trace: the system calls were skipped"
    exit
fi
# The last epoch only: one line of metrics, one checkpoint, the model.
calls="write fsync rename renameat renameat2 unlink ftruncate"
stopped() {
    rm -rf "$1"
    cp -r whole "$1"
    rm "$1/model.safetensors" "$1/checkpoints/ckpt-000000000032.safetensors"
}
traced() { # traced FOLDER INJECTION: the command dies with the program, so bash's word of it is dropped
    { timeout -s KILL 60 strace -f -qq -o trace -e "trace=${calls// /,}" ${2:+-e "inject=$2"} \
        "$program" train run.yaml --quiet --out "$1" --resume >out 2>err; } 2>/dev/null
}
# resumable WHAT: whatever happened, the run is ended by --resume with the same bits.
resumable() {
    [ -f cut/checkpoints/ckpt-000000000024.safetensors ] || complain "$1: the checkpoint before is gone"
    train --out cut --resume --quiet || complain "$1: it cannot be resumed: $(cat err)"
    [ "$(model_hash cut)" = "$want" ] || complain "$1: another SHA-256"
    # A line that could not be written was once gone for good, with exit 0.
    [ "$(timeless cut)" = "$(timeless whole)" ] || complain "$1: other metrics: $(diff <(timeless whole) <(timeless cut))"
    clean cut "$1"
}
stopped count
traced count "" || fail "$(cat err)"
cp trace undisturbed
tried=0
for call in $calls; do
    count=$(grep -cE "^[0-9 ]*$call\(" undisturbed)
    for ((n = 1; n <= count; n += (count + 1) / 2)); do
        stopped cut
        traced cut "$call:signal=KILL:when=$n"
        resumable "kill at $call $n"
        tried=$((tried + 1))
        [ "$call" != unlink ] || continue
        # An error instead, once or from there on: it ends well or says what failed; nothing hangs.
        for fault in error=ENOSPC:when=$n error=EIO:when=$n+; do
            stopped cut
            traced cut "$call:$fault"
            rc=$?
            case $rc in
            0 | 1 | 4) ;;
            *) complain "$call $fault: exit $rc, $(cat err)" ;;
            esac
            # Standard error goes the same way when the call is write.
            [ $rc -eq 0 ] || [ "$call" = write ] || grep -q "^tessera: " err || complain "$call $fault: no sentence"
            resumable "$call $fault"
            tried=$((tried + 1))
        done
    done
done
# The line of metrics, whichever write it is: full for that call, and from there on for the metrics alone.
line=$(grep -E "^[0-9 ]*write\(" undisturbed | grep -n '"{\\"' | head -1 | cut -d: -f1)
[ -n "$line" ] || complain "no line of metrics in $(cat undisturbed)"
stopped cut
traced cut "write:error=ENOSPC:when=${line:-1}"
rc=$?
[ $rc -eq 0 ] && grep -q "warning: cut/metrics.jsonl: cannot write: No space left on device.*the line is kept for later" err ||
    complain "a line of metrics on a full disk: exit $rc, $(cat err)"
[ "$(timeless cut)" = "$(timeless whole)" ] || complain "a line of metrics on a full disk is lost: $(diff <(timeless whole) <(timeless cut))"
resumable "a line of metrics on a full disk"
[ $tried -ge 12 ] || complain "only $tried faults were tried: $(cat undisturbed)"
echo "$tried faults at the system calls of a save"
