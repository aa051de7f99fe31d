#!/usr/bin/env bash
# tessera ticket: one command from a run file to tickets and their table; killed at many moments and
# resumed it ends with the same bits; bad input is refused before anything is trained or overwritten.
set -eu
program=$1
. "$2/tests/cli.sh"
cat > run.yaml <<'Y'
data: {name: glyphs, n: 240, test_n: 60}
model: {name: mlp, hidden: [24, 16], norm: batch}
optim: {lr: 0.05}
scheme: {name: ist, workers: 2, local_steps: 2}
distance: {every: 1}
ticket: {ratios: [0.5, 0.75], epochs: 2, controls: both, whole: 2, dense: 3, seconds: 0}
epochs: 3
batch: 20
threads: 1
Y
"$program" ticket run.yaml --out a --quiet > table
for name in pretrained whole dense ticket-0.5 random-0.5 reinit-0.5 ticket-0.75 random-0.75 reinit-0.75; do
    grep -q "^$name " table || fail "no row $name: $(cat table)"
done
[ -s a/report.html ] && grep -q 'a/report.html' table || fail "no report: $(cat table)"
# One decision for the terminal, the file and the page: the smallest ticket that is as accurate as the whole,
# else the most accurate, of equals the smallest.
python3 - <<'P' || fail "best ticket"
import json, re
told = json.load(open("a/ticket.json"))
rows = {r["network"]: r for r in told["rows"]}
best, digits = told["best"], lambda name: round(1e4 * rows[name]["accuracy"])
tickets = sorted((name for name in rows if name.startswith("ticket-")), key=lambda name: rows[name]["params"])
enough = [name for name in tickets if digits(name) >= digits("whole")]
expected = enough[0] if enough else max(tickets, key=digits)
assert best["whole"] == "whole" and best["network"] == expected and best["as_accurate"] == bool(enough), (best, expected)
assert abs(best["times_as_fast"] - rows["whole"]["ms"] / rows[expected]["ms"]) < 1e-9
table, page = open("table").read(), open("a/report.html").read()
assert best["sentence"].startswith(expected + " ") and best["sentence"] + "\n" in table, best["sentence"]
assert "<p>We would take " + expected + ": it" + best["sentence"][len(expected):] + ".</p>" in page, best["sentence"]
assert re.match(r"ticket-0\.\d+ is (as|less) accurate (as|than) the whole network \(\d+\.\d\d % against \d+\.\d\d % of \d+ samples\), has "
                r"\d+\.\d % of its parameters and (runs \d+\.\d\d times as fast|may be faster|is not faster)", best["sentence"])
head = page[:page.index("<h2>")]
assert "<dt>best ticket</dt><dd>" + expected in head and "<h2>Tickets" in page[page.index("<h2>"):][:20]
assert page.index("<figure class=\"drawn\"") > page.index("<h2>Tickets") and page.index("<table") < page.index("<h2>Pretraining")
P
python3 - <<'P' || fail "ticket.json"
import json
rows = {r["network"]: r for r in json.load(open("a/ticket.json"))["rows"]}
assert len(rows) == 9
whole = rows["pretrained"]
assert whole["bytes_total"] > 0 and rows["ticket-0.5"]["bytes_total"] == 0
for name, r in rows.items():
    assert 0 <= r["accuracy"] <= 1 and r["seconds"] > 0 and r["ms"] > 0 and r["step_ms"] > 0
    assert (r["ratio"] == 0) == (r["accuracy_before"] is None)
    assert r["ratio"] == 0 or r["params"] < whole["params"]
assert rows["ticket-0.75"]["params"] == rows["reinit-0.75"]["params"] < rows["ticket-0.5"]["params"]
assert [r["epochs"] for r in rows.values()] == [3, 2, 3, 2, 2, 2, 2, 2, 2]
assert rows["whole"]["params"] == whole["params"] and rows["whole"]["bytes_total"] == 0
P
"$program" eval a/ticket-0.75/model.safetensors --json > eval.json
python3 -c '
import json
e = json.load(open("eval.json")); r = json.load(open("a/ticket.json"))["rows"][6]
assert r["network"] == "ticket-0.75" and e["accuracy"] == r["accuracy"] and e["loss"] == r["loss"]' || fail "eval says otherwise"

# Killed in every phase, as soon as the file that begins it is there: pretraining, the dense run, each of the tickets, and when all
# is trained and only the table is missing; the whole that is trained on is one of the rows.
kills=0
for phase in run.yaml checkpoints/ckpt-000000000006.safetensors whole/run.yaml dense/run.yaml {ticket,random,reinit}-0.5/{ticket.safetensors,run.yaml} \
    {ticket,random,reinit}-0.75/run.yaml reinit-0.75/model.safetensors; do
    [ ! -e "b/$phase" ] || { echo "$phase was begun before the kill came"; continue; }
    "$program" ticket run.yaml --out b --resume --quiet > /dev/null 2>&1 & child=$!
    while [ ! -e "b/$phase" ] && kill -0 $child 2> /dev/null; do :; done
    kill -KILL $child 2> /dev/null || true
    rc=0; wait $child 2> /dev/null || rc=$?
    [ $rc -ne 137 ] || kills=$((kills + 1))
    [ $rc -eq 137 ] || [ $rc -eq 0 ] || fail "resumed before $phase: exit $rc"
done
[ $kills -ge 6 ] || fail "only $kills of 14 phases were killed"
rm -f b/ticket.json
"$program" ticket run.yaml --out b --resume --quiet > /dev/null 2>&1
[ -s b/ticket.json ] || fail "no table after $kills kills"
# The time of a row is that of all processes which worked on it: each tells it from its own beginning.
python3 - <<'P' || fail "seconds of killed runs"
import json
for row in json.load(open("b/ticket.json"))["rows"]:
    folder = "b" if row["network"] == "pretrained" else "b/" + row["network"]
    times = [json.loads(line).get("seconds", 0) for line in open(folder + "/metrics.jsonl")]
    ends = [a for a, b in zip(times, times[1:] + [0]) if b < a]
    assert abs(row["seconds"] - sum(ends)) < 0.01, (row, times)
P
for f in model.safetensors distance.csv {whole,dense}/model.safetensors {ticket,random,reinit}-{0.5,0.75}/{ticket,model}.safetensors; do
    cmp "a/$f" "b/$f" || fail "$f differs after $kills kills"
done

# A rule that ends pretraining ends nothing else, and it is said that it did.
"$program" ticket run.yaml --out s --set "stop={metric: filter_distance, window: 1, below: 100}" --set "ticket.ratios=[0.5]" \
    --set ticket.controls=none > /dev/null 2> said
grep -q "stop: filter_distance is .*, not above 100: the run ends after round 12 of 18" said || fail "not said: $(cat said)"
python3 -c '
import json
assert [r["epochs"] for r in json.load(open("s/ticket.json"))["rows"]] == [2, 2, 3, 2]' || fail "epochs: $(cat s/ticket.json)"

refuse() { refused "$1" "$2" ticket "${@:3}"; [ ! -e new ] || fail "$*: it left a folder"; }
sum=$(cat a/ticket.json a/*/model.safetensors | sha256sum)
refuse 2 "holds a run already: add --resume" run.yaml --out a
refuse 2 "the run file is not the one" run.yaml --out a --resume --set ticket.criterion=l1
refuse 2 "give --out DIR" run.yaml
refuse 2 "above 0 and below 1, not 0" run.yaml --out new --set "ticket.ratios=[0]"
refuse 2 "has 0.5 twice" run.yaml --out new --set "ticket.ratios=[0.5, 0.5]"
refuse 2 "ticket.ratios is empty" run.yaml --out new --set "ticket.ratios=[]"
refuse 2 "ticket.axes: the model has no axis foo" run.yaml --out new --set ticket.axes=foo
refuse 2 "has no batch norm" run.yaml --out new --set ticket.criterion=bn --set model.norm=none
(export OMPI_COMM_WORLD_SIZE=3 # as mpirun says it
    refuse 2 "made in one process" run.yaml --out new)
[ "$sum" = "$(cat a/ticket.json a/*/model.safetensors | sha256sum)" ] || fail "something was overwritten"
echo "fine, $kills kills"
