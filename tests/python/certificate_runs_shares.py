"""Run files drawn at random for the two papers about shares, as certificate_runs.py does for the others.

    config = shallow(generator("masked", 7), folder)

A run that begins from a file has its own run file beside it, first.yaml, which certificate_fuzz.py trains before.
"""
import numpy
import yaml

from certificate_runs import between, certify, integer, length, now, optim, pick, points


def shares(r, run, width, n, local=4):
    """Every scheme that the model takes, with workers that its units and samples are enough for."""
    name = pick(r, "dense", "dropout", "multisample", "masked", "masked", "masked", "ist", "ist", "loft", "local_sgd")
    out = run["scheme"] = {"name": name}
    if name == "masked":
        out["draw"] = pick(r, "auto", "bernoulli", "bernoulli", "categorical", "categorical", "chunks")
    elif name == "ist":
        out["draw"] = pick(r, "auto", "categorical")
    thrown = name in ("dropout", "multisample") or out.get("draw") in ("auto", "bernoulli") and name == "masked"
    dealt = name in ("ist", "loft") or out.get("draw") in ("categorical", "chunks")
    if name not in ("dense", "dropout"):
        out["workers"] = min(integer(r, 1, 8), width if dealt else 8)
    if thrown:
        out["xi"] = pick(r, 0.05, 0.2, 0.3, 0.5, 0.5, 0.7, 0.95, 1.0)
    if name == "loft":
        out["axes"] = "all"
    if name in ("masked", "ist", "loft", "local_sgd"):
        out["local_steps"] = integer(r, 1, local) if now(r, 0.5) else 1
        if now(r, 0.06) and out["workers"] <= n:
            out["data"] = "shard"
        if now(r, 0.05):
            out["wire"] = "bf16"
    if name not in ("dense", "local_sgd") and now(r, 0.06):
        out["scale"] = "none"
    if dealt and name != "loft" and now(r):
        out["weights"] = [1.0 + l * pick(r, 0, 1, 1) for l in range(out["workers"])]


def begun(r, run, folder):
    """Now and then the run goes on from the weights of another one."""
    if not now(r, 0.06):
        return
    first = {key: run[key] for key in ("data", "model", "loss")}
    first["data"] = {key: value for key, value in run["data"].items() if key != "order"}
    first.update(rounds=2, optim={"name": "gd", "lr": 0.01}, eval={"every": 0})
    with open(f"{folder}/first.yaml", "w") as f:
        yaml.safe_dump(first, f)


def looks(r, run):
    certify(r, run)
    if now(r, 0.3):
        run["certify"]["continuations"] = pick(r, 2, 3, 8)


# ---- Masked neurons ------------------------------------------------------------------------------------------------------
def shallow(r, folder):
    n, d, width = integer(r, 1, 14), integer(r, 1, 8), pick(r, 1, 2, 3, 7, 16, 33, 64, 120, 257, 1024)
    data = {"name": "ackley", "n": n, "test_n": 2, "dim": d}
    if now(r, 0.6):
        data = points(r, folder, n, d, "regress")
        if now(r, 0.2):
            data["normalize"] = pick(r, "none", "standardize")
        if now(r, 0.7):
            data["target_scale"] = "none"
    kappa = pick(r, 0, 0.01, 0.1, 0.5, 1.0, 1.0, 1.0, n ** -0.5, 10.0, 1000.0)
    run = {"data": data, "model": {"name": "shallow", "width": width, "kappa": kappa}, "loss": "half_squares"}
    run["optim"] = optim(r, lambda r: between(r, 1e-4, 1) if now(r, 0.7) else between(r, 1e-9, 1e5), now(r, 0.3))
    length(r, run, n, 13)
    shares(r, run, width, n)
    looks(r, run)
    begun(r, run, folder)
    return run


# ---- LoFT ------------------------------------------------------------------------------------------------------------------
def images(r, folder, n):
    edge, channels = pick(r, 1, 1, 2, 3, 4, 5), pick(r, 1, 1, 2)
    x = r.normal(size=(n, channels, edge, edge))
    kind = pick(r, "plain", "plain", "plain", "twins", "same", "zero", "opposite", "tiny")
    if kind == "twins" and n > 1:
        x[-1] = x[0]
    elif kind == "same":
        x[:] = x[0]
    elif kind == "zero":
        x[n // 2] = 0
    elif kind == "opposite" and n > 1:
        x[-1] = -x[0]
    elif kind == "tiny":
        x *= 1e-15
    numpy.save(f"{folder}/x.npy", x.astype("f4"))
    numpy.save(f"{folder}/y.npy", (r.uniform(-1, 1, size=n) * pick(r, 1, 1, 1, 1e-3, 100, 0)).astype("f4"))
    return {"path": ".", "format": "npy", "split": 0, "task": "regress", "target_scale": "none"}, edge


def cnn1(r, folder):
    n, width = integer(r, 1, 8), pick(r, 1, 2, 3, 7, 16, 33, 64, 257, 1024)
    data, edge = images(r, folder, n)
    if now(r, 0.1):
        data["normalize"] = "none"
    kappa = pick(r, 0, 0.01, 0.1, 0.5, 1.0, 1.0, 1.0, 10.0, 1000.0)
    run = {"data": data, "loss": "half_squares",
           "model": {"name": "cnn1", "width": width, "kappa": kappa, "filter": pick(r, 1, 3, 3, 5)}}
    # Outputs are means over pixels: a step may be as many times as large.
    rate = lambda r: min(between(r, 1e-3, 1) * edge ** 2 if now(r, 0.7) else between(r, 1e-9, 1e6), 1e6)
    run["optim"] = optim(r, rate, now(r, 0.3))
    length(r, run, n, 9)
    shares(r, run, width, n, local=2)
    looks(r, run)
    begun(r, run, folder)
    return run
