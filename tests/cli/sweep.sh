#!/usr/bin/env bash
# tessera sweep as a user has it: killed at any moment the same command goes on and ends with the same
# results; wrong grids exit 2 with the place and leave no folder; another sweep's folder is refused.
set -eu
program=$1
. "$2/tests/cli.sh"
cat > run.yaml <<'Y'
data: {name: sphere, n: 60, dim: 20, task: regress, test_n: 20}
model: {name: shallow, width: 400, kappa: 0.2}
optim: {name: gd, lr: 0.05, momentum: 0.5}
scheme: {name: masked, local_steps: 3}
rounds: 40
threads: 2
Y

# ---- Must refuse ---------------------------------------------------------------------------
refuse() { refused 2 "$1" sweep run.yaml --out bad --quiet "${@:2}"; [ ! -e bad ] || fail "a folder was left by: $*"; }
refuse "give at least one --grid"
refuse "did you mean scheme.xi" --grid scheme.x=1
refuse "the range is empty" --grid scheme.xi=1:0:0.5
refuse "must be a whole number" --grid scheme.workers=one
refuse "xi is 0" --grid scheme.xi=0,0.5
refuse "given twice" --grid scheme.xi=0.1 --grid scheme.xi=0.2
refuse "seeds" --grid scheme.xi=0.1 --seeds 0
refused 2 "--out" sweep run.yaml --grid scheme.xi=0.5

# ---- Killed = not killed -------------------------------------------------------------------
begin= # `exec` where the process itself is to be killed, not a shell around it
grid="--grid scheme.xi=0.2:1:0.2 --grid scheme.workers=1,2,4 --grid optim.lr=0.05,1e4 --seeds 2 --curves --weights --quiet"
# shellcheck disable=SC2086
sweep() { $begin "$program" sweep run.yaml $grid --out "$@"; } # folder, options...
results() { sed -E 's/,"seconds":[^}]*//' "$1/sweep.jsonl"; sed -E 's/,[^,]*$//' "$1/sweep.csv"; }
sweep a > table
grep -q "scheme.xi" table && grep -q "30 cells x 2 seeds" table || fail "no table"
[ "$(wc -l < a/sweep.jsonl)" = 60 ] || fail "not 60 lines"
[ "$(wc -l < a/sweep.csv)" = 61 ] || fail "not 61 rows"
[ "$(grep -c '"status":"diverged"' a/sweep.jsonl)" = 30 ] || fail "not 30 diverged"
killed=0
lines() { [ ! -e b/sweep.jsonl ] && echo 0 || wc -l < b/sweep.jsonl; }
for least in 0 0 1 8 20 40; do # killed at once, and when so many runs are done
    begin="exec" sweep b > /dev/null 2>&1 & pid=$!
    sleep 0.0$((RANDOM % 10))
    until [ "$(lines)" -ge $least ]; do kill -0 $pid 2>/dev/null || break; sleep 0.01; done
    kill -9 $pid 2>/dev/null && killed=$((killed + 1))
    wait $pid 2>/dev/null || true
    # what is there is the beginning of what will be, but for a last line that was torn
    [ ! -e b/sweep.jsonl ] || grep -a '}$' b/sweep.jsonl | sed -E 's/,"seconds":[^}]*//' > part || true
    [ ! -e part ] || head -n "$(wc -l < part)" <(results a) | cmp - part
done
printf '{"cell":59,"torn' >> b/sweep.jsonl
sweep b --set threads=1 --json > json
cmp <(results a) <(results b)
grep -q '"runs":60,' json && grep -q '"diverged":30' json || fail "no counts in --json"
sweep b --json | grep -q '"resumed":60' || fail "a finished sweep was run again"

# A power cut leaves zeros in the place of lines that had not reached the disk. Once the lines behind them were kept
# and their runs made a second time; junk instead of zeros ended every later attempt.
for damage in '\0\0\0\0\0\0\0' '{"cell":\377\0'; do
    cp -r a cut
    # shellcheck disable=SC2059
    printf "$damage" | dd of=cut/sweep.jsonl bs=1 seek=5000 conv=notrunc status=none
    sweep cut > /dev/null 2> err
    grep -q "sweep.jsonl:[0-9]*.*the runs from this line on are made again" err || fail "damaged lines: $(cat err)"
    cmp <(results a) <(results cut)
    rm -r cut
done

# Ctrl-C: exit 130, then on.
begin="exec" sweep c --set rounds=4000 --set optim.schedule=cosine > /dev/null 2>&1 & pid=$!
until [ -s c/sweep.jsonl ]; do kill -0 $pid 2>/dev/null || break; sleep 0.01; done
kill -TERM $pid; code=0; wait $pid || code=$?
[ $code = 130 ] || fail "exit $code after SIGTERM"
[ -s c/sweep.csv ] || fail "no table after SIGTERM"

# Keys of every kind.
"$program" sweep run.yaml --grid optim.nesterov=true,false --set rounds=2 --quiet --out kinds > /dev/null
grep -q '"optim.nesterov":false' kinds/sweep.jsonl || fail "true and false: $(head -n 1 kinds/sweep.jsonl)"

# Another sweep, or a run, has the folder.
# shellcheck disable=SC2086
other() { refused "$1" "$2" sweep run.yaml $grid --out "${@:3}"; }
other 2 "holds another sweep" a --seeds 3
other 2 "rounds: 40 -> 41" a --set rounds=41
"$program" train run.yaml --out t --quiet > /dev/null
other 2 "not a sweep" t
mkdir left && touch left/sweep.jsonl
other 2 "no run.yaml beside it" left

# Data that changed, or another machine: a table was made of both, without a word. A sweep that is done is told as it is, on any.
awk 'BEGIN { srand(4); print "a,b,y"; for (i = 0; i < 120; i++) { a = rand(); b = rand(); print a "," b "," a - 2 * b } }' >table.csv
printf 'data: {path: table.csv, target: y, task: regress}\nmodel: {hidden: [8]}\nepochs: 2\nbatch: 20\nthreads: 1\n' >table.yaml
of_table() { "$program" sweep table.yaml --grid optim.lr=0.01,0.02 --grid data.limit=0,60 --out "$@" --quiet >/dev/null 2>err; }
of_table tabled || fail "a sweep of a table: $(cat err)"
cp -r tabled half
sed -i '3,$d' half/sweep.jsonl
cp -r half other
sed -i '5s/^0/1/' table.csv
! of_table half || fail "a sweep goes on with other data"
grep -q 'was begun on other data (checksum [0-9a-f]*) than there are now ([0-9a-f]*)' err || fail "other data: $(cat err)"
sed -i '5s/^1/0/' table.csv
of_table half || fail "the data are back: $(cat err)"
cmp <(results tabled) <(results half)
! OPENBLAS_CORETYPE=Nehalem of_table other || fail "a sweep goes on with other kernels"
grep -q 'was begun with .* but this machine has .*Nehalem' err || fail "other kernels: $(cat err)"
OPENBLAS_CORETYPE=Nehalem of_table tabled || fail "a sweep that is done, on another machine: $(cat err)"
sed -i 's/,"data":.*/}/' other/grid.json # as an older version wrote it
of_table other || fail "a grid.json that does not say: $(cat err)"
cmp <(results tabled) <(results other)
# What a stranger's folder says does not reach the terminal as it is.
sed -i '1s/"status":"ok"/"status":"refused","why":"\\u001b[31mred"/' other/sweep.jsonl
"$program" sweep table.yaml --grid optim.lr=0.01,0.02 --grid data.limit=0,60 --out other >said || fail "a refused run"
grep -qF 'the first: \x1b[31mred' said || fail "a stranger's words: $(cat -v said)"

# A number of a curve that is none is a hole in it.
sed -i -E '1s/"curve":\[[^],]*/"curve":[null/' b/sweep.jsonl
grep -q '"curve":\[null' b/sweep.jsonl || fail "no curve"
sweep b > /dev/null || fail "a hole in a curve"
sed -i '3s/"cell":1/"cell":7/' b/sweep.jsonl
other 3 "sweep.jsonl:3" b
echo "sweep: refused, killed $killed times and finished with the same results"
