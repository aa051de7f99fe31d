#!/usr/bin/env bash
# The page of a sweep: the best cell is the one that the table in sweep.csv has, the map has every cell, curves are there when
# they were kept, an unfinished sweep has a page, and damaged files are refused.
set -eu
program=$1
. "$2/tests/cli.sh"
cat >run.yaml <<'Y'
data: {name: glyphs, n: 100, test_n: 100}
model: {hidden: [16]}
scheme: {name: local_sgd}
epochs: 2
batch: 25
threads: 2
Y
"$program" sweep run.yaml --grid optim.lr=0.01,0.1,0.5,1e4 --grid scheme.workers=1,2,3 --grid optim.schedule=constant,cosine \
    --seeds 2 --curves --quiet --out a >said
grep -q '^report a/report.html$' said || fail "sweep does not say where its page is"
best=$(python - a <<'P'
import csv, re, sys
folder = sys.argv[1]
cells = {}
for row in csv.DictReader(open(f"{folder}/sweep.csv")):
    cells.setdefault(int(row["cell"]), []).append(row)
def key(c):
    rows = cells[c]
    if any(r["status"] != "ok" for r in rows): return (1, 0, 0, c)
    return (0, -sum(float(r["accuracy"]) for r in rows), sum(float(r["loss"]) for r in rows), c)
first = cells[min(cells, key=key)]
page = open(f"{folder}/report.html").read()
mean = "%.2f" % (100 * sum(float(r["accuracy"]) for r in first) / len(first))
names = ["optim.lr", "scheme.workers", "optim.schedule"]
cell = " ".join(f"{k}={first[0][k]}" for k in names)
assert f"{cell}: test accuracy {mean} %, the mean of 2 seeds" in page, (cell, mean)
assert "".join(f" --set {k}={first[0][k]}" for k in names) + "</pre>" in page
# Two maps (one for each schedule) of 3 x 4, every mean in it; one frame.
assert page.count('class="map"') == 2 and page.count('class="best"') == 1, page.count('class="map"')
shown = re.findall(r'<td[^>]*>(diverged|[0-9.]+)\*?</td>', "".join(re.findall(r'<table class="map">.*?</table>', page, re.S)))
want = ["diverged" if all(r["status"] != "ok" for r in rows) else
        "%.2f" % (100 * sum(float(r["accuracy"]) for r in rows if r["status"] == "ok") / sum(r["status"] == "ok" for r in rows)) for rows in cells.values()]
assert sorted(shown) == sorted(want) and len(shown) == 24, (shown, want)
assert "diverged" in shown and page.count("<polyline") + page.count("<path class=\"s") >= 1
table = page.split("<h2>Table</h2>")[1]
assert table.count("<tr") == 25, table.count("<tr")
assert page.count('<path class="line') == 24, "not every cell has its line"
print(f"{cell}: test accuracy {mean} %")
P
) || fail "the page of a"
grep -qF "best   $best" said || fail "terminal and page disagree: $(grep ^best said), $best"

# Without a second key or curves; losses instead of accuracies; words as values, and quotes where the shell wants them.
cat >reg.yaml <<'Y'
data: {name: sphere, n: 40, dim: 10, task: regress, test_n: 20}
rounds: 5
batch: 20
Y
"$program" sweep reg.yaml --grid 'model.hidden=[8, 8],[4]' --quiet --out b >said
grep -q "^best   model.hidden=.*: loss " said || fail "no best cell: $(cat said)"
grep -q "None were kept" b/report.html && grep -q -- "--set &#39;model.hidden=\|--set 'model.hidden=" b/report.html || fail "the page of b"
[ "$(grep -c 'class="map"' b/report.html)" = 1 ] || fail "one key has no map"
"$program" report b --out elsewhere.html >said && cmp b/report.html elsewhere.html || fail "report makes another page"

# A sweep under way, and one that has not begun.
head -n 5 a/sweep.jsonl >part && cp -r a c && cp part c/sweep.jsonl && printf '{"cell":' >>c/sweep.jsonl
"$program" report c >said 2>&1 || fail "$(cat said)"
grep -q '<dd>5 of 48</dd>' c/report.html || fail "an unfinished sweep does not say so"
: >c/sweep.jsonl
"$program" report c >said 2>&1 && grep -q "No run is done yet" c/report.html || fail "an empty sweep: $(cat said)"

# A grid over `rounds` or `loss` wrote lines with two members of that name, which nobody could read again.
for grid in rounds=2,4 loss=logistic,hinge; do
    rm -rf named && printf 'data: {name: sphere, n: 40, test_n: 8}\nmodel: {name: relu_deep, layers: 1, width: 8}\nbatch: 10\nrounds: 3\nthreads: 1\n' >named.yaml
    "$program" sweep named.yaml --grid $grid --out named --quiet >/dev/null && "$program" report named >said 2>&1 || fail "$grid: $(cat said)"
    grep -qi warning said && fail "$grid: $(cat said)"
    python -c 'import csv, json, sys
key, values = sys.argv[1].split("=")
name, lines = "grid." + key, [json.loads(line) for line in open("named/sweep.jsonl")]
assert [str(line[name]) for line in lines] == values.split(","), lines
assert [row[name] for row in csv.DictReader(open("named/sweep.csv"))] == values.split(",")' $grid || fail "$grid is not told"
done
# Losses of two kinds were ranked: "best" was the one with the smaller unit.
python -c 'import random
random.seed(1)
print("a,b,y")
for i in range(60): print("%.3f,%.3f,%.3f" % (random.random(), random.random(), random.random()))' >small.csv
printf 'data: {path: small.csv, target: y, task: regress}\nmodel: {hidden: [4]}\noptim: {lr: 0.001}\nepochs: 1\nbatch: 12\nthreads: 1\n' >kinds.yaml
"$program" sweep kinds.yaml --grid loss=mse,half_squares --out kinds --quiet >said
grep -qF 'best   not told: results cannot be compared when loss differs' said || fail "the best of two losses: $(cat said)"
grep -qF 'Not told: results cannot be compared when loss differs.' kinds/report.html || fail "the page tells the best of two losses"
"$program" sweep kinds.yaml --grid loss=mse --grid optim.lr=0.001,0.01 --out kind --quiet >said
grep -q '^best   loss=mse optim.lr=' said || fail "one loss: $(cat said)"

# A cell of which one run diverged and the others did best comes last; its line left the picture.
cp -r a d
python3 - <<'PY'
import json
lines = [json.loads(line) for line in open("d/sweep.jsonl")]
last = lines[-1]["cell"]
for line in lines:
    if line["cell"] == last:
        line["accuracy"], line["status"] = 0.99, "diverged" if line["seed"] == min(o["seed"] for o in lines) else "ok"
with open("d/sweep.jsonl", "w") as f:
    f.writelines(json.dumps(line) + "\n" for line in lines)
PY
"$program" report d >said 2>&1 || fail "$(cat said)"
python3 - <<'PY' || fail "a cell of which a run diverged"
import re
page = open("d/report.html", encoding="utf-8").read()
ends = [float(d.split()[-1]) for d in re.findall(r'class="line[^>]* d="([^"]*)"', page)]
assert len(ends) > 5 and min(ends) == 46 and max(ends) <= 320, sorted(ends)
assert ">99.00 %</text>" in page and "to 99.00 %." in page and "<dd>99.00 %</dd>" not in page
assert "behind the others" in page and "behind the others" not in open("b/report.html", encoding="utf-8").read()
PY

# What is not a sweep's is refused, whatever it says.
for text in '{}' '{"grid":[],"seeds":1}' '{"grid":[{"key":"optim.lr","values":[]}],"seeds":1}' '{"grid":[{"key":"no.key","values":["1"]}],"seeds":1}' \
    '{"grid":[{"key":"optim.lr","values":[1]}],"seeds":1}' '{"grid":[{"key":"optim.lr","values":["1"]}],"seeds":0}' \
    '{"grid":[{"key":"optim.lr","values":["1","2"]}],"seeds":9000000000000000000}' '[' ; do
    echo "$text" >c/grid.json
    refused 3 grid.json report c
done
cp a/grid.json c/ && sed 's/"seed":1,/"seed":7,/' part >c/sweep.jsonl
refused 3 "not the line of cell 0" report c
echo "sweep_report: $best"
