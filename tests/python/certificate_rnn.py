"""An oracle of the recurrent paper's certificates (Allen-Zhu, Li, Song): python certificate_rnn.py RUN...

Every row of every certificate of runs made with --trace, recomputed in float64 from the run file, the data, the weights
before and after rounds, and the vectors that rows say they found (trace/certificate-*). Formulas are written from the
paper; what the C code searched for (supports, directions) is checked to be what the row may look at, and its value taken
anew. Which rounds were looked at stands in the newest checkpoint's series.

Tolerances: float64 sums in another order, 1e-6 relative; spectral norms by power iteration are lower ends that lie
within 1 % of the exact ones here (100 steps) and never above; everything else is the same arithmetic.
"""
import math
import sys

import numpy as np

from certificate_common import ALL, EXTREME, SOME, Check, Row, Run, sight, unknown

NAN = math.nan
POWER = 1e-2  # of spectral norms by power iteration
STEPS, LEVEL = 100, 0.99


def power_high(m):
    """Kuczynski and Wozniakowski: the factor by which 100 steps may fall short, at 99 %."""
    return ((1 - LEVEL) / (0.824 * math.sqrt(m))) ** (-0.5 / (STEPS - 0.5))


def norm2(a):
    return np.float64(np.linalg.norm(a, 2))


# ---- The network -----------------------------------------------------------------------------------------------------
class Net:
    def __init__(self, W, A, B):
        self.W, self.A, self.B = W, A, B

    def moved(self, by):
        return Net(self.W + by, self.A, self.B)


def states(net, x, length):
    """g, h [n, L, m]; zero after the end."""
    n, L, _ = x.shape
    m = net.W.shape[0]
    g, h = np.zeros((n, L, m)), np.zeros((n, L, m))
    for l in range(L):
        g[:, l] = x[:, l] @ net.A.T + (h[:, l - 1] @ net.W.T if l else 0)
        g[:, l] *= (l < length)[:, None]
        h[:, l] = np.maximum(g[:, l], 0)
    return g, h


def gradient(net, case, fixed=False):
    """f, loss vectors, grad f, |grad f_i|^2: Fact 2.5, with the targets as losses where `fixed` (Definition E.1)."""
    g, h = states(net, case.x, case.length)
    loss = case.y.copy() if fixed else h @ net.B.T - case.y
    for i in range(case.n):
        loss[i, case.length[i]:] = 0
    loss[:, 0] = 0
    total, each = np.zeros_like(net.W), []
    for i in range(case.n):
        own, e = np.zeros_like(net.W), np.zeros(case.m)
        for l in range(case.L - 1, 0, -1):
            e = (net.B.T @ loss[i, l] + net.W.T @ e) * (g[i, l] > 0)
            own += np.outer(e, h[i, l - 1])
        each.append(float((own**2).sum()))
        total += own
    sizes = np.linalg.norm(loss, axis=2)
    return 0.5 * float((sizes**2).sum()), float(sizes.max()), total, max(each)


def spans(length):
    return [(a, b) for a in range(length) for b in range(a, length)]


# ---- The run as the paper sees it --------------------------------------------------------------------------------------
class Case:
    def __init__(self, run):
        self.run = run
        data = run.data()
        W = run.round(0)["before.rnn.weight_hh_l0"]
        self.A, self.B = (run.round(0)[f"before.{p}"] for p in ("rnn.weight_ih_l0", "out.weight"))
        self.m, self.dx, self.d = W.shape[0], self.A.shape[1], self.B.shape[0]
        self.x = data["x"].reshape(len(data["x"]), -1, self.dx)
        self.n, self.L = self.x.shape[:2]
        self.length = data["length"].astype(int) if "length" in data else np.full(self.n, self.L)
        self.squares = run.get("loss") == "half_squares" and run.get("model.read") == "every" and data["y"].ndim == 2
        self.y = data["y"].reshape(self.n, self.L, self.d) if self.squares else None
        self.then = Net(W, self.A, self.B)
        self.gd = run.get("optim.name") == "gd"
        self.batch = self.n if self.gd else int(run.get("batch"))
        self.ways = run.ways(self.n)
        stop = run.get("stop.below") if run.get("stop.metric") == "loss" else None
        self.epsilon = float(stop) if stop and 0 < float(stop) < 1 else 1e-2
        self.steps = int(run.get("scheme.local_steps", 1) or 1)
        self.inputs()
        self.letters()
        self.assumptions()

    def net(self, k):
        if k == 0:
            return self.then
        after = self.run.round(k - 1)
        return Net(*(after[f"after.{p}"] for p in ("rnn.weight_hh_l0", "rnn.weight_ih_l0", "out.weight")))

    def inputs(self):
        """Section 2.1 and Assumption 2.1."""
        x1 = self.x[:, 0]
        self.off = float(np.abs(np.linalg.norm(x1, axis=1) - 1).max())
        self.last = float(np.abs(x1[:, -1] - math.sqrt(0.5)).max())
        self.longest = max(float(np.linalg.norm(self.x[i, l])) for i in range(self.n) for l in range(self.length[i]))
        looked = seen_of(self.run.certificates[0], "Assumption 2.1")  # sequences compared with all that follow them
        self.separable = min((apart(x1[i], x1[j]) for i in range(looked) for j in range(i + 1, self.n)), default=math.inf)

    def letters(self):
        """As numpy's floats: of one unit log m is 0, of sequences that begin alike delta."""
        n, L, d, m = map(np.float64, (self.n, self.L, self.d, self.m))
        self.cap = 1 / (1e6 * L**2 * np.log(m) ** 3)  # Lemma B.9
        self.delta = min(np.float64(self.separable), self.cap)
        self.rho = n * L * d * np.log(m)
        self.varrho = n * L * d * np.log(m / self.epsilon) / self.delta

    def assumptions(self):
        get = self.run.get
        self.start = self.off > 1e-6 or self.last > 1e-6 or self.longest > 1 + 1e-6 or (self.length < self.L).any() \
            or self.m < 2
        self.alike = self.separable < 1e-9
        self.moved = self.start or get("model.train") == "all"
        first = int(get("model.first") or 0)
        self.loss = not self.squares or first not in (0, 2)
        asked = {"rate", "momentum", "decay", "precision", "shards", "whole", "full" if self.gd else "independent"}
        self.main = bool(self.moved or self.loss or self.alike or self.ways & asked)

    def eta(self, r=None):
        """The paper's step of round r, or the largest: its loss is a sum over all sequences."""
        rates = [self.run.rate(t) for t in range(int(self.run.get("rounds")))]
        return (max(rates) if r is None else self.run.rate(r)) * self.batch / self.n

    def spread(self, count):
        return [int(j * self.n / count) for j in range(count)]


def apart(x, y):
    """Definition B.8: the lesser of both ways round."""
    def beside(a, b):
        return float(np.linalg.norm(a - (a @ b / (b @ b) if b @ b > 0 else 0) * b))
    return min(beside(x, y), beside(y, x))


# ---- Rows of section 2.1, Theorems 1 and 2 ---------------------------------------------------------------------------
def input_rows(k, line):
    part = seen_of(line, "Assumption 2.1")
    return [
        Row("section 2.1", "largest | |x_(i,1)|", k.off, "at most", 1e-6, absolute=1e-12),
        Row("section 2.1", "largest distance", k.last, "at most", 1e-6),
        Row("section 2.1", "largest |x_(i,l)|", k.longest, "at most", 1 + 1e-6),
        Row("Assumption 2.1", "least separability", k.separable, "at least", 1e-9,
            seen=sight(part, k.n), construction=k.n < 2),
        Row(None, "delta:", k.delta),
    ]


def seen_of(line, where):
    """How many sequences the C code says it looked at: which, and what they show, is taken anew."""
    return next((row["seen"]["part"] for row in line["rows"] if row["where"] == where and row["seen"] and "part" in row["seen"]), 0)


def size_rows(k):
    of, power = ("Theorem 1", 286) if k.gd else ("Theorem 2", 274)
    T = int(k.run.get("rounds")) * k.steps
    most = iterations(k) * k.varrho**28
    width = min(math.log10(power) + power * np.log10(k.varrho), sys.float_info.max)
    return [
        Row(of, "log10 of the width", math.log10(k.m), "at least", width, broken=k.main, unproven=True),
        Row(of, "step eta", k.eta(), "at most", k.delta / k.m / k.rho ** (44 if k.gd else 42),
            broken=k.main, absolute=0),
        Row(of, "iterations T: rho", T, "at least", iterations(k), broken=k.main),
        Row(of, "iterations T: that times", T, "at most", told(most), broken=k.main, trivial=9e18),
    ]


def iterations(k):
    return told(k.rho ** (59 if k.gd else 57) / k.delta**2 * math.log(1 / k.epsilon))


def told(x):
    """What no double holds is told as the largest one."""
    return x if unknown(x) else min(x, sys.float_info.max)


def promise_rows(k, r, f, past):
    of = "Theorem 1" if k.gd else "Theorem 2"
    if r == 0:
        return [Row(of, "f(W(0))", f / (k.n * k.rho**2 * k.L**3), absolute=0)]
    T, first = r * k.steps, past["loss"].get(0, NAN)
    since = lambda name: {t: v for t, v in past[name].items() if t <= r}
    rate = k.eta() * k.delta * k.m / k.rho**15
    rows = [
        Row("(H.1)" if k.gd else "(I.1)", "largest sqrt(m)", max(since("radius").values()), "at most",
            told(k.varrho**50), broken=k.main, seen=sight(len(since("radius")), r + 1),
            trivial=k.m**1.5 * float(np.finfo(np.float32).max)),
        # the fall is the logarithm of a quotient of two sums: known to 1e-13 or so, however small it is
        Row(of, "mean fall", -np.expm1(np.log(np.float64(f) / first) / T) / rate, absolute=1e-13 / (T * rate),
            tolerance=1e-6),
        Row(of, "f(W(T))", f if T >= iterations(k) else NAN, "at most", k.epsilon, broken=k.main),
    ]
    if k.gd:
        f_of = [np.float64(v) for _, v in sorted(since("loss").items())]
        ratio = max((b / a for a, b in zip(f_of, f_of[1:]) if not unknown(b / a)), default=NAN)
        rows.append(Row(of, "largest f(W)", ratio, "at most", 1 - 2**-53, broken=k.main, seen=sight(len(f_of), r + 1),
                        tolerance=1e-9))
    return rows


# ---- Section 4 and 6.1 ---------------------------------------------------------------------------------------------
def start_rows(k, line):
    count = seen_of(line, "(4.1), Lemma B.3")
    pick = k.spread(count)
    g, h = states(k.then, k.x[pick], k.length[pick])
    each = [(i, l) for i in range(count) for l in range(k.length[pick][i])]
    H, G = np.linalg.norm(h, axis=2), np.linalg.norm(g, axis=2)
    see = sight(count, k.n)
    rows = [
        Row("(4.1), Lemma B.3", "least |h", min(H[e] / (1 - 1 / (4 * k.L)) ** (e[1] + 1) for e in each), "at least", 1,
            seen=see, broken=k.start),
        Row("(4.1), Lemma B.3", "largest |h", max(H[e] / (2 * e[1] + 4) for e in each), "at most", 1, seen=see,
            broken=k.start),
        Row("(4.1), Lemma B.3", "largest |g", max(G[e] / (4 * e[1] + 8) for e in each), "at most", 1, seen=see,
            broken=k.start),
    ]
    return rows + set_rows(k, g, count == k.n) + ([coordinate_row(k, g)] if k.y is not None and k.L > 1 else [])


def set_rows(k, g, all_of_them):
    """Lemma D.2 with N_1 = [m], the worst (i*, l*); rho^4 of Lemma D.7 and n^2 L^2 / beta_- are above any m here."""
    plus, minus = k.delta / k.rho**2 / math.sqrt(k.m), k.delta / k.rho**10 / math.sqrt(k.m)
    few = k.m < k.rho**4 or k.m < (k.n * k.L) ** 2 * k.rho**10 / k.delta
    found = NAN
    for l in range(2, k.L) if all_of_them else []:
        for i in range(k.n):
            good = np.abs(g[i, l]) <= minus
            for j in range(k.n):
                if j != i and l < k.length[j]:
                    good &= np.abs(g[j, l]) >= plus
                for later in range(l + 1, k.length[j]):
                    good &= np.abs(g[j, later]) >= plus
            size = float(good.sum()) if l < k.length[i] else 0.0
            found = size if unknown(found) else min(found, size)
    if few and not k.m < k.rho**4:
        found = NAN  # Lemma D.7's set is large enough, this one's is not
    return [Row("(6.3), Lemma D.2", "least |N_4|", found, "at least", k.delta / k.rho**10 * k.m / (64 * k.L),
                broken=k.start or k.alike or k.m < k.rho**4, absolute=0)]


def coordinate_row(k, _):
    """Lemma D.7: u = sum over a >= l* of Back_(l* -> a)^T y_a, with the largest target."""
    sizes = np.linalg.norm(k.y, axis=2)
    for i in range(k.n):
        sizes[i, k.length[i]:] = -1
    sizes[:, 0] = -1
    i, star = np.unravel_index(np.argmax(sizes), sizes.shape)
    g, _ = states(k.then, k.x[[i]], k.length[[i]])
    u = np.zeros(k.m)
    for a in range(star, k.length[i]):
        back = k.then.B
        for l in range(a, star, -1):
            back = (back * (g[0, l] > 0)) @ k.then.W
        u += back.T @ k.y[i, a]
    least = sizes[i, star] / (6 * math.sqrt(k.d) * k.n * k.L)
    part = float((np.abs(u) >= least).mean()) if sizes[i, star] > 0 else NAN
    return Row("(6.2), Lemma D.7", "part of all units", part, "at least", 1 - 1 / (2 * k.n * k.L),
               broken=k.start or k.m < k.rho**4)


def fresh_rows(k, line):
    count = seen_of(line, "(4.2), Lemma B.6")
    pick = k.spread(count)
    _, h = states(k.then, k.x[pick], k.length[pick])
    shortest, separable, before = math.inf, math.inf, np.zeros((0, k.m))
    for l in range(k.L):
        basis = np.zeros((0, k.m))
        if len(before):
            _, s, v = np.linalg.svd(before, full_matrices=False)
            basis = v[s > 1e-9 * s[0]]
        rest = h[:, l] - (h[:, l] @ basis.T) @ basis
        on = [i for i in range(count) if l < k.length[pick][i]]
        shortest = min([shortest] + [float(np.linalg.norm(rest[i])) for i in on])
        separable = min([separable] + [apart(rest[i], rest[j]) for i in on for j in on if j < i])
        before = np.vstack([before, h[:, l]])
    see = sight(count, k.n)
    size = max(1.0, float(np.abs(h).max()))  # what is left of states is known to 1e-10 of them
    return [
        Row("(4.2), Lemma B.6", "least |(I - U U^T)", shortest, "at least", k.cap / 2, seen=see, broken=k.start,
            absolute=1e-10 * size),
        Row("(4.3), Lemma B.9", "least separability", separable if separable < math.inf or k.n < 2 else NAN,
            "at least", k.delta / 2, seen=see, broken=k.start or k.alike, absolute=1e-8 * size, construction=k.n < 2),
    ]


def span_rows(k, line, notes, check):
    count = seen_of(line, "(4.4), Lemma B.11")
    pick, high = k.spread(count) if count else [], power_high(k.m)
    g, _ = states(k.then, k.x[pick], k.length[pick]) if count else (None, None)
    W, B, s = k.then.W, k.then.B, int(round(k.m ** (2 / 3) - 0.5 + 1e-9))
    s = max(t for t in range(s - 1, s + 3) if t**3 <= k.m**2)
    chain, whole, entry, back, column = norm2(W), 0.0, 0.0, 0.0, 0.0
    chains = {}
    for j, i in enumerate(pick):
        for a in range(k.length[i]):
            P = W
            for b in range(a, k.length[i]):
                P = P * (g[j, b] > 0)[:, None]
                M = B @ P
                chain, back = max(chain, norm2(P)), max(back, norm2(M))
                column = max(column, float(np.linalg.norm(M, axis=0).max()))
                chains[i, a, b] = P
                if b + 1 < k.length[i]:
                    P = W @ P
                    chain, whole = max(chain, norm2(P)), max(whole, norm2(P))
                    entry = max(entry, float(np.abs(P).max()))
    sparse = found = NAN
    if count:
        sparse, found = searched(k, W, B, s, chains, notes, check)
    see, bad, none = sight(count, k.n), k.start, 0 if count else NAN
    inner = 0 if whole else NAN
    L3 = k.L**3
    return [
        Row("(4.4), Lemma B.11", "largest |D W", chain / L3 + none, tolerance=POWER,
            interval=(chain / L3, chain * high / L3) if count else None),
        Row("(4.5), Corollary B.15", "largest |W D W", sparse + inner, "at most", math.log(k.m) / k.m ** (1 / 6), seen=see,
            broken=bad, interval=(sparse, whole * high) if whole else None, tolerance=POWER),
        Row("(4.5), Corollary B.16", "largest entry", entry + none + inner, "at most", k.rho / math.sqrt(k.m), seen=see,
            broken=bad),
        Row("(4.6), Corollary B.18", "largest |B D W", found + none, "at most", k.m ** (1 / 3) * math.log(k.m), seen=see,
            broken=bad, interval=(found, back) if count else None),
        Row("(4.6), Corollary B.19", "largest column", column + none, "at most", k.rho, seen=see, broken=bad),
    ]


def searched(k, W, B, s, chains, notes, check):
    """The vectors that were found: as sparse as they must be, of length 1, no worse than what a plain start has."""
    sparse = NAN
    z, where = notes["B.18.right"], tuple(int(t) for t in notes["B.18.where"])
    dead = not any((B @ P).any() for P in chains.values())  # no vector is worse than another
    if np.count_nonzero(z) > s or (abs(np.linalg.norm(z) - 1) > 1e-9 and not (dead and not z.any())):
        check.complain("B.18: the vector is not sparse, or not of length 1")
    found = float(np.linalg.norm(B @ chains[where] @ z))
    if k.L > 1 and np.any(notes["B.15.right"]):
        y, z = notes["B.15.left"], notes["B.15.right"]
        where = tuple(int(t) for t in notes["B.15.where"])
        for v in (y, z):
            if np.count_nonzero(v) > s or abs(np.linalg.norm(v) - 1) > 1e-9:
                check.complain("B.15: a vector is not sparse, or not of length 1")
        sparse = float(abs(y @ (W @ chains[where]) @ z))
        for (i, a, b), P in chains.items():  # truncated singular vectors are a plain start
            if b + 1 < k.length[i]:
                u, _, v = np.linalg.svd(W @ P)
                x = np.where(np.argsort(np.argsort(-np.abs(v[0]))) < s, v[0], 0)
                image = W @ P @ (x / np.linalg.norm(x))
                plain = float(np.linalg.norm(np.sort(np.abs(image))[-s:]))
                if plain > sparse * 1.02:
                    check.complain(f"B.15: {sparse} was found where a plain start has {plain}")
    return sparse, found


# ---- (5.4), (5.5) ------------------------------------------------------------------------------------------------------
def rank1_rows(k, line, notes, check):
    count, N = seen_of(line, "(5.4), Lemma C.10"), max(1, int(math.floor(k.m ** (1 / 3) + 1e-9)))
    moved = swapped = changed = NAN
    if count:
        y, z, pick = notes["C.10.y"], notes["C.10.z"], k.spread(count)
        if np.count_nonzero(y) > N or abs(np.linalg.norm(z) - 1) > 1e-9 or np.abs(y).max() > (1 + 1e-12) / math.sqrt(k.m):
            check.complain("C.10: y z^T is not as the lemma asks")
        bent = k.then.moved(np.outer(y, z))
        g0, h0 = states(k.then, k.x[pick], k.length[pick])
        g1, h1 = states(bent, k.x[pick], k.length[pick])
        moved = float(np.abs((h1 - h0) @ bent.W.T).max())
        swapped = changed = 0.0
        for j, i in enumerate(pick):
            for a, b in spans(k.length[i]):
                plain = back_chain(k.then.B, k.then.W, g0[j], a, b)
                other = back_chain(k.then.B, k.then.W, g1[j], a, b)
                both = back_chain(k.then.B, bent.W, g1[j], a, b)
                swapped = max(swapped, float(np.linalg.norm(other - plain, axis=0).max()))
                changed = max(changed, float(np.linalg.norm(both - other, axis=0).max()))
    rho, m = k.rho, k.m
    return [
        Row("(5.4), Lemma C.10", "largest |((W + W') h')_k|", moved / (rho**8 * N ** (2 / 3) / m ** (2 / 3)), absolute=0),
        Row("(5.5), Lemma C.11 (a)", "largest column", swapped / (rho**3 * (N / m) ** (1 / 6)), absolute=0),
        Row("(5.5), Lemma C.11 (b)", "largest column", changed / (rho**12 * N ** (5 / 6) / m ** (1 / 3)), absolute=0),
    ]


def back_chain(B, W, g, a, b):
    """B D_b W ... D_a W."""
    M = B
    for l in range(b, a - 1, -1):
        M = (M * (g[l] > 0)) @ W
    return M


# ---- Theorems 3, 4, 5, Lemma E.2, Claim G.2 --------------------------------------------------------------------------
def fixed_rows(k):
    _, most, total, each = gradient(k.then, k, fixed=True)
    most = np.float64(most) if most > 0 else NAN  # of targets that are 0 nothing is said
    squares = float((total**2).sum())
    row = float(np.linalg.norm(total, axis=1).max())
    return [
        Row("Theorem 5", "|fake gradient|_F^2", squares / (k.delta / k.rho**14 * k.m * most**2), absolute=0),
        Row("Lemma E.2", "|fake gradient|_F over", math.sqrt(squares) / (k.n * k.L**6 * math.sqrt(k.m) * most)),
        Row("Lemma E.2", "largest |fake gradient", math.sqrt(each) / (k.L**6 * math.sqrt(k.m) * most)),
        Row("Lemma E.2", "largest row", row / (k.n * k.rho * k.L**3 * most)),
    ]


def gradient_rows(k, net, line, notes, check):
    r = line["round"]
    """Theorems 3 and 4 and Claim G.2 at W; f(W)."""
    f, most, grad, each = gradient(net, k)
    squares, scale = float((grad**2).sum()), k.m * np.float64(most) ** 2 if most > 0 else NAN
    rows = [
        Row("Theorem 3", "|grad f|_F^2 over delta", squares / (k.delta / k.rho**14 * scale), absolute=0),
        Row("Theorem 3", "|grad f|_F^2 over rho", squares / (k.rho**12 * scale), absolute=0),
        Row("Theorem 3", "largest |grad f_i|", k.n**2 * each / (k.rho**12 * scale), absolute=0),
    ]
    step = -k.eta(r) * grad
    size = float(np.linalg.norm(step))
    tau = max(math.sqrt(k.m) * float(np.linalg.norm(net.W - k.then.W)), math.sqrt(k.m) * size)
    if not size:
        return rows, f

    def smooth(by):
        norm = norm2(by)
        form = k.rho**11 * (tau * k.m) ** (1 / 3) * most * norm + k.L**18 * k.n * k.m * norm**2
        return (gradient(net.moved(by), k)[0] - f - float((grad * by).sum())) / form

    along = smooth(step)
    # a residual is a difference of sums: what rounding leaves of it, over its form
    noise = 1e-13 * f / (k.L**18 * k.n * k.m * norm2(step) ** 2 + k.rho**11 * (tau * k.m) ** (1 / 3) * most * norm2(step))
    rows.append(Row("Theorem 4", "f(W + W')", along, tolerance=POWER, absolute=noise))
    worst = NAN
    if "T4.direction" in notes:
        by = notes["T4.direction"]
        if abs(float(np.linalg.norm(by)) / size - 1) > 1e-9:
            check.complain("T4: the direction is not as long as the step")
        worst = smooth(by)
        if worst < along - 1e-6 * abs(along) - noise:
            check.complain(f"T4: {worst} along the worst direction, {along} along the step")
    rows.append(Row("Theorem 4", "the same along", worst, tolerance=POWER, absolute=noise))
    return rows + claim_rows(k, net, step, tau, line), f


def claim_rows(k, net, step, tau, line):
    there = net.moved(step)
    g0, h0 = states(net, k.x, k.length)
    g1, h1 = states(there, k.x, k.length)
    moved = float(np.linalg.norm(h1 - h0, axis=2).max())
    switched = float(((g1 > 0) != (g0 > 0)).sum(axis=2).max())
    off = next(r["measured"] for r in line["rows"] if r["quantity"].startswith("both sides of (7.1)"))
    longest = max(float(np.linalg.norm(h, axis=2).max()) for h in (h0, h1))
    may = max(1e-6, 1e-12 * longest / moved) if moved > 0 else 1e-6  # of the change, or of what it is a difference of
    known = 1e-14 * longest / moved if moved > 0 else 0  # the part of the change that rounding leaves open
    return [
        # both sides agree to rounding: the value is noise, what is checked is that it is small
        Row("(7.1), Claim G.2", "both sides", off if off is not None and off < may else 0.0, "at most", may,
            construction=True, broken=k.moved, tolerance=1e-5 + known),
        Row("(7.1), Claim G.2", "largest change", moved / (k.L**9 * norm2(step)), tolerance=POWER + known),
        Row("(7.1), Claim G.2", "largest |D''|", switched / (k.L ** (10 / 3) * tau ** (2 / 3) * k.m ** (2 / 3)),
            tolerance=1e-5),
    ]


# ---- Section 5 -------------------------------------------------------------------------------------------------------
def look(k, net):
    """What a look keeps."""
    g1, h1 = states(net, k.x, k.length)
    g0, h0 = states(k.then, k.x, k.length)
    flip = (g1 > 0) != (g0 > 0)
    long = np.linalg.norm(g1, axis=2) + np.linalg.norm(g0, axis=2)
    return {
        "radius": math.sqrt(k.m) * float(np.linalg.norm(net.W - k.then.W)),
        "drift": max(float(np.linalg.norm(g1 - g0, axis=2).max()), float(np.linalg.norm(h1 - h0, axis=2).max())),
        "flips": float(flip.sum(axis=2).max()),
        "flip_drift": float(np.linalg.norm(g1 * flip, axis=2).max()),
        "longest": float(long.max()),
        "loss": gradient(net, k)[0] if k.y is not None else NAN,
        "chain": chain_of(k, net) if net is k.then else NAN,
    }


def chain_of(k, net):
    """The upper end of the largest |D W ... W|: power iteration finds all of it to 1 % here, mostly."""
    g, _ = states(net, k.x, k.length)
    most = norm2(net.W)
    for i in range(k.n):
        for a in range(k.length[i]):
            P = net.W
            for b in range(a, k.length[i]):
                P = P * (g[i, b] > 0)[:, None]
                most = max(most, norm2(P))
                P = net.W @ P
                most = max(most, norm2(P) if b + 1 < k.length[i] else 0)
    return most * power_high(k.m)


def stability(k, C, tau):
    """(C.1): tau_1 = 5 C L^4 (L + 2) tau_0, tau_5 = 3 tau_1, tau_2 = 4 L tau_5 log m, tau_4 = 10 tau_1^(2/3)."""
    t1 = 5 * C * k.L**4 * (k.L + 2) * tau
    t5 = 3 * t1
    t2 = 4 * k.L * t5 * math.log(k.m)
    root = math.sqrt(k.m)
    return {"drift": (t1 + t2) / root, "flips": 10 * t1 ** (2 / 3) * k.m ** (2 / 3), "flip_drift": t5 / root}


def stability_rows(k, r, past):
    C = max(1, past["chain"][0] / k.L**3) if 0 in past["chain"] else NAN
    rows = []
    for series, where, text in (("drift", "(5.1), Lemma C.2 (a)", "largest |g'"), ("flips", "(5.1), Lemma C.2 (b)", "most"),
                                ("flip_drift", "(5.1), Lemma C.2 (c)", "largest |D' g|")):
        worst = None
        for t, value in past[series].items():
            if t == 0 or t > r or t not in past["radius"]:
                continue
            bound = stability(k, C, past["radius"][t])[series]
            trivial = k.m if series == "flips" else past["longest"][t]
            if unknown(bound):
                continue
            still = bound == 0 and value == 0  # W is W(0)
            tells = (bound < trivial and not still) or value > bound
            rank = (tells, -1 if still else np.float64(value) / bound)
            if worst is None or rank > worst[0]:
                worst = (rank, value, bound, trivial, past["radius"][t] == 0)
        see = sight(sum(t <= r for t in past[series]), r + 1)
        _, value, bound, trivial, stays = worst or (None, NAN, NAN, None, False)
        rows.append(Row(where, text, value, "at most", bound, trivial=trivial, seen=see, broken=k.moved,
                        construction=stays))
    return rows


def drift_rows(k, net, line):
    by, tau = net.W - k.then.W, math.sqrt(k.m) * float(np.linalg.norm(net.W - k.then.W))
    high, root = power_high(k.m), math.sqrt(k.m)
    rows = [Row("Appendix C", "sqrt(m) |W - W(0)|_2", root * norm2(by), tolerance=POWER,
                interval=(root * norm2(by), root * norm2(by) * high))]
    rows += product_rows(k, net, seen_of(line, "(5.2), Lemma C.7"), high)
    count = seen_of(line, "(5.3), Lemma C.9")
    worst, pick = [0.0] * 4, k.spread(count) if count else []
    if count:
        g1, _ = states(net, k.x[pick], k.length[pick])
        g0, _ = states(k.then, k.x[pick], k.length[pick])
    for j, i in enumerate(pick):
        for a, b in spans(k.length[i]):
            old, new = (g0[j], g1[j])
            tt, nt = back_chain(k.B, k.then.W, old, a, b), back_chain(k.B, k.then.W, new, a, b)
            nn, tn = back_chain(k.B, net.W, new, a, b), back_chain(k.B, net.W, old, a, b)
            for which, (p, q) in enumerate(((tt, nt), (nt, nn), (tt, tn), (tn, nn))):
                worst[which] = max(worst[which], norm2(p - q))
    tau = np.float64(tau)
    form = tau ** (1 / 3) * k.L**6 * math.log(k.m) * k.m ** (1 / 3)
    forms = [form, tau * k.L**15, tau * k.L**7, form]
    for which, letter in enumerate("abcd"):
        value = worst[which] / forms[which] if count and tau else NAN
        # differences of like products: what rounding leaves is measured on the products themselves
        rows.append(Row("(5.3), Lemma C.9", f"({letter})", value, tolerance=1e-5, absolute=1e-12 / forms[which]))
    return rows


def product_rows(k, net, count, high):
    pick = k.spread(count) if count else []
    most = [0.0, 0.0]
    if count:
        g, _ = states(net, k.x[pick], k.length[pick])
    for which, W in enumerate((k.then.W, net.W)):
        for j, i in enumerate(pick):
            for a in range(k.length[i]):
                P = W
                for b in range(a, k.length[i]):
                    P = P * (g[j, b] > 0)[:, None]
                    most[which] = max(most[which], norm2(P))
                    P = W @ P
    L7 = k.L**7
    return [Row("(5.2), Lemma C.7", f"largest |D {name} ", most[which] / L7 if count else NAN, tolerance=POWER,
                interval=(most[which] / L7, most[which] * high / L7) if count else None)
            for which, name in enumerate(("W(0)", "W"))]


# ---- All of it -------------------------------------------------------------------------------------------------------
SERIES = ("radius", "drift", "flips", "flip_drift", "longest", "loss", "chain")


def check_run(check, folder):
    run = Run(folder)
    k = Case(run)
    check.where = folder
    past = kept(check, k)
    for line in run.certificates:
        r = line["round"]
        net, notes = k.net(r), run.notes(r)
        check.where = f"{folder}, round {r}"
        same_kept(check, line, past)
        rows = input_rows(k, line)
        long = " ".join(line["notes"])
        if r == 0:
            rows += size_rows(k) + start_rows(k, line) + fresh_rows(k, line) + span_rows(k, line, notes, check)
            rows += rank1_rows(k, line, notes, check) if k.L > 1 else []
            if k.y is not None and k.L > 1:
                rows += fixed_rows(k) if "Theorem 5, Lemma E.2" not in long else unknown_fixed()
        else:
            rows += stability_rows(k, r, past) + drift_rows(k, net, line)
        f = NAN
        if k.y is not None and k.L > 1 and "f(W), Theorems 3" not in long:
            more, f = gradient_rows(k, net, line, notes, check)
            rows += more
        rows += promise_rows(k, r, f, past)
        check.line(f"{folder}, round {r}", line, rows)


def unknown_fixed():
    return [Row("Theorem 5", "|fake", NAN), Row("Lemma E.2", "|fake", NAN), Row("Lemma E.2", "largest |fake", NAN),
            Row("Lemma E.2", "largest row", NAN)]


def kept(check, k):
    """What looks kept is what there is to see; which rounds they looked at is the program's choice."""
    past = {name: {} for name in SERIES}
    series = k.run.series()
    for r in range(max(map(len, series.values()))):
        mine = look(k, k.net(r))
        for name, values in series.items():
            if r >= len(values) or math.isnan(values[r]):
                continue
            past[name][r] = values[r]
            # norms by power iteration are from below
            slack = POWER if name == "chain" else 1e-6
            if not Row(None, "", mine[name], tolerance=slack, absolute=1e-9).near(values[r], mine[name]):
                check.complain(f"kept {name} of round {r}: {values[r]}, not {mine[name]}")
    return past


def same_kept(check, line, past):
    for name, value in line["kept"].items():
        if value != past[name].get(line["round"]):
            check.complain(f"{name}: {value} in the line, {past[name].get(line['round'])} in the checkpoint")


HOLDS, FAILS, VACUOUS, OPEN, NOT = "holds", "fails", "vacuous", "open", "does not apply"

# What some run of the suite must have shown. Widths, steps and T of the theorems cannot hold on any machine, nor can the
# sets of Lemmas D.2 and D.7 be as large as they ask; W D ... D W restricted to m^(2/3) units never has its whole norm
# below the bound (which is at most 2.21, and |W| alone about 2.8): (4.5) is open or fails.
WANTED = {
    ("section 2.1", "largest | |x_(i,1)|"): [HOLDS, FAILS],
    ("section 2.1", "largest distance"): [HOLDS, FAILS],
    ("section 2.1", "largest |x_(i,l)|"): [HOLDS, FAILS],
    ("Assumption 2.1", "least separability"): [HOLDS, FAILS, VACUOUS, OPEN],
    ("Theorem 1", "log10 of the width"): [FAILS, NOT],
    ("Theorem 1", "step eta"): [FAILS, NOT],
    ("Theorem 1", "iterations T: rho"): [FAILS, NOT],
    ("Theorem 1", "iterations T: that times"): [VACUOUS, NOT],
    ("Theorem 1", "largest f(W)"): [HOLDS, FAILS, OPEN, NOT],
    ("Theorem 1", "f(W(T))"): [OPEN, NOT],
    ("Theorem 2", "log10 of the width"): [FAILS, NOT],
    ("Theorem 2", "step eta"): [FAILS, NOT],
    ("Theorem 2", "iterations T: rho"): [FAILS, NOT],
    ("Theorem 2", "iterations T: that times"): [VACUOUS, NOT],
    ("Theorem 2", "f(W(T))"): [OPEN, NOT],
    ("(I.1)", "largest sqrt(m)"): [VACUOUS, NOT],
    ("(H.1)", "largest sqrt(m)"): [VACUOUS, NOT],
    ("(4.1), Lemma B.3", "least |h"): [HOLDS, FAILS, OPEN, NOT],
    ("(4.1), Lemma B.3", "largest |h"): [HOLDS, OPEN, NOT],
    ("(4.1), Lemma B.3", "largest |g"): [HOLDS, OPEN, NOT],
    ("(4.2), Lemma B.6", "least |(I - U U^T)"): [HOLDS, FAILS, OPEN, NOT],
    ("(4.3), Lemma B.9", "least separability"): [HOLDS, FAILS, VACUOUS, OPEN, NOT],
    ("(4.5), Corollary B.15", "largest |W D W"): [FAILS, OPEN, NOT],
    ("(4.5), Corollary B.16", "largest entry"): [HOLDS, OPEN, NOT],
    ("(4.6), Corollary B.18", "largest |B D W"): [HOLDS, OPEN, NOT],
    ("(4.6), Corollary B.19", "largest column"): [HOLDS, OPEN, NOT],
    ("(5.1), Lemma C.2 (a)", "largest |g'"): [HOLDS, VACUOUS, OPEN, NOT],
    ("(5.1), Lemma C.2 (b)", "most"): [HOLDS, VACUOUS, OPEN, NOT],
    ("(5.1), Lemma C.2 (c)", "largest |D' g|"): [HOLDS, VACUOUS, OPEN, NOT],
    ("(6.2), Lemma D.7", "part of all units"): [NOT],
    ("(6.3), Lemma D.2", "least |N_4|"): [NOT],
    ("(7.1), Claim G.2", "both sides"): [VACUOUS, NOT],
}


if __name__ == "__main__":
    table = "--table" in sys.argv
    all_runs = Check()
    for name in [a for a in sys.argv[1:] if a != "--table"]:
        check_run(all_runs, name)
    all_runs.table(WANTED if table else {})
    all_runs.end()
