"""Run files drawn at random, a function for each paper: certificate_fuzz.py trains and judges them.

    config = rnn(generator("rnn", 7), folder)        the run file of seed 7; its data files lie in folder

Most runs keep what the theorems assume, so that verdicts other than "does not apply" are seen; each way to break it is
drawn now and then (`now`). Sizes are small: the oracles multiply everything out. The extremes are drawn on purpose: one
unit, one sample, samples that are equal, rates of 0 and rates that diverge, targets and inputs that are tiny or huge,
nets whose units are all off, efforts and budgets for a part of the samples and rounds.
"""
import zlib

import numpy


def generator(paper, seed):
    return numpy.random.default_rng([zlib.crc32(paper.encode()), seed])


def pick(r, *choices):
    return choices[int(r.integers(len(choices)))]


def now(r, chance=0.12):
    """Now and then: is this run one of those?"""
    return bool(r.random() < chance)


def between(r, low, high):
    """A number whose logarithm is uniform, with three digits: as a run file has it."""
    return float(f"{10 ** r.uniform(numpy.log10(low), numpy.log10(high)):.3g}")


def integer(r, low, high):
    return int(r.integers(low, high + 1))


# ---- What all papers' runs have ----------------------------------------------------------------------------------------
def optim(r, rate, stochastic=True):
    """`rate` draws the learning rate."""
    out = {"name": pick(r, "gd", "gd", "sgd") if stochastic else "gd", "momentum": 0}
    if now(r, 0.06):
        out["name"] = pick(r, "adam", "adamw")
        del out["momentum"]
    out["lr"] = 0 if now(r, 0.03) else rate(r)
    if "momentum" in out and now(r):
        out["momentum"] = pick(r, 0.5, 0.9, 1.0e-3)
        out["nesterov"] = now(r, 0.3)
    if now(r):
        out["weight_decay"] = pick(r, 1.0e-4, 0.1, 10)
    if now(r):
        out["schedule"] = pick(r, "cosine", "step")
    if now(r, 0.05):
        out["warmup"] = 0.4
    if now(r, 0.05):
        out["clip"] = between(r, 1e-6, 1e3)
    if now(r, 0.05):
        out["ema"] = 0.5
    return out


def length(r, run, n, most=9):
    """Rounds, batches and their order."""
    run["rounds"] = integer(r, 1, most)
    if run["optim"]["name"] != "gd":
        run["batch"] = pick(r, 1, max(1, n // 2), max(1, n - 1), n)
        run["data"]["order"] = pick(r, "shuffle", "replacement", "replacement")


def scheme(r, run, most, *names):
    """At most that many workers: each needs a unit, and of shards a sample."""
    if now(r, 0.2):
        run["scheme"] = {"name": pick(r, "local_sgd", *names), "workers": integer(r, 1, min(3, most))}
        if now(r, 0.5):
            run["scheme"]["local_steps"] = integer(r, 1, 3)
        if now(r, 0.2):
            run["scheme"]["data"] = "shard"
            run.pop("batch", None) if run["optim"]["name"] == "gd" else run.update(batch=1)


def certify(r, run):
    run["certify"] = {"every": pick(r, 1, 1, 1, 2, 3, 7, 100)}
    if now(r, 0.7):
        run["certify"]["budget"] = pick(r, 1.0e9, 1.0e9, 100, 3, 0.3, 1.0e-3)
    if now(r, 0.25):
        run["certify"]["effort"] = between(r, 1e-9, 1e-3)
    if now(r, 0.1):
        run["certify"]["delta"] = pick(r, 1.0e-12, 0.5, 0.01)
    run["eval"] = {"every": pick(r, 0, 1)}
    run["checkpoint"] = {"every": 1.0e-6}  # epochs: after every round; the oracles read from it what looks kept
    run["threads"] = pick(r, 1, 2)
    run["seed"] = integer(r, 1, 1000)
    if now(r, 0.1):
        run["stop"] = {"metric": "loss", "below": between(r, 1e-3, 10)}
        run["eval"]["every"] = 1


def points(r, folder, n, d, task):
    """A table of n rows; now and then equal, tiny, huge or zero rows."""
    x = r.normal(size=(n, d))
    kind = pick(r, "plain", "plain", "twins", "same", "tiny", "huge", "near", "zero", "axes")
    if kind == "twins" and n > 3:
        x[1] = x[0]
    elif kind == "same" and task == "regress":
        x[:] = x[0]
    elif kind == "tiny":
        x *= 1e-20
    elif kind == "huge":
        x *= 1e15
    elif kind == "near" and n > 1:
        x[-1] = x[0] * (1 + 1e-6)
    elif kind == "zero":
        x[n // 2] = 0
    elif kind == "axes":
        x = numpy.eye(max(n, d))[:n, :d] + 1e-3 * x
    y = r.normal(size=(n, 1)) * pick(r, 1, 1, 1e-6, 1e6, 0)
    if task == "classify":
        y = numpy.where(numpy.arange(n)[:, None] < (n + 1) // 2, 1, -1)  # at least one of each; twins are told apart
    numpy.savetxt(f"{folder}/points.csv", numpy.hstack([x, y]), delimiter=",", fmt="%.9g")
    return {"path": "points.csv", "header": "no", "split": 0, "task": task}


# ---- Recurrent ReLU nets -----------------------------------------------------------------------------------------------
def sequences(r, folder, n, L, d, outputs):
    """Sequences as section 2.1 asks for them, and now and then not."""
    x = r.normal(size=(n, L, d))
    if d > 1:
        x[:, 0, :-1] *= numpy.sqrt(0.5) / numpy.linalg.norm(x[:, 0, :-1], axis=1, keepdims=True)
    x[:, 0, -1] = numpy.sqrt(0.5)
    x[:, 1:] /= 2 * numpy.linalg.norm(x[:, 1:], axis=2, keepdims=True)
    kind = pick(r, "plain", "plain", "uneven", "long", "twins", "same", "zero", "tiny", "huge")
    if kind == "long":
        x[-1] *= 1.5
    elif kind == "twins" and n > 1:
        x[-1, 0] = x[0, 0]
    elif kind == "same":
        x[:] = x[0]
    elif kind == "zero":
        x[:, 1:] = 0
    elif kind in ("tiny", "huge"):
        x *= 1e-12 if kind == "tiny" else 1e9
    numpy.save(f"{folder}/x.npy", x.astype("f4"))
    y = r.normal(size=(n, L * outputs)) * pick(r, 1, 1, 1e-6, 1e4, 0)
    numpy.save(f"{folder}/y.npy", y.astype("f4"))
    if kind == "uneven":
        numpy.save(f"{folder}/length.npy", r.integers(1, L + 1, size=n).astype("i4"))
    return {"path": ".", "format": "sequences", "split": 0, "task": "regress", "target_scale": "none", "normalize": "none"}


def rnn(r, folder):
    n, L = integer(r, 1, 5), 1 if now(r, 0.06) else integer(r, 2, 5)
    width = pick(r, 1, 2, 3, 7, 16, 24, 33)
    if now(r, 0.06):
        n, L, width = integer(r, 20, 100), 2, integer(r, 2, 9)
    crowd = n > 5
    d, outputs = integer(r, 3, 6), integer(r, 1, 3)
    run = {"data": {"name": "sequences", "n": n, "test_n": 1, "dim": d, "length": L, "targets": outputs,
                    "phi": 0 if crowd else pick(r, 0, 0.1, 0.3)}}
    if now(r, 0.4):
        run["data"] = sequences(r, folder, n, L, d, outputs)
    run["model"] = {"name": "rnn", "width": width}
    if now(r, 0.1):
        run["model"]["train"] = "all"
    if L == 1 or now(r, 0.1):  # the loss begins at the second position unless told
        run["model"]["first"] = integer(r, 1, L)
    if now(r, 0.08):
        run["loss"] = pick(r, "mse", "huber")
    run["optim"] = optim(r, lambda r: between(r, 1e-9, 1) if now(r, 0.8) else between(r, 1, 1e6))
    length(r, run, n, 7)
    scheme(r, run, min(n, width), "ist")
    certify(r, run)
    return run


# ---- Gated nets and their twins ----------------------------------------------------------------------------------------
def grelu(r, folder):
    n, d = integer(r, 1, 12), integer(r, 1, 6)
    width, layers = pick(r, 1, 2, 3, 8, 17, 40, 64), integer(r, 1, 4)
    if now(r, 0.06):
        n, width, layers = integer(r, 40, 100), integer(r, 2, 16), 1
    data = {"name": "ackley", "n": n, "test_n": 2, "dim": d}
    if now(r, 0.5):
        data = points(r, folder, n, d, pick(r, "regress", "regress", "classify"))
        if now(r, 0.3):
            data["normalize"] = pick(r, "none", "standardize")
        if now(r, 0.3) and data["task"] == "regress":
            data["target_scale"] = "none"
    run = {"data": data, "model": {"name": pick(r, "grelu", "grelu", "relu_twin"), "width": width, "layers": layers}}
    if now(r, 0.1) and run["model"]["name"] == "grelu":
        run["model"]["gate_rank"] = integer(r, 1, 4)
        run["model"]["width"] = max(width, 8)
    if now(r, 0.08):
        run["loss"] = "mse"
    run["optim"] = optim(r, lambda r: between(r, 1e-9, 1e-2) if now(r, 0.8) else between(r, 1e-2, 1e6))
    length(r, run, n)
    scheme(r, run, n)
    certify(r, run)
    return run


# ---- Deep ReLU nets ----------------------------------------------------------------------------------------------------
def deep_relu(r, folder):
    n, d = integer(r, 2, 20), integer(r, 2, 6)
    width, layers = pick(r, 2, 4, 6, 18, 50, 100), integer(r, 1, 5)  # the last layer has an even number of units
    if now(r, 0.1):
        n = pick(r, 2, integer(r, 50, 100))
    data = {"name": "sphere", "n": n, "test_n": 2, "dim": d, "phi": 0 if n > 20 else pick(r, 0, 0.01, 0.1)}
    if now(r, 0.4):
        data = points(r, folder, n, d, "classify")
        if now(r, 0.3):
            data["normalize"] = pick(r, "none", "standardize")
    run = {"data": data, "model": {"name": "relu_deep"}}
    if now(r, 0.3):
        run["model"]["hidden"] = [pick(r, 1, 2, 9, 16, 33) for _ in range(layers - 1)] + [width]
    else:
        run["model"].update(width=width, layers=layers)
    run["loss"] = pick(r, "logistic", "logistic", "hinge", "squared_hinge", "exponential")
    run["optim"] = optim(r, lambda r: between(r, 1e-12, 1) if now(r, 0.8) else between(r, 1, 1e6))
    length(r, run, n)
    scheme(r, run, min(n, *run["model"].get("hidden", [width])), "ist")
    certify(r, run)
    return run
