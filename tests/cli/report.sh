#!/usr/bin/env bash
# tessera report: one page for a run's folder, whatever the run is called and whatever is missing.
set -eu
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "report: $*" >&2; exit 1; }

# refused CODE WORDS COMMAND...: the command ends with CODE and a sentence with WORDS.
refused() {
    local code=$1 words=$2 got=0
    shift 2
    "$@" >out 2>err || got=$?
    [ $got = "$code" ] || fail "$* ended with $got, not $code: $(cat err)"
    grep -q -- "$words" err || fail "$*: no '$words' in: $(cat err)"
}

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
assert not names & {"script", "b", "i", "link", "img", "iframe"}, names
for e in root.getElementsByTagName("*"):
    for key in e.attributes.keys():
        assert not key.startswith("on") and key not in ("href", "src"), key
outside = set(re.findall(r'https?://[^"\s<]*', page)) - {"http://www.w3.org/2000/svg"}
assert not outside, outside
def text(e):
    return "".join(text(c) if c.nodeType != c.TEXT_NODE else c.data for c in e.childNodes)
heads = [text(h) for h in root.getElementsByTagName("h2")]
assert heads == ["Learning", "Tickets", "Traffic and time", "Filter distance between epochs",
                 "Certificates", "The run file"], heads
assert text(root.getElementsByTagName("h1")[0]) == '<script>alert("&")<'
whole = text(root.documentElement)
for words in ("whole <b>&", "fails by a factor of 3", "(0.4 to 0.6)", "constants are <1>", "87.50", "accuracy, %", "parameters",
              "batch: 20", "Traffic of each round", "test accuracy"):
    assert words in whole, words
assert "prefers-color-scheme:dark" in page
assert len(root.getElementsByTagName("figure")) >= 5
PY

# What is not there is left out; what is damaged is named; nothing is overwritten then.
rm "$folder"/ticket.json "$folder"/distance.json "$folder"/certificate.json "$folder"/metrics.jsonl
"$program" report "$folder" --out small.html >/dev/null
grep -q 'Nothing has been measured yet' small.html || fail "a run without metrics has no page"
refused 2 'holds no run' "$program" report runs
refused 2 'holds no run' "$program" report nowhere
echo '{"rows": [' >"$folder/ticket.json"
refused 3 'ticket.json' "$program" report "$folder" --out small.html
grep -q 'Nothing has been measured yet' small.html || fail "a failed report changed the old one"
rm "$folder/ticket.json"
echo 'no json' >"$folder/metrics.jsonl"
refused 3 'metrics.jsonl:1' "$program" report "$folder"
echo 'model: {nmae: mlp}' >"$folder/run.yaml"
refused 2 'nmae' "$program" report "$folder"
echo "report: ok"
