#!/usr/bin/env bash
# Faults as users meet them: full disks, damaged checkpoints, two runs in one folder, changed run files,
# signals, limits, diverging runs, odd environments. Each
# ends with the promised exit code and sentence, and the run that is resumed has the SHA-256 of the
# undisturbed one. Faults of the disk: disk.sh.
set -u
program=$1
. "$2/tests/cli.sh"
at_end() { [ -z "${pid:-}" ] || kill -9 "$pid" 2>/dev/null; }
limit() { timeout -s KILL 60 "$@"; } # a hang is a failure, not a wait

cat > run.yaml <<'Y'
data: {name: glyphs, n: 400, test_n: 50}
model: {name: mlp, hidden: [16]}
optim: {lr: 0.05}
epochs: 4
batch: 50
Y
train() { limit "$program" train run.yaml "$@" >out 2>err; }
# expect CODE WORDS COMMAND...: exits with CODE and says WORDS.
expect() {
    local code=$1 words=$2 rc
    shift 2
    "$@"
    rc=$?
    [ $rc -eq "$code" ] && grep -qF -- "$words" err || complain "$*: exit $rc, expected $code with '$words'; it said: $(head -c 600 err)"
}
same() { # same FOLDER WHAT
    [ "$(model_hash "$1" 2>/dev/null)" = "$want" ] || complain "$2: another SHA-256, or no model"
}
# stopped FOLDER: a copy of the undisturbed run's folder before its last epoch: checkpoints 8, 16, 24 of 32.
stopped() {
    rm -rf "$1"
    cp -r whole "$1"
    rm "$1/model.safetensors" "$1/checkpoints/ckpt-000000000032.safetensors"
}
newest() { find "$1/checkpoints" -name 'ckpt-*' | sort | tail -1; }
flip() { # flip FILE OFFSET: another byte there
    local old
    old=$(od -An -tu1 -j "$2" -N1 "$1" | tr -d ' ')
    printf "\\x$(printf %x $((old ^ 32)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

train --out whole --set checkpoint.keep=9 || fail "$(cat err)"
want=$(model_hash whole)

# ---- Damaged checkpoints -------------------------------------------------------------------------
for where in 3 100 $(($(stat -c %s "$(newest whole)") / 2)) $(($(stat -c %s "$(newest whole)") - 1)); do
    stopped damaged
    flip "$(newest damaged)" "$where"
    expect 0 "warning: " train --out damaged --resume
    grep -q "ckpt-000000000024.*trying the checkpoint before it" err || complain "flip at $where: $(cat err)"
    same damaged "byte $where of the newest checkpoint flipped"
done
stopped damaged
truncate -s -100 "$(newest damaged)"
expect 0 "trying the checkpoint before it" train --out damaged --resume
same damaged "newest checkpoint cut short"
stopped damaged
: >"$(newest damaged)"
expect 0 "trying the checkpoint before it" train --out damaged --resume
same damaged "newest checkpoint empty"
# The damaged one must not push out sound ones: after the next save one that loads is there.
stopped damaged
rm damaged/checkpoints/ckpt-000000000008.safetensors
mv damaged/checkpoints/ckpt-000000000024.safetensors damaged/checkpoints/ckpt-000000000030.safetensors
flip damaged/checkpoints/ckpt-000000000030.safetensors 200
limit strace -f -o /dev/null -e trace=renameat2,rename,renameat -e inject=rename,renameat,renameat2:signal=KILL:when=3 \
    "$program" train run.yaml --out damaged --resume --set checkpoint.keep=1 --set checkpoint.every=1 >/dev/null 2>&1
expect 0 "" train --out damaged --resume --set checkpoint.keep=1
same damaged "killed while a damaged checkpoint was the newest"
stopped damaged
for f in damaged/checkpoints/*; do flip "$f" 300; done
expect 3 "none of the 3 checkpoints can be read" train --out damaged --resume
grep -q "begin again in another folder" err || complain "all damaged: no remedy"
stopped damaged
rm damaged/run.yaml
expect 2 "there is no run.yaml beside it" train --out damaged --resume

# ---- The folder ----------------------------------------------------------------------------------
expect 2 "holds a run already: add --resume" train --out whole
stopped changed
expect 2 "optim.lr: 0.05 -> 0.1" train --out changed --resume --set optim.lr=0.1
expect 0 "going on with a changed run file" train --out changed --resume --set optim.lr=0.1 --force
stopped changed
expect 0 "resumed at round 24 of 32" train --out changed --resume --set threads=3
same changed "another number of threads after resuming"
expect 0 "holds no run yet: beginning one" train --out fresh --resume
same fresh "resume in an empty folder"
touch file
expect 2 "file is a file; a folder is needed there" train --out file
expect 2 "file is a file; a folder is needed there" train --out file/run
expect 2 "give --out DIR" train --out ''
expect 2 "give --out DIR" train
expect 1 "cannot make the folder" train --out /proc/run
mkdir closed
chmod 555 closed
if [ "$(id -u)" -ne 0 ]; then
    expect 1 "closed/run: cannot make the folder: Permission denied" train --out closed/run
fi

# Two runs at once: the second is refused and names the first.
cat > long.yaml <<'Y'
data: {name: glyphs, n: 400, test_n: 50}
model: {name: mlp, hidden: [16]}
epochs: 100000000
batch: 50
eval: {every: 0}
checkpoint: {every: 50}
Y
# begin FOLDER: the long run, with SIGINT not ignored (a script's background jobs ignore it).
begin() {
    env --default-signal=INT "$program" train long.yaml --quiet --out "$1" >begun 2>&1 &
    pid=$!
    for _ in $(seq 600); do
        [ -n "$(find "$1/checkpoints" -name '*.safetensors' 2>/dev/null)" ] && return
        kill -0 $pid 2>/dev/null || break
        sleep 0.05
    done
    complain "the long run did not begin: $(cat begun)"
}
# ends CODE: the long run ends by itself with this code.
ends() {
    local rc
    (sleep 20 && kill -9 $pid) 2>/dev/null & local watch=$!
    wait $pid
    rc=$?
    kill $watch 2>/dev/null
    [ $rc -eq "$1" ] || complain "the long run: exit $rc, expected $1: $(cat begun)"
}
begin two
expect 2 "process $pid is running in this folder" limit "$program" train long.yaml --out two --resume 2>err

# ---- Signals -------------------------------------------------------------------------------------
kill -INT $pid
ends 130
grep -q "stopped after round .*all saved: add --resume to go on" begun || complain "SIGINT: $(cat begun)"
begin hup
kill -HUP $pid
ends 130
# Two signals while it stands still: it leaves at once, and what was saved before is there. A build that counts lines
# cannot: GCC writes the counts at _exit, and while it does the other threads go on.
if ! grep -q __gcov_exit "$program"; then
    begin twice
    kill -STOP $pid
    kill -INT $pid
    kill -TERM $pid
    kill -CONT $pid
    ends 130
    grep -q "all saved" begun && complain "two signals: it saved first"
fi
# Whoever ignores SIGHUP (nohup) means it.
env --ignore-signal=HUP "$program" train long.yaml --quiet --out nohup >begun 2>&1 &
pid=$!
for _ in $(seq 200); do [ -s nohup/run.lock ] && break; sleep 0.05; done
kill -HUP $pid
sleep 0.3
kill -0 $pid 2>/dev/null || complain "SIGHUP ended a run that ignores it: $(cat begun)"
kill -TERM $pid
ends 130

# ---- Limits --------------------------------------------------------------------------------------
if (ulimit -v 2000000; "$program" version) >/dev/null 2>&1; then
    for space in 150000 380000 420000 500000 700000; do
        (ulimit -v $space; timeout -s KILL 5 "$program" train run.yaml --out small >out 2>err)
        rc=$?
        [ $rc -eq 4 ] && grep -q "raise ulimit -v or lower threads" err || [ $rc -eq 0 ] ||
            complain "address space of $space kB: exit $rc, $(cat err)"
        rm -rf small
    done
else
    echo "no limit of the address space under this program (a sanitizer): skipped"
fi
expect 4 "out of memory" train --out large --set model.hidden=[10000000,10000000]
expect 4 "out of memory" train --out large --set model.hidden=[3000000,100000]
expect 4 "out of memory" train --out large --set data.n=1000000000
# A million workers: once 73 s and 9.6 GB until it was noticed.
(ulimit -t 5; expect 4 "1000000 workers take at least" train --out large --set scheme.name=local_sgd --set scheme.workers=1000000; exit $failed) || failed=1
[ -e large ] && complain "a run that cannot be made left a folder"

# Memory that small blocks use up: Linux would end the process (a million workers took nine gigabytes before somebody looked).
printf 'MemAvailable: 40000 kB\nSwapFree: 0 kB\n' >meminfo
namespace=(unshare -m)
[ "$(id -u)" -eq 0 ] || namespace=(unshare -rm)
poor=("${namespace[@]}" sh -c 'mount --bind meminfo /proc/meminfo && exec "$@"' sh)
if "${poor[@]}" true 2>/dev/null; then
    limit "${poor[@]}" "$program" train run.yaml --out many --set scheme.name=multisample --set scheme.workers=2000 >out 2>err
    rc=$?
    [ $rc -eq 4 ] && grep -q "out of memory: .* free on this machine" err || complain "2,000 workers in 40 MB: exit $rc, $(head -c 300 err)"
    rm -rf many
else
    echo "no namespaces here: the poor machine was skipped"
fi
# ---- Diverging -----------------------------------------------------------------------------------
expect 5 "lower optim.lr, now 1e+06" train --out wild --set optim.lr=1e6
grep -q "no checkpoint was saved yet" err || complain "diverged: $(cat err)"
stopped wild
expect 5 "the last sound checkpoint is wild/checkpoints/ckpt-000000000024.safetensors" \
    train --out wild --resume --force --set optim.lr=1e6
[ -f wild/checkpoints/ckpt-000000000024.safetensors ] || complain "diverged: the named checkpoint is gone"
expect 5 "optim.lr" train --out wild2 --set optim.lr=1e6 --set checkpoint.every=0.01 --set model.norm=batch
for f in wild2/checkpoints/*; do
    [ -f "$f" ] && LC_ALL=C grep -qaP '\xff\x7f\xff\x7f|\x00\x00\xc0\x7f' "$f" && complain "$f holds NaN"
done

# ---- Data and models -----------------------------------------------------------------------------
cat > table.yaml <<'Y'
data: {path: table.csv}
model: {name: mlp, hidden: [4]}
epochs: 2
batch: 4
Y
rows() { for i in $(seq 40); do echo "$i,$((i * 7 % 11)),$1$((i % 5))"; done; }
table() { limit "$program" train table.yaml "$@" >out 2>err; }
rows 0. >table.csv
expect 0 "" table --out table
rows 1. >table.csv
expect 2 "was trained on other data" table --out table --resume
{ rows 0.; echo "3,inf,0.5"; } >table.csv
expect 3 "table.csv" table --out table2
grep -q "41" err || complain "inf in a file: no line: $(cat err)"
[ -e table2 ] && complain "bad data left a folder"
expect 3 "tensor layers.0.weight has shape" train --out wrong --init whole/model.safetensors --set model.hidden=[17]
expect 3 "run.yaml: " train --out wrong --init run.yaml
[ -e wrong ] && complain "a wrong --init left a folder"
# A run that began with --init is resumed without it.
expect 0 "" train --out init --init whole/model.safetensors --set optim.lr=0.01
stopped init2 && rm -rf init2
(limit strace -f -o /dev/null -e trace=renameat,rename,renameat2 -e inject=rename,renameat,renameat2:signal=KILL:when=3 \
    "$program" train run.yaml --out init2 --init whole/model.safetensors --set optim.lr=0.01 >/dev/null 2>&1)
if [ -d init2 ] && [ ! -f init2/model.safetensors ]; then
    expect 0 "" train --out init2 --resume --set optim.lr=0.01
    cmp -s init/model.safetensors init2/model.safetensors || complain "--init was forgotten when the run was resumed"
fi

# ---- Outputs and surroundings --------------------------------------------------------------------
limit "$program" train run.yaml --out full --quiet >/dev/full 2>err
rc=$?
[ $rc -eq 1 ] && grep -q "cannot write to standard output" err || complain "stdout full: exit $rc, $(cat err)"
same full "stdout full"
limit "$program" train run.yaml --out full2 >/dev/null 2>/dev/full || complain "stderr full: exit $?"
same full2 "stderr full"
limit "$program" train run.yaml --out closed1 >&- 2>&- <&-
same closed1 "all three streams closed"
surroundings() { # surroundings WHAT COMMAND...
    local what=$1
    shift
    rm -rf around
    limit "$@" "$program" train run.yaml --out around --quiet >out 2>err || complain "$what: exit $?, $(cat err)"
    same around "$what"
}
surroundings "german numbers" env LC_ALL=de_DE.utf8 LANG=de_DE.utf8
surroundings "threads asked of others" env OMP_NUM_THREADS=7 OPENBLAS_NUM_THREADS=7 GOTO_NUM_THREADS=7
surroundings "another time zone" env TZ=Asia/Kathmandu
# OPENBLAS_CORETYPE chooses kernels, and other kernels make other bits, as documented: it stays where it is set.
surroundings "no environment" env -i ${OPENBLAS_CORETYPE:+"OPENBLAS_CORETYPE=$OPENBLAS_CORETYPE"}
surroundings "a small stack" bash -c 'ulimit -s 256; exec "$@"' bash
surroundings "umask" bash -c 'umask 077; exec "$@"' bash
[ -z "$(find around -perm /077)" ] || complain "umask 077 was not kept"
surroundings "few open files" bash -c 'ulimit -n 20; exec "$@"' bash
surroundings "low priority" nice -n 19
# (twice was left in the middle of a save; the next start sweeps.)
[ -z "$(find . -name '*.tmp*' ! -path './twice/*')" ] || complain "temporary files are left: $(find . -name '*.tmp*' ! -path './twice/*')"
