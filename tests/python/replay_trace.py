"""Replays every round of traced runs with PyTorch in double, from the trace alone: replay_trace.py RUN-FOLDER...

From `before.*` every worker takes its share, sees its batches as the loader showed them (crops, flips, RandAugment by
PIL, cutout), takes its local steps (momentum, decay, Nesterov) at the rate of the round, and must arrive at the
trace's `local.*`, `momentum.<worker>.*` and `loss.*`; the mean over the owners must be `after.*`. Between rounds nothing may change but
statistics that a `recalibrate-*` file explains. Every scheme: a whole is a share with every unit.

It knows by itself what goes with a unit: rows of a layer, the norm behind it, columns of the next. Of an mlp the
hidden layers; of convolutional nets the filters that the LoFT paper cuts (inner ones of blocks without a stride, not
in the first stage; of vgg11 the first of each pair of convolutions).
"""
import os
import re
import sys

import numpy
import torch
import yaml
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, __file__.rsplit("/", 1)[0])
import plain_nets
import safetensors_numpy
from ticket_torch import narrowed

KINK = 2e-6  # of the largest number before a ReLU: what f32 cannot tell from 0, the gate may be either
LEAST_CHANGE = 1e-4  # a bias before a norm has no slope and moves by rounding alone
VGG_PAIRS = {8: 11, 15: 18, 22: 25}  # convolution, the next one
STATISTICS = ("running_mean", "running_var")
BF16 = 2.0**-8  # half a unit of the last place, relative


# ---- What is cut -----------------------------------------------------------------------------------------------------
def mlp_modules(model):
    """The linear layers of an mlp by number, and the norm behind each (None: it has none)."""
    at, linear = 0, []
    for _ in model["hidden"]:
        normed = model["norm"] == "batch"
        linear.append((f"layers.{at}", f"layers.{at + 1}" if normed else None))
        at += 3 if normed else 2
    return linear + [(f"layers.{at}", None)]


def cut_axes(model):
    """Axis -> (the layer whose rows go, its norm, the layer whose columns go)."""
    if model["name"] == "mlp":
        all_of = mlp_modules(model)
        return {f"hidden.{k}": (*all_of[k], all_of[k + 1][0]) for k in range(len(all_of) - 1)}
    if model["name"] == "vgg11":
        return {f"features.{c}.filters": (f"features.{c}", f"features.{c + 1}", f"features.{n}")
                for c, n in VGG_PAIRS.items()}
    blocks = {"18": [2, 2, 2, 2], "34": [3, 4, 6, 3]}[model["name"][-2:]]
    norm = "bn2" if model["name"].startswith("pre") else "bn1"
    return {f"layer{s + 1}.{b}.inner": tuple(f"layer{s + 1}.{b}.{part}" for part in ("conv1", norm, "conv2"))
            for s in range(1, 4) for b in range(1, blocks[s])}


def places(axes, share, whole):
    """Tensor name -> the index that picks the share's part of it."""
    units = {}
    for axis, (first, norm, second) in axes.items():
        pick = torch.from_numpy(share[axis].astype(numpy.int64))
        for name in (f"{first}.weight", f"{first}.bias", *(f"{norm}.{part}" for part in
                                                           ("weight", "bias", *STATISTICS))):
            units.setdefault(name, {})[0] = pick
        units.setdefault(f"{second}.weight", {})[1] = pick
    return {name: numpy.ix_(*(units.get(name, {}).get(d, torch.arange(n)) for d, n in enumerate(value.shape)))
            for name, value in whole.items()}


# ---- One worker --------------------------------------------------------------------------------------------------------
class Mlp(nn.Module):
    """As wide as its weights; linear layer k multiplies by scale[k]."""

    def __init__(self, model, state, scale):
        super().__init__()
        modules = []
        for name, norm in mlp_modules(model):
            width, inputs = state[f"{name}.weight"].shape
            modules.append(nn.Linear(inputs, width, bias=model["bias"]))
            modules += [nn.BatchNorm1d(width)] if norm else []
            modules.append(nn.ReLU())
        self.layers, self.scale, self.nearest = nn.Sequential(*modules[:-1]), scale, 1.0

    def forward(self, x):
        scale = iter(self.scale)
        for layer in self.layers:
            linear = isinstance(layer, nn.Linear)
            if isinstance(layer, nn.ReLU):
                far = abs(x.detach()[x != 0]) # what is 0 because all before it is, is so in f32, too
                self.nearest = min(self.nearest, float(far.min() / far.max()))
            x = F.linear(x, next(scale) * layer.weight, layer.bias) if linear else layer(x)
        return x


def build(run, state, shape, outputs, scale=None):
    if run["model"]["name"] == "mlp":
        net = Mlp(run["model"], state, scale or [1.0] * (len(run["model"]["hidden"]) + 1))
    else:
        net = narrowed(plain_nets.build(run["model"], shape, outputs), state)
    net = net.double()
    net.load_state_dict(state)
    return net.train()


def gradient(net, inputs, labels, parts):
    """Loss and gradients of a batch in equal parts, which batch norm sees one at a time."""
    net.zero_grad()
    total = 0.0
    for x, y in zip(inputs.chunk(parts), labels.chunk(parts)):
        loss = F.cross_entropy(net(x), y) / parts
        loss.backward()
        total += float(loss)
    return total


def local_steps(run, rate, net, momentum, batches, parts):
    """PyTorch's SGD, written out: v = mu v + g + lambda w; w -= eta v, or eta (g + mu v) of Nesterov."""
    o, losses = run["optim"], []
    for x, y in batches:
        losses.append(gradient(net, x, y, parts))
        with torch.no_grad():
            for name, w in net.named_parameters():
                g = w.grad + o["weight_decay"] * w
                momentum[name] = o["momentum"] * momentum[name] + g
                w -= rate * (g + o["momentum"] * momentum[name] if o["nesterov"] else momentum[name])
    return net.state_dict(), losses


# ---- What the loader did -----------------------------------------------------------------------------------------------
class Data:
    def __init__(self, folder, shape):
        data, _ = safetensors_numpy.load(folder + "/trace/data.safetensors")
        settings = yaml.safe_load(open(folder + "/run.yaml"))["data"]
        self.magnitude, self.cutout = settings["magnitude"], settings["cutout"]
        self.pixels = data["pixels"].reshape(-1, *shape) if "pixels" in data else None
        self.shift, self.scale = data.get("shift"), data.get("scale")
        self.x = data["x"].astype(float).reshape(-1, *shape)
        self.y = torch.from_numpy(data["y"].astype(numpy.int64))
        self.black = data["black"].astype(float) if "black" in data else None

    @staticmethod
    def moved(image, black, down, right, flip):
        _, height, width = image.shape
        out = numpy.empty_like(image)
        out[:] = black
        rows = slice(max(down, 0), min(height + down, height))
        columns = slice(max(right, 0), min(width + right, width))
        out[:, rows, columns] = image[:, rows.start - down:rows.stop - down, columns.start - right:columns.stop - right]
        return out[:, :, ::-1] if flip else out

    def operated(self, image, ops):
        """RandAugment on bytes, by PIL; then, pixel by pixel or all together, what the network sees of them."""
        import randaugment_pil

        for op, back in ops:
            image = randaugment_pil.change(image, op, back, self.magnitude)
        x = image.astype(float)
        if self.scale is None:
            return x / (numpy.linalg.norm(x) or 1)
        shape = x.shape if len(self.scale) == x.size else (-1, 1, 1)
        return (x - self.shift.astype(float).reshape(shape)) * self.scale.astype(float).reshape(shape)

    def cut(self, x, middle):
        """Zeros in a square, as far as it is inside."""
        top, left = (max(at - self.cutout // 2, 0) for at in middle)
        bottom, right = (at - self.cutout // 2 + self.cutout for at in middle)
        x[:, top:max(bottom, 0), left:max(right, 0)] = 0
        return x

    def sample(self, i, crop=(0, 0), flip=0, op=None, cutout=None):
        if op is None:
            x = self.moved(self.x[i], 0 if self.black is None else self.black[:, None, None], *crop, flip)
        else:
            x = self.operated(self.moved(self.pixels[i], 0, *crop, flip), op)
        return x if cutout is None else self.cut(x.copy(), cutout)

    def batch(self, rows, changes):
        """Rows of -1 are those that a worker's last part is short of."""
        kept = [k for k, i in enumerate(rows) if i >= 0]
        x = [self.sample(rows[k], **{what: of[k] for what, of in changes.items()}) for k in kept]
        return torch.from_numpy(numpy.stack(x)), self.y[rows[kept]]


def batches_of(trace, data, name, steps, flat):
    """The local steps' batches; without a list all samples in order."""
    every = numpy.tile(numpy.arange(len(data.x)), (steps, 1))
    rows = trace.get(f"batch.{name}")
    changes = {what: trace[f"{what}.{name}"] for what in ("crop", "flip", "op", "cutout") if f"{what}.{name}" in trace}
    for t, r in enumerate(every if rows is None else rows):
        x, y = data.batch(r, {what: of[t] for what, of in changes.items()})
        yield (x.flatten(1) if flat else x), y


# ---- Comparing ---------------------------------------------------------------------------------------------------------
def load(tensors, prefix):
    return {k[len(prefix):]: torch.from_numpy(v.copy()).double()
            for k, v in tensors.items() if k.startswith(prefix)}


class Worst:
    """The largest difference from what the trace has, relative to the change that the round made."""

    def __init__(self):
        self.far, self.at, self.beside_kink, self.strict, self.loose = 0.0, "nothing", False, 0, 0

    def begin(self, net):
        """A worker's round. With one gate open that is closed here, a unit lacks the slope of one sample: then only
        gross differences are seen. Such rounds are few, or the replay is worth nothing."""
        self.beside_kink = getattr(net, "nearest", 1.0) < KINK
        self.loose += self.beside_kink
        self.strict += not self.beside_kink

    def compare(self, theirs, ours, start, steps, what, wire=0.0, least=LEAST_CHANGE):
        assert set(theirs) == set(ours), (what, set(theirs) ^ set(ours))
        for k in theirs:
            # what f32 cannot hold apart, once a step, is no difference; on a wire of bf16 a number beside the middle
            # of two may go either way, when it is sent and when it comes back
            rounding = (steps * 2.0**-24 + 2 * wire) * max(abs(theirs[k]).max(), abs(start[k]).max())
            change = max(abs(theirs[k] - start[k]).max(), least)
            far = float(max(abs(theirs[k] - ours[k]).max() - rounding, 0) / change)
            if self.beside_kink:
                assert far < 0.2, f"{what} {k}: differs by {far:.1e} of the change"
                continue
            self.far, self.at = max((self.far, self.at), (far, f"{what} {k}"))


def bf16(state, wanted):
    return {k: v.float().bfloat16().double() if wanted and "tracked" not in k else v for k, v in state.items()}


def mean_of_owners(whole, parts):
    """What one share has is copied, what several have is averaged, what nobody has stays."""
    after = {}
    for k, v in whole.items():
        total, owners = torch.zeros_like(v), torch.zeros_like(v)
        for where, local in parts:
            total[where[k]] += local[k]
            owners[where[k]] += 1
        after[k] = torch.where(owners > 0, total / owners.clamp(min=1), v)
    return after


# ---- A run -------------------------------------------------------------------------------------------------------------
def rate_of(run, r):
    """The schedule of docs/run-file.md."""
    o, rounds = run["optim"], run["rounds"]
    warm = o["warmup"] * rounds
    if r < warm:
        return o["lr"] * (r + 1) / (int(warm) + 1)
    if o["schedule"] == "cosine":
        part = (r - warm) / (rounds - warm)
        return o["final_lr"] + (o["lr"] - o["final_lr"]) * 0.5 * (1 + numpy.cos(numpy.pi * part))
    assert o["schedule"] == "constant"
    return o["lr"]


class Replay:
    def __init__(self, folder):
        self.folder, self.run = folder, yaml.safe_load(open(folder + "/run.yaml"))
        _, meta = safetensors_numpy.load(folder + "/model.safetensors")
        self.shape = tuple(int(n) for n in meta["tessera.input"].split("x"))
        self.outputs = int(meta["tessera.outputs"])
        self.data, self.worst = Data(folder, self.shape), Worst()
        scheme = self.run["scheme"]
        self.whole = scheme["name"] in ("dense", "gpipe")
        self.workers = 1 if self.whole else scheme["workers"]
        parts = scheme["micro_batches"] or (scheme["workers"] if scheme["name"] == "gpipe" else 1)
        self.parts = parts if self.whole else 1
        self.flat = self.run["model"]["name"] == "mlp"
        self.drawn = scheme["name"] in ("dropout", "multisample") or (
            scheme["name"] == "masked" and scheme["draw"] in ("auto", "bernoulli"))
        self.scaled = self.flat and scheme["scale"] != "none"
        self.wire = scheme["wire"] == "bf16"
        self.idle = self.mixed = 0

    def scale(self, share, before):
        """1/xi of the axis that each linear layer reads: its chance where units are drawn, else its part."""
        if not self.scaled:
            return None
        xi = [1.0]
        for axis, (first, _, _) in cut_axes(self.run["model"]).items():
            part = len(share[axis]) / len(before[f"{first}.weight"])
            xi.append(self.run["scheme"]["xi"] if self.drawn else part)
        return [1 / x for x in xi]

    def train(self, l, t, share, before, rate):
        """One worker's round: what it begins with, what it comes out with."""
        where = places(cut_axes(self.run["model"]), share, before)
        start = bf16({k: v[where[k]].clone() for k, v in before.items()}, self.wire)
        net = build(self.run, start, self.shape, self.outputs, self.scale(share, before))
        carried = load(t, "momentum.before.")
        momentum = {k: carried[k][where[k]] if carried else torch.zeros_like(v) for k, v in net.named_parameters()}
        begun = bf16(momentum, self.wire and carried)
        steps = self.run["scheme"]["local_steps"]
        state, losses = local_steps(self.run, rate, net, momentum := dict(begun),
                                    batches_of(t, self.data, l, steps, self.flat), self.parts)
        self.worst.begin(net)
        assert numpy.allclose(losses, t[f"loss.{l}"], rtol=1e-5), (losses, t[f"loss.{l}"])
        return where, start, state, begun, momentum

    def check_local(self, l, t, state, start, momentum, begun):
        steps = len(t[f"loss.{l}"])
        theirs, wire = bf16(state, self.wire), BF16 if self.wire else 0.0
        self.worst.compare(theirs, load(t, f"local.{l}."), start, steps, f"local.{l}", wire)
        ours = load(t, f"momentum.{l}.")
        if ours: # a rank of another process does not send what is reset
            least = LEAST_CHANGE / float(t["rate"]) # weights change by the rate times the momentum
            self.worst.compare(momentum, ours, begun, steps, f"momentum.{l}", wire, least)

    def round(self, r, t):
        before, after = load(t, "before."), load(t, "after.")
        rate = float(t["rate"])
        assert numpy.isclose(rate, rate_of(self.run, r), rtol=1e-12), (rate, rate_of(self.run, r))
        parts, momenta = [], []
        for l in range(self.workers):
            share = {k.split(".", 2)[2]: v for k, v in t.items() if re.match(rf"share\.{l}\.", k)}
            if f"loss.{l}" not in t: # it took no part: a share without a unit somewhere
                assert min(len(v) for v in share.values()) == 0
                assert not any(re.match(rf"(local|batch|momentum)\.{l}\b", k) for k in t)
                self.idle += 1
                continue
            where, start, state, begun, momentum = self.train(l, t, share, before, rate)
            if self.whole:
                self.worst.compare(state, after, before, self.parts, "after")
                self.worst.compare(momentum, load(t, "momentum.after.") or momentum, begun, self.parts, "momentum",
                                   least=LEAST_CHANGE / rate)
                return
            self.check_local(l, t, state, start, momentum, begun)
            parts.append((where, load(t, f"local.{l}.")))
            momenta.append((where, load(t, f"momentum.{l}.")))
        self.same(mean_of_owners(before, parts), after, r)
        if any(k.startswith("momentum.before.") for k in t):
            self.same(mean_of_owners(load(t, "momentum.before."), momenta), load(t, "momentum.after."), r)

    def same(self, mean, ours, r):
        """Of the same numbers, in double: the last bit of f32 is all that may differ."""
        assert set(mean) == set(ours)
        for k, v in mean.items():
            assert (abs(v - ours[k]) <= 2.0**-23 * abs(v) + 1e-45).all(), f"{k} is no mean in round {r}"

    def recalibrated(self, done, after):
        """What a recalibrate file makes of the weights after `done` rounds: the mean over its batches of what batch
        norm sees in a training step."""
        path = f"{self.folder}/trace/recalibrate-{done:06d}.safetensors"
        if not os.path.exists(path):
            return after
        t, _ = safetensors_numpy.load(path)
        net = build(self.run, after, self.shape, self.outputs)
        for module in net.modules():
            if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
                module.reset_running_stats()
                module.momentum = None
        named = {f"{k.split('.', 1)[1]}.x": v for k, v in t.items()}
        with torch.no_grad():
            for x, _ in batches_of(named, self.data, "x", 1, self.flat):
                net(x)
        self.worst.beside_kink = False # a kink has no step
        theirs = {k: v for k, v in net.state_dict().items() if k.endswith(STATISTICS)}
        ours, zero = load(t, "recalibrate.after."), {k: torch.zeros_like(v) for k, v in theirs.items()}
        self.worst.compare(theirs, ours, zero, 1, f"recalibrated after {done} rounds")
        self.mixed += 1
        return {**after, **ours}

    def check(self):
        rounds, expected, carried = self.run["rounds"], None, {}
        for r in range(rounds):
            t, meta = safetensors_numpy.load(f"{self.folder}/trace/round-{r:06d}.safetensors")
            assert meta["tessera.format"] == "trace/1"
            for k, v in (expected or {}).items():
                assert (v == load(t, "before.")[k]).all(), f"{k} changed between rounds {r - 1} and {r}"
            for k, v in carried.items():
                assert (v == load(t, "momentum.before.")[k]).all(), f"momentum of {k} changed before round {r}"
            self.round(r, t)
            expected = self.recalibrated(r + 1, load(t, "after."))
            carried = load(t, "momentum.after.")
        model, scheme = self.run["model"]["name"], self.run["scheme"]["name"]
        told = f", {self.idle} idle" if self.idle else ""
        told += f", {self.mixed} recalibrated" if self.mixed else ""
        told += f", {self.worst.loose} of {self.worst.loose + self.worst.strict} beside a kink" if self.worst.loose else ""
        print(f"{model}, {scheme}, {self.workers} workers, {rounds} rounds{told}: "
              f"differs by {self.worst.far:.1e} of the change ({self.worst.at})")
        # f32 against f64 through up to 34 layers and 3 steps: some 1e-5 as seen; a unit in a wrong place, a crop or
        # a momentum forgotten is near 1
        assert self.worst.far <= 1e-3, self.folder
        assert self.worst.loose <= self.worst.strict, f"{self.worst.loose} rounds of workers beside a kink"


if __name__ == "__main__":
    for folder in sys.argv[1:]:
        Replay(folder).check()
