#!/usr/bin/env bash
# bench/paired.py: what it says of times that are known.
set -eu
. "$2/tests/cli.sh"
/usr/bin/python3 - "$2" <<'P' || fail "a verdict is wrong"
import json
import os
import random
import shutil
import subprocess
import sys

random.seed(1)


def judged(times, *more):
    """The verdict on pairs of seconds (a, b)."""
    for i, pair in enumerate(times):
        for name, s in zip("ab", pair):
            os.makedirs(f"runs/{name}-{i}", exist_ok=True)
            with open(f"runs/{name}-{i}/metrics.jsonl", "w", encoding="utf-8") as file:
                file.write('{"event": "start"}\n' + "".join(json.dumps({"seconds": s * part}) + "\n" for part in (0.5, 1)))
    out = subprocess.run([sys.executable, sys.argv[1] + "/bench/paired.py", "runs", "a", "b", *more],
                         capture_output=True, text=True, check=True).stdout.splitlines()
    return out[-1], out[-2]


# A machine that is twice as slow for half of the pairs, and 0.1 % between a and b of one.
drift = [1 + (i // 20) for i in range(40)]
noise = lambda: random.gauss(1, 0.001)
same = [(d, d * noise()) for d in drift]
slower = [(d, 1.03 * d * noise()) for d in drift]
loud = [(random.gauss(1, 0.1), random.gauss(1, 0.1)) for _ in drift]
assert judged(same)[0] == "b takes at most 1 % longer", judged(same)
assert judged(slower)[0] == "b takes more than 1 % longer", judged(slower)
assert judged([(b, a) for a, b in slower])[0] == "b takes at most 1 % longer"  # it is faster
assert judged(slower, "5")[0] == "b takes at most 5 % longer"
assert judged(loud)[0].startswith("whether b takes 1 % longer cannot be said"), judged(loud)
assert abs(float(judged(slower)[1].split()[5].rstrip(",")) - 1.03) < 0.001, judged(slower)
# By hand: logarithms 0 and 0.02, mean 0.01, deviation 0.01414, t = 12.706 of one degree: 0.01 +- 0.127.
for i in range(2, 40):
    shutil.rmtree(f"runs/a-{i}")
assert judged([(1, 1), (1, 1.02020134)])[1].endswith("1.0101, 95 % interval 0.8895 to 1.1469")
P
