#!/usr/bin/env bash
# Figure 2 of the masked-neurons paper, small: the trends that hold must be found to hold, from the numbers in the CSV too.
set -eu
program=$1 source=$2
export TESSERA_DATA=${TESSERA_DATA:-$source/../shared/data}
[ -f "$TESSERA_DATA/communities-crime/communities.data" ] || { echo "skipped: no Communities and Crime in $TESSERA_DATA"; exit 77; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
for figure in fig2a fig2b fig2c; do
    "$program" reproduce masked/$figure --quick --quiet --json --out "$work/$figure" > "$work/$figure.json"
done
/usr/bin/python3 - "$work" <<'P'
import csv, json, math, os, sys
work = sys.argv[1]
def claims(figure):
    return {c["paper"].split("(")[0].strip(): c["holds"] for c in json.load(open(f"{work}/{figure}.json"))["claims"]}
def series(figure):
    lines = {}
    for row in csv.DictReader(open(f"{work}/{figure}/{figure}.csv")):
        if row.get("series"):
            lines.setdefault(row["series"], []).append((float(row["x"]), float(row["y"]) if row["y"] else math.nan))
    return lines
for figure in ("fig2a", "fig2b", "fig2c"):
    for ending in ("svg", "csv"):
        assert os.path.getsize(f"{work}/{figure}/{figure}.{ending}") > 1000, (figure, ending)
assert all(claims("fig2a").values()) and len(claims("fig2a")) == 3, claims("fig2a")
moments = series("fig2a")
up = [y for _, y in moments["shares just drawn"] if not math.isnan(y)]
down = [y for _, y in moments["shares put together"] if not math.isnan(y)]
assert len(up) == len(down) and sum(u > d for u, d in zip(up[1:], down)) > 0.9 * len(down), (up, down)
assert all(claims("fig2b").values()) and len(claims("fig2b")) == 2, claims("fig2b")
lines = series("fig2b")
for name, line in lines.items():  # the error falls with xi
    assert line[0][1] > line[-1][1], (name, line)
few, many = lines["p, shares = 1"], lines["p, shares = 8"]
assert all(a[1] > b[1] for a, b in zip(few[:-1], many)), (few, many)  # and with p, where xi < 1
found = claims("fig2c")
assert found["The error grows with the number of shares, which are smaller then"], found
assert found["At the floor"], found  # with the number of local steps, once the floor is reached
P
[ -f "$work/fig2b/sweep/sweep.csv" ] || { echo "no table of the sweep"; exit 1; }
echo "masked: the three panels of Figure 2 made and judged"
