"""Replays a traced dense run with PyTorch and compares every parameter after the last round.

    replay_dense.py RUN-FOLDER

Reads only what anyone can read: run.yaml, trace/ and model.safetensors. The network is an ordinary
torch.nn.Sequential that loads our file by its own names.
"""
import sys

import numpy
import torch
import yaml

sys.path.insert(0, __file__.rsplit("/", 1)[0])
import safetensors_numpy


def build(model, inputs, outputs):
    modules, width = [], inputs
    for hidden in model["hidden"]:
        modules.append(torch.nn.Linear(width, hidden, bias=model["bias"]))
        if model["norm"] == "batch":
            modules.append(torch.nn.BatchNorm1d(hidden))
        modules.append(torch.nn.ReLU())
        width = hidden
    modules.append(torch.nn.Linear(width, outputs, bias=model["bias"]))
    net = torch.nn.Module()
    net.layers = torch.nn.Sequential(*modules)
    return net


def state(tensors, prefix):
    return {k[len(prefix):]: torch.from_numpy(v.copy()) for k, v in tensors.items() if k.startswith(prefix)}


def main(folder):
    run = yaml.safe_load(open(folder + "/run.yaml"))
    data, _ = safetensors_numpy.load(folder + "/trace/data.safetensors")
    x, y = torch.from_numpy(data["x"].copy()), torch.from_numpy(data["y"].astype(numpy.int64))
    optim, rounds = run["optim"], run["rounds"]
    net, optimiser = None, None
    for r in range(rounds):
        trace, _ = safetensors_numpy.load(f"{folder}/trace/round-{r:06d}.safetensors")
        if net is None:
            net = build(run["model"], x.shape[1], int(y.max()) + 1)
            net.load_state_dict(state(trace, "before."))
            optimiser = torch.optim.SGD(net.parameters(), lr=optim["lr"], momentum=optim["momentum"],
                                        weight_decay=optim["weight_decay"], nesterov=optim["nesterov"])
        rows = torch.from_numpy(trace["batch.0"][0].copy())
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(net.layers(x[rows]), y[rows]).backward()
        optimiser.step()
    ours, _ = safetensors_numpy.load(folder + "/model.safetensors")
    worst = 0.0
    for name, value in net.state_dict().items():
        value = value.detach().numpy().astype(float)
        # A bias in front of batch norm has no effect: its gradient is rounding alone, and so is its
        # value. So a bias is judged against the weights it is added to.
        beside = abs(ours[name.replace("bias", "weight")]).max()
        size = max(abs(value).max(), beside)
        worst = max(worst, float(abs(value - ours[name].astype(float)).max() / size))
    print(f"largest relative difference after {rounds} rounds: {worst:.2e}")
    # Ten steps of f32 in another order, as in the golden test.
    return 0 if worst <= 1e-5 else 1


sys.exit(main(sys.argv[1]))
