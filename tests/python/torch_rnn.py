"""Recurrent networks beside torch.nn.RNN(nonlinearity="relu"): names, loss and gradients.

    torch_rnn.py make FOLDER     sequences of different lengths, and for each case a run file and the
                                 weights that PyTorch drew, with PyTorch's names
    torch_rnn.py check FOLDER    after one traced step of gradient descent of each: the step divided by
                                 its rate is PyTorch's gradient, the loss PyTorch's loss
"""
import json
import sys

import numpy
import torch
import yaml
from torch import nn

sys.path.insert(0, __file__.rsplit("/", 1)[0])
import safetensors_numpy

N, T, D, K = 11, 12, 6, 4
RATE = 1  # a power of two: dividing by it is exact. A larger one would diverge, and such a run leaves no model
CASES = {
    "paper": ("width: 40", "half_squares", "targets"),
    "all": ("width: 33, train: all", "half_squares", "targets"),
    "huber": ("width: 24, train: all, first: 1", "huber", "targets"),
    "end": ("width: 40, train: all", "cross_entropy", "labels"),
    "each": ("width: 20, train: all, read: every", "cross_entropy", "labels"),
    "deep": ("width: 24, layers: 3, train: all", "cross_entropy", "labels"),
}


class Net(nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.rnn = nn.RNN(D, width, num_layers=layers, nonlinearity="relu", bias=False, batch_first=True)
        self.out = nn.Linear(width, K, bias=False)

    def forward(self, x):
        return self.out(self.rnn(x)[0])


def build(model):
    model = yaml.safe_load("{" + model + "}")
    return Net(model["width"], model.get("layers", 1))


def make(folder):
    rng = numpy.random.default_rng(1)
    length = rng.integers(1, T + 1, N)
    length[:2] = 1, T
    for kind in "targets", "labels":
        numpy.save(f"{folder}/{kind}/x.npy", rng.normal(size=(N, T, D)).astype("f4"))
        numpy.save(f"{folder}/{kind}/length.npy", length.astype("i4"))
    numpy.save(f"{folder}/targets/y.npy", rng.normal(size=(N, T * K)).astype("f4"))
    numpy.save(f"{folder}/labels/y.npy", (numpy.arange(N) % K).astype("i8"))
    for seed, (name, (model, loss, kind)) in enumerate(CASES.items()):
        torch.manual_seed(seed)
        state = {k: v.numpy() for k, v in build(model).state_dict().items()}
        safetensors_numpy.save(f"{folder}/{name}.safetensors", state)
        with open(f"{folder}/{name}.yaml", "w") as out:
            out.write(f"data: {{path: {folder}/{kind}, format: sequences, normalize: none, target_scale: none, split: 0}}\n")
            out.write(f"model: {{name: rnn, {model}}}\nloss: {loss}\n")
            out.write(f"optim: {{name: gd, lr: {RATE}, momentum: 0}}\nrounds: 1\n")


def wanted(net, loss, model, x, y, length):
    """The loss as its definition reads, sample by sample."""
    out, total = net(x), 0
    first = 1 if loss == "half_squares" else 0
    for i, end in enumerate(length):
        if loss == "half_squares":
            total = total + 0.5 * ((out[i, first:end] - y[i, first:end]) ** 2).sum()
        elif loss == "huber":
            total = total + nn.functional.huber_loss(out[i, :end], y[i, :end]) / N
        elif "every" in model:
            total = total + nn.functional.cross_entropy(out[i, :end], y[i].repeat(end)) / N
        else:
            total = total + nn.functional.cross_entropy(out[i, end - 1], y[i]) / N
    return total


def check(folder):
    for name, (model, loss, kind) in CASES.items():
        trace, _ = safetensors_numpy.load(f"{folder}/{name}/trace/round-000000.safetensors")
        data, _ = safetensors_numpy.load(f"{folder}/{name}/trace/data.safetensors")
        net = build(model).double()
        written, _ = safetensors_numpy.load(f"{folder}/{name}.safetensors")
        for key, value in written.items():
            assert numpy.array_equal(value, trace["before." + key]), f"{name}: {key} was not read as written"
        ours, _ = safetensors_numpy.load(f"{folder}/{name}/model.safetensors")
        net.load_state_dict({k: torch.from_numpy(v.copy()).double() for k, v in ours.items()})  # strict: the same names
        net.load_state_dict({k: torch.from_numpy(v.copy()).double() for k, v in written.items()})
        x = torch.from_numpy(data["x"].copy()).double().reshape(N, T, D)
        y = torch.from_numpy(data["y"].copy())
        y = y.double().reshape(N, T, K) if kind == "targets" else y.long()
        value = wanted(net, loss, model, x, y, data["length"].tolist())
        value.backward()
        have = json.loads(open(f"{folder}/{name}/metrics.jsonl").readline())["loss"]
        assert abs(have - value.item()) <= 1e-5 * abs(value.item()), f"{name}: loss {have}, PyTorch {value.item()}"
        worst = 0
        for key, p in net.named_parameters():
            before, after = trace["before." + key].astype("f8"), trace["after." + key].astype("f8")
            gradient = (before - after) / RATE
            if "train: all" not in model and "weight_hh" not in key:
                assert not gradient.any(), f"{name}: {key} is not to be trained"
                continue
            far = abs(gradient - p.grad.numpy()).max() / abs(p.grad.numpy()).max()
            # f32 against f64 over up to 12 positions and 3 layers; the issue asks for 1e-5
            assert far <= 1e-5, f"{name}: the gradient of {key} differs by {far:.1e} of its largest number"
            worst = max(worst, far)
        print(f"{name}: loss {value.item():.4f}, gradients differ by {worst:.1e}")


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](sys.argv[2])
