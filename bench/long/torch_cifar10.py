"""PreActResNet-18 of width 16 on CIFAR-10 in PyTorch for a given time: the peer of cifar10.sh.

    torch_cifar10.py FOLDER THREADS SECONDS [--seed N] [--recipe sgd|smooth|adamw] [--precision f32|bf16] [--compile]

FOLDER holds the binary version of CIFAR-10. The learning rate follows the cosine in the time that is gone,
so that the schedule ends exactly with it. The recipes are those of cifar10.sh. Compilation happens before the time
begins: it costs PyTorch nothing here. Batches are gathered, cropped
and flipped with whole-tensor operations, which costs PyTorch about 1 % of a step. Prints one line:
steps, test accuracy in percent, seconds of training.
"""
import argparse
import copy
import math
import os
import sys
import time

import numpy
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "python"))
import plain_nets

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("threads", type=int)
parser.add_argument("seconds", type=float)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--recipe", choices=("sgd", "smooth", "adamw"), default="sgd")
parser.add_argument("--precision", choices=("f32", "bf16"), default="f32")
parser.add_argument("--compile", action="store_true")
asked = parser.parse_args()
folder, budget = asked.folder, asked.seconds
torch.manual_seed(asked.seed)
torch.set_num_threads(asked.threads)
BATCH, DECAY = 128, 0.995 if asked.recipe != "sgd" else 0.0


def read(names):
    raw = numpy.concatenate([numpy.fromfile(os.path.join(folder, n), numpy.uint8) for n in names]).reshape(-1, 3073)
    return torch.from_numpy(raw[:, 1:].reshape(-1, 3, 32, 32).astype(numpy.float32) / 255), torch.from_numpy(raw[:, 0].astype(numpy.int64))


x, y = read([f"data_batch_{i}.bin" for i in range(1, 6)])
x_test, y_test = read(["test_batch.bin"])
mean, std = x.mean((0, 2, 3), keepdim=True), x.std((0, 2, 3), keepdim=True)
x, x_test = (x - mean) / std, (x_test - mean) / std
padded = torch.nn.functional.pad(x, (4, 4, 4, 4))

net = plain_nets.PreActResNet(3, 16, [16, 32, 64, 128], [2, 2, 2, 2], 10, False, True).to(memory_format=torch.channels_last)
fresh = copy.deepcopy(net.state_dict())
runner = torch.compile(net) if asked.compile else net
if asked.recipe == "adamw":
    top, optimiser = 0.003, torch.optim.AdamW(net.parameters(), lr=0.003, weight_decay=0.05)
else:
    top, optimiser = 0.1, torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.1 if asked.recipe != "sgd" else 0.0)
average = [t.detach().clone() for t in net.state_dict().values()]
floats = [i for i, t in enumerate(average) if t.is_floating_point()]


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
    with torch.autocast("cpu", torch.bfloat16, enabled=asked.precision == "bf16"):
        outputs = runner(inputs)
    criterion(outputs.float(), labels).backward()
    optimiser.step()


def follow(first):
    """The average of weights and statistics, in one fused call over all tensors."""
    now = list(net.state_dict().values())
    if first:
        torch._foreach_copy_(average, now) if hasattr(torch, "_foreach_copy_") else [a.copy_(b) for a, b in zip(average, now)]
    else:
        a, b = [average[i] for i in floats], [now[i] for i in floats]
        torch._foreach_mul_(a, DECAY)
        torch._foreach_add_(a, b, alpha=1 - DECAY)


def accuracy():
    net.eval()
    with torch.no_grad():
        hits = sum((net(x_test[i:i + 500].contiguous(memory_format=torch.channels_last)).argmax(1) == y_test[i:i + 500]).sum().item() for i in range(0, len(x_test), 500))
    net.train()
    return 100 * hits / len(x_test)


net.train()
if asked.compile:  # two steps, then everything as it was
    for _ in range(2):
        step(torch.randperm(len(x))[:BATCH])
    net.load_state_dict(fresh)
    optimiser.state.clear()
steps, in_epoch = 0, len(x) // BATCH
start = time.perf_counter()
while (part := (time.perf_counter() - start) / budget) < 1:
    for group in optimiser.param_groups:
        group["lr"] = 0.5 * top * (1 + math.cos(math.pi * part))
    if steps % in_epoch == 0:
        order = torch.randperm(len(x))
    at = steps % in_epoch * BATCH
    step(order[at:at + BATCH])
    if DECAY:
        follow(steps == 0)
    steps += 1
seconds = time.perf_counter() - start
if DECAY:
    net.load_state_dict(dict(zip(net.state_dict(), average)))
print(f"PyTorch-{torch.__version__}{'-compiled' if asked.compile else ''} steps {steps} accuracy {accuracy():.2f} seconds {seconds:.1f}")
