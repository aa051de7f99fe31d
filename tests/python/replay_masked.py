"""Replays every round of a traced masked run of the shallow network with numpy, from the trace alone.

    replay_masked.py RUN-FOLDER

Algorithm 1 of the masked-neurons paper in the ten lines of `round_of`, in double; the comparison is
relative to the largest change of the round, for each worker and for the whole. Also checks a loss of the whole network: L_k = ||y - u_k||^2.
"""
import json
import sys

import numpy
import yaml

sys.path.insert(0, __file__.rsplit("/", 1)[0])
import safetensors_numpy


def round_of(w, a, x, y, shares, batches, eta, tau):
    m, ends = len(a), []
    total, owners = numpy.zeros_like(w), numpy.zeros(m)
    for l, share in enumerate(shares):
        own = w[share].copy()
        for t in range(tau):
            rows = slice(None) if batches[l] is None else batches[l][t]
            z = x[rows] @ own.T
            f = numpy.maximum(z, 0) @ a[share] / numpy.sqrt(m)
            slope = (f - y[rows])[:, None] * (z >= 0) * a[share] / numpy.sqrt(m)
            own -= eta * slope.T @ x[rows]
        total[share] += own - w[share]
        owners[share] += 1
        ends.append(own)
    return w + total / numpy.maximum(owners, 1)[:, None], ends


def main(folder):
    run = yaml.safe_load(open(folder + "/run.yaml"))
    scheme, optim = run["scheme"], run["optim"]
    assert run["model"]["name"] == "shallow" and optim["momentum"] == 0 and optim["schedule"] == "constant"
    data, _ = safetensors_numpy.load(folder + "/trace/data.safetensors")
    x, y = data["x"].astype(float), data["y"].astype(float)[:, 0]
    assert abs(numpy.linalg.norm(x, axis=1) - 1).max() < 1e-6
    worst, raw, moved, rested = 0.0, 0.0, 0, 0
    for r in range(run["rounds"]):
        t, _ = safetensors_numpy.load(f"{folder}/trace/round-{r:06d}.safetensors")
        w, a = t["before.w"].astype(float), t["before.a"].astype(float)
        assert set(numpy.unique(a)) == {-1.0, 1.0} and (t["after.a"] == t["before.a"]).all()
        shares = [t[f"share.{l}.hidden"] for l in range(scheme["workers"])]
        batches = [t.get(f"batch.{l}") for l in range(scheme["workers"])]
        assert t["rate"] == optim["lr"]
        after, ends = round_of(w, a, x, y, shares, batches, float(t["rate"]), scheme["local_steps"])
        change = abs(after - w).max()
        # Every step rounds the weights to f32 once; what is left is the error of the change itself.
        rounding = scheme["local_steps"] * 2.0**-24 * abs(after).max()
        raw = max(raw, abs(after - t["after.w"]).max() / change)
        worst = max(worst, (abs(after - t["after.w"]).max() - rounding) / change)
        for l, end in enumerate(ends):
            worst = max(worst, (abs(end - t[f"local.{l}.w"]).max() - rounding) / change)
        drawn = numpy.zeros(len(a), bool)
        for share in shares:
            drawn[share] = True
        assert (t["after.w"][~drawn] == t["before.w"][~drawn]).all(), "a unit that nobody drew has moved"
        moved, rested = moved + drawn.sum(), rested + (~drawn).sum()
    xi = scheme["xi"] if scheme["draw"] in ("auto", "bernoulli") else 1 / scheme["workers"]
    u = xi * numpy.maximum(x @ t["after.w"].astype(float).T, 0) @ a / numpy.sqrt(len(a))
    lines = [json.loads(line) for line in open(folder + "/metrics.jsonl")]
    put = [line["loss"] for line in lines if line.get("event") == "put"]
    if put:
        assert abs(put[-1] / ((y - u) ** 2).sum() - 1) < 1e-5, (put[-1], ((y - u) ** 2).sum())
    print(f"{run['rounds']} rounds, {moved} units drawn, {rested} not: largest difference {raw:.1e} of the change")
    # f32 against f64: sums of 100 samples of numbers near 1 err by about 1e-6 of the change.
    return 0 if worst <= 1e-5 else 1


sys.exit(main(sys.argv[1]))
