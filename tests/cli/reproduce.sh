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
accuracy = dict.fromkeys(["loft/table1/comparable", "loft/table1/dense", "loft/table1/tickets"], "undecided")  # made with --paper
assert verdict == {"loft/table1/local-sgd": "holds", "loft/table1/gpipe": "undecided", **accuracy}, verdict  # cuts chosen to fit prove nothing
assert s["verdicts"] == {"undecided": 2, "holds": 1, "does_not_hold": 0} and s["ours"]["undecided"] == 2, s["verdicts"]
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

# The paper's own setting, cell by cell: drawn images and a narrow network stand for CIFAR-10 and width 64. Each cell is a file,
# made once, on any machine; what was made with other settings is refused.
small="--paper --quiet --set data.name=glyphs --set data.channels=3 --set data.n=96 --set data.test_n=32 --set model.width=2
    --set epochs=1 --set ticket.epochs=1 --set batch=16"
refused 2 'one study' reproduce all --paper
refused 2 'leave --quick out' reproduce loft/table1 --paper --quick
refused 2 'leave --paper out' reproduce loft/theorem1 --paper
refused 2 'add --paper' reproduce loft/table1 --cells '*'
refused 2 'no cell is called' reproduce loft/table1 --paper --out cells --cells '*seed9'
refused 2 'no cell is called' reproduce loft/table1 --paper --list --cells '*-18*,preresnet18-loft-?-prune80-seed1'
[ "$("$program" reproduce loft/table1 --paper --list --cells 'preresnet18-loft-?-prune80-seed1' | wc -l)" = 2 ] || fail "--list of cells"
"$program" reproduce loft/table1 $small --out cells --cells '*18-loft-4-prune80-seed1' >/dev/null || fail "a cell"
"$program" reproduce loft/table1 $small --out away --cells '*18-local_sgd-4-prune80-seed1,*18-dense-seed1' >/dev/null || fail "cells elsewhere"
cp away/cells/* cells/cells/ # merged
before=$(cat cells/cells/* | sha256sum)
"$program" reproduce loft/table1 $small --out cells --cells 'preresnet18-loft-4-prune80-seed1,*18-local_sgd-4-prune80-seed1' >/dev/null
[ "$before" = "$(cat cells/cells/* | sha256sum)" ] || fail "a cell that is there was made again"
"$program" reproduce loft/table1 $small --out cells --cells '*18-loft-4-prune50-seed1' >/dev/null || fail "another ticket of the same pretraining"
grep -q '"seconds_pretraining"' cells/cells/*loft-4-prune50-seed1.json || fail "cell"
python3 - <<'PY'
import csv, json
rows = list(csv.DictReader(open("cells/accuracy-table.csv")))
assert [(r["pretrained by"], r["pruned, %"], r["seeds"]) for r in rows] == [("dense", "", "1"), ("LoFT-4", "80", "1"), ("LoFT-4", "50", "1"), ("local SGD-4", "80", "1")], rows
cell = lambda name: json.load(open(f"cells/cells/preresnet18-{name}-seed1.json"))["measured"]
assert abs(float(rows[1]["here, % (95 %)"]) - 100 * cell("loft-4-prune80")["accuracy"]) < 0.01 and rows[1]["paper, %"] == "93.97"
assert cell("loft-4-prune80")["accuracy_pretrained"] == cell("loft-4-prune50")["accuracy_pretrained"]  # one pretraining
s = json.load(open("cells/summary.json"))
assert s["paper"] and "4 of 144 cells are there." in s["notes"] and " --paper" in s["command"] and "--set epochs=1" in s["command"], s
assert s["verdicts"]["undecided"] == 3, s["verdicts"]  # one seed decides nothing
assert any(d["what"] == "--set model.width" and d["departs"] for d in s["settings"])
less = [c for c in s["claims"] if c["id"] == "loft/table1/comparable"][0]["parts"]
assert [p["part"] for p in less if p["seeds"]] == ["PreActResNet-18, LoFT-4 less local SGD-4, 80 %"], less
assert [p["part"] for p in less if p.get("why")][-2:] == ["PreActResNet-34", "ResNet-34"], less  # said of each network
PY
refused 2 'epochs: 1 -> 2' reproduce loft/table1 $small --set ticket.epochs=2 --out cells --cells '*18-loft-4-prune80-seed1'

# All repetitions had the one seed of --set, and four claims held of three copies of one run.
refused 2 'every repetition of a study has a seed of its own' reproduce rnn/convergence --quick --set seed=5 --out one-seed
[ ! -e one-seed ] || fail "a study of one seed was begun"

# The page and the table of a folder of studies. Those of a machine elsewhere are copies of their
# files: here, of the one above under each name. One is missing, one is damaged.
refused 2 'holds no study' reproduce --index run
refused 2 'takes no name' reproduce all --index run
python3 - "$program" <<'PY'
import json, os, shutil, subprocess, sys
rows = json.loads(subprocess.run([sys.argv[1], "reproduce", "--list", "--json"], capture_output=True, check=True).stdout)
for r in rows["reproductions"]:
    folder = "all/" + r["name"].replace("/", "-")
    shutil.copytree("study", folder)
    s = json.load(open("study/summary.json"))
    s["name"], s["command"] = r["name"], s["command"].replace("loft/table1", r["name"])
    s["claims"][0]["found"] = "a <b> & a | bar"
    json.dump(s, open(folder + "/summary.json", "w"))
PY
before=$(cat all/*/summary.json | sha256sum)
"$program" reproduce all --quick --out all >all.txt 2>all.err || fail "what is done already is made again"
[ "$(grep -c 'is done already' all.err)" = 20 ] || fail "not all studies were found done: $(cat all.err)"
[ "$before" = "$(cat all/*/summary.json | sha256sum)" ] || fail "a study that was done was changed"
grep -q 'all: index.html and results.md of 20 studies' all.txt || fail "$(cat all.txt)"
rm -r all/rnn-length && echo file >all/rnn-length
refused 2 'rnn/length was not made' reproduce all --quick --out all
refused 2 'one study' reproduce all --quick --out all --data nowhere.csv
refused 3 'nowhere.csv' reproduce rnn/memorise --quick --out other --data nowhere.csv
"$program" reproduce --index all --json >index.json
python3 - <<'PY'
import json, re
answer = json.load(open("index.json"))
assert answer["studies"] == 19 and answer["page"] == "all/index.html", answer
page, table = open(answer["page"]).read(), open(answer["results"]).read()
assert page.count("<figure") == 19 and "a &lt;b&gt; &amp; a | bar" in page and "<b>" not in page
assert not re.search(r"https?://(?!www.w3.org)", page), "the page needs another file"
assert len(re.findall("^## ", table, re.M)) == 20 and "Not made yet: `tessera reproduce rnn/length --quick`." in table
assert "a <b> & a \\| bar" in table, "a bar ends a cell"
PY
cp -r "$2/docs/results" kept && "$program" reproduce --index kept >/dev/null
mkdir -p tree && cp -r "$2/docs/results" tree/ && "$program" reproduce --index tree/results --gallery tree/gallery >/dev/null
cmp tree/gallery/README.md "$2/docs/gallery/README.md" ||
    fail "docs/gallery is not what tessera reproduce --index docs/results --gallery docs/gallery writes"
while read -r picture; do [ -s "tree/gallery/$picture" ] || fail "the gallery shows $picture, which is not there"; done < <(
    sed -n 's/^!\[.*\](\(.*\))$/\1/p' tree/gallery/README.md)
[ "$(grep -c '^!\[' tree/gallery/README.md)" = "$(find tree/results -name '*.svg' | wc -l)" ] || fail "not all pictures are in the gallery"
refused 2 "give it with --index DIR or all" reproduce loft/table1 --gallery tree/gallery
cmp kept/results.md "$2/docs/results/results.md" || fail "docs/results/results.md is not what reproduce --index writes"
echo '{"name": 1' >all/loft-fig1/summary.json
refused 3 'summary.json' reproduce --index all
echo "reproduce: ok"
