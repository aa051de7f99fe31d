"""Makes mlp-*.safetensors: ten training steps of small networks as PyTorch does them.

    /usr/bin/python3 tests/golden/make_mlp.py

Each file holds init.<parameter>, final.<parameter>, x [steps, batch, inputs], and label or target.
tests/unit/test_golden.c runs the same steps. Made with PyTorch 1.13 (Debian 12) on a CPU.
"""
import os
import sys

import numpy
import torch

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "python"))
import safetensors_numpy

STEPS, BATCH, INPUTS, OUTPUTS = 10, 16, 12, 5


class Net(torch.nn.Module):
    def __init__(self, hidden, norm, bias):
        super().__init__()
        modules, width = [], INPUTS
        for h in hidden:
            modules.append(torch.nn.Linear(width, h, bias=bias))
            if norm:
                modules.append(torch.nn.BatchNorm1d(h))
            modules.append(torch.nn.ReLU())
            width = h
        modules.append(torch.nn.Linear(width, OUTPUTS, bias=bias))
        self.layers = torch.nn.Sequential(*modules)

    def forward(self, x):
        return self.layers(x)


def snapshot(net, prefix):
    return {prefix + k: v.detach().numpy().copy() for k, v in net.state_dict().items()}


def make(name, hidden, norm, bias, mse, **sgd):
    torch.manual_seed(7)
    net = Net(hidden, norm, bias)
    x = torch.randn(STEPS, BATCH, INPUTS)
    label = torch.randint(0, OUTPUTS, (STEPS, BATCH))
    target = torch.randn(STEPS, BATCH, OUTPUTS)
    tensors = snapshot(net, "init.")
    optimiser = torch.optim.SGD(net.parameters(), **sgd)
    loss_of = torch.nn.MSELoss() if mse else torch.nn.CrossEntropyLoss()
    for step in range(STEPS):
        optimiser.zero_grad()
        loss_of(net(x[step]), target[step] if mse else label[step]).backward()
        optimiser.step()
    tensors.update(snapshot(net, "final."))
    tensors["x"] = x.numpy()
    if mse:
        tensors["target"] = target.numpy()
    else:
        tensors["label"] = label.numpy().astype(numpy.int32)
    safetensors_numpy.save(os.path.join(here, name), tensors)


make("mlp-norm.safetensors", [24, 17, 9], True, True, False, lr=0.05, momentum=0.9, weight_decay=5e-4)
make("mlp-nesterov.safetensors", [20, 11], False, True, False, lr=0.05, momentum=0.9, nesterov=True)
make("mlp-mse.safetensors", [13], True, False, True, lr=0.1)
