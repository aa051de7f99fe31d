#!/usr/bin/env bash
# Faults of the disk: a full one (a small tmpfs), and with strace a failure or a kill at the system
# calls with which a run saves. What was saved before stays whole, a run goes on without a checkpoint
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
    clean cut "$1"
}
stopped count
traced count "" || fail "$(cat err)"
cp trace undisturbed
tried=0
for call in $calls; do
    count=$(grep -cE "^[0-9 ]*$call\(" undisturbed)
    for ((n = 1; n <= count; n += (count + 7) / 8)); do
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
[ $tried -ge 30 ] || complain "only $tried faults were tried: $(cat undisturbed)"
echo "$tried faults at the system calls of a save"
