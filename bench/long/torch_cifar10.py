"""PreActResNet-18 of width 16 on CIFAR-10 in PyTorch for a given time: the peer of cifar10.sh.

    torch_cifar10.py FOLDER THREADS SECONDS [SEED]

FOLDER holds the binary version of CIFAR-10. The learning rate follows the cosine in the time that is gone,
so that the schedule ends exactly with it. Batches are gathered, cropped
and flipped with whole-tensor operations, which costs PyTorch about 1 % of a step. Prints one line:
steps, test accuracy in percent, seconds of training.
"""
import math
import os
import sys
import time

import numpy
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "python"))
import plain_nets

folder, threads, budget = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
torch.manual_seed(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
torch.set_num_threads(threads)
BATCH = 128


def read(names):
    raw = numpy.concatenate([numpy.fromfile(os.path.join(folder, n), numpy.uint8) for n in names]).reshape(-1, 3073)
    return torch.from_numpy(raw[:, 1:].reshape(-1, 3, 32, 32).astype(numpy.float32) / 255), torch.from_numpy(raw[:, 0].astype(numpy.int64))


x, y = read([f"data_batch_{i}.bin" for i in range(1, 6)])
x_test, y_test = read(["test_batch.bin"])
mean, std = x.mean((0, 2, 3), keepdim=True), x.std((0, 2, 3), keepdim=True)
x, x_test = (x - mean) / std, (x_test - mean) / std
padded = torch.nn.functional.pad(x, (4, 4, 4, 4))

net = plain_nets.PreActResNet(3, 16, [16, 32, 64, 128], [2, 2, 2, 2], 10, False, True).to(memory_format=torch.channels_last)
optimiser = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
criterion = torch.nn.CrossEntropyLoss()


def gather(index):
    """One crop and one flip for every sample of the batch."""
    n = len(index)
    rows = torch.arange(32) + torch.randint(0, 9, (n, 1))
    columns = torch.arange(32) + torch.randint(0, 9, (n, 1))
    columns = torch.where(torch.rand(n, 1) < 0.5, columns.flip(1), columns)
    batch = padded[index[:, None, None], :, rows[:, :, None], columns[:, None, :]]  # [n, 32, 32, 3]: channels last
    return batch.permute(0, 3, 1, 2), y[index]


def step(index):
    inputs, labels = gather(index)
    optimiser.zero_grad(set_to_none=True)
    loss = criterion(net(inputs), labels)
    loss.backward()
    optimiser.step()


def accuracy():
    net.eval()
    with torch.no_grad():
        hits = sum((net(x_test[i:i + 500].contiguous(memory_format=torch.channels_last)).argmax(1) == y_test[i:i + 500]).sum().item() for i in range(0, len(x_test), 500))
    net.train()
    return 100 * hits / len(x_test)


net.train()
steps, in_epoch = 0, len(x) // BATCH
start = time.perf_counter()
while (part := (time.perf_counter() - start) / budget) < 1:
    for group in optimiser.param_groups:
        group["lr"] = 0.05 * (1 + math.cos(math.pi * part))
    if steps % in_epoch == 0:
        order = torch.randperm(len(x))
    at = steps % in_epoch * BATCH
    step(order[at:at + BATCH])
    steps += 1
seconds = time.perf_counter() - start
print(f"PyTorch-{torch.__version__} steps {steps} accuracy {accuracy():.2f} seconds {seconds:.1f}")
