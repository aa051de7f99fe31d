#!/usr/bin/env bash
# tessera report: one page for a run's folder, whatever the run is called and whatever is missing.
set -eu
program=$1
. "$2/tests/cli.sh"

cat >run.yaml <<'YAML'
data: {name: glyphs, n: 200, test_n: 100}
model: {name: mlp, hidden: [16, 16]}
scheme: {name: ist, workers: 2, local_steps: 2, events: round}
epochs: 3
batch: 20
YAML
folder='runs/<script>alert("&")<'
"$program" train run.yaml --out "$folder" --quiet >said
grep -qF "report   $folder/report.html" said || fail "train does not say where the report lies: $(cat said)"
cat >"$folder/ticket.json" <<'JSON'
{"rows": [{"network": "whole <b>&", "accuracy": 0.9, "params": 1000},
          {"network": "ticket", "accuracy": 0.875, "params": 500}]}
JSON
cat >"$folder/distance.json" <<'JSON'
{"epochs": [1, 2, 3], "layers": [{"name": "<i>", "distance": [[0, 1, 2], [1, 0, null], [2, 1, 0]]}]}
JSON
cat >"$folder/certificate.json" <<'JSON'
{"paper": "masked-neurons", "round": 0, "holds": false, "notes": ["constants are <1>"], "rows": [
 {"quantity": "width m", "where": "Theorem 2", "measured": 16, "sense": "at least", "required": 48,
  "verdict": "fails", "factor": 3, "interval": null},
 {"quantity": "lambda", "where": "(6)", "measured": 0.5, "sense": "at least", "required": 0.25,
  "verdict": "holds", "factor": 0.5, "interval": [0.4, 0.6]}]}
JSON
"$program" report "$folder" --json | python3 -c '
import json, sys
assert json.load(sys.stdin)["report"].endswith("report.html")'
"$program" report "$folder" --out page.html >/dev/null
cmp page.html "$folder/report.html" || fail "--out writes another page"

python3 - <<'PY'
import re, xml.dom.minidom
page = open("page.html", encoding="utf-8").read()
root = xml.dom.minidom.parseString(page.encode())  # well-formed, so nothing broke out
names = {e.tagName for e in root.getElementsByTagName("*")}
assert not names & {"link", "iframe"}, names
data, script = root.getElementsByTagName("script") # the numbers of the charts, and ours: its digest is the only one allowed
assert data.getAttribute("type") == "application/json" and script.parentNode.tagName == "body"
import base64, hashlib, json
body = page.split("<script>")[1].split("</script>")[0]
digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
policy = [e for e in root.getElementsByTagName("meta") if e.getAttribute("http-equiv")][0].getAttribute("content")
assert "default-src 'none'" in policy and f"script-src 'sha256-{digest}'" in policy, policy
numbers = json.loads(data.firstChild.data)
drawn = [e for e in root.getElementsByTagName("figure") if "drawn" in e.getAttribute("class").split()]
assert len(numbers["charts"]) == len(drawn) == len(root.getElementsByTagName("figure")) - 1 and numbers["format"] == 1
for e in root.getElementsByTagName("*"):
    for key in e.attributes.keys():
        assert not key.startswith("on") and (key != "src" or e.getAttribute(key).startswith("data:image/bmp;base64,")) and (key != "href" or e.getAttribute(key)[0] == "#"), key
outside = set(re.findall(r'https?://[^"\s<]*', page)) - {"http://www.w3.org/2000/svg"}
assert not outside, outside
def text(e):
    return "" if e.tagName == "script" else "".join(text(c) if c.nodeType != c.TEXT_NODE else c.data for c in e.childNodes)
heads = [text(h) for h in root.getElementsByTagName("h2")]
assert heads == ["Tickets", "Pretraining", "Traffic and time", "Filter distance between epochs",
                 "Certificates", "The network", "The run file"], heads
assert text(root.getElementsByTagName("h1")[0]) == '<script>alert("&")<'
whole = text(root.documentElement)
for words in ("whole <b>&", "fails by a factor of 3", "(0.4 to 0.6)", "constants are <1>", "87.50", "accuracy, %", "parameters",
              "batch: 20", "Traffic of each round", "test accuracy"):
    assert words in whole, words
assert "prefers-color-scheme:dark" in page
assert len(root.getElementsByTagName("figure")) >= 5
PY

# A run that did not write down every round: means between evaluations.
grep -v '"event"' "$folder/metrics.jsonl" > lines && cp "$folder/metrics.jsonl" all.jsonl && cp lines "$folder/metrics.jsonl"
"$program" report "$folder" --out means.html > /dev/null
grep -q 'Traffic of a round (means between evaluations)' means.html || fail "no traffic of a round without events"
! grep -q 'Traffic of each round' means.html || fail "traffic of each round without events"
mv all.jsonl "$folder/metrics.jsonl"

# Several runs: who reached what when, and after how much traffic. Seconds that begin anew after a resumption go on.
mkdir -p races/a 'races/<b>'
cat >races/a/metrics.jsonl <<'JSON'
{"round":1,"test_accuracy":0.4,"bytes_total":1000000,"seconds":2}
{"event":"lost","round":1}
{"event":"times","round":1,"rounds":1,"ranks":[{"rank":0,"compute":9},{"rank":1,"compute":1,"send":0.5,"wait":0.5},{"rank":2,"compute":1,"send":0,"wait":1}]}
{"round":2,"test_accuracy":0.57,"bytes_total":2000000,"seconds":3}
{"round":3,"test_accuracy":0.81,"bytes_total":3000000,"seconds":1.5}
JSON
cat >'races/<b>/metrics.jsonl' <<'JSON'
{"round":1,"test_accuracy":0.5,"bytes_total":7000000,"seconds":1}
{"round":2,"test_accuracy":0.6,"bytes_total":9000000,"seconds":2}
JSON
printf '{"round":3,"test_acc' >>'races/<b>/metrics.jsonl' # is being written
"$program" report races/a/ 'races/<b>' -a 57 -a 80.5 --out races.html --picture races --json | python3 -c '
import json, sys
a, b = json.load(sys.stdin)["runs"]
assert (a["run"], b["run"]) == ("a", "<b>") and a["best"] == 81 and b["best"] == 60, (a, b)
assert (a["compute"], a["send"], a["wait"]) == (50, 12.5, 37.5) and "wait" not in b, (a, b)
assert [(x["seconds"], x["bytes_total"]) for x in a["reached"]] == [(3, 2e6), (4.5, 3e6)], a
assert [(x["seconds"], x["bytes_total"]) for x in b["reached"]] == [(2, 9e6), (None, None)], b
import xml.dom.minidom
page = xml.dom.minidom.parse("races.html")
assert len(page.getElementsByTagName("figure")) == 2 and not page.getElementsByTagName("b")
cells = [x.firstChild.data if x.firstChild else "" for x in page.getElementsByTagName("td")]
assert cells == ["a", "3", "", "81.00", "50", "12", "38", "3.00", "2.00 MB", "4.50", "3.00 MB", "<b>", "2", "", "60.00", "", "", "", "2.00", "9.00 MB", "", ""], cells
rows = open("races.csv").read().splitlines()
assert len(rows) == 1 + 2 * 5, rows
xml.dom.minidom.parse("races.svg")'
"$program" report races/a 'races/<b>' >said
grep -q '^a  *3  *-  *81.00 .*4.5 s, 3.00 MB  *50, 12, 38 %' said || fail "no table of runs: $(cat said)"
grep -q 'to 65 %.*to 70 %.*to 75 %.*to 80 %' said || fail "no goals of its own: $(cat said)"
[ -s compare.html ] || fail "no compare.html"
# Of a run that keeps its best iterate the first numbers are those of that model: they were those of the last evaluation.
cat >best.yaml <<'YAML'
data: {name: glyphs, n: 60, test_n: 300}
model: {hidden: [64]}
optim: {lr: 0.2}
stop: {metric: test_loss, patience: 3}
epochs: 500
batch: 20
threads: 1
YAML
"$program" train best.yaml --out best --quiet --json >told
python3 - <<'PY' || fail "the page of a run that keeps its best iterate"
import json, re
last = [line for line in map(json.loads, open("best/metrics.jsonl")) if "event" not in line][-1]
told, page = json.load(open("told")), open("best/report.html", encoding="utf-8").read()
assert last["best_round"] < last["round"] and last["test_loss"] > told["loss"] + 2e-4, (last, told)
fact = dict(re.findall("<dt>([^<]*)</dt><dd>([^<]*)<", page))
assert fact["test accuracy"] == "%.2f %%" % (100 * told["accuracy"]) and fact["test loss"] == "%.4f" % told["loss"], (fact, told)
assert fact["the model is of"] == "round %d, the best" % last["best_round"] and fact["rounds"] == str(last["round"]), fact
PY

# Three answers that were wrong: the "best run" was the first one given where that had no result (it
# diverged before its first evaluation), and the one of the least loss where losses were of two
# kinds; a copy of a run counted as another seed, and made the interval narrower.
copy() { # FOLDER ACCURACY SED: a run like `best` with that change of its run file
    mkdir -p "unlike/$1"
    sed "$3" best/run.yaml >"unlike/$1/run.yaml"
    printf '{"round":1,"test_accuracy":%s,"test_loss":1,"seconds":1}\n' "$2" >"unlike/$1/metrics.jsonl"
}
copy none 0.1 's/^batch: .*/batch: 7/' && echo '{"event":"ended","status":"diverged"}' >unlike/none/metrics.jsonl
copy one 0.5 's/^seed: .*/seed: 11/'
copy two 0.7 's/^seed: .*/seed: 12/'
copy two-again 0.7 's/^seed: .*/seed: 12/'
copy other 0.9 's/name: glyphs/name: digits/'
"$program" report unlike/none unlike/one unlike/two unlike/two-again --out seeds.html >said
"$program" report unlike/one unlike/other --out other.html >said
for loss in half_squares mse; do
    copy $loss null "s/^loss: .*/loss: $loss/"
done
"$program" report unlike/mse unlike/half_squares --out losses.html >said
python3 - <<'PY' || fail "what is best, or how many seeds there are"
import re
def page(name):
    text = open(name, encoding="utf-8").read()
    return text, dict(re.findall("<dt>([^<]*)</dt><dd>([^<]*)<", text))
text, fact = page("seeds.html")
assert fact["best run"] == "two" and fact["its accuracy"].startswith("70"), fact
cells = re.findall("<td[^>]*>([^<]*)<", text[text.index("Runs that differ in their seeds alone"):])
assert cells[:2] == ["one", "2"] and cells[2].startswith("60.00 ("), cells[:4]
assert page("other.html")[1]["best run"] == "not told: data.name differs", page("other.html")[1]
assert page("losses.html")[1]["best run"] == "not told: loss differs", page("losses.html")[1]
PY

# Runs that are called alike were told apart by nothing: "best run: a", and one line of the table for both.
mkdir -p again && cp -r races/a again/
"$program" report races/a again/a/ 'races/<b>' --out alike.html --json >said
python3 -c '
import json, sys
assert [r["run"] for r in json.load(open("said"))["runs"]] == ["races/a", "again/a", "<b>"], open("said").read()
assert ">again/a<" in open("alike.html").read()' || fail "runs called alike"
refused 2 'must rise: 20 comes after 30' report races/a 'races/<b>' -a 30 -a 20
refused 2 'more than one folder' report races/a --accuracy 50
# The charts of one run as files: as many as its page has, with the same drawing.
"$program" report "$folder" --picture one >said
drawn=$(grep -oE '<figure class="(drawn|wide)' page.html | wc -l) # with the network's drawing
grep -qx "pictures one-\*: $drawn as SVG.*, charts as CSV, too" said && [ "$drawn" = "$(find . -maxdepth 1 -name 'one-*.svg' | wc -l)" ] ||
    fail "$drawn pictures on the page, and the files $(echo one-*.svg): $(cat said)"
[ -s one-pretraining.csv ] && [ -s one-traffic-and-time.svg ] && grep -qF '&lt;i&gt;' one-*.svg ||
    fail "files: $(echo one-*)"
# Before a run some papers have fewer rows than in it: the matrix is of the last kind. (An RNN had none, because of the first.)
mkdir later && cp "$folder/run.yaml" later
python3 - <<'PY'
import json
row = {"quantity": "width m", "where": "Theorem 2", "measured": 16, "sense": "at least", "required": 4, "verdict": "holds", "factor": 1}
with open("later/metrics.jsonl", "w") as out:
    for k in range(4):
        rows = [row] if k == 0 else [row, dict(row, measured=k, verdict="fails"), dict(row, verdict=None)]
        out.write(json.dumps({"event": "certificate", "round": k, "paper": "relu-rnn", "rows": rows}) + "\n")
    out.write(json.dumps({"round": 3, "epoch": 1, "loss": 1.0, "seconds": 1}) + "\n")
PY
"$program" report later >/dev/null
grep -q 'class="judgements"' later/report.html && grep -q 'other rows than the last' later/report.html || fail "no matrix of verdicts"
grep -q '<dt>does the theorem hold?</dt><dd>no: 1 of 2 rows fail</dd>' later/report.html || fail "the verdict is not at the top"
refused 1 'no/such' report "$folder" --picture no/such/folder/x
refused 2 'holds no run' report races/a nowhere
"$program" report races/a races/a -a 1 -a 2 -a 3 -a 4 -a 5 -a 6 -a 7 -a 8 >/dev/null || fail "eight accuracies"
refused 2 'at most 8' report races/a races/a -a 1 -a 2 -a 3 -a 4 -a 5 -a 6 -a 7 -a 8 -a 9
# Runs that have no accuracy, or nothing yet, are shown with what there is: once they were refused, and with them the others.
echo '{"event":"lost"}' >'races/<b>/metrics.jsonl'
"$program" report races/a 'races/<b>' >said || fail "a run without evaluations is refused"
grep -q '^a .*81.00' said && grep -qE '^<b>  *-  *-  *- ' said || fail "a run without evaluations: $(cat said)"
mkdir races/real; echo '{"round":7,"epoch":1,"loss":0.5,"rate":0.1,"test_loss":0.25,"test_accuracy":null,"bytes_total":0,"seconds":2}' >races/real/metrics.jsonl
"$program" report races/real 'races/<b>' -o losses.html --json | /usr/bin/python3 -c 'import json, sys
a, b = json.load(sys.stdin)["runs"]
assert (a["rounds"], a["loss"], a["best"], b["rounds"]) == (7, 0.25, None, None), (a, b)' || fail "runs without accuracies"
grep -q 'Loss against time' losses.html || fail "no accuracy, and no losses"
"$program" report 'races/<b>' 'races/<b>' >/dev/null || fail "two runs without a line"
echo '{"round"' >'races/<b>/metrics.jsonl'
echo '}' >>'races/<b>/metrics.jsonl'
refused 3 'metrics.jsonl:1' report races/a 'races/<b>'

# A large table of a stranger: 3.5 MB once took 48 s, as the square of its rows, and a million empty rows gigabytes.
cp -r "$folder" large
/usr/bin/python3 - <<'P'
first = '{"network":"whole","kind":"pretrained","accuracy":0.5,"params":10,%s}' % ",".join('"k%d":%d' % (k, k) for k in range(20))
row = '{"network":"t","kind":"ticket","accuracy":0.4,"params":5}'
open("long.json", "w").write('{"rows":[%s%s]}' % (first, ("," + row) * 60000))
open("empty.json", "w").write('{"rows":[%s%s]}' % (first, ",{}" * 1100000))
P
for table in long empty; do
    mv $table.json large/ticket.json
    (ulimit -t 10; "$program" report large --out large.html >/dev/null) || fail "a large table ($table): exit $?"
    grep -q 'The first 1000 of ' large.html || fail "a large table ($table) is shown without a word"
done

# A run that is called "." from inside its folder has a name all the same.
(cd best && "$program" report . --out ../dot.html && cd checkpoints && "$program" report .. --out ../../dots.html) >/dev/null
grep -q '<h1>best</h1>' dot.html && grep -q '<title>best - tessera</title>' dot.html && grep -q '<h1>best</h1>' dots.html || fail "a run called ."

# Of many layers the first are drawn, and the page says how many there are.
printf 'data: {name: glyphs, n: 40, test_n: 20}\nmodel: {hidden: [%s4]}\nepochs: 1\nbatch: 20\n' "$(printf '4, %.0s' $(seq 16))" >deep.yaml
"$program" train deep.yaml --out deep --quiet >/dev/null
"$program" eval deep/model.safetensors --out deep/evaluation.json --quiet >/dev/null
"$program" report deep >/dev/null
[ "$(grep -c '^<p>The first 16 of 18 layers.</p>' deep/report.html)" = 2 ] || fail "18 layers: $(grep -o 'The first [^<]*' deep/report.html)"

# A run that diverged was one of which nothing had been measured yet, or one with curves like any other.
"$program" train run.yaml --out diverged --quiet --set optim.lr=1e6 >/dev/null 2>&1 && fail "it did not diverge"
"$program" report diverged >/dev/null
grep -q '<p>The run diverged: the loss became .*lower optim.lr' diverged/report.html && grep -q '>Nothing has been measured.<' diverged/report.html ||
    fail "a run that diverged: $(grep -o '<p>[TN][^<]*' diverged/report.html)"

# Small numbers are no zeros, and a column in which nothing stands is left out.
mkdir tiny && cp diverged/run.yaml tiny
echo '{"format": 1, "round": 1, "epoch": 1, "loss": 1, "test_loss": 2.5e-7, "test_rmse": 2.84e-8, "rate": 1, "seconds": 1}' >tiny/metrics.jsonl
cat >tiny/ticket.json <<'JSON'
{"rows": [{"network": "pretrained", "accuracy": null, "params": 300, "flops": 450, "loss": 0.5, "bytes_total": 0, "ms": 0.0006},
          {"network": "ticket", "accuracy": null, "params": 100, "flops": 1500000, "loss": 0.25, "bytes_total": 0, "ms": 0.25}]}
JSON
"$program" report tiny >/dev/null
python3 - <<'PY' || fail "small numbers, empty columns"
import re
page = open("tiny/report.html", encoding="utf-8").read()
fact = dict(re.findall("<dt>([^<]*)</dt><dd>([^<]*)<", page))
assert fact["test error"] == "2.84e-08" and fact["test loss"] == "2.5e-07", fact
table = page[page.index('id="tickets"'):]
rows = [re.findall("<t[hd][^>]*>([^<]*)", row) for row in re.findall("<tr.*?</tr>", table[:table.index("</table>")], re.S)]
assert rows == [["network", "parameters", "MFLOP", "loss", "ms a batch"], ["pretrained", "300", "0.00045", "0.5000", "0.0006"],
                ["ticket", "100", "1.50", "0.2500", "0.25"]], rows
PY

# What is not there is left out; what is damaged is named; nothing is overwritten then.
rm "$folder"/ticket.json "$folder"/distance.json "$folder"/certificate.json "$folder"/metrics.jsonl
"$program" report "$folder" --out small.html >/dev/null
grep -q 'Nothing has been measured yet' small.html || fail "a run without metrics has no page"
refused 2 'holds no run' report runs
refused 2 'holds no run' report nowhere
echo '{"rows": [' >"$folder/ticket.json"
refused 3 'ticket.json' report "$folder" --out small.html
grep -q 'Nothing has been measured yet' small.html || fail "a failed report changed the old one"
rm "$folder/ticket.json"
echo 'no json' >"$folder/metrics.jsonl"
refused 3 'metrics.jsonl:1' report "$folder"
echo 'model: {nmae: mlp}' >"$folder/run.yaml"
refused 2 'nmae' report "$folder"
echo "report: ok"
