"""What the oracles of certificates share: reading runs, judging rows anew, comparing, a table of verdicts.

An oracle (certificate_<paper>.py) makes the rows that it expects of a line of metrics, each from the run's files alone:

    rows = [Row("Theorem 2", "width m", value, "at least", bound), ...]
    check = Check()
    check.line("run, round 6", line, rows)     every row known, every number and verdict as expected
    ...
    check.table(wanted)                 row x verdict over all runs; fails when a wanted verdict was not seen
    check.end()

Verdicts are judged here from value, bound, what was seen and what is broken, in the words of docs/theory.md: not by
translating the C code. A number that no float can tell from its bound is not judged (`tolerance`).
"""
import json
import math
import os
import re
import sys

import numpy
import yaml

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import safetensors_numpy

BLUR = 1e-6  # a loss is a sum of squares of floats: known to about this part of itself
ALL, EXTREME, SOME, UNSAID = "all", "extreme", "some", "unsaid"
SIGHTS = {ALL: "all", EXTREME: "extreme of a part", SOME: "part"}  # as certificates write them


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
        return float(at) if isinstance(at, str) and re.fullmatch(r"[0-9.]+e[-+]?[0-9]+", at) else at  # yaml asks for a point

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

    def ended(self):
        """Did it come to its end? One that diverged has no model."""
        return os.path.exists(f"{self.folder}/model.safetensors")

    def series(self):
        """What looks kept, round by round, by name: those of the newest checkpoint, and of lines after it (of a run that
        diverged then); NaN where nobody looked."""
        files, prefix = sorted(os.listdir(f"{self.folder}/checkpoints")), "certificate.series."
        tensors = self.file(f"checkpoints/{files[-1]}") if files else {}
        out = {k[len(prefix):]: list(v) for k, v in tensors.items() if k.startswith(prefix)}
        saved = max(map(len, out.values()), default=0)
        for line in self.certificates:
            for name, value in line["kept"].items() if line["round"] >= saved else ():
                values = out.setdefault(name, [])
                values += [math.nan] * (line["round"] + 1 - len(values))
                values[line["round"]] = math.nan if value is None else value
        return out

    def looks(self):
        """Which rounds were looked at, {name: {round: bool}}, and the last round up to which that is known: that of the
        newest checkpoint, or of the certificates that follow it without a gap."""
        looked = {name: {k: not math.isnan(v) for k, v in enumerate(values)} for name, values in self.series().items()}
        files = sorted(os.listdir(f"{self.folder}/checkpoints"))
        last = int(files[-1].split("-")[1].split(".")[0]) if files else -1
        for line in self.certificates:
            last += line["round"] == last + 1
        return looked, last

    # ---- How it was trained ------------------------------------------------------------------------------------------
    def rate(self, t):
        """The learning rate of round t (docs/optimisers.md); after the last round that of the last."""
        get, rounds = self.get, int(self.get("rounds"))
        t, lr, warm = min(t, rounds - 1), float(get("optim.lr")), float(get("optim.warmup")) * rounds
        if t < warm:
            return lr * (t + 1) / (math.floor(warm) + 1)
        if get("optim.schedule") == "cosine":
            low = float(get("optim.final_lr"))
            return low + (lr - low) * (1 + math.cos(math.pi * (t - warm) / (rounds - warm))) / 2
        if get("optim.schedule") == "step":
            return lr * float(get("optim.gamma")) ** sum(t >= float(p) * rounds for p in get("optim.milestones"))
        return lr

    def ways(self, n):
        """What theorems assume of the way of training and this run of n samples does not keep, in a word each."""
        get, out = self.get, set()
        rates = [self.rate(t) for t in range(int(get("rounds")))]
        number = lambda key: float(get(key) or 0)
        workers, gd = int(get("scheme.workers")), get("optim.name") == "gd"
        shard = get("scheme.data") == "shard" and workers > 1
        batch = -(-n // (workers if shard else 1)) if gd else int(get("batch"))
        chance = {"local_sgd": 1, "ist": 1 / workers}.get(get("scheme.name"), number("scheme.xi"))
        drawn = get("data.order") == "replacement"
        broken = {
            "rate": max(rates) <= 0 or min(rates) < max(rates),
            "momentum": get("optim.name") in ("adam", "adamw") or any(map(number, ("optim.momentum", "optim.clip", "optim.ema"))),
            "decay": number("optim.weight_decay") > 0,
            "precision": get("precision") != "f32",
            "full": batch < n or drawn,
            "independent": batch < n and not drawn,
            "shards": shard,
            "whole": get("scheme.name") not in ("dense", "gpipe") and not (workers == 1 and chance >= 1),
            "steps": int(get("scheme.local_steps")) > 1,
            "drawn": bool(get("model.from_relu")),
        }
        return {way for way, is_broken in broken.items() if is_broken}


# ---- Judging ---------------------------------------------------------------------------------------------------------
class Row:
    """A row as it must be. `quantity` is how its text begins. value and bound NaN or None = not known. `ties` are other
    (value, bound, interval, trivial) that a worst round may as well have: rounding decides which one is told."""

    def __init__(self, where, quantity, value, sense=None, bound=None, *, seen=ALL, trivial=None, construction=False,
                 broken=False, unproven=False, chance=None, interval=None, blur=0, tolerance=1e-5, absolute=1e-12, vague=0, ties=()):
        self.where, self.quantity, self.value, self.sense, self.bound = where, quantity, value, sense, bound
        self.seen, self.trivial, self.construction, self.broken = seen, trivial, construction, broken
        self.unproven = unproven  # it was searched for, or the bound is only known to be at least that
        self.chance, self.ties = chance, ties  # the probability of the theorem, where it is a number
        self.blur = blur  # rounding of the value: no nearer to its bound is it judged
        self.maybe = False  # rounding decides whether the bound is known
        self.interval = None if unknown(value) else interval  # what is not known has none
        self.tolerance, self.absolute = tolerance, absolute
        self.vague = vague  # the part of the bound that rounding leaves open, where it is more than of the value

    def settle(self, measured):
        """Becomes the tie that was told, if one was."""
        for value, bound, interval, trivial in self.ties:
            if not unknown(measured) and abs(value - measured) < abs(self.value - measured):
                self.value, self.bound, self.interval, self.trivial = value, bound, interval, trivial

    def near(self, a, b, more=0):
        a, b = written(a), written(b)
        if a is None or b is None:
            return a is b
        return a == b or abs(a - b) <= self.absolute + (self.tolerance + more) * max(abs(a), abs(b))

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
        if abs(self.value - self.bound) < self.blur:
            return "open"
        met, missed = all(map(self.meets, ends)), not any(map(self.meets, ends))
        if missed and self.seen != SOME:
            return "fails"
        if not met:
            return "open"
        if self.construction or (self.chance is not None and self.chance <= 0):
            return "vacuous"
        if self.trivial is not None:
            if self.bound >= self.trivial if self.sense == "at most" else self.bound <= self.trivial:
                return "vacuous"
        if self.bound == (math.inf if self.sense == "at most" else -math.inf):
            return "vacuous"
        if math.isinf(self.value):
            return "open"
        return "holds" if self.seen == ALL and not self.unproven else "open"

    def close(self):
        """Is it so near its bound, or the bound so near to saying nothing, that rounding decides?"""
        pairs = [] if unknown(self.bound) else [(v, self.bound) for v in [self.value, *(self.interval or [])]]
        if self.trivial is not None:
            pairs.append((self.bound, self.trivial))
        return any(not unknown(a) and not unknown(b) and self.near(a, b, self.vague) for a, b in pairs)


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


# ---- Estimates -------------------------------------------------------------------------------------------------------
def student(freedom, level=0.95):
    """t with P(|T| <= t) = level: bisection on the integral of the density, by Simpson's rule."""
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)

    def inside(t, pieces=2000):
        x = numpy.linspace(0, t, pieces + 1)
        y = scale * (1 + x * x / freedom) ** (-(freedom + 1) / 2)
        return 2 * (t / pieces / 3) * (y[0] + 4 * y[1:-1:2].sum() + 2 * y[2:-1:2].sum() + y[-1])

    low, high = 0.0, 1000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle) < level else (low, middle)
    return low


def mean_of(values):
    """The mean and its interval at 95 %; of fewer than two values there is none."""
    values = numpy.asarray(values, float)
    mean = values.mean()
    if len(values) < 2:
        return mean, None
    half = student(len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
    return mean, [mean - half, mean + half]


def slope_of(x, y):
    """The slope of the least-squares line and its interval at 95 %."""
    x, y = numpy.asarray(x, float), numpy.asarray(y, float)
    slope, offset = numpy.polyfit(x, y, 1)
    rest = ((y - offset - slope * x) ** 2).sum()
    error = math.sqrt(rest / (len(x) - 2) / ((x - x.mean()) ** 2).sum()) if len(x) > 2 else math.nan
    half = student(len(x) - 2) * error if len(x) > 2 else math.nan
    return slope, [slope - half, slope + half]


def worst(rated, tolerance=1e-5):
    """Of (tells, ratio, value, bound, interval, trivial) the ones whose ratio is largest, the first of them first; those
    that tell something come before those that do not. Without tells and ratio."""
    top = max((r[:2] for r in rated), default=None)
    best = [r for r in rated if r[:2] == top]
    ties = [r for r in rated if r[0] == top[0] and r[1] >= top[1] * (1 - tolerance) and r not in best] if rated else []
    return [r[2:] for r in best + ties]


def extreme(pick, known):
    """The least or largest of values that are each known to some error, [(value, error)] with `pick` min or max, and the
    error of that: a rough one that stays away from it does not count."""
    value = pick((v for v, _ in known), default=math.nan)
    if not math.isfinite(value):
        return value, 0.0
    return value, max(pick(v + e for v, e in known) - value, value - pick(v - e for v, e in known))


# ---- Falls of losses (docs/theory.md) --------------------------------------------------------------------------------
def falls(where, name, what, losses, first, rate, floor, *, hidden=False, seen=ALL, broken=False, constant=True,
          blur=BLUR, tolerance=1e-5, intervals=None):
    """Rows of L_k <= (1 - rate)^k first + floor: losses maps rounds (up to now, those looked at) to numbers, rate(t) is
    that of round t, `intervals` maps rounds to intervals of the losses. The fall is what lies above twice the median of
    the last quarter; its rate is fitted."""
    curve = [(k, v) for k, v in sorted(losses.items()) if v >= 0]
    rounds, values = [k for k, _ in curve], [v for _, v in curve]
    tail = values[len(values) - (len(values) + 3) // 4:]
    level = sorted(tail)[len(tail) // 2] if tail else 0
    leading = lambda low: next((i for i, v in enumerate(values) if not v > low), len(values))
    falling = leading(2 * level) if leading(2 * level) >= 3 else leading(0)
    one = lambda t: -math.inf if rate(t) >= 1 else math.log1p(-rate(t))
    left = lambda a, b: sum(map(one, range(a, b)))
    measured, interval, proven = None, None, 1 if rate(0) > 1 else rate(0)
    if falling >= 3:
        slope, ends = slope_of(rounds[:falling], numpy.log(values[:falling]))
        measured, interval = -math.expm1(slope), [-math.expm1(ends[1]), -math.expm1(ends[0])]
    if falling >= 2:
        proven = -math.expm1(left(rounds[0], rounds[falling - 1]) / (rounds[falling - 1] - rounds[0]))
    known = 0 if hidden else floor
    rated, needed = [], None
    for k, v in curve:
        if k == 0:
            continue
        power = math.exp(left(0, k))
        bound = power * first + known
        if unknown(bound):
            continue
        more = v - power * first
        needed = max(needed or 0, more / floor if floor else math.inf if more > 0 else 0)
        ratio = v / bound if bound > 0 else math.inf if v > 0 else 0
        rated.append((bound < losses[0] or ratio > 1, ratio, v, bound, (intervals or {}).get(k), losses[0]))
    (value, bound, around, _), *ties = worst(rated) or [(None,) * 4]
    tolerance = max(tolerance, 4 * blur)
    maybe = hidden and value is not None and abs(value - bound) < (2 * tolerance + blur) * bound
    if hidden and value is not None and value >= bound * (1 - blur) and not maybe:
        bound = None
    text = f"{name}: (1 - rate)^k {what} + {'O(floor)' if hidden else 'floor'}" if constant else f"{name}: product of"
    rows = [Row(where, f"measured rate per round, fitted to the fall of {name}", measured, "at least", proven,
                interval=interval, seen=seen, broken=broken, trivial=0, tolerance=tolerance,
                blur=blur, absolute=15 * blur),  # of three rounds, Student's t is 12.7
            Row(where, text, value, "at most", bound, seen=seen, broken=broken, trivial=losses.get(0), ties=ties, interval=around,
                blur=blur * abs(bound) if not unknown(bound) else 0, tolerance=tolerance)]
    rows[-1].maybe = maybe
    if hidden:
        rows.append(Row(where, f"constant of the floor's O with which {name}", needed, tolerance=1e-3,
                        absolute=4 * tolerance * first / floor if floor > 0 else 1e-12))
    mean, ends = mean_of(tail) if tail else (None, None)
    rows.append(Row(where, f"mean of {name} over the last quarter", mean if len(values) > 3 else None,
                    interval=ends if len(values) > 7 else None, tolerance=tolerance))
    return rows


# ---- Comparing -------------------------------------------------------------------------------------------------------
class Check:
    def __init__(self):
        self.failures, self.rows, self.seen, self.where = [], 0, {}, ""

    sights = False  # are the rows' sights compared too, where they do not decide the verdict?

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
        want.settle(row["measured"])
        name, self.rows = f"{want.where}: {row['quantity'][:90]}", self.rows + 1
        if row["sense"] != want.sense:
            self.complain(f"{name}: {row['sense']}, not {want.sense}")
        if not want.near(row["measured"], want.value):
            self.complain(f"{name}: measured {row['measured']}, not {want.value}")
        if want.sense and not want.near(row["required"], want.bound, want.vague) and not (want.maybe and row["required"] is None):
            self.complain(f"{name}: required {row['required']}, not {want.bound}")
        if row["chance"] is None and row["probability"] is not None:
            self.complain(f"{name}: probability {row['probability']} of what is not about chance")
        if not self.same_interval(row["interval"], want):
            self.complain(f"{name}: interval {row['interval']}, not {want.interval}")
        if self.sights and want.sense and not unknown(row["measured"]) and row["seen"]["sight"] != SIGHTS.get(want.seen):
            self.complain(f"{name}: seen {row['seen']}, not {want.seen}")
        if self.hidden(row, want) and row["verdict"] not in ("open", "does not apply"):
            self.complain(f"{name}: {row['verdict']}, though rounding hides on which side of its bound it is")
        if row["verdict"] != want.verdict() and (want.broken or not want.close()):
            self.complain(f"{name}: {row['verdict']} ({row['reason']}), not {want.verdict()}")
        self.seen.setdefault((want.where, want.quantity), set()).add(row["verdict"])

    @staticmethod
    def hidden(row, want):
        """Does the program's own number stand nearer to its bound than rounding tells?"""
        value, bound = row["measured"], row["required"]
        return want.blur > 0 and not unknown(value) and not unknown(bound) and abs(value - bound) < 0.9 * want.blur

    @staticmethod
    def same_interval(got, want):
        """To 0.2 % of its length: the program's t is right to 0.001."""
        if got is None or want.interval is None:
            return got is None and want.interval is None
        if any(written(e) is None for e in [*want.interval, *got]):
            return all(written(e) is None for e in [*want.interval, *got])
        slack = 2e-3 * abs(want.interval[1] - want.interval[0]) + want.absolute
        return all(abs(a - b) <= slack + want.tolerance * abs(b) for a, b in zip(got, want.interval))

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
