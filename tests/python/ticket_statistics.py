"""A ticket's statistics in PyTorch: ticket_statistics.py FOLDER WHOLE MEASURED

FOLDER/data.safetensors has the whole training set as the network sees it (x). WHOLE and MEASURED are the same
ticket with the whole network's statistics and with its own, measured on one batch of all samples; each has its
module beside it. They differ in nothing but statistics, and those are what PyTorch sees in training mode.
"""
import importlib.util
import sys

import numpy
import torch

sys.path.insert(0, __file__.rsplit("/", 1)[0])
import safetensors_numpy

folder, whole, measured = sys.argv[1:]
x, _ = safetensors_numpy.load(folder + "/data.safetensors")
spec = importlib.util.spec_from_file_location("model", whole.replace(".safetensors", ".py"))
model = importlib.util.module_from_spec(spec)
spec.loader.exec_module(model)
net = model.load()
for module in net.modules():
    if isinstance(module, torch.nn.BatchNorm2d):
        module.momentum = 1.0
net.train()
with torch.no_grad():
    net(torch.from_numpy(x["x"].copy()).reshape(-1, *model.INPUT))
state = net.state_dict()
before, _ = safetensors_numpy.load(whole)
after, _ = safetensors_numpy.load(measured)
worst = changed = 0
for name in before:
    if name.endswith(("running_mean", "running_var")):
        want = state[name].numpy()
        # f32 sums over 64 x 784 pixels in another order, through 18 layers
        far = abs(after[name] - want).max() / abs(want).max()
        assert far <= 1e-4, f"{name} differs by {far:.1e}"
        worst = max(worst, far)
        changed += abs(before[name] - want).max() > 1e-2 * abs(want).max()
    else:
        assert numpy.array_equal(before[name], after[name]), f"{name} was changed"
assert changed > 20, f"only {changed} statistics changed: nothing was shown"
print(f"{changed} statistics changed, {worst:.1e} from PyTorch's")
