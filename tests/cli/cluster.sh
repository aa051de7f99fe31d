#!/usr/bin/env bash
# cluster.sh PROGRAM SOURCE: the same run under mpirun has the same bits, with any number of ranks, killed and resumed with
# another number; dead, stopped and strange workers cost a share its round and nothing more; a dead coordinator leaves
# no orphan. Every wait has a limit.
set -u
program=$1
command -v mpirun >/dev/null || { echo "no mpirun here (openmpi-bin): skipped"; exit 77; }
ldd "$program" | grep -q libmpi || { echo "this build has no MPI: skipped"; exit 77; }
work=$(mktemp -d)
trap 'end_all; rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Every rank leaves its number where it can be found at once: runs are short, and the machine may be busy.
cat >rank <<'EOT'
#!/bin/sh
echo $$ "$(cut -d' ' -f22 /proc/$$/stat)" >"pid-$OMPI_COMM_WORLD_RANK"
exec "$@"
EOT
chmod +x rank
ranks() { rm -f pid-*; timeout 300 mpirun --enable-recovery -n "$1" ./rank "${@:2}"; }
rank_pid() { cut -d' ' -f1 "pid-$1" 2>/dev/null; }
# A process is known by its number and the moment it was started, not by a name: the program starts itself anew, as "exe".
state() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f1,20; }
alive() {
    local pid start now born
    { read -r pid start <"pid-$1"; } 2>/dev/null || return 1
    read -r now born < <(state "$pid")
    [ "$born" = "$start" ] && [ "$now" != Z ]
}
end_all() { local r; for r in 0 1 2 3 4; do alive $r && kill -9 "$(rank_pid $r)" 2>/dev/null; done; }
sum() { sha256sum "$1/model.safetensors" | cut -d' ' -f1; }
# begun FOLDER: training has begun (a first checkpoint is there)
begun() { for _ in $(seq 200); do ls "$1"/checkpoints/*.safetensors >/dev/null 2>&1 && return; sleep 0.1; done; fail "$1 did not begin"; }

cat >run.yaml <<'EOT'
seed: 3
data: {name: glyphs, n: 600, test_n: 100}
model: {name: mlp, hidden: [48, 40], norm: batch}
optim: {lr: 0.05, momentum: 0.9}
scheme: {name: ist, workers: 4, local_steps: 3}
rounds: 24
batch: 32
checkpoint: {every: 0.5}
cluster: {deadline: 60}
EOT
loft="--set model.name=preresnet18 --set model.width=4 --set model.hidden=[256,256] --set model.norm=none --set rounds=4"
train() { "$program" train run.yaml --quiet "$@" >/dev/null; }

echo "== one digest for every number of ranks, for every scheme"
for scheme in masked ist loft local_sgd gpipe; do
    set -- --set scheme.name=$scheme
    [ $scheme = gpipe ] && set -- "$@" --set scheme.workers=3 --set scheme.local_steps=1 --set scheme.micro_batches=4
    # shellcheck disable=SC2086
    [ $scheme = loft ] && set -- "$@" ${loft/--set model.hidden=[] --set model.norm=batch/}
    train --out one-$scheme "$@" --set threads=2 || fail "$scheme in one process"
    for n in 2 5; do
        ranks $n "$program" train run.yaml --quiet --out mpi-$scheme-$n "$@" --set threads=1 >/dev/null 2>log || { fail "$scheme with $n ranks"; cat log; }
        [ "$(sum one-$scheme)" = "$(sum mpi-$scheme-$n)" ] || fail "$scheme with $n ranks has other bits"
    done
done

echo "== one trace for every number of ranks; only momentum that is reset stays with a rank of another process"
for case in "ist reset" "masked carry" "local_sgd reset" "gpipe auto"; do
    read -r scheme momentum <<<"$case"
    set -- --set scheme.name="$scheme" --set scheme.momentum="$momentum" --set rounds=3 --set data.augment=crop-flip --trace
    [ "$scheme" = gpipe ] && set -- "$@" --set scheme.workers=3 --set scheme.local_steps=1 --set scheme.micro_batches=4
    rm -rf here there
    train --out here "$@" || fail "$case traced in one process"
    ranks 3 "$program" train run.yaml --quiet --out there "$@" >/dev/null 2>log || { fail "$case traced with ranks"; cat log; }
    python3 - "$momentum" <<'P' || fail "$case: another trace with ranks"
import json, os, re, struct, sys


def checksums(path):
    raw = open(path, "rb").read()
    return json.loads(json.loads(raw[8:8 + struct.unpack("<Q", raw[:8])[0]])["__metadata__"]["tessera.crc32c"])


names = sorted(os.listdir("here/trace"))
assert len(names) >= 4 and names == sorted(os.listdir("there/trace")), names
for name in names:
    here, there = (checksums(f"{run}/trace/{name}") for run in ("here", "there"))
    stays = {k for k in here if sys.argv[1] == "reset" and re.match(r"momentum\.\d", k)}
    assert {k: v for k, v in here.items() if k not in stays} == there, (name, set(here.items()) ^ set(there.items()))
P
done

echo "== gpipe: bytes as cost says; a stage killed, one stopped, the coordinator killed: the same bits; where time went"
gpipe="--set scheme.name=gpipe --set scheme.workers=3 --set scheme.local_steps=1 --set scheme.micro_batches=4 --set rounds=600"
# shellcheck disable=SC2086
"$program" cost run.yaml --json $gpipe | sed -n 's/.*"bytes_total":\([0-9]*\).*"bytes_collected":\([0-9]*\).*/\1 \2/p' >gpipe-cost
# shellcheck disable=SC2086
ranks 4 "$program" train run.yaml --quiet --json --out gpipe-whole $gpipe 2>/dev/null | sed -n 's/.*"bytes_total":\([0-9]*\),"bytes_collected":\([0-9]*\).*/\1 \2/p' >gpipe-bytes
[ -s gpipe-cost ] && cmp -s gpipe-cost gpipe-bytes || fail "gpipe sent $(cat gpipe-bytes) bytes, cost says $(cat gpipe-cost)"
grep -q '"event":"times".*"rank":3,"compute":[0-9.e-]*,"send":[0-9.e-]*,"wait":' gpipe-whole/metrics.jsonl || fail "no times of ranks in the metrics"
for what in KILL STOP coordinator; do
    # shellcheck disable=SC2086
    ranks 4 "$program" train run.yaml --quiet --out gpipe-$what $gpipe --set cluster.deadline=1 >/dev/null 2>log &
    begun gpipe-$what
    case $what in
    coordinator) kill -9 "$(rank_pid 0)" ;;
    *) victim=$(rank_pid 2) && kill -$what "$victim" ;;
    esac
    [ $what = STOP ] && sleep 2.5 && kill -CONT "$victim" 2>/dev/null # the run may be over without it
    wait $!
    # shellcheck disable=SC2086
    [ $what = coordinator ] && { ranks 3 "$program" train run.yaml --quiet --out gpipe-$what --resume $gpipe >/dev/null 2>log || { fail "gpipe not resumed"; cat log; }; }
    [ "$(sum gpipe-whole)" = "$(sum gpipe-$what)" ] || { fail "gpipe has other bits after $what"; cat log; }
done
grep -q '"event":"lost".*"rank":2,"why":"died"' gpipe-KILL/metrics.jsonl || fail "the lost stage is not in the metrics"

echo "== bytes in all as in one process; half as many with bf16, the same bits as in one process"
train --out plain --json | tail -1
for wire in f32 bf16; do
    "$program" train run.yaml --quiet --json --out w1-$wire --set scheme.wire=$wire | tail -1 >w1
    ranks 3 "$program" train run.yaml --quiet --json --out w3-$wire --set scheme.wire=$wire 2>/dev/null | tail -1 >w3
    [ "$(sum w1-$wire)" = "$(sum w3-$wire)" ] || fail "wire $wire has other bits under mpirun"
    for f in w1 w3; do sed -n 's/.*"bytes_total":\([0-9]*\).*/\1/p' $f; done | sort -u >bytes-$wire
    [ "$(wc -l <bytes-$wire)" = 1 ] || fail "bytes differ with wire $wire"
done
[ $(("$(cat bytes-bf16)" * 2)) = "$(cat bytes-f32)" ] || fail "bf16 has not half the bytes"

echo "== the coordinator killed, resumed with another number of ranks: the same bits, no orphan"
long="--set rounds=400 --set checkpoint.every=0.2"
# shellcheck disable=SC2086
train --out whole $long
for n in 2 4; do
    # shellcheck disable=SC2086
    ranks 3 "$program" train run.yaml --quiet --out dead-$n $long >/dev/null 2>log &
    begun dead-$n
    alive 0 && alive 1 && alive 2 || fail "a rank that trains is not seen: the checks for orphans would check nothing"
    kill -9 "$(rank_pid 0)" || fail "no coordinator to kill"
    for _ in $(seq 50); do alive 1 || alive 2 || break; sleep 0.1; done
    ! alive 1 && ! alive 2 || fail "a worker outlived its coordinator by 5 s"
    wait $!
    # shellcheck disable=SC2086
    ranks $n "$program" train run.yaml --quiet --out dead-$n --resume $long >/dev/null 2>log || { fail "not resumed"; cat log; }
    [ "$(sum whole)" = "$(sum dead-$n)" ] || fail "killed and resumed with $n ranks has other bits"
done

echo "== a worker killed: the run ends well; one stopped for a while: passed over, back again"
# shellcheck disable=SC2086
ranks 4 "$program" train run.yaml --quiet --json --out killed $long >result 2>log &
begun killed
kill -9 "$(rank_pid 2)" || fail "no worker to kill"
wait $! || fail "a killed worker ended the run"
grep -q '"rounds":400' result || { fail "the run with a killed worker did not finish"; cat log; }
# shellcheck disable=SC2086
ranks 4 "$program" train run.yaml --quiet --json --out stopped $long --set cluster.deadline=0.5 --set rounds=4000 >result 2>log &
begun stopped
stopped=$(rank_pid 1)
kill -STOP "$stopped" && sleep 1.5 && kill -CONT "$stopped"
wait $! || fail "a stopped worker ended the run"
grep -q '"rounds":4000' result || { fail "the run with a stopped worker did not finish"; cat log; }
grep -q '"event":"lost".*"rank":1,"why":"late"' stopped/metrics.jsonl || fail "the lost share is not in the metrics"
grep -q 'rank 1 is back' log || fail "the stopped worker did not come back"

echo "== refusals"
ranks 2 "$program" train run.yaml --quiet --out d --set scheme.name=dense --set scheme.workers=1 --set scheme.local_steps=1 >/dev/null 2>log # recovering, mpirun ends with 0
grep -q 'scheme dense runs in one process' log || { fail "no sentence for dense"; cat log; }
"$program" train run.yaml --quiet --out f --set scheme.name=gpipe --set scheme.local_steps=1 --set scheme.wire=bf16 2>log && fail "gpipe with bf16"
grep -q 'bf16 is for schemes with shares' log || { fail "no sentence for gpipe with bf16"; cat log; }
timeout 60 mpirun -n 1 "$program" train run.yaml --quiet --out e : -n 1 "$program" train run.yaml --quiet --out e --set seed=4 >/dev/null 2>log && fail "two runs in one"
grep -q "rank 1 was started for another run: its run file's digest" log || { fail "no sentence for two runs"; cat log; }
version=$("$program" --version | sed 's/^tessera //')
sed "s/$version/9.9.9/g" "$program" >other && chmod +x other # as if it were another version: the same length
[ "$(./other --version)" = "tessera 9.9.9" ] || fail "no other version could be made of $version"
timeout 60 mpirun -n 1 "$program" train run.yaml --quiet --out g : -n 1 ./other train run.yaml --quiet --out g >/dev/null 2>log && fail "two versions in one run"
grep -q "rank 1 was started for another run: its version is 9.9.9, here it is $version" log || { fail "no sentence for two versions"; cat log; }

[ $failures -eq 0 ] && echo "cluster: all well"
exit $failures
