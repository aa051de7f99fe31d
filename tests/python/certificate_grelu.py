"""Certificates of gated nets (Noy, Xu, Aflalo, Zelnik-Manor, Jin), every row of every line recomputed from a run's files.

    certificate_grelu.py [--want ROWS.json] RUN...

The formulas are written from the paper (numbers in brackets are its equations), in float64, on matrices that are
multiplied out; the program has them by blocks, without units that are off, and some norms by power iteration. A run must
have a trace; which rounds were looked at stands in its last checkpoint's series, how many samples in the notes of its
certificates. Tolerances: what is float64 on both sides agrees to 1e-9 of the largest number it is made of; what the
program has from float products (loss, gradient) to 1e-4; power iteration is from below, within 3 %, and its upper end
follows from that by a formula.
"""
import json
import math
import sys

import numpy as np

from certificate_common import ALL, EXTREME, SOME, UNSAID, Check, Row, Run, extreme, sight, worse

NAN = float("nan")
DOUBLE = 2.0**-52
FLOAT = 2e-6  # outputs are floats, sums over some layers of some units: so much of them is not known
CHANCE = 0.01  # that some upper end of power iteration in the run is too low


# ---- The net ---------------------------------------------------------------------------------------------------------
class Net:
    """The weights of one round, and for every sample the products G_k (k = 0 .. L) and F_k (k = 1 .. L + 1) of (10)."""

    def __init__(self, tensors, prefix, x, gated):
        get = lambda name: tensors[prefix + name]
        self.C, self.B, self.x, self.gated = get("c.weight"), get("b.weight"), x, gated
        self.W = []
        while f"{prefix}w.{len(self.W) + 1}.weight" in tensors:
            self.W.append(get(f"w.{len(self.W) + 1}.weight"))
        self.L, self.m, self.n = len(self.W), len(self.C), len(x)
        self.psi = [get(f"psi.{k + 1}.weight") for k in range(self.L)] if gated and f"{prefix}psi.1.weight" in tensors else None
        if gated and self.psi is None:
            self.psi = [get(f"psi.{k + 1}.p.weight") @ get(f"psi.{k + 1}.q.weight") for k in range(self.L)]
        self.D = self.patterns()

    def patterns(self):
        """[L + 1][n, m] of 0 and 1."""
        z = np.maximum(self.x @ self.C.T, 0)
        on = [z > 0]
        for k in range(self.L):
            z = np.maximum(z @ (self.psi[k] if self.gated else self.W[k]).T, 0)
            on.append(z > 0)
        return on

    def G(self, i):
        out = [self.D[0][i][:, None] * self.C]
        for k in range(self.L):
            out.append(self.D[k + 1][i][:, None] * (self.W[k] @ out[-1]))
        return out

    def F(self, i):
        """F_1 .. F_(L+1)."""
        out = [self.B * self.D[self.L][i]]
        for k in reversed(range(self.L)):
            out.insert(0, (out[0] @ self.W[k]) * self.D[k][i])
        return out

    def outputs(self):
        return np.array([self.F(i)[-1] @ (self.G(i)[-1] @ self.x[i]) for i in range(self.n)])

    def gradients(self, i):
        """[d_y][L] of matrices: grad_(W_k) y_p = F_(k+1)[p] (x) G_(k-1) x."""
        G, F = self.G(i), self.F(i)
        return [[np.outer(F[k][p], G[k - 1] @ self.x[i]) for k in range(1, self.L + 1)] for p in range(len(self.B))]


def max_moved(ratio, kernel, now, then, own):
    """(7) and (8) of samples with a gradient at first: of length `own`."""
    if not len(own):
        return ratio, kernel
    change = np.abs(now @ now.T - then @ then.T) / np.outer(own, own)
    return max(ratio, (np.linalg.norm(now - then, axis=1) / own).max()), max(kernel, change.max())


def flat(matrices):
    return np.concatenate([m.ravel() for m in matrices])


def ends_of(factor):
    """The least and the largest eigenvalue of A^T A or A A^T, the smaller of the two: squares of A's singular values, which
    keep their digits where those of the product are lost."""
    value = np.linalg.svd(factor, compute_uv=False) ** 2
    return value[-1], value[0]


def rounding(m, largest):
    """What the program does not know of an eigenvalue: it has those of a product of doubles, sums of m terms whose roundings
    grow as the root of m, each as large as the largest eigenvalue allows. (LAPACK adds about one of them.)"""
    return DOUBLE * math.sqrt(m) * largest


class Numbers:
    """What the paper's quantities are at one round."""

    def __init__(self, net, first, targets, notes, delta, tau, eta, ell):
        n, m, L, x = net.n, net.m, net.L, net.x
        pairs, G_n, chains = (int(notes[f"first_samples.{k}"][0]) for k in ("pairs", "G", "chains"))
        views = [(net.G(i), net.F(i)) for i in range(n)]
        h = [[g @ x[i] for g in views[i][0]] for i in range(n)]
        dy, d = len(net.B), x.shape[1]
        self.beta_x, least, known_x = 0.0, {}, []
        for i in range(G_n):
            rank = d
            for k, g in enumerate(views[i][0]):
                rank = min(rank, int(net.D[k][i].sum()))
                low, high = ends_of(g)
                least[i, k] = 0.0 if rank < d else low
                known_x.append((least[i, k], rounding(m, high) if rank == d else 0.0))
                self.beta_x = max(self.beta_x, high)
        y_end = {(i, k): ends_of(f) if dy <= m else (0.0, ends_of(f)[1]) for i in range(pairs) for k, f in enumerate(views[i][1])}
        self.alpha_x, self.alpha_y = known_x, [(low, rounding(m, high)) for low, high in y_end.values()]
        self.beta_y = max(e[1] for e in y_end.values())
        # (16), Theorem 6, Lemma 4
        self.cross, far_f, far_g, self.overlap_0, self.overlap = 0.0, [0.0] * (L + 1), [0.0] * (L + 1), 0, 0
        total, squares = np.zeros(pairs), np.zeros(pairs)
        for i in range(pairs):
            for j in range(i):
                f = [np.linalg.norm(views[j][1][k] @ views[i][1][k].T, 2) for k in range(L + 1)]
                g = [abs(h[j][k] @ h[i][k]) for k in range(L + 1)]
                for k in range(L + 1):
                    far_f[k], far_g[k] = max(far_f[k], f[k]), max(far_g[k], g[k])
                    both = int((net.D[k][i] & net.D[k][j]).sum())
                    if k == 0:
                        self.overlap_0 = max(self.overlap_0, both)
                    else:
                        self.overlap = max(self.overlap, both)
                for k in range(1, L + 1):  # F_(k+1) is f[k], G_(k-1) is g[k - 1]
                    xi = g[k - 1] * f[k]
                    self.cross = max(self.cross, xi)
                    total[[i, j]] += xi
                    squares[[i, j]] += xi * xi
        drift, four = L**1.5 * tau, m**-0.25
        over = lambda a, b: a / b if a > 0 else 0.0  # what is 0 needs no constant, also where its form is 0
        self.far_f = max(over(far_f[k - 1], (four + (5 / 6) ** (L - k) + drift) * self.beta_y) for k in range(1, L + 2))
        self.far_g = max(over(far_g[k], (four + delta * (5 / 6) ** k + drift) * self.beta_x) for k in range(L + 1))
        self.gamma = np.float64(self.cross) / (self.beta_x * self.beta_y * (drift**2 + delta * (5 / 6) ** L + m**-0.5))
        # Theorem 3, Corollary 4, the kernel
        now = [[flat(g) for g in net.gradients(i)] for i in range(pairs)]
        then = [[flat(g) for g in first.gradients(i)] for i in range(pairs)]
        self.ratio, self.kernel = 0.0, 0.0
        for p in range(dy):
            a, b = np.array([g[p] for g in now]), np.array([g[p] for g in then])
            own = np.sqrt((b * b).sum(1))
            live = own > 0
            self.ratio, self.kernel = max_moved(self.ratio, self.kernel, a[live], b[live], own[live])
            if p == 0:
                value = np.linalg.eigvalsh(a @ a.T)
                self.lam, self.lam_most = value[0], value[-1]
        self.least_gradient = min((m_ * m_).sum() for i in range(pairs) for g in first.gradients(i) for m_ in g)
        # Z_(a,b) = D_a W_a ... W_(b+1) D_b
        self.chain, self.product = 1.0, 0.0  # of D_b itself, and of products: those are found by power iteration
        for i in range(chains):
            for b in range(1, L + 1):
                z = np.diag(net.D[b][i].astype(float))
                for a in range(b + 1, L + 1):
                    z = net.D[a][i][:, None] * (net.W[a - 1] @ z)
                    self.product = max(self.product, np.linalg.norm(z, 2))
        self.chain = max(self.chain, self.product)
        # the gradient of l, (39) and Lemma 2
        self.residual = net.outputs() - targets
        sums = [0.0] * L
        for i in range(n):
            g = net.gradients(i)
            for k in range(L):
                sums[k] = sums[k] + sum(self.residual[i][p] * g[p][k] for p in range(dy))
        self.gradient = sums
        self.steepest = max(np.linalg.norm(g, 2) for g in sums) ** 2
        self.steepest_bound = (self.beta_x * self.beta_y + n * self.cross) * ell
        self.fall = self.fall_bound = self.fall_printed = NAN
        if pairs == n and G_n == n:
            self.lemma_2(net, targets, eta, views, h, least, y_end, total, squares)

    def lemma_2(self, net, targets, eta, views, h, least, y_end, total, squares):
        n, L = net.n, net.L
        stepped = Net.__new__(Net)
        stepped.__dict__.update(net.__dict__)
        stepped.W = [w - eta * g for w, g in zip(net.W, self.gradient)]
        after = stepped.outputs() - targets
        self.fall = ((after**2).sum() - (self.residual**2).sum()) / 2
        bounds, self.fall_size = [0.0, 0.0], 0.0
        for i in range(n):
            r = self.residual[i]
            first_order = sum(views[i][1][k] @ self.gradient[k - 1] @ h[i][k - 1] for k in range(1, L + 1))
            beyond = (after[i] - r) + eta * first_order  # eta^2 Delta x, Lemma 1
            # its gradient is of floats: what of the step that leaves is as large as second orders of small steps
            self.fall_size += eta * np.linalg.norm(first_order) * np.linalg.norm(r)
            length, r2 = np.linalg.norm(beyond) / eta**2 if eta > 0 else 0.0, r @ r
            for which in range(2):
                power = 2 - which
                lam = -2 * eta * sum(y_end[i, k][0] * least[i, k - 1] for k in range(1, L + 1)) + 2 * eta * total[i]
                lam += 3 * eta**2 * L * sum(y_end[i, k][1] ** power * (h[i][k - 1] @ h[i][k - 1]) ** 2 for k in range(1, L + 1))
                lam += 3 * eta**2 * n * L * squares[i]
                # (lam + eta^2 a) / 2 r^2 + eta^2 (3 eta^2 + 1/a) / 2 length^2 with the best of all a > 0, length / |r|
                bounds[which] += lam / 2 * r2 + eta**2 * length * math.sqrt(r2) + 1.5 * eta**4 * length**2
        self.fall_bound, self.fall_printed = bounds


# ---- Statistics ------------------------------------------------------------------------------------------------------
def student(freedom):
    """t with P(|T| <= t) = 0.95, by integrating the density."""
    scale = math.gamma((freedom + 1) / 2) / math.gamma(freedom / 2) / math.sqrt(freedom * math.pi)
    density = lambda t: scale * (1 + t * t / freedom) ** (-(freedom + 1) / 2)

    def inside(t):
        s = np.linspace(-t, t, 20001)
        return np.trapz(density(s), s)

    low, high = 0.0, 200.0
    for _ in range(60):
        mid = (low + high) / 2
        low, high = (mid, high) if inside(mid) < 0.95 else (low, mid)
    return low


def mean_of(values):
    values = np.asarray(values)
    if len(values) < 2:
        return (values.mean() if len(values) else NAN), NAN, NAN
    wide = student(len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
    return values.mean(), values.mean() - wide, values.mean() + wide


def slope_of(x, y):
    x, y = np.asarray(x, float), np.asarray(y, float)
    xx = ((x - x.mean()) ** 2).sum()
    slope = ((x - x.mean()) * (y - y.mean())).sum() / xx
    rest = ((y - y.mean() - slope * (x - x.mean())) ** 2).sum()
    wide = student(len(x) - 2) * math.sqrt(rest / (len(x) - 2) / xx)
    return slope, slope - wide, slope + wide


# ---- A run -----------------------------------------------------------------------------------------------------------
class Gated:
    def __init__(self, folder):
        self.run = run = Run(folder)
        data, self.lines = run.data(), run.certificates
        self.x = data["x"].reshape(len(data["x"]), -1)
        trace = [run.round(0)]
        while run.round(len(trace)):
            trace.append(run.round(len(trace)))
        self.converted = next((l["round"] for l in run.lines if l.get("event") == "converted"), None)
        self.gated = run.get("model.name") == "grelu"
        self.rank = run.get("model.gate_rank")
        self.squares = run.get("loss") in ("auto", "half_squares")
        shape = lambda r: self.gated and (self.converted is None or r <= self.converted)
        state = [(trace[0], "before.")] + [(t, "after.") for t in trace]
        # a round's "after" is of the net before a conversion; what follows it begins from "before"
        self.nets = [Net(t, p, self.x, shape(r)) for r, (t, p) in enumerate(state)]
        self.first_twin = Net(trace[0], "before.", self.x, False)
        y = data["y"]
        if y.dtype.kind == "f":
            self.y = y.reshape(len(self.x), -1)
        else:
            self.y = np.eye(len(self.nets[0].B))[y.ravel()]
        self.n, self.d = self.x.shape
        self.m, self.L, self.dy = self.nets[0].m, self.nets[0].L, self.y.shape[1]
        self.rounds, self.local = run.get("rounds"), run.get("scheme.local_steps")
        self.eta = max(run.rate(t) for t in range(self.rounds))
        self.series = run.series()
        self.delta = self.numbers_of_data()
        self.cache = {}

    def looked(self, name, upto):
        values = self.series.get(name, np.array([]))[: upto + 1]
        return [r for r in range(len(values)) if not math.isnan(values[r])]

    def numbers_of_data(self):
        lengths = np.linalg.norm(self.x, axis=1)
        self.off = np.abs(lengths - 1).max()
        inputs = int(self.run.notes(0)["first_samples.inputs"][0])
        gram = np.abs(self.x[:inputs] @ self.x[:inputs].T)
        np.fill_diagonal(gram, 0)
        self.target = np.linalg.norm(self.y, axis=1).max()
        return gram.max()

    def tau_at(self, r):
        return max(np.linalg.norm(a - b, 2) for a, b in zip(self.nets[r].W, self.first(r).W))

    def first(self, r):
        """The net of round r as it began: of a converted one the twin with the same first weights."""
        return self.nets[0] if self.nets[r].gated == self.nets[0].gated else self.first_twin

    def loss_at(self, r):
        """The sum of squares; of the loss mse its mean over samples and outputs."""
        return ((self.nets[r].outputs() - self.y) ** 2).sum() / (1 if self.squares else self.n * self.dy)

    def loss_error(self, r):
        """The part of the loss that is not known: that of the terms of outputs, however little is left of their sum beside
        the targets."""
        net = self.nets[r]
        terms = [np.linalg.norm(net.B) * np.linalg.norm(net.G(i)[-1] @ self.x[i]) for i in range(self.n)]
        return FLOAT * (1 + 2 * np.linalg.norm(terms) / np.linalg.norm(net.outputs() - self.y))

    def at(self, r):
        if r not in self.cache:
            tau = max(self.tau_at(q) for q in self.looked("tau", r))
            self.cache[r] = Numbers(self.nets[r], self.first(r), self.y, self.run.notes(self.lines[0]["round"]), self.delta,
                                    tau, self.run.rate(r), self.loss_at(r) / 2)
        return self.cache[r]

    # ---- What the run breaks -----------------------------------------------------------------------------------------
    def broken(self):
        """The assumptions of the paper that this run does not keep, in the order of its pages."""
        get, out = self.run.get, self.run.ways(self.n)
        if self.off > 1e-5:
            out.add("unit")
        if self.delta > 1 / 3:
            out.add("apart")
        if self.target > self.m / self.d:
            out.add("targets")
        if self.rank > 0:
            out.add("drawn")
        if not self.squares:
            out.add("loss")
        return out

    # ---- The rows ----------------------------------------------------------------------------------------------------
    def rows(self, line):
        r, n, d, m, L, dy = line["round"], self.n, self.d, self.m, self.L, self.dy
        notes = self.run.notes(r)
        part = {k: int(notes[f"first_samples.{k}"][0]) for k in ("pairs", "G", "chains", "inputs")}
        gated = self.nets[r].gated
        broken = self.broken() | (set() if gated else {"model"})
        descent = {"rate", "momentum", "decay", "precision", "full", "whole", "steps", "shards", "loss"}
        drawn, apart = {"model", "drawn"}, {"unit", "apart"}
        needs = {
            "1": descent | drawn | apart | {"targets"}, "3": drawn | {"unit"}, "5": drawn, "6": drawn | apart,
            "L2": descent | {"model", "unit"}, "L3": descent | drawn | {"unit"}, "L4": drawn | apart, "L5": drawn,
            "L7": drawn, "39": {"model", "loss", "unit"}, "43": drawn | {"loss", "unit", "targets"}, "47": {"drawn"},
            "14": {"model", "unit"}, "R3": {"model"}, "": set(),
        }
        root = math.sqrt(m)
        chance = {
            "5": 1 - 3 * L**2 * root * math.exp(-m / (16 * L) + 6 * root + 3 * max(d, dy)),
            "L3": 1 - L**2 * root * math.exp(-m / (20 * L) + 6 * root),
            "L5": 1 - 2 * L * math.exp(-m / (64 * L**2)),
            "L7": 1 - 4 * L**2 * math.exp(-m / (64 * L**2)),
            "43": 1 - 4 * L**2 * math.exp(-m / (32 * L**2) + 3 * d + 3 * dy),
            "47": 1 - 2 * math.exp(-m * min(d, dy) / 4),
        }
        out = []

        def row(of, where, words, value, sense=None, bound=None, **more):
            if more.get("interval") and any(math.isnan(e) for e in more["interval"]):
                more["interval"] = None
            more["construction"] = more.get("construction", False) or chance.get(of, 1) <= 0
            out.append(Row(where, words, value, sense, bound, broken=bool(needs[of] & broken), **more))

        rounds = lambda name: sight(len(self.looked(name, r)), r + 1)
        whole = [q for q in self.looked("tau", r) if self.nets[q].gated]
        at = [self.at(q) for q in whole]
        some = lambda s: SOME if s == EXTREME else s
        samples = lambda key: sight(part[key], n)
        most = lambda name: max((getattr(a, name) for a in at), default=NAN)
        least = lambda name: min((getattr(a, name) for a in at), default=NAN)
        lowest_of = lambda name: extreme(min, [known for a in at for known in getattr(a, name)])
        now = at[-1] if at else None
        losses = {q: self.loss_at(q) for q in self.looked("loss", r)}
        first, latest = losses[0], max(losses)
        fallen = math.log(first / losses[latest])
        steps = latest * self.local if latest > 0 else NAN
        float_ = 1e-4

        row("", "section 2.1", "largest | |x_i| - 1 |", self.off, "at most", 1e-5)
        alone = n < 2  # a single sample has no pairs
        row("", "Assumption 1, Lemma 4", "delta", self.delta, "at most", 1 / 3, seen=samples("inputs"), construction=alone)
        row("", "Assumption 2", "largest |y_i|", self.target, "at most", m / d)
        row("1", "Theorem 1", "depth L over log n", L / math.log(n) if n > 1 else NAN)
        row("1", "Theorem 1", "width m over n^2 L d_y", m / (n**2 * L * dy))
        row("1", "Theorem 1", "step eta", self.eta, "at most", d / (n**4 * L**3 * dy))
        row("1", "Theorem 1", "steps done over log", steps / math.log(n**3 * L / (d * losses[latest] / 2)), tolerance=float_)
        row("43", "(43)", "l_0", first / 2, "at most", 4 * m * n / d, tolerance=float_)
        row("47", "(47)", "|B|_F", np.linalg.norm(self.nets[0].B), "at most", math.sqrt(5 * m))
        row("47", "(47)", "|C|_F", np.linalg.norm(self.nets[0].C), "at most", math.sqrt(5 * m))

        seen_x, seen_y = worse(samples("G"), rounds("alpha_x")), worse(samples("pairs"), rounds("alpha_y"))
        both = worse(seen_x, seen_y)
        (alpha_x, error_x), (alpha_y, error_y) = lowest_of("alpha_x"), lowest_of("alpha_y")
        row("5", "(14), Theorem 5", "alpha_x", alpha_x, "at least", m / (12 * d), seen=seen_x, absolute=1e-9 * m + error_x)
        row("5", "(14), Theorem 5", "alpha_y", alpha_y, "at least", m / (12 * dy), seen=seen_y, absolute=1e-9 * m + error_y)
        row("5", "(15), Theorem 5", "beta_x", most("beta_x"), "at most", 27 * m / (4 * d), seen=seen_x)
        row("5", "(15), Theorem 5", "beta_y", most("beta_y"), "at most", 27 * m / (4 * dy), seen=seen_y)
        a2, b2, beta_x = alpha_x * alpha_y, most("beta_x") * most("beta_y"), most("beta_x")
        vague = error_x / alpha_x + error_y / alpha_y if a2 > 0 else 0.0  # the part of a2 that is not known
        row("L3", "(16)", "gamma", most("cross") / b2)
        row("L3", "(17)", "beta^2 gamma n", most("cross") * n, "at most", a2 / 2, seen=both, vague=vague)
        row("14", "(14) to (17)", "least eigenvalue", least("lam"), "at least", L * a2 / 2, seen=some(both), trivial=0,
            absolute=1e-9 * most("lam_most") if at else 0, vague=vague)
        row("14", "(6)", "its largest eigenvalue", most("lam_most"))
        theta = 1 / 5
        half = math.exp(theta / 2) / math.sqrt(theta)
        div = lambda a, b: a / b if b > 0 else (NAN if math.isnan(b) else math.inf)
        l0 = first / 2
        step = min([div(a2, 12 * b2 * beta_x * L), 1 / (3 * L), div(a2, 4 * b2**2 * L), div(1, b2 * L),
                    div(1, 4 * math.sqrt(2 * L) * half * math.sqrt(b2 * l0)), div(a2, 1024 * n * half**4 * b2 * l0)]) if at else NAN
        row("L3", "(18)", "step eta", self.eta, "at most", step, seen=both, tolerance=float_, vague=vague)
        self.fall_rows(row, r, losses, a2 * L / 2, vague, some(both), float_, max(map(self.loss_error, losses)))
        loss_error = max(map(self.loss_error, losses))
        exact = float_ + loss_error / abs(fallen) if fallen else 1  # a small logarithm of a quotient
        row("1", "(42)", "steps done", steps, "at most",
            NAN if not at else math.copysign(math.inf, fallen) if a2 == 0 and fallen else NAN if a2 == 0
            else 2 / (self.eta * a2 * L) * fallen, seen=some(both), trivial=math.inf, tolerance=exact, vague=vague)
        row("1", "(46)", "steps done", steps, "at most", 2 * 81**2 * fallen, tolerance=float_, absolute=2 * 81**2 * loss_error)
        self.tau_rows(row, r, at, a2, b2, l0, fallen, some(both), exact, vague)
        # Lemma 2, (39)
        for name, words in (("fall_bound", "change of l in one step"), ("fall_printed", "the same with lambda_max")):
            worst = max((a for a in at if self.squares and not math.isnan(a.fall)), key=lambda a: a.fall - getattr(a, name), default=None)
            row("L2", "Lemma 2, (13)", words, worst.fall if worst else NAN, "at most", getattr(worst, name) if worst else NAN,
                seen=rounds("fall"), trivial=0, tolerance=2e-3,  # residuals of outputs that are floats, terms that cancel
                absolute=loss_error * worst.fall_size + 1e-14 * (worst.residual**2).sum() if worst else 0)
        worst = max(at, key=lambda a: a.steepest - a.steepest_bound, default=None) if self.squares else None
        value = worst.steepest if worst else NAN
        wide = value * self.upper_tau(2 * L) ** 2
        row("39", "(39)", "largest |grad_k l|_2^2", value, "at most", worst.steepest_bound if worst else NAN,
            seen=some(worse(samples("pairs"), samples("G"), rounds("steepest"))), tolerance=0.06,
            interval=(value, wide) if worst else None)
        # Lemmas 4, 5, 7, Theorem 6
        start = at[0] if at and whole[0] == 0 else None
        row("L4", "Lemma 4", "most units of D_0", start.overlap_0 if start else NAN, "at most", m / 3, seen=samples("pairs"),
            construction=alone)
        row("L4", "Theorem 6's proof", "the same of D_1", start.overlap if start else NAN, "at most", m / 3, seen=samples("pairs"),
            construction=alone)
        end = math.exp(0.25) * math.sqrt(2)
        up = self.upper(40, part["chains"] * L * L) if L > 1 else 1
        z, high = (start.chain, max(1, start.product * up)) if start else (NAN, NAN)
        row("L5", "Lemma 5", "largest |Z_(a,b)|_2 at first", z, "at most", math.sqrt(12 * L) * end, seen=samples("chains"),
            interval=(z, high), tolerance=0.03)
        z, high = most("chain"), max(1, most("product") * up) if at else NAN
        row("L7", "Lemma 7", "largest |Z_(a,b)|_2 so far", z, "at most", 4 * math.sqrt(L) * end,
            seen=worse(samples("chains"), rounds("chain")), interval=(z, high), tolerance=0.03)
        row("6", "Theorem 6", "C' that |F_j F_i^T|", most("far_f"), tolerance=0.03)
        row("6", "Theorem 6", "C' that |<G x_j", most("far_g"), tolerance=0.03)
        row("6", "(52)", "C'' that gamma", most("gamma"), tolerance=0.06)
        # Theorem 3, Corollary 4
        square = m**2 / (144 * d * dy)
        lowest = start.least_gradient if start else NAN
        row("3", "Theorem 3", "width m over", m / (n * d * dy**2 * L**3))
        row("3", "section 10.5", "least |grad_(W_k)", lowest, "at least", m * square, seen=samples("pairs"))
        row("5", "section 10.5, Theorem 5", "the same, against", lowest, "at least", square, seen=samples("pairs"))
        self.ratio_rows(row, r, part)
        self.pattern_rows(row, r, gated)
        return out

    def upper(self, iterations, asked):
        """Kuczynski and Wozniakowski (1992), Theorem 4.1: the upper end of a norm over what was found."""
        chance = CHANCE / (asked * (self.rounds + 1))
        miss = (chance / (0.824 * math.sqrt(self.m))) ** (1 / (iterations - 0.5))
        return 1 / math.sqrt(miss)

    def upper_tau(self, asked, iterations=60):
        """The same of one matrix of weights, whose norm is exact where it is no wider than that."""
        return 1 + 1e-12 if self.m <= iterations else self.upper(iterations, asked)

    def fall_rows(self, row, r, losses, half, vague, seen, float_, error):
        """(19): the loss of every round against (1 - eta alpha^2 L / 2)^k of the first."""
        rate = lambda t: min(self.run.rate(t) * half, 1) if not math.isnan(half) else NAN
        seen = worse(seen, sight(len(losses), r + 1))
        times = sorted(losses)
        values = [losses[t] for t in times]
        tail = values[len(values) - (len(values) + 3) // 4 :]
        level = sorted(tail)[len(tail) // 2]
        leading = lambda low: next((i for i, v in enumerate(values) if not v > low), len(values))
        falling = leading(2 * level) if leading(2 * level) >= 3 else leading(0)
        left = lambda a, b: sum(math.log1p(-rate(t)) if rate(t) < 1 else -math.inf for t in range(a, b))
        row("L3", "Lemma 3", "proven rate", rate(max(r - 1, 0)), tolerance=float_ + vague)
        value, interval, need = NAN, None, rate(0)
        if falling >= 2:
            a, b = times[0], times[falling - 1]
            need = -math.expm1(left(a, b) / (b - a)) if not math.isnan(half) else NAN
        if falling >= 3:
            slope, low, high = slope_of(times[:falling], np.log(values[:falling]))
            value, interval = -math.expm1(slope), (-math.expm1(high), -math.expm1(low))
        # a slope through logarithms of losses, and its interval of t times that
        row("L3", "(19)", "measured rate per round", value, "at least", need, seen=seen, trivial=0, interval=interval,
            tolerance=3e-3, vague=vague, absolute=1e-6 + (error * student(falling - 2) if falling >= 3 else 0))
        best = None
        for t in times[1:]:
            bound = math.exp(left(0, t)) * values[0] if not math.isnan(half) else NAN
            ratio = NAN if math.isnan(bound) else 0 if losses[t] == 0 else losses[t] / bound if bound > 0 else math.inf
            tells = bound < values[0] or ratio > 1
            if not math.isnan(ratio) and (best is None or (tells, ratio) > best[:2]):
                best = (tells, ratio, losses[t], bound, t)
        row("L3", "(19)", "L_k: ", best[2] if best else NAN, "at most", best[3] if best else NAN, seen=seen, trivial=values[0],
            tolerance=float_, vague=vague * abs(left(0, best[4])) if best and best[3] > 0 else 0)
        mean, low, high = mean_of(tail)
        row("L3", "(19)", "mean of L_k", mean if len(values) > 3 else NAN, tolerance=float_,
            interval=(low, high) if len(values) > 7 else None)

    def tau_rows(self, row, r, at, a2, b2, l0, fallen, seen, exact, vague):
        """tau of (4) lies between the largest found and the largest that no round exceeds: |.|_F where nobody looked."""
        L, m, n = self.L, self.m, self.n
        looked = self.looked("tau", r)
        tau = max(self.tau_at(q) for q in looked) if r > 0 else NAN
        whole = lambda q: max(np.linalg.norm(a - b) for a, b in zip(self.nets[q].W, self.first(q).W))
        high = max(min(whole(q), self.tau_at(q) * self.upper_tau(2 * L)) if q in looked else whole(q) for q in range(r + 1))
        interval = (tau, high) if r > 0 else None
        more = {"interval": interval, "tolerance": 0.03}
        bound = NAN if not at else 2 * math.sqrt(b2 * 2 * l0) / (a2 * L) * fallen if a2 > 0 else (
            math.copysign(math.inf, fallen) if fallen else NAN)
        row("1", "section 10.4", "tau", tau, "at most", bound, seen=seen, trivial=math.inf, interval=interval,
            tolerance=max(0.03, exact), vague=vague)
        row("5", "(50)", "tau", tau, "at most", 1 / (27 * L * math.sqrt(12 * L) * math.exp(0.5) * 2), **more)
        end = math.exp(0.25) * math.sqrt(2)
        row("L7", "Lemma 7", "tau, against", tau, "at most", 1 / (9 * math.sqrt(12) * end * L**1.5), **more)
        row("6", "Theorem 6", "tau, against", tau, "at most", L**-1.5, **more)
        row("1", "(5)", "tau over", tau * L / (self.dy * math.sqrt(n / m)), tolerance=0.03)

    def moved_at(self, q, pairs):
        """(7) and (8) of a round; of a ReLU net with its own patterns."""
        if self.nets[q].gated:
            return self.at(q).ratio, self.at(q).kernel
        ratio = kernel = 0.0
        a = [self.nets[q].gradients(i) for i in range(pairs)]
        b = [self.first(q).gradients(i) for i in range(pairs)]
        for p in range(self.dy):
            u, v = np.array([flat(g[p]) for g in a]), np.array([flat(g[p]) for g in b])
            own = np.linalg.norm(v, axis=1)
            live = own > 0
            ratio, kernel = max_moved(ratio, kernel, u[live], v[live], own[live])
        return ratio, kernel

    def ratio_rows(self, row, r, part):
        n, d, m, L, dy = self.n, self.d, self.m, self.L, self.dy
        moved = [self.moved_at(q, part["pairs"]) for q in self.looked("ratio", r)] if r > 0 else []
        ratio = max((a for a, _ in moved), default=NAN)
        kernel = max((b for _, b in moved), default=NAN)
        R = math.sqrt(n) * d * (L * dy) ** 2 / m**2.5
        row("3", "(7)", "gradient ratio", ratio)
        row("3", "(7)", "the same over R = ", ratio / R)
        row("3", "(7), Theorem 5", "the same over R with that", ratio / (math.sqrt(n * d * dy / m) * dy * L**2))
        seen = worse(sight(part["pairs"], n), sight(len(self.looked("kernel", r)), r + 1))
        row("3", "Corollary 4, (8)", "kernel", kernel, "at most", 3 * ratio, seen=SOME if seen == EXTREME else seen,
            construction=ratio <= 1)

    def gradient_error(self, net):
        """What is not known of the whole gradient: its terms r_i grad y_i are floats, however little they leave of each
        other, and so are the outputs in r_i, however little targets leave of them."""
        total = 0.0
        for i, r in enumerate(net.outputs() - self.y):
            output = np.linalg.norm(net.B) * np.linalg.norm(net.G(i)[-1] @ self.x[i])
            total += sum((abs(r[p]) + output) * np.linalg.norm(flat(g)) for p, g in enumerate(net.gradients(i)))
        return FLOAT * self.loss_scale() * total

    def loss_scale(self):
        """The gradient of the loss over that of half the squares; of the mean of squares."""
        return 1.0 if self.squares else 2.0 / (self.n * self.dy)

    def whole_gradient(self, net):
        r = net.outputs() - self.y
        total = 0.0
        for i in range(self.n):
            g = net.gradients(i)
            total = total + sum(r[i][p] * flat(g[p]) for p in range(self.dy))
        return self.loss_scale() * total

    def pattern_rows(self, row, r, gated):
        latest = lambda name: max(self.looked(name, r), default=-1)
        q = latest("gradient")
        row("", "section 6.3", "|g_t|, the gradient", np.linalg.norm(self.whole_gradient(self.nets[q])), tolerance=1e-4,
            absolute=self.gradient_error(self.nets[q]))
        q = latest("gradient_change")
        change = NAN if q < 0 else np.linalg.norm(self.whole_gradient(self.nets[q]) - self.whole_gradient(self.nets[q - 1]))
        row("", "section 6.3", "|g_t - g_(t-1)|", change, tolerance=1e-2,
            absolute=0 if q < 0 else sum(map(self.gradient_error, self.nets[q - 1 : q + 1])))
        few = int(self.run.notes(r)["first_samples.gates"][0])
        flat_bits = lambda net: np.concatenate([d[:few].ravel() for d in net.D[1:]])
        flat_dead = lambda net: np.concatenate([~d[:few].any(0) for d in net.D[1:]])
        bits, dead = lambda q: flat_bits(self.nets[q]), lambda q: flat_dead(self.nets[q])
        row("", "section 4.3", "units born dead", int(sum((~d[:few].any(0)).sum() for d in self.nets[0].D[1:])))
        if not gated:
            q = latest("switched")
            row("", "section 6.3", "part of the ReLU patterns", (bits(q) != flat_bits(self.first(q))).mean())
            q = latest("hamming")
            row("", "section 6.3", "part that changed in the last round", NAN if q < 0 else (bits(q) != bits(q - 1)).mean())
            q = latest("died")
            row("", "section 4.3", "units that died", int((dead(q) & ~flat_dead(self.first(q))).sum()))
        fixed = lambda q: [self.nets[q].C, self.nets[q].B] + (self.nets[q].psi if gated else [])
        same = all(np.array_equal(a, b) for a, b in zip(fixed(r), fixed(0)))
        seen = sight(len(self.looked("switched", r)), r + 1)
        value = (0.0 if same else 1.0) if gated else NAN
        row("R3", "section 2.1", "part of the numbers that fix the gates", value, "at most", 0, seen=seen, construction=True)
        row("R3", "Remark 3", "units that died", value, "at most", 0, seen=seen, construction=True)


def check_run(check, folder):
    run = Gated(folder)
    for line in run.lines:
        check.line(f"{folder}, round {line['round']}", line, run.rows(line))


def main(args):
    check, wanted = Check(), {}
    if args and args[0] == "--want":
        wanted = {tuple(row): verdicts for row, verdicts in json.load(open(args[1]))}
        args = args[2:]
    for folder in args:
        check_run(check, folder)
    check.table(wanted)
    check.end()


if __name__ == "__main__":
    main(sys.argv[1:])
