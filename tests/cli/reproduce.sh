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
assert len({r["name"] for r in rows}) == len(rows), "a name twice"
for r in rows:  # what decides every claim is known before anything is run
    assert r["criteria"], r["name"]
    for c in r["criteria"]:
        assert c["id"].startswith(r["name"] + "/") and c["paper"] and c["statistic"] and c["decided"] and c["reason"], c'
"$program" reproduce --list loft/fig4 | grep -q 'before training, below 0.05 (' || fail "--list NAME does not say what decides"

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
verdict = {c["id"]: c["verdict"] for c in s["claims"]}
assert verdict == {"loft/table1/local-sgd": "holds", "loft/table1/gpipe": "undecided"}, verdict  # cuts chosen to fit prove nothing
assert s["verdicts"] == {"undecided": 1, "holds": 1, "does_not_hold": 0}, s["verdicts"]
for part in s["claims"][0]["parts"]:
    assert len(part["seeds"]) == 3 and part["low"] <= part["value"] <= part["high"], part
assert any(d["departs"] and d["what"] == "where GPipe cuts" for d in s["settings"]), s["settings"]
assert "Here (and in the paper)" in open("study/traffic.svg").read()
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
