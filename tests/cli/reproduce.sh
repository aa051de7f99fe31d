#!/usr/bin/env bash
# tessera reproduce: the list, one small study with all its files, and what it refuses.
set -eu
program=$1
. "$2/tests/cli.sh"

"$program" reproduce --list | grep -q '^loft/table1 ' || fail "the list lacks loft/table1"
"$program" reproduce --list --json | python3 -c '
import json, sys
rows = json.load(sys.stdin)["reproductions"]
assert rows and all(r["name"].count("/") == 1 and r["shows"] for r in rows), rows
assert len({r["name"] for r in rows}) == len(rows), "a name twice"'

refused 2 'which one' reproduce
refused 2 'did you mean loft/table1' reproduce loft/tabel1
refused 2 'seeds' reproduce loft/table1 --seeds 0
mkdir run && echo 'seed: 1' >run/run.yaml
refused 2 'holds a run' reproduce loft/table1 --quick --out run
[ "$(ls run)" = run.yaml ] || fail "a run's folder was changed"
echo file >file
refused 2 'file' reproduce loft/table1 --quick --out file

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
