"""What the oracles of certificates share: reading runs, judging rows anew, comparing, a table of verdicts.

An oracle (certificate_<paper>.py) makes the rows that it expects of a line of metrics, each from the run's files alone:

    rows = [Row("Theorem 2", "width m", value, "at least", bound), ...]
    check = Check("run/metrics.jsonl, round 6")
    check.line(line, rows)              every row known, every number and verdict as expected
    ...
    check.table(wanted)                 row x verdict over all runs; fails when a wanted verdict was not seen
    check.end()

Verdicts are judged here from value, bound, what was seen and what is broken, in the words of docs/theory.md: not by
translating the C code. A number that no float can tell from its bound is not judged (`tolerance`).
"""
import json
import math
import os
import sys

import numpy
import yaml

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import safetensors_numpy

ALL, EXTREME, SOME, UNSAID = "all", "extreme", "some", "unsaid"


# ---- Reading ---------------------------------------------------------------------------------------------------------
class Run:
    """The files of a run folder: run file, lines of metrics, trace."""

    def __init__(self, folder):
        self.folder = folder
        self.config = yaml.safe_load(open(f"{folder}/run.yaml"))
        self.lines = [json.loads(line) for line in open(f"{folder}/metrics.jsonl")]
        self.certificates = [line for line in self.lines if line.get("event") == "certificate"]

    def get(self, key, default=None):
        """The value behind "section.key" of the run file."""
        at = self.config
        for part in key.split("."):
            if not isinstance(at, dict) or part not in at:
                return default
            at = at[part]
        return at

    def file(self, name):
        """The tensors of a file, float64 where they are floats; None when it is not there."""
        path = f"{self.folder}/{name}"
        if not os.path.exists(path):
            return None
        tensors, _ = safetensors_numpy.load(path)
        return {k: v.astype(numpy.float64) if v.dtype.kind == "f" else v for k, v in tensors.items()}

    def data(self):
        return self.file("trace/data.safetensors")

    def round(self, k):
        return self.file(f"trace/round-{k:06d}.safetensors")

    def notes(self, k):
        """What the rows of the certificate after k rounds looked at."""
        return self.file(f"trace/certificate-{k:06d}.safetensors") or {}


# ---- Judging ---------------------------------------------------------------------------------------------------------
class Row:
    """A row as it must be. `quantity` is how its text begins. value and bound NaN or None = not known."""

    def __init__(self, where, quantity, value, sense=None, bound=None, *, seen=ALL, trivial=None, construction=False,
                 broken=False, unproven=False, interval=None, tolerance=1e-5, absolute=1e-12):
        self.where, self.quantity, self.value, self.sense, self.bound = where, quantity, value, sense, bound
        self.seen, self.trivial, self.construction, self.broken = seen, trivial, construction, broken
        self.unproven = unproven  # it was searched for, or the bound is only known to be at least that
        self.interval, self.tolerance, self.absolute = interval, tolerance, absolute

    def near(self, a, b):
        a, b = written(a), written(b)
        if a is None or b is None:
            return a is b
        return a == b or abs(a - b) <= self.absolute + self.tolerance * max(abs(a), abs(b))

    def meets(self, value):
        return value >= self.bound if self.sense == "at least" else value <= self.bound

    def verdict(self):
        """holds, fails, vacuous, open or does not apply; None where nothing is required."""
        if self.sense is None:
            return None
        if self.broken:
            return "does not apply"
        if unknown(self.value) or unknown(self.bound):
            return "open"
        ends = [self.value] if self.interval is None else list(self.interval)
        if any(unknown(e) for e in ends):
            return "open"
        met, missed = all(map(self.meets, ends)), not any(map(self.meets, ends))
        if missed and self.seen != SOME:
            return "fails"
        if not met:
            return "open"
        if self.construction:
            return "vacuous"
        if self.trivial is not None:
            if self.bound >= self.trivial if self.sense == "at most" else self.bound <= self.trivial:
                return "vacuous"
        return "holds" if self.seen == ALL and not self.unproven else "open"

    def close(self):
        """Is it so near its bound, or the bound so near to saying nothing, that rounding decides?"""
        pairs = [] if unknown(self.bound) else [(v, self.bound) for v in [self.value, *(self.interval or [])]]
        if self.trivial is not None:
            pairs.append((self.bound, self.trivial))
        return any(not unknown(a) and not unknown(b) and self.near(a, b) for a, b in pairs)


def written(x):
    """As JSON has it: what is not finite is null."""
    return None if x is None or not math.isfinite(x) else x


def unknown(x):
    return x is None or (isinstance(x, float) and math.isnan(x))


def sight(part, whole):
    """An extreme over part of whole things."""
    return UNSAID if part <= 0 else ALL if part >= whole else EXTREME


def worse(*sights):
    order = [ALL, EXTREME, SOME, UNSAID]
    return max(sights, key=order.index)


# ---- Comparing -------------------------------------------------------------------------------------------------------
class Check:
    def __init__(self):
        self.failures, self.rows, self.seen, self.where = [], 0, {}, ""

    def complain(self, text):
        self.failures.append(f"{self.where}: {text}")

    def line(self, where, line, expected):
        """One certificate: every row is expected, every expected row is there, each as it must be."""
        self.where, left = where, list(expected)
        for row in line["rows"]:
            match = next((e for e in left if e.where == row["where"] and row["quantity"].startswith(e.quantity)), None)
            if match is None:
                self.complain(f"a row that the oracle does not know: {row['where']}: {row['quantity']}")
                continue
            left.remove(match)
            self.row(row, match)
        for row in left:
            self.complain(f"missing: {row.where}: {row.quantity}")

    def row(self, row, want):
        name, self.rows = f"{want.where}: {row['quantity'][:90]}", self.rows + 1
        if row["sense"] != want.sense:
            self.complain(f"{name}: {row['sense']}, not {want.sense}")
        if not want.near(row["measured"], want.value):
            self.complain(f"{name}: measured {row['measured']}, not {want.value}")
        if want.sense and not want.near(row["required"], want.bound):
            self.complain(f"{name}: required {row['required']}, not {want.bound}")
        for got, end in zip(row["interval"] or [None, None], want.interval or [None, None]):
            if not want.near(got, end):
                self.complain(f"{name}: interval {row['interval']}, not {want.interval}")
        if row["verdict"] != want.verdict() and (want.broken or not want.close()):
            self.complain(f"{name}: {row['verdict']} ({row['reason']}), not {want.verdict()}")
        self.seen.setdefault((want.where, want.quantity), set()).add(row["verdict"])

    def table(self, wanted):
        """Prints row x verdict; `wanted` maps (where, beginning) to the verdicts that some run must have shown."""
        words = ["holds", "fails", "vacuous", "open", "does not apply"]
        print("  ".join(f"{w:>14}" for w in words) + "  row")
        for key, verdicts in self.seen.items():
            if verdicts != {None}:
                print("  ".join(f"{'x' if w in verdicts else '':>14}" for w in words) + f"  {key[0]}: {key[1][:70]}")
        self.where = "over all runs"
        for key, verdicts in wanted.items():
            missing = set(verdicts) - self.seen.get(key, set())
            if missing:
                self.complain(f"{key[0]}: {key[1]}: no run showed {', '.join(sorted(missing))}")

    def end(self):
        for failure in self.failures[:40]:
            print(f"FAILED: {failure}", file=sys.stderr)
        print(f"{self.rows} rows compared, {len(self.failures)} failures")
        sys.exit(1 if self.failures else 0)
