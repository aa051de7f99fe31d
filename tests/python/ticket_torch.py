"""A ticket in PyTorch: ticket_torch.py FOLDER... with ticket.safetensors, data.safetensors (x of the
training set as the network sees it) and out.npy (Tessera's outputs for it) in each.

The plain module is built for the whole model; every layer then gets the width that the file's
tensors say, as anyone who loads a pruned network does. load_state_dict is strict.
"""
import sys

import numpy
import torch
import yaml
from torch import nn

sys.path.insert(0, __file__.rsplit("/", 1)[0])
import plain_nets
import safetensors_numpy


def narrowed(module, state, prefix=""):
    for name, child in module.named_children():
        weight = state.get(f"{prefix}{name}.weight")
        bias = f"{prefix}{name}.bias" in state
        if isinstance(child, nn.Conv2d):
            new = nn.Conv2d(weight.shape[1], weight.shape[0], child.kernel_size, child.stride, child.padding, bias=bias)
            setattr(module, name, new)
        elif isinstance(child, nn.BatchNorm2d):
            setattr(module, name, nn.BatchNorm2d(weight.shape[0]))
        elif isinstance(child, nn.Linear):
            setattr(module, name, nn.Linear(weight.shape[1], weight.shape[0], bias=bias))
        elif child is not None:
            narrowed(child, state, f"{prefix}{name}.")
    return module


def check(folder):
    tensors, meta = safetensors_numpy.load(folder + "/ticket.safetensors")
    data, _ = safetensors_numpy.load(folder + "/data.safetensors")
    state = {k: torch.from_numpy(v.copy()) for k, v in tensors.items()}
    model = yaml.safe_load(meta["tessera.model"])["model"]
    shape = tuple(int(n) for n in meta["tessera.input"].split("x"))
    whole = plain_nets.build(model, shape, int(meta["tessera.outputs"]))
    net = narrowed(whole, state)
    net.load_state_dict(state)
    net.eval()
    x = torch.from_numpy(data["x"].copy()).reshape(-1, *shape)
    theirs, ours = net(x).detach().numpy(), numpy.load(folder + "/out.npy")
    # f32 in another order through up to 18 layers, as in exchange_cnn.py.
    far = abs(theirs - ours).max() / abs(theirs).max()
    assert far <= 1e-5, f"{model['name']}: outputs differ by {far:.1e}"
    print(f"{model['name']} with {model['widths']}: outputs differ by {far:.1e}")


if __name__ == "__main__":
    for folder in sys.argv[1:]:
        check(folder)
