"""One training step of 784-1024-1024-10 at batch 128 in PyTorch, two threads: the peer of mlp.sh.

    torch_mlp.py THREADS REPEATS [bf16]

Prints min and median of the step in milliseconds, as PyTorch's users write it; bf16: under
torch.autocast.
"""
import sys

import torch

import timing

threads, repeats = int(sys.argv[1]), int(sys.argv[2])
torch.set_num_threads(threads)
torch.manual_seed(0)
net = torch.nn.Sequential(
    torch.nn.Linear(784, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10)
)
optimiser = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
loss = torch.nn.CrossEntropyLoss()
x, y = torch.randn(128, 784), torch.randint(0, 10, (128,))


def step():
    optimiser.zero_grad(set_to_none=True)
    with torch.autocast("cpu", torch.bfloat16, enabled="bf16" in sys.argv):
        outputs = net(x)
    loss(outputs.float(), y).backward()
    optimiser.step()


print(*timing.least_and_median(step, repeats, warm=10))
