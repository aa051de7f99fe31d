"""paired.py FOLDER A B [PER CENT]: the runs FOLDER/A-0, FOLDER/B-0, FOLDER/A-1, ..., each pair made one after the other, by the
seconds that their metrics tell.

Whatever slows the machine for longer than a pair slows both of it, so each pair gives one ratio B / A. Their logarithms have a
mean and, by Student's t, an interval that holds the true one 19 times of 20. B costs at most so many per cent (default 1) more
when the whole interval lies below that, more when it lies above; else that cannot be said, and more pairs are needed.
"""
import glob
import json
import math
import os
import statistics
import sys

# 97.5 % points of Student's t by degrees of freedom; between two the larger one, the one of fewer, counts.
T = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228, 12: 2.179, 15: 2.131,
     19: 2.093, 24: 2.064, 29: 2.045, 39: 2.023, 59: 2.001, 99: 1.984, 199: 1.972}


def seconds(folder):
    with open(folder + "/metrics.jsonl", encoding="utf-8") as file:
        return max(row["seconds"] for row in map(json.loads, file) if "seconds" in row)


def interval(ratios):
    """(mean, least, most) of the ratio."""
    logs = [math.log(r) for r in ratios]
    t = T[max(d for d in T if d < len(logs))]
    mean, half = statistics.fmean(logs), t * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def verdict(least, most, limit, name):
    per_cent = f"{100 * limit:g} %"
    if most <= 1 + limit:
        return f"{name} takes at most {per_cent} longer"
    if least > 1 + limit:
        return f"{name} takes more than {per_cent} longer"
    return f"whether {name} takes {per_cent} longer cannot be said: more pairs, or a quieter machine"


def main():
    folder, a, b = sys.argv[1:4]
    limit = float(sys.argv[4]) / 100 if len(sys.argv) > 4 else 0.01
    places = [place.rpartition("-")[2] for place in glob.glob(f"{glob.escape(folder)}/{a}-*")]
    times = {name: [seconds(os.path.join(folder, f"{name}-{i}")) for i in places] for name in (a, b)}
    if len(places) < 2:
        sys.exit("paired.py: at least two pairs are needed")
    for name in (a, b):
        print(f"{name:10} least {min(times[name]):.3f} s, median {statistics.median(times[name]):.3f} s")
    mean, least, most = interval([y / x for x, y in zip(times[a], times[b])])
    print(f"{b} / {a}, {len(places)} pairs: {mean:.4f}, 95 % interval {least:.4f} to {most:.4f}")
    print(verdict(least, most, limit, b))


if __name__ == "__main__":
    main()
