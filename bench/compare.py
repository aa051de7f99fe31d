"""Reads lines `ours MIN MEDIAN ...` and `NAME MIN MEDIAN ...` and prints the table with ratios.

The first two numbers of a line are milliseconds, the third, where there is one, is the peak memory in
MB; a fourth, the size of the network, must be the same for all. Every run of a peer counts; best of
all minima, median of all medians.
"""
import statistics
import sys

runs = {}
for line in sys.stdin:
    name, *numbers = line.split()
    runs.setdefault(name, []).append([float(n) for n in numbers])
sizes = {r[3] for rows in runs.values() for r in rows if len(r) > 3}
if len(sizes) > 1:
    sys.exit(f"compare.py: the networks are not the same: {sorted(sizes)} numbers")
ours = runs.pop("ours")
best, middle = min(r[0] for r in ours), statistics.median(r[1] for r in ours)


def row(name, least, median, memory):
    print(f"{name:24} {least:9.4g} {median:11.4g} {memory:>9}  {least / best:9.2f} {median / middle:13.2f}")


print(f"{'':24} {'min ms':>9} {'median ms':>11} {'peak MB':>9}  {'ratio min':>9} {'ratio median':>13}")
for name, rows in [("ours", ours)] + sorted(runs.items()):
    memory = f"{max(r[2] for r in rows):.0f}" if len(rows[0]) > 2 else ""
    row("tessera" if name == "ours" else name, min(r[0] for r in rows), statistics.median(r[1] for r in rows), memory)
