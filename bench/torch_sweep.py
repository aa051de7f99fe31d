"""Rounds of masked training (masked-neurons, Algorithm 1) in PyTorch, timed: the peer of sweep.sh.

    torch_sweep.py DATA.safetensors THREADS ROUNDS REPEATS RATE CLOCK

Two ways to write it, both full-batch, autograd, no Python loop but over workers and local steps:

    masked    the mask multiplies the second layer: what the formula says and most people write
    compact   the drawn rows are copied out, trained and added back: what somebody in a hurry writes

CLOCK is wall, or cpu: processor time, for a machine that others use. Each way is timed for three xi and three p, the least of REPEATS times ROUNDS rounds; a round costs
a + p (b + c xi), fitted by least squares. Prints, for each way, the seconds of one round summed over the
grid xi = 0.1, ..., 1 and p = 1, ..., 8, and the worst error of the fit.
"""
import sys
import time

import numpy
import torch

sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/tests/python")
import safetensors_numpy

M, TAU, KAPPA = 4000, 5, 0.1
ETA, CLOCK = float(sys.argv[5]), {"wall": time.perf_counter, "cpu": time.process_time}[sys.argv[6]]


def masked_round(w, a, x, y, xi, p):
    masks = (torch.rand(p, M) < xi).float()
    total = torch.zeros_like(w)
    for l in range(p):
        own = w.clone().requires_grad_()
        signs = a * masks[l]
        for _ in range(TAU):
            f = torch.relu(x @ own.T) @ signs / M**0.5
            (g,) = torch.autograd.grad(0.5 * ((y - f) ** 2).sum(), own)
            with torch.no_grad():
                own -= ETA * g
        total += own.detach() - w  # rows that are masked out have not moved
    return w + total / masks.sum(0).clamp(min=1)[:, None]


def compact_round(w, a, x, y, xi, p):
    total, owners = torch.zeros_like(w), torch.zeros(M)
    for _ in range(p):
        rows = (torch.rand(M) < xi).nonzero()[:, 0]
        own, signs = w[rows].requires_grad_(), a[rows]
        for _ in range(TAU):
            f = torch.relu(x @ own.T) @ signs / M**0.5
            (g,) = torch.autograd.grad(0.5 * ((y - f) ** 2).sum(), own)
            with torch.no_grad():
                own -= ETA * g
        total.index_add_(0, rows, own.detach() - w[rows])
        owners[rows] += 1
    return w + total / owners.clamp(min=1)[:, None]


def whole_loss(w, a, x, y, xi):
    return float(((y - xi * torch.relu(x @ w.T) @ a / M**0.5) ** 2).sum())


def seconds(one_round, x, y, xi, p, rounds, repeats):
    best = float("inf")
    for repeat in range(repeats):
        torch.manual_seed(repeat)
        w = KAPPA * torch.randn(M, x.shape[1])
        a = 2.0 * torch.randint(0, 2, (M,)) - 1
        w = one_round(w, a, x, y, xi, p)
        start = CLOCK()
        for _ in range(rounds):
            w = one_round(w, a, x, y, xi, p)
        whole_loss(w, a, x, y, xi)
        best = min(best, (CLOCK() - start) / rounds)
    return best


def main(data, threads, rounds, repeats):
    torch.set_num_threads(int(threads))
    tensors, _ = safetensors_numpy.load(data)
    x, y = torch.tensor(tensors["x"]), torch.tensor(tensors["y"])[:, 0]
    assert x.shape[0] == 100
    for name, one_round in (("masked", masked_round), ("compact", compact_round)):
        cells = [(xi, p) for xi in (0.1, 0.5, 1.0) for p in (1, 4, 8)]
        times = numpy.array([seconds(one_round, x, y, xi, p, int(rounds), int(repeats)) for xi, p in cells])
        terms = numpy.array([[1, p, p * xi] for xi, p in cells])
        weights = 1 / times[:, None]  # least squares of the relative error
        fit = numpy.linalg.lstsq(terms * weights, numpy.ones(len(cells)), rcond=None)[0]
        worst = abs(terms @ fit / times - 1).max()
        grid = sum(fit @ [1, p, p * xi / 10] for xi in range(1, 11) for p in range(1, 9))
        print(name, grid, worst)


main(*sys.argv[1:5])
