#!/usr/bin/env bash
# tessera reproduce: the list, one small study with all its files, and what it refuses.
set -eu
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "reproduce: $*" >&2; exit 1; }

# refused CODE WORDS COMMAND...: the command ends with CODE and a sentence with WORDS.
refused() {
    local code=$1 words=$2 got=0
    shift 2
    "$@" >out 2>err || got=$?
    [ $got = "$code" ] || fail "$* ended with $got, not $code: $(cat err)"
    grep -q -- "$words" err || fail "$*: no '$words' in: $(cat err)"
}

"$program" reproduce --list | grep -q '^loft/table1 ' || fail "the list lacks loft/table1"
"$program" reproduce --list --json | python3 -c '
import json, sys
rows = json.load(sys.stdin)
assert rows and all(r["name"].count("/") == 1 and r["shows"] for r in rows), rows
assert len({r["name"] for r in rows}) == len(rows), "a name twice"'

refused 2 'which one' "$program" reproduce
refused 2 'did you mean loft/table1' "$program" reproduce loft/tabel1
refused 2 'seeds' "$program" reproduce loft/table1 --seeds 0
mkdir run && echo 'seed: 1' >run/run.yaml
refused 2 'holds a run' "$program" reproduce loft/table1 --quick --out run
[ "$(ls run)" = run.yaml ] || fail "a run's folder was changed"
echo file >file
refused 2 'file' "$program" reproduce loft/table1 --quick --out file

"$program" reproduce loft/table1 --quick --quiet --json --out study >study.json
python3 - <<'PY'
import csv, json, os, xml.dom.minidom
s = json.load(open("study.json"))
assert s == json.load(open("study/summary.json"))
assert s["holds"] and len(s["claims"]) == 4, s
for name in s["files"]:
    assert os.path.getsize("study/" + name) > 0, name
xml.dom.minidom.parse("study/traffic.svg")
if "traffic.png" in s["files"]:
    assert open("study/traffic.png", "rb").read(8) == b"\x89PNG\r\n\x1a\n"
rows = list(csv.DictReader(open("study/traffic.csv")))
assert len(rows) == 2 * 3 * 2 and {r["series"] for r in rows} == {"GPipe", "local SGD", "LoFT"}
table = list(csv.DictReader(open("study/traffic-table.csv")))
for r in table:  # each total within 2 % of the paper's
    assert abs(float(r["difference, %"])) < 2, r
PY
echo "reproduce: ok"
