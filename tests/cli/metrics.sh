#!/usr/bin/env bash
# tessera metrics: every number of metrics.jsonl is in the table, and in the event files of TensorBoard (tests/python/tfevents.py reads them).
set -eu
program=$1 source=$2
. "$source/tests/cli.sh"
with_python numpy

cat >run.yaml <<'Y'
data: {name: glyphs, n: 200, test_n: 100}
model: {hidden: [16, 16]}
optim: {lr: 0.02}
scheme: {name: ist, workers: 2, local_steps: 2, events: step}
epochs: 4
batch: 20
checkpoint: {every: 1}
certify: {every: 0}
threads: 1
Y
"$program" train run.yaml --out runs/a --quiet >/dev/null
"$program" train run.yaml --out runs/b,c --quiet --set data.name=ackley --set data.dim=4 --set model.hidden=[8] --set scheme.events=none >/dev/null
! "$program" train run.yaml --out runs/d --quiet --set optim.lr=1e6 >/dev/null 2>&1 || fail "it did not diverge"

# ---- The table --------------------------------------------------------------------------------
"$program" metrics runs/a >a.csv
"$program" metrics runs/a --csv b.csv | grep -q '^csv      b.csv: 4 lines$' || complain "it does not say what it wrote"
cmp a.csv b.csv || complain "--csv writes another table"
"$program" metrics runs --csv all.csv >/dev/null
"$program" metrics runs -e put --csv put.csv --json >said
"$program" metrics runs -e ended >ended.csv
python - <<'P' || complain "the tables"
import csv, json
def flat(value, name=()):
    if isinstance(value, dict):
        for k, v in value.items():
            yield from flat(v, name + (k,))
    elif isinstance(value, list):
        for i, v in enumerate(value):
            yield from flat(v, name + (str(i),))
    elif value is not None:
        yield ".".join(name), value
def lines(run, event):
    for line in open("runs/%s/metrics.jsonl" % run):
        told = json.loads(line)
        if told.pop("event", None) == event:
            yield dict(flat(told))
def same(path, runs, event, several):
    rows, wanted = list(csv.DictReader(open(path))), [(r, l) for r in runs for l in lines(r, event)]
    assert len(rows) == len(wanted) > 0, (path, len(rows), len(wanted))
    for row, (run, line) in zip(rows, wanted):
        if several:
            assert row.pop("run") == run
        row = {k: v for k, v in row.items() if v != ""}
        assert set(row) == set(line), (path, row, line)
        for k, v in line.items():
            assert row[k] == v if isinstance(v, str) else float(row[k]) == v, (path, k, row[k], v)
same("a.csv", ["a"], None, False)
same("all.csv", ["a", "b,c", "d"], None, True)
same("put.csv", ["a", "b,c", "d"], "put", True)
same("ended.csv", ["a", "b,c", "d"], "ended", True)
said = json.load(open("said"))
assert said["csv"] == "put.csv" and said["lines"] == sum(1 for r in ("a", "d") for _ in lines(r, "put")), said
P

# ---- TensorBoard -------------------------------------------------------------------------------
"$program" metrics runs --tensorboard board --json >said
all=0
for run in a b,c d; do
    python "$source/tests/python/tfevents.py" "runs/$run/metrics.jsonl" "board/$run"/events.out.tfevents.* >out || complain "the events of $run"
    all=$((all + $(sed 's/ numbers//' out)))
done
[ "$(field "$(cat said)" numbers)" = $all ] || complain "it says $(cat said), there are $all"
"$program" metrics runs/a -t board/a | grep -q '^events   board/a: ' || complain "again, of one run"
[ "$(find board -type f | wc -l)" = 3 ] || complain "a second call leaves a second file"
# A byte that was changed is noticed by the reader: so it does look.
python - board/a/events.out.tfevents.* <<'P'
import sys
raw = bytearray(open(sys.argv[1], "rb").read())
raw[len(raw) // 2] ^= 1
open("broken", "wb").write(raw)
P
! python "$source/tests/python/tfevents.py" runs/a/metrics.jsonl broken >/dev/null 2>&1 || complain "the reader does not look"
if python -c 'import tensorboard' 2>/dev/null; then # not in Debian 12
    python - <<'P' || complain "TensorBoard itself"
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
e = EventAccumulator("board/a").Reload()
assert "test_accuracy" in e.Tags()["scalars"]
P
fi

# ---- What is refused --------------------------------------------------------------------------
mkdir empty
refused 2 "there are no lines of evaluations" metrics empty
refused 2 "there are no lines of event nothing" metrics runs -e nothing
refused 2 "there is no run with a metrics.jsonl" metrics empty -t out
refused 2 "TensorBoard gets all" metrics runs -t out -e put
refused 2 "--json says what was written" metrics runs --json
printf '{"round":1}\n{"round":\n' >runs/a/metrics.jsonl
refused 3 "metrics.jsonl, line 2: " metrics runs/a
refused 3 "metrics.jsonl, line 2: " metrics runs/a -t out
