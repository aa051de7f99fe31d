#!/usr/bin/env bash
# Figure 2 of the masked-neurons paper, small: the claims that hold must be found to hold, the one that does not must not,
# from the numbers in the CSV too. On a table made here that is like the paper's, and on the paper's own where it is.
set -eu
program=$1 source=$2
. "$2/tests/cli.sh"
unset "${!TESSERA_@}"
mkdir -p made/communities-crime
python "$source/tests/python/make_crime.py" made/communities-crime/communities.data

# figures ROOT: the three panels, from the data that lie there.
figures() {
    export TESSERA_DATA=$1
    rm -rf fig2?
    for figure in fig2a fig2b fig2c; do
        "$program" reproduce masked/$figure --quick --quiet --json --out $figure >$figure.json
    done
    judge || fail "on the data in $1"
    [ -f fig2b/sweep/sweep.csv ] || fail "no table of the sweep"
}
judge() {
    python - . <<'P'
import csv, json, math, os, sys
work = sys.argv[1]
def claims(figure):
    return {c["id"].split("/")[2]: c for c in json.load(open(f"{work}/{figure}.json"))["claims"]}
def verdicts(figure):
    return {k: c["verdict"] for k, c in claims(figure).items()}
def series(figure):
    lines = {}
    for row in csv.DictReader(open(f"{work}/{figure}/{figure}.csv")):
        if row.get("series"):
            lines.setdefault(row["series"], []).append((float(row["x"]), float(row["y"]) if row["y"] else math.nan))
    return lines
for figure in ("fig2a", "fig2b", "fig2c"):
    for ending in ("svg", "csv"):
        assert os.path.getsize(f"{work}/{figure}/{figure}.{ending}") > 1000, (figure, ending)
# Categorical masks, p = 4 and 8, kappa = 0.1 and 1: every event in every round of three seeds.
found = verdicts("fig2a")
assert len(found) == 8 and all(v == "holds" for k, v in found.items() if k != "sudden"), found
for name in ("resampling-rounds", "aggregation-rounds"):
    parts = claims("fig2a")[name]["parts"]
    assert len(parts) == 4 and all(p["seeds"] == [1, 1, 1] for p in parts), parts
moments = series("fig2a")  # four panels, one after another
up = [y for _, y in moments["shares just drawn"] if not math.isnan(y)]
down = [y for _, y in moments["shares put together"] if not math.isnan(y)]
assert len(up) == len(down) == 4 * 18 and all(u > d for u, d in zip(up, down)), (up, down)
assert set(verdicts("fig2b").values()) == {"holds"} and len(verdicts("fig2b")) == 2, verdicts("fig2b")
lines = series("fig2b")
for name, line in lines.items():  # the error falls with xi
    assert line[0][1] > line[-1][1], (name, line)
few, many = lines["p, shares = 1"], lines["p, shares = 8"]
assert all(a[1] > b[1] for a, b in zip(few[:-1], many)), (few, many)  # and with p, where xi < 1
found = verdicts("fig2c")
assert found == {"shares": "holds", "steps": "does not hold", "floor": "holds"}, found
for figure in ("fig2a", "fig2b", "fig2c"):  # what differs is told, and stands below the picture
    s = json.load(open(f"{work}/{figure}.json"))
    width = [x for x in s["settings"] if x["what"] == "hidden units"][0]
    assert width == {"what": "hidden units", "paper": "4000", "here": "500", "departs": True}, width
    assert "hidden units: 500 (4000)" in open(f"{work}/{figure}/{figure}.svg").read()
P
}
figures "$PWD/made"
[ ! -f "$real_data/communities-crime/communities.data" ] || figures "$real_data"

# Without TESSERA_DATA: what is missing is told by the option that this command has, and that option finds the same data,
# named by their own folder or the one above; other data stay other data.
unset TESSERA_DATA
export XDG_DATA_HOME=$PWD/empty
refused 3 "TESSERA_DATA names the folder above it, and --data (in a run file data.path) its own" reproduce masked/fig2b --quick --out lost
for place in made made/communities-crime; do
    "$program" reproduce masked/fig2b --quick --quiet --seeds 1 --data $place --out there >said 2>&1 || fail "--data $place: $(cat said)"
    grep -q "^  path: $PWD/$place$\|path: .*$place" there/sweep/run.yaml && grep -q "name: communities-crime" there/sweep/run.yaml ||
        fail "--data $place: $(grep -A3 ^data there/sweep/run.yaml)"
    rm -rf there
done
printf 'a,b,y\n1,2,3\n2,3,1\n4,1,5\n5,9,2\n1,7,3\n' >own.csv
"$program" reproduce masked/fig2b --quick --quiet --seeds 1 --data own.csv --out there >said 2>&1 || fail "--data own.csv: $(cat said)"
! grep -q "name: communities-crime" there/sweep/run.yaml || fail "other data were read as the paper's"
echo "masked: the three panels of Figure 2 made and judged"
