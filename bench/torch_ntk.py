"""Kernels in PyTorch as its users write them: the peers of ntk.sh. Prints min and median in ms, peak MB.

    torch_ntk.py product THREADS REPEATS     on @ on.T of the 0/1 patterns, n = 2000, m = 8192, in float
    torch_ntk.py shallow THREADS REPEATS     the same with patterns, Gram matrix and scaling
    torch_ntk.py exact THREADS REPEATS       gradients of single samples of a 4-layer MLP of width 1024, n = 500
"""
import sys

import torch

import timing

what, threads, repeats = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
torch.set_num_threads(threads)
torch.manual_seed(0)


def shallow_setting():
    x = torch.nn.functional.normalize(torch.randn(2000, 100))
    return x, torch.randn(8192, 100)


def shallow(x, w):
    on = (x @ w.T >= 0).float()
    return (x @ x.T) * (on @ on.T) / w.shape[0]


def mlp():
    layers = [torch.nn.Linear(784, 1024), torch.nn.ReLU()]
    for _ in range(2):
        layers += [torch.nn.Linear(1024, 1024), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(1024, 1))


def exact(net, x, block=125):
    """Rows of gradients in blocks, so that 500 x 3 million numbers need not be held twice."""
    parameters = list(net.parameters())
    count = sum(p.numel() for p in parameters)
    rows = torch.empty(len(x), count)
    for i in range(len(x)):
        gradients = torch.autograd.grad(net(x[i : i + 1]).sum(), parameters)
        rows[i] = torch.cat([g.reshape(-1) for g in gradients])
    kernel = torch.empty(len(x), len(x))
    for i in range(0, len(x), block):
        kernel[i : i + block] = rows[i : i + block] @ rows.T
    return kernel


if what == "exact":
    net, x = mlp(), torch.randn(500, 784)
    job = lambda: exact(net, x)
elif what == "shallow":
    x, w = shallow_setting()
    job = lambda: shallow(x, w)
else:
    x, w = shallow_setting()
    on = (x @ w.T >= 0).float()
    job = lambda: on @ on.T
print(*timing.least_and_median(job, repeats, warm=0 if what == "exact" else 1), timing.peak_megabytes())
