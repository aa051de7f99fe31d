#!/usr/bin/env bash
# growth_masked.sh PROGRAM SOURCE: milliseconds of a round of masked training (xi = 0.5) against width, samples, workers and local
# steps, one at a time, on one thread. Each number is the difference between a long and a short run, the
# least of several, so that making data and weights does not count. The second column of each table trains
# on weights (what `train` does), the first, where it can, on samples (what `sweep` does).
set -eu
program=$1 source=$2
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cat > "$work/run.yaml" <<'Y'
data: {name: sphere, n: 100, dim: 122, task: regress, test_n: 10, phi: 0}
model: {name: shallow, width: 4000, kappa: 0.1}
optim: {name: gd, lr: 0.1, momentum: 0}
scheme: {name: masked, workers: 4, local_steps: 5, xi: 0.5}
threads: 1
Y
echo "one thread; $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs); commit $(git -C "$source" rev-parse --short HEAD)"
times() { # key values: times of both ways
    for way in "" --weights; do
        rm -rf "$work/o"
        # shellcheck disable=SC2086
        "$program" sweep "$work/run.yaml" --grid "$1=$2" --grid rounds=2,10 --seeds "${SEEDS:-3}" --out "$work/o" --quiet $way > /dev/null
        mv "$work/o/sweep.jsonl" "$work/lines$way"
    done
    /usr/bin/python3 - "$work" "$1" <<'P'
import json, sys
work, key = sys.argv[1:]
def read(name):
    best = {}
    for line in open(f"{work}/{name}"):
        r = json.loads(line)
        at = r[key], r["rounds"]
        best[at] = min(best.get(at, 1e9), r["seconds"])
    return {v: (best[v, 10] - best[v, 2]) / 8 * 1e3 for v, k in best if k == 2}
a, b = read("lines"), read("lines--weights")
first = min(a)
print(f"\n{key:>20} {'samples ms':>12} {'per unit':>9} {'weights ms':>12} {'per unit':>9}")
for v in sorted(a):
    print(f"{v:>20} {a[v]:12.2f} {a[v] / a[first] / (v / first):9.2f} {b[v]:12.2f} {b[v] / b[first] / (v / first):9.2f}")
P
}
echo "(per unit: time / value, 1 in the first row; it stays 1 where growth is linear)"
times model.width 1000,2000,4000,8000,16000,32000,64000
times data.n 50,100,200,400,800
times scheme.workers 1,2,4,8
times scheme.local_steps 1,2,5,10,20
