"""What traced runs drew by chance, drawn anew from the seed alone: draws.py RUN-FOLDER...

The units of each share, the samples of each batch, how their images were changed, and the first weights. Written from
docs/notation.md (Random numbers) and the papers of Philox4x32-10 (Salmon and others, SC'11) and of Lemire's unbiased
number below n (2019).
"""
import math
import sys
from statistics import NormalDist

import numpy
import yaml

sys.path.insert(0, __file__.rsplit("/", 1)[0])
import safetensors_numpy

WORD = 0xFFFFFFFF
INIT, ORDER, AUGMENT, SHARE = 1, 2, 3, 4
SIGNED = range(1, 10)  # operations of RandAugment that go either way


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & WORD, (a >> 32) ^ c[3] ^ k[1], a & WORD]
        k = [(k[0] + 0x9E3779B9) & WORD, (k[1] + 0xBB67AE85) & WORD]
    return c


class Stream:
    def __init__(self, seed, purpose, layer, round=0, worker=0, block=0):
        self.key, self.counter, self.words = [seed & WORD, seed >> 32], [block, (purpose << 24) + layer, round, worker], []

    def word(self):
        if not self.words:
            self.words = philox(self.counter, self.key)
            self.counter[0] += 1
        return self.words.pop(0)

    def uniform(self):
        high, low = self.word(), self.word()
        return (((high << 32 | low) >> 12) + 0.5) * 2.0**-52

    def below(self, bound):
        while True:
            product = self.word() * bound
            if product & WORD >= bound or product & WORD >= (1 << 32) % bound:
                return product >> 32

    def permutation(self, n):
        p = list(range(n))
        for i in range(n - 1, 0, -1):
            j = self.below(i + 1)
            p[i], p[j] = p[j], p[i]
        return p


def units(run, axis, size, round, worker):
    """The units of a worker's share on the axis of that number, or None: its scheme draws none."""
    s = run["scheme"]
    kind = {"dropout": "bernoulli", "multisample": "bernoulli", "loft": "chunks"}.get(s["name"], s["draw"])
    if s["name"] not in ("dropout", "multisample", "masked", "ist", "loft"):
        return None
    if kind == "auto":
        kind = "bernoulli" if s["name"] == "masked" else "chunks"
    if kind == "bernoulli":
        stream = Stream(run["seed"], SHARE, axis, round, worker)
        return [i for i in range(size) if stream.uniform() < s["xi"]]
    stream, p = Stream(run["seed"], SHARE, axis, round), s["workers"]
    weights = s["weights"] or [1] * p
    before = [sum(weights[:w]) / sum(weights) for w in range(p)] + [1]
    if kind == "categorical":
        return [i for i in range(size) if before[worker] <= stream.uniform() < before[worker + 1]]
    begin = [w + (math.floor((size - p) * before[w] + 0.5) if s["weights"] else (size - p) * w // p) for w in range(p + 1)]
    return sorted(stream.permutation(size)[begin[worker] : begin[worker + 1]])


class Order:
    """The samples of a worker's steps, and the streams of how their images are changed."""

    def __init__(self, run, n, worker):
        self.run, self.seed, self.worker, self.batch = run, run["seed"], worker, run["batch"]
        shards = run["scheme"]["workers"] if run["scheme"]["data"] == "shard" else 1
        first = [n // shards * w + min(w, n % shards) for w in range(shards + 1)]
        mine = worker if shards > 1 else 0
        all = Stream(self.seed, ORDER, 1).permutation(n) if shards > 1 else range(n)
        self.samples = sorted(all[first[mine] : first[mine + 1]])
        self.steps = len(self.samples) // self.batch  # of an epoch
        self.replacement = run["data"]["order"] == "replacement"

    def rows(self, step):
        n = len(self.samples)
        if self.replacement:
            places = [Stream(self.seed, ORDER, 2, step, self.worker, row).below(n) for row in range(self.batch)]
        else:
            begin = step % self.steps * self.batch
            places = Stream(self.seed, ORDER, 0, step // self.steps, self.worker).permutation(n)[begin : begin + self.batch]
        return [self.samples[i] for i in places]

    def changes(self, kind, step, row, sample):
        if self.replacement:
            return Stream(self.seed, AUGMENT, 2 * kind + 1, step, self.worker, row)
        return Stream(self.seed, AUGMENT, 2 * kind, step // self.steps, sample)


def changed(order, run, shape, step, row, sample):
    """By name as in the trace: crop, flip, op, cutout."""
    data = run["data"]
    pad = data["pad"] if "crop" in data["augment"] else 0
    place = order.changes(0, step, row, sample)
    out = {"crop": [place.below(2 * pad + 1) - pad for _ in range(2)], "flip": place.word() >> 31, "op": []}
    for k in range(data["randaugment"]):
        stream = order.changes(2 + k, step, row, sample)
        op = stream.below(14)
        out["op"].append([op, stream.word() >> 31 if op in SIGNED else 0])
    middle = order.changes(1, step, row, sample)
    out["cutout"] = [middle.below(shape[1]), middle.below(shape[2])]
    return out


def check_first(run, trace):
    """Weights drawn as normal numbers are one factor times those of some stream of their own."""
    have = {k[7:]: v for k, v in trace.items() if k.startswith("before.") and v.ndim > 1}
    taken, checked = set(), 0
    for name, w in have.items():
        begin = w.ravel()[:6].astype(float)
        if len(set(numpy.abs(begin))) < 6:  # fixed signs
            continue
        for layer in range(200):
            if layer not in taken:
                stream = Stream(run["seed"], INIT, layer)
                factor = begin / [NormalDist().inv_cdf(stream.uniform()) for _ in begin]
                if numpy.ptp(factor) < 1e-5 * abs(factor[0]):
                    taken.add(layer)
                    checked += 1
                    break
        else:
            raise AssertionError(f"{name} is of no stream")
    return checked


def axis_number(name, names):
    """Counted from 0 as the network meets them: the inputs, of a stage its stream and then its blocks."""
    if name.startswith("layer"):
        stage, block = int(name[5]), int(name.split(".")[1])
        return 1 + 3 * (stage - 1) + 1 + block  # two blocks in each stage
    return 1 + sorted(names, key=lambda n: [int(p) if p.isdigit() else p for p in n.split(".")]).index(name)


def check(folder):
    run = yaml.safe_load(open(folder + "/run.yaml"))
    data, _ = safetensors_numpy.load(folder + "/trace/data.safetensors")
    shape = [int(v) for v in safetensors_numpy.load(folder + "/model.safetensors")[1]["tessera.input"].split("x")]
    counts = dict.fromkeys(("shares", "samples", "again", "images"), 0)
    orders, round = {}, 0
    while True:
        try:
            trace, _ = safetensors_numpy.load(f"{folder}/trace/round-{round:06d}.safetensors")
        except FileNotFoundError:
            break
        if round == 0:
            first = check_first(run, trace)
        workers = sorted(int(k[5:]) for k in trace if k.startswith("loss."))
        sizes = {}
        for key in (k for k in trace if k.startswith("share.")):
            axis = key.split(".", 2)[2]
            sizes[axis] = run_sizes(run, axis, trace)
        for w in workers:
            for axis, size in sizes.items():
                have = list(trace[f"share.{w}.{axis}"])
                want = units(run, axis_number(axis, sizes), size, round, w)
                if want is not None and len(have) < size:
                    assert have == want, f"{folder}: round {round}, worker {w}, {axis}: {have}, not {want}"
                    counts["shares"] += 1
            order = orders.setdefault(w, Order(run, len(data["x"]), w))
            batches = trace[f"batch.{w}"]
            for t, have in enumerate(batches):
                step = round * len(batches) + t
                want = order.rows(step)
                assert list(have) == want, f"{folder}: round {round}, worker {w}, step {step}: {list(have)}, not {want}"
                counts["samples"] += len(want)
                counts["again"] += len(want) - len(set(want))
                for row, sample in enumerate(want):
                    drawn = changed(order, run, shape, step, row, sample)
                    for kind, value in drawn.items():
                        if f"{kind}.{w}" in trace:
                            seen = trace[f"{kind}.{w}"][t][row].tolist()
                            assert seen == value, f"{folder}: step {step}, row {row}, {kind}: {seen}, not {value}"
                            counts["images"] += 1
        round += 1
    assert round > 0 and counts["samples"] > 0
    assert (counts["again"] > 0) == (run["data"]["order"] == "replacement"), "whether samples come again in a batch"
    print(f"{folder}: {round} rounds, {first} tensors of first weights, " + ", ".join(f"{v} {k}" for k, v in counts.items()))


def run_sizes(run, axis, trace):
    """Units of the whole on that axis."""
    if axis.startswith("hidden."):
        return run["model"]["hidden"][int(axis[7:])]
    return len(trace[f"before.{axis.removesuffix('.inner')}.conv1.weight"])


for folder in sys.argv[1:]:
    check(folder)
