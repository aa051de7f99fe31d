"""One training step in PyTorch of the networks of bench/rnn.sh: torch_rnn.py rnn|relu_deep THREADS REPEATS.

Prints min and median of the step in milliseconds, the peak memory in MB and the size of the network.
As PyTorch's users write it: nn.RNN with the positions outermost, its faster layout; Linear and ReLU modules.
"""
import sys

import torch
from torch import nn

import timing

which, threads, repeats = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
torch.set_num_threads(threads)
torch.manual_seed(0)


class Elman(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(64, 1024, nonlinearity="relu", bias=False)
        self.out = nn.Linear(1024, 16, bias=False)
        nn.init.normal_(self.rnn.weight_hh_l0, 0, (2 / 1024) ** 0.5)
        nn.init.normal_(self.rnn.weight_ih_l0, 0, (2 / 1024) ** 0.5)

    def forward(self, x):
        return self.out(self.rnn(x)[0])


if which == "rnn":
    net = Elman()
    x, y = torch.randn(32, 64, 64) / 8, torch.randn(32, 64, 16)

    def loss(out):
        return 0.5 * ((out[1:] - y[1:]) ** 2).sum()
else:
    widths = [784] + [1024] * 8
    parts = [part for a, b in zip(widths, widths[1:]) for part in (nn.Linear(a, b, bias=False), nn.ReLU())]
    net = nn.Sequential(*parts, nn.Linear(1024, 1, bias=False))
    net[-1].weight.requires_grad_(False)
    for part in parts[::2]:
        nn.init.normal_(part.weight, 0, (2 / 1024) ** 0.5)
    x, y = torch.nn.functional.normalize(torch.randn(256, 784)), torch.randint(0, 2, (256, 1)) * 2.0 - 1

    def loss(out):
        return torch.nn.functional.softplus(-y * out).mean()

optimiser = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=1e-5, momentum=0.9, weight_decay=5e-4)


def step():
    optimiser.zero_grad(set_to_none=True)
    loss(net(x)).backward()
    optimiser.step()


size = sum(p.numel() for p in net.parameters())
print(*timing.least_and_median(step, repeats, warm=2), timing.peak_megabytes(), size)
