#!/usr/bin/env bash
# tessera watch: what runs are doing, once and on a terminal (tests/watch/terminal.py), in every state that a run can be in. The
# run that is watched gives the bits of one that is not.
set -eu
program=$1 source=$2
. "$source/tests/cli.sh"
export LC_ALL=C.UTF-8

cat >run.yaml <<'Y'
data: {name: glyphs, n: 200, test_n: 100}
model: {hidden: [16, 16]}
optim: {lr: 0.01}
scheme: {name: ist, workers: 2, local_steps: 2}
epochs: 4
batch: 20
threads: 1
Y
state() { "$program" watch "$1" --json | python -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["state"])'; }
is() { [ "$(state "$1")" = "$2" ] || complain "$1 is $(state "$1"), expected $2: $("$program" watch "$1")"; }
# begun FOLDER: its first line of metrics is there
begun() { for _ in $(seq 2000); do [ -s "$1/metrics.jsonl" ] && return || sleep 0.01; done; fail "$1 does not begin"; }

# ---- Finished, and the same plainly ----------------------------------------------------------
"$program" train run.yaml --out runs/a --quiet >/dev/null
is runs/a finished
"$program" watch runs/a >out # no terminal
grep -q '^runs/a: finished, round 20 of 20 (100 %), loss .*, test accuracy .* %, took ' out || complain "plainly: $(cat out)"
cmp -s out <("$program" watch runs/a --once) || complain "--once is not what a pipe gets"

# ---- Diverged, interrupted, killed, stopped, running -------------------------------------------
! "$program" train run.yaml --out runs/d --quiet --set optim.lr=1e6 >/dev/null 2>err || fail "it did not diverge"
is runs/d diverged
"$program" watch runs/d | grep -qF "$(sed 's/^tessera: //' err)" || complain "it does not say why: $("$program" watch runs/d)"
tail -1 runs/d/metrics.jsonl | grep -q '"event":"ended".*"status":"diverged"' || complain "no line of its end"

long=(--set epochs=100000 --set eval.every=1)
"$program" train run.yaml --out runs/i --quiet "${long[@]}" >/dev/null 2>err &
pid=$!
begun runs/i
is runs/i running
kill -STOP $pid
is runs/i stalled
"$program" watch runs/i | grep -q "process $pid is stopped" || complain "it does not say that it is stopped"
kill -CONT $pid
is runs/i running
kill -TERM $pid
wait $pid && fail "it was not interrupted"
is runs/i interrupted
"$program" watch runs/i | grep -q 'add --resume to go on' || complain "interrupted: $("$program" watch runs/i)"

"$program" train run.yaml --out runs/k --quiet "${long[@]}" >/dev/null 2>&1 &
pid=$!
begun runs/k
kill -KILL $pid
wait $pid 2>/dev/null || :
is runs/k interrupted
"$program" watch runs/k | grep -q "process $pid was killed" || complain "killed: $("$program" watch runs/k)"

# Stopped and resumed, it has the lines of one that was never stopped: that of its end is gone.
"$program" train run.yaml --out runs/b --quiet --set epochs=150 >/dev/null 2>&1 &
pid=$!
begun runs/b
kill -TERM $pid
wait $pid && fail "it was over too soon"
grep -c '"event":"ended"' runs/b/metrics.jsonl | grep -qx 1 || complain "interrupted: $(tail -2 runs/b/metrics.jsonl)"
"$program" train run.yaml --out runs/b --quiet --set epochs=150 --resume >/dev/null 2>&1
is runs/b finished
"$program" train run.yaml --out whole --quiet --set epochs=150 >/dev/null
[ "$(timeless runs/b)" = "$(timeless whole)" ] || complain "a resumed run has other lines"

# ---- Many runs, a sweep, a ticket, none --------------------------------------------------------
"$program" sweep run.yaml --grid optim.lr=0.01,0.02 --seeds 2 --out runs/s --quiet >/dev/null
is runs/s finished
mkdir -p runs/t/whole runs/t/ticket-0.5
cp runs/a/{run.yaml,metrics.jsonl,model.safetensors} runs/t
cp runs/a/run.yaml runs/t/whole
cp runs/a/run.yaml runs/t/ticket-0.5
touch runs/t/whole/run.lock runs/t/ticket-0.5/run.lock
cp run.yaml runs # the file of a run is none: it was called interrupted
"$program" watch runs --json | python -c '
import json, sys
runs = {r["run"]: r for r in json.load(sys.stdin)["runs"]}
assert set(runs) == {"a", "b", "d", "i", "k", "s", "t", "t/whole", "t/ticket-0.5"}, set(runs)
assert runs["s"]["kind"] == "sweep" and runs["s"]["round"] == 4 == runs["s"]["rounds"]
assert runs["t"]["kind"] == "ticket" and runs["a"]["kind"] == "run"
assert runs["a"]["done"] == 1 and runs["a"]["seconds_left"] is None and runs["a"]["test_accuracy"] > 0
' || complain "--json of many"
told=$("$program" watch runs --once | grep '^s: ')
"$program" watch runs --json | python -c '
import json, sys
best = [r["test_accuracy"] for r in json.load(sys.stdin)["runs"] if r["run"] == "s"][0]
assert "best accuracy %.2f %%" % (100 * best) in sys.argv[1] and ", loss" not in sys.argv[1], (best, sys.argv[1])
' "$told" || complain "a sweep in words and in JSON: $told"
is runs/t interrupted # pretrained, and nobody makes its tickets
echo '{}' >runs/t/ticket.json
is runs/t finished
# Between two phases nobody holds a folder: once it was called finished, or interrupted.
rm runs/t/ticket.json
cp runs/a/{metrics.jsonl,model.safetensors} runs/t/whole
touch runs/t/whole/metrics.jsonl && sleep 0.01 && touch runs/t/whole/model.safetensors
is runs/t running
# A ticket's line showed what its pretrained network came to, and whoever went on with "tessera train" trained that alone.
python - runs/a/metrics.jsonl runs/t <<'PY'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
for folder, accuracy in (("whole", 0.99), ("ticket-0.5", 0.875)):
    with open(f"{sys.argv[2]}/{folder}/metrics.jsonl", "w") as f:
        for line in lines:
            f.write(json.dumps(line | {"test_accuracy": accuracy} if "test_accuracy" in line else line) + "\n")
PY
"$program" watch runs --once | grep '^t: ' | grep -q ', best ticket 87.50 %' || complain "a ticket's line: $("$program" watch runs --once)"
"$program" watch runs --json | python -c '
import json, sys
runs = {r["run"]: r for r in json.load(sys.stdin)["runs"]}
assert runs["t"]["ticket_accuracy"] == 0.875 and "ticket_accuracy" not in runs["t/ticket-0.5"], runs["t"]
' || complain "the best ticket in JSON"
mkdir -p killed && cp -r runs/k killed/run && cp -r runs/k killed/ticket && mkdir killed/ticket/whole && cp runs/k/run.yaml killed/ticket/whole && touch killed/ticket/whole/run.lock
"$program" watch killed --once >killed.txt
grep -A1 '^run: interrupted' killed.txt | grep -q "'tessera train --resume' goes on" || complain "a killed run: $(cat killed.txt)"
grep -A1 '^ticket: interrupted' killed.txt | grep -q "'tessera ticket --resume' goes on" || complain "a killed ticket: $(cat killed.txt)"
mkdir empty
[ "$("$program" watch empty)" = "empty: no runs" ] || complain "an empty folder: $("$program" watch empty)"
refused 2 "there is no such folder" watch nowhere
refused 2 "--port and --token-file are for --serve" watch runs --port 5
refused 2 "--serve goes on until it is stopped" watch runs --serve --once

# ---- On a terminal ----------------------------------------------------------------------------
python -c 'import pyte' 2>/dev/null || skip "the terminal is not tried: install python3-pyte"
python "$source/tests/watch/terminal.py" "$program" runs run.yaml || complain "on a terminal"
# The bits of the run that was watched all the time.
"$program" train run.yaml --out unseen --quiet --set epochs=150 >/dev/null
[ "$(model_hash unseen)" = "$(model_hash runs/seen)" ] || complain "a run that was watched has other bits"
[ "$(timeless unseen)" = "$(timeless runs/seen)" ] || complain "a run that was watched has other lines"
