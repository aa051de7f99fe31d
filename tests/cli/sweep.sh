#!/usr/bin/env bash
# tessera sweep as a user has it: killed at any moment the same command goes on and ends with the same
# results; wrong grids exit 2 with the place and leave no folder; another sweep's folder is refused.
set -eu
program=$1
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cat > "$work/run.yaml" <<'Y'
data: {name: sphere, n: 60, dim: 20, task: regress, test_n: 20}
model: {name: shallow, width: 400, kappa: 0.2}
optim: {name: gd, lr: 0.05, momentum: 0.5}
scheme: {name: masked, local_steps: 3}
rounds: 40
threads: 2
Y
die() { echo "$*"; exit 1; }

# ---- Must refuse ---------------------------------------------------------------------------
refuse() { # words, options...
    local words=$1 code=0; shift
    "$program" sweep "$work/run.yaml" --out "$work/bad" --quiet "$@" > /dev/null 2> "$work/errors" || code=$?
    [ $code = 2 ] || { cat "$work/errors"; die "exit $code, not 2, with: $*"; }
    grep -q -- "$words" "$work/errors" || { cat "$work/errors"; die "no '$words' with: $*"; }
    [ ! -e "$work/bad" ] || die "a folder was left by: $*"
}
refuse "what shall vary"
refuse "did you mean scheme.xi" --grid scheme.x=1
refuse "the range is empty" --grid scheme.xi=1:0:0.5
refuse "must be a whole number" --grid scheme.workers=one
refuse "xi is 0" --grid scheme.xi=0,0.5
refuse "given twice" --grid scheme.xi=0.1 --grid scheme.xi=0.2
refuse "seeds" --grid scheme.xi=0.1 --seeds 0
code=0; "$program" sweep "$work/run.yaml" --grid scheme.xi=0.5 2> "$work/errors" || code=$?
[ $code = 2 ] && grep -q -- "--out" "$work/errors" || die "no word of --out"

# ---- Killed = not killed -------------------------------------------------------------------
begin= # `exec` where the process itself is to be killed, not a shell around it
sweep() { # folder, options...
    local folder=$1; shift
    $begin "$program" sweep "$work/run.yaml" --grid scheme.xi=0.2:1:0.2 --grid scheme.workers=1,2,4 --grid optim.lr=0.05,1e4 --seeds 2 \
        --curves --weights --out "$folder" --quiet "$@"
}
results() { sed -E 's/,"seconds":[^}]*//' "$1/sweep.jsonl"; sed -E 's/,[^,]*$//' "$1/sweep.csv"; }
sweep "$work/a" > "$work/table"
grep -q "scheme.xi" "$work/table" && grep -q "30 cells x 2 seeds" "$work/table" || die "no table"
[ "$(wc -l < "$work/a/sweep.jsonl")" = 60 ] || die "not 60 lines"
[ "$(wc -l < "$work/a/sweep.csv")" = 61 ] || die "not 61 rows"
[ "$(grep -c '"status":"diverged"' "$work/a/sweep.jsonl")" = 30 ] || die "not 30 diverged"
killed=0
lines() { [ ! -e "$work/b/sweep.jsonl" ] && echo 0 || wc -l < "$work/b/sweep.jsonl"; }
for least in 0 0 1 8 20 40; do # killed at once, and when so many runs are done
    begin="exec" sweep "$work/b" > /dev/null 2>&1 & pid=$!
    sleep 0.0$((RANDOM % 10))
    until [ "$(lines)" -ge $least ]; do kill -0 $pid 2>/dev/null || break; sleep 0.01; done
    kill -9 $pid 2>/dev/null && killed=$((killed + 1))
    wait $pid 2>/dev/null || true
    # what is there is the beginning of what will be, but for a last line that was torn
    [ ! -e "$work/b/sweep.jsonl" ] || grep -a '}$' "$work/b/sweep.jsonl" | sed -E 's/,"seconds":[^}]*//' > "$work/part" || true
    [ ! -e "$work/part" ] || head -n "$(wc -l < "$work/part")" <(results "$work/a") | cmp - "$work/part"
done
printf '{"cell":59,"torn' >> "$work/b/sweep.jsonl"
sweep "$work/b" --set threads=1 --json > "$work/json"
cmp <(results "$work/a") <(results "$work/b")
grep -q '"runs":60,' "$work/json" && grep -q '"diverged":30' "$work/json" || die "no counts in --json"
sweep "$work/b" --json | grep -q '"resumed":60' || die "a finished sweep was run again"

# Ctrl-C: exit 130, then on.
begin="exec" sweep "$work/c" --set rounds=4000 --set optim.schedule=cosine > /dev/null 2>&1 & pid=$!
until [ -s "$work/c/sweep.jsonl" ]; do kill -0 $pid 2>/dev/null || break; sleep 0.01; done
kill -TERM $pid; code=0; wait $pid || code=$?
[ $code = 130 ] || die "exit $code after SIGTERM"
[ -s "$work/c/sweep.csv" ] || die "no table after SIGTERM"

# Another sweep, or a run, has the folder.
other() { code=0; "$@" > /dev/null 2> "$work/errors" || code=$?; [ $code = 2 ] || { cat "$work/errors"; die "exit $code: $*"; }; }
other sweep "$work/a" --seeds 3
grep -q "holds another sweep" "$work/errors" || die "no word of the other sweep"
other sweep "$work/a" --set rounds=41
grep -q "rounds: 40 -> 41" "$work/errors" || die "no word of what changed"
"$program" train "$work/run.yaml" --out "$work/t" --quiet > /dev/null
other sweep "$work/t"
grep -q "no sweep" "$work/errors" || die "a run's folder was taken"
sed -i '3s/"cell":1/"cell":7/' "$work/b/sweep.jsonl"
code=0; sweep "$work/b" > /dev/null 2> "$work/errors" || code=$?
[ $code = 3 ] && grep -q "sweep.jsonl:3" "$work/errors" || { cat "$work/errors"; die "a strange line was taken ($code)"; }
echo "sweep: refused, killed $killed times and finished with the same results"
