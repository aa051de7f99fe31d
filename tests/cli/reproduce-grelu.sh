#!/usr/bin/env bash
# GReLU's figures on small data of one's own: the cost is told first; stopped and killed they go on and end with the same numbers; data of other
# shapes are taken as they are, what cannot be is refused with a sentence.
set -euo pipefail
program=$1
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "reproduce-grelu: $*" >&2; exit 1; }
awk 'BEGIN { srand(3); for (i = 0; i < 60; i++) { row = ""; for (j = 0; j < 4; j++) row = row (j ? "," : "") (rand() - 0.5); print row } }' > d.csv
make() { "$program" reproduce "$1" --quick --data d.csv --seeds 1 --threads 2 --out "$2" > out 2> err; }
csvs() { cat "$1"/*.csv; }
for how in fig2c:TERM fig5:KILL; do # runs that are kept when they are done; a sweep
    figure=${how%:*} signal=${how#*:}
    make grelu/$figure $figure || fail "$figure: $(cat err)"
    grep -q "multiplications: about .* a run, .* are free" err || fail "$figure: no cost: $(cat err)"
    head -1 err | grep -q "10 x 128 (48 samples" && sed -n 2p err | grep -q multiplications || fail "$figure: sizes and cost do not come first: $(head -2 err)"
    rm -rf k
    "$program" reproduce grelu/$figure --quick --data d.csv --seeds 1 --threads 2 --out k > /dev/null 2>&1 & pid=$!
    until [ -n "$(find k \( -name 'patterns*.json' -o -name sweep.jsonl \) -size +0 2> /dev/null)" ]; do
        kill -0 $pid 2> /dev/null || break
        sleep 0.02
    done
    kill -$signal $pid 2> /dev/null || true
    code=0; wait $pid 2> /dev/null || code=$?
    [ ! -e k/summary.json ] || { echo "$figure ended before it was stopped"; continue; }
    [ $signal = KILL ] || [ $code = 130 ] || fail "$figure: exit $code after a stop"
    make grelu/$figure k || fail "$figure, going on: $(cat err)"
    [ "$(csvs k)" = "$(csvs $figure)" ] || fail "$figure: other numbers after $signal"
done
grep -q '!\[fig5\](fig5.svg)' fig5/summary.md && grep -q "d.csv" fig5/fig5.svg || fail "no picture in the summary, or it does not say of what"
/usr/bin/python3 - <<'P' # one seed decides nothing; what differs is told
import json
for figure in ("fig2c", "fig5"):
    s = json.load(open(f"{figure}/summary.json"))
    assert s["claims"] and all(c["verdict"] == "undecided" and "1 seed, 3 are needed" in c["found"] for c in s["claims"]), s["claims"]
    assert s["verdicts"]["holds"] == 0 and s["verdicts"]["undecided"] == len(s["claims"]), s["verdicts"]
    here = {x["what"]: (x["paper"], x["here"], x["departs"]) for x in s["settings"]}
    assert here["training samples"] == ("241600", "48", True) and here["inputs"] == ("18", "3", True), here
P
refused() { local code=$1 words=$2 got=0; shift 2; "$program" reproduce "$@" > out 2>&1 || got=$?; [ "$got" = "$code" ] && grep -q -- "$words" out || fail "$*: exit $got, $(cat out)"; }
refused 3 "no such file" grelu/fig5 --quick --data none.csv --out x
printf 'a,b\n1,x y z\n' > bad.csv
refused 3 "bad.csv" grelu/fig2c --quick --data bad.csv --out x
refused 2 "seeds" grelu/fig4 --seeds nine
echo "ok"
