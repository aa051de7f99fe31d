#!/usr/bin/env bash
# tessera reproduce, the recurrent network's figures: one seed, so nothing is decided, but every number is on the paper's side of its
# bound, the files are there, and a second call finds them done.
set -eu
program=$1
. "$2/tests/cli.sh"
with_python
for name in convergence length; do
    "$program" reproduce "rnn/$name" --quick --seeds 1 --quiet --json --out "$name" >"$name.json"
done
python - <<'P'
import csv, json, os
def study(name):
    s = json.load(open(name + ".json"))
    assert s["verdicts"] == {"undecided": len([c for c in s["claims"] if not c["ours"]]), "holds": 0, "does_not_hold": 0}, s["verdicts"]
    for f in s["files"]:
        assert os.path.getsize(os.path.join(name, f)) > 0, f
    return {c["id"].split("/")[-1]: [p["value"] for p in c["parts"]] for c in s["claims"]}
c = study("convergence")
assert len(c["linear"]) == 12 and all(0.9 < r <= 1 for r in c["linear"]), c  # r^2 of log f against rounds
assert c["delta"][0] < 2.1 and c["n"][0] < 1 and c["m"][0] < 0.1, c
rows = list(csv.DictReader(open("convergence/convergence-table.csv")))
# An empty cell before each delta once shifted the rows.
assert len(rows) == 12 and all(r["m"] in ("64", "128", "256", "512") and 0.9 < float(r["r^2 of log f"]) <= 1 for r in rows), rows
assert sum(r["delta"] != "-" for r in rows) == 4, rows
n = study("length")
assert 0 < n["upper"][0] < 1 and n["lower"][0] > 0.5 and n["chain"][0] < 3.1 and n["back"][0] < 3.1, n
# Half the matrix: half the factor a position, to the bit where nothing is rounded.
assert n["explodes"][0] > 1 > n["vanishes"][0] and abs(n["vanishes"][0] * 2 / n["explodes"][0] - 1) < 1e-9, n
P
