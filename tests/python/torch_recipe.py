"""Every step of traced runs beside PyTorch's own optimisers in double: torch_recipe.py RUN-FOLDER...

A whole network (dense, or local_sgd's workers) begins each round with the trace's `before.*`, momentum and variance,
takes the round's steps with torch.optim.Adam, AdamW or SGD, and must arrive at `after.*` (`local.*`), and at the
momentum and variance that the trace has then. Between rounds nothing changes.
"""
import sys

import numpy
import torch
import yaml
from torch import nn
from torch.optim.swa_utils import AveragedModel

sys.path.insert(0, __file__.rsplit("/", 1)[0])
import safetensors_numpy
from replay_trace import Data, batches_of, build, load


SUM = 2e-6  # 16 products of f32 in another order, through three layers


def balanced(data):
    """scikit-learn's: every class counts alike."""
    counts = numpy.bincount(data.y.numpy())
    return (len(data.y) / (len(counts) * counts)).tolist()


class Steps:
    """The optimiser of the run file on a network, its state as the trace has it after `done` steps."""

    def __init__(self, run, net, rate, momentum, variance, done, data):
        o = run["optim"]
        self.net, self.name = net, o["name"]
        if self.name == "sgd":
            self.optimiser = torch.optim.SGD(net.parameters(), rate, o["momentum"], 0, o["weight_decay"], o["nesterov"])
        else:
            kind = torch.optim.AdamW if self.name == "adamw" else torch.optim.Adam
            self.optimiser = kind(net.parameters(), rate, (o["beta1"], o["beta2"]), float(o["epsilon"]), o["weight_decay"])
        for name, p in net.named_parameters():
            if not momentum:
                continue
            self.optimiser.state[p] = {"momentum_buffer": momentum[name].clone()} if self.name == "sgd" else {
                "step": torch.tensor(float(done)), "exp_avg": momentum[name].clone(),
                "exp_avg_sq": variance[name].clone()}
        weights = run["class_weights"]
        self.criterion = nn.CrossEntropyLoss(
            label_smoothing=run["label_smoothing"], weight=None if weights == "none" else torch.tensor(
                balanced(data) if weights == "balanced" else [float(w) for w in weights.split(",")]).double())
        self.clip, self.norms = o["clip"], []
        self.worst = {}  # of each tensor the least root and the largest slope of its steps

    def step(self, x, y):
        self.optimiser.zero_grad()
        loss = self.criterion(self.net(x), y)
        loss.backward()
        if self.clip:
            self.norms.append(float(nn.utils.clip_grad_norm_(self.net.parameters(), self.clip)))
        self.optimiser.step()
        for name, p in self.net.named_parameters():
            root, slope = self.worst.get(name, (1e30, 0.0))
            self.worst[name] = torch.minimum(self.root(p), torch.as_tensor(root)), max(slope, float(abs(p.grad).max()))
        return float(loss)

    def root(self, p):
        """What the step of each weight was divided by."""
        if self.name == "sgd":
            return torch.ones_like(p)
        group, state = self.optimiser.param_groups[0], self.optimiser.state[p]
        return (state["exp_avg_sq"] / (1 - group["betas"][1] ** float(state["step"]))).sqrt() + group["eps"]

    def state(self, key):
        return {k: self.optimiser.state[p][key] for k, p in self.net.named_parameters()}


class Check:
    def __init__(self, folder):
        self.folder, self.run = folder, yaml.safe_load(open(folder + "/run.yaml"))
        _, meta = safetensors_numpy.load(folder + "/model.safetensors")
        self.shape = tuple(int(n) for n in meta["tessera.input"].split("x"))
        self.outputs = int(meta["tessera.outputs"])
        self.data, self.steps, self.far = Data(folder, self.shape), self.run["scheme"]["local_steps"], 0.0
        self.whole = self.run["scheme"]["name"] == "dense"

    def same(self, theirs, ours, allowed, what):
        assert set(theirs) == set(ours), (what, set(theirs) ^ set(ours))
        for k in theirs:
            far = float((abs(theirs[k] - ours[k]) / allowed[k]).max())
            assert far < 1, f"{self.folder}: {what} {k} is {far:.1e} times as far off as f32 explains"
            self.far = max(self.far, far)

    def allowed(self, s, before, rate):
        """What f32 explains of a difference. A gradient is a sum of f32 products: SUM of its tensor's largest number.
        Adam divides by the root of the variance, which may be smaller. Weights are rounded once a step."""
        out = {}
        for k, p in s.net.named_parameters():
            root, slope = s.worst[k]
            step = float(abs(p.detach() - before[k]).max())
            rounding = 2.0**-23 * float(abs(before[k]).max()) * self.steps
            out[k] = 2 * rate * SUM * slope * self.steps / root + 1e-6 * step + rounding + 1e-30
        return out

    def worker(self, l, t, done):
        before, rate = load(t, "before."), float(t["rate"])
        net = build(self.run, before, self.shape, self.outputs)
        carried = load(t, "momentum.before."), load(t, "variance.before.")
        s = Steps(self.run, net, rate, *carried, done if carried[0] else 0, self.data)
        losses = [s.step(x, y) for x, y in batches_of(t, self.data, l, self.steps, True)]
        assert numpy.allclose(losses, t[f"loss.{l}"], rtol=1e-5), (losses, t[f"loss.{l}"])
        ours = load(t, "after.") if self.whole else load(t, f"local.{l}.")
        adam = s.name != "sgd"
        self.same(net.state_dict(), ours, self.allowed(s, before, rate), "weights")
        for key, mine in (("exp_avg", "momentum"), ("exp_avg_sq", "variance")) if adam else (
                ("momentum_buffer", "momentum"),):
            theirs = s.state(key)
            held = load(t, f"{mine}.after." if self.whole else f"{mine}.{l}.")
            assert held, f"{self.folder}: no {mine}"
            self.same(theirs, held, {k: 2 * SUM * abs(v).max() + 1e-30 for k, v in theirs.items()}, mine)

    def average(self, average):
        """The model is the average that PyTorch makes of the weights after each round."""
        tensors, _ = safetensors_numpy.load(self.folder + "/model.safetensors")
        for k, v in average.module.state_dict().items() if average else ():
            rounding = 2.0**-24 * self.run["rounds"] * float(abs(v).max())
            assert "tracked" in k or float(abs(v - torch.from_numpy(tensors[k].copy())).max()) <= rounding, f"average {k}"

    def all(self):
        after, net, average, ema = None, None, None, self.run["optim"]["ema"]
        for r in range(self.run["rounds"]):
            t, _ = safetensors_numpy.load(f"{self.folder}/trace/round-{r:06d}.safetensors")
            before = load(t, "before.")
            if r == 0 and ema:
                net = build(self.run, before, self.shape, self.outputs)
                average = AveragedModel(net, avg_fn=lambda a, w, n: ema * a + (1 - ema) * w, use_buffers=True)
            assert after is None or all(bool((after[k] == before[k]).all()) for k in before), "weights between rounds"
            normed = self.run["model"]["norm"] == "batch"  # replay_trace.py has the steps of norms; here the average
            for l in range(0 if normed else 1 if self.whole else self.run["scheme"]["workers"]):
                self.worker(l, t, r * self.steps)
            after = load(t, "after.")
            if average:
                net.load_state_dict(after)
                average.update_parameters(net)
        self.average(average)
        print(f"{self.folder}: {self.run['rounds']} rounds, as PyTorch, {self.far:.2f} of what f32 explains at most")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for folder in sys.argv[1:]:
        Check(folder).all()
