"""Makes cnn-*.safetensors: ten SGD steps of deep networks as PyTorch does them, in double.

    /usr/bin/python3 tests/golden/make_cnn.py           makes the files
    /usr/bin/python3 tests/golden/make_cnn.py --float   says how far PyTorch in float is from them

A file holds final.<parameter> alone, rounded to float. The start and the images follow from a recipe
that tests/unit/test_golden_cnn.c knows too. Number i of the tensor `name` comes from 32-bit words:

    u = (fnv1a(salt + name) + i) * 2654435761;  u ^= u >> 15;  u *= 2246822519;  u ^= u >> 13
    value = scale * (u / 2^31 - 1)

with scale sqrt(6 / inputs) for weights of 2 and more dimensions (He's deviation) and 1 for the images "x".
Norms start with weight 1, or `branch` at the end of resnet34's branches: at 1 the gradients of so deep
and narrow a network explode, and no two computers would agree. Biases start at 0. Label of sample n
in step s: (7 s + 3 n) mod 5.

Where a ReLU's input lies within rounding of 0, its gradient is all or nothing, and so is the
agreement of any two programs. The salts are those of 70 tried for which the input nearest to 0, of
all ReLUs in all steps, is farthest from it (--float prints it). Made with PyTorch 1.13 (Debian 12).
"""
import os
import sys

import numpy
import torch

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "python"))
import plain_nets
import safetensors_numpy

STEPS, BATCH, OUTPUTS = 10, 4, 5


def recipe(name, shape, scale):
    h = 2166136261
    for byte in name.encode():
        h = (h ^ byte) * 16777619 & 0xFFFFFFFF
    count = int(numpy.prod(shape))
    u = (numpy.arange(count, dtype=numpy.uint64) + h) & 0xFFFFFFFF
    u = u * 2654435761 & 0xFFFFFFFF
    u ^= u >> 15
    u = u * 2246822519 & 0xFFFFFFFF
    u ^= u >> 13
    value = scale * (u.astype(numpy.float64) / 2**31 - 1)
    return torch.from_numpy(value.astype(numpy.float32).reshape(shape))


nearest = [1.0]


def watched_relu(z, relu=torch.nn.functional.relu):
    nearest[0] = min(nearest[0], float(z.detach().abs().min()))
    return relu(z)


def start(net, salt, branch):
    for name, tensor in net.state_dict().items():
        if tensor.dim() >= 2:
            tensor.copy_(recipe(salt + name, tensor.shape, (6 / tensor[0].numel()) ** 0.5))
        elif name.endswith("bn2.weight"):
            tensor.fill_(branch)
        elif name in ("linear.bias", "fc.bias"):
            tensor.zero_()


def train(model, shape, kind, salt, branch):
    net = plain_nets.build(model, shape, OUTPUTS)
    start(net, salt, branch)
    net.to(kind)
    x = recipe(salt + "x", (STEPS, BATCH, *shape), 1.0).to(kind)
    optimiser = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
    for step in range(STEPS):
        label = torch.tensor([(7 * step + 3 * n) % OUTPUTS for n in range(BATCH)])
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(net(x[step]), label).backward()
        optimiser.step()
    return net.state_dict()


def compare(file, double, single):
    far = []
    for name, value in double.items():
        if value.is_floating_point():
            far.append((float((single[name] - value).abs().max() / value.abs().max()), name))
    worst = ", ".join(f"{n} {d:.1e}" for d, n in sorted(far)[:-4:-1])
    print(f"{file}: nearest to a kink {nearest[0]:.1e}; float differs most in {worst}")


def make(file, model, salt, branch):
    shape = (3, 16, 16)
    nearest[0] = 1.0
    double = train(model, shape, torch.float64, salt, branch)
    if sys.argv[1:] == ["--float"]:
        compare(file, double, train(model, shape, torch.float32, salt, branch))
        return
    tensors = {}
    for name, value in double.items():
        value = value.float() if value.is_floating_point() else value
        tensors["final." + name] = value.detach().numpy()
    safetensors_numpy.save(os.path.join(here, file), tensors)


torch.nn.functional.relu = watched_relu
make("cnn-preresnet18.safetensors", {"name": "preresnet18", "width": 8}, "29", 1.0)
make("cnn-resnet34.safetensors", {"name": "resnet34", "width": 4}, "4", 0.25)
