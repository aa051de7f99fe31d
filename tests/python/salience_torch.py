"""SNIP and GraSP by PyTorch in double, beside what `tessera prune --json` says: salience_torch.py FOLDER...

A folder has model.safetensors, run.yaml and trace/ of a run with optim.name: gd on mean cross-entropy, whose one batch
is all of its data, and for each criterion CRITERION.json of prune and the ticket CRITERION.safetensors. Written from
the papers: with g the gradient of the loss in all trained numbers and H its Hessian,

    SNIP   (Lee, Ajanthan, Torr, 2019)    |sum of w g| over the weights w that make a unit
    GraSP  (Wang, Zhang, Grosse, 2020)    -sum of w (H g): what has most of it goes first; prune gives the negative

A unit's weights are rows of the linear layers or filters of the convolutions that write its axis. H g is autograd's own
in double, with which the paper's scores are defined. Where prune says that its scores are a difference (scores_by), they
are compared with that of src/ticket/salience.h: the central difference of the gradient along itself over 2e-4 of the
weights' length, here in double; how far those are from autograd's is said. (SNIP of a filter in front of a batch norm,
which undoes its scale, is zero but for the norm's epsilon: it is the net without norms that shows it.)
"""
import json
import re
import sys

import numpy
import torch
import yaml
from torch.nn import functional as F

sys.path.insert(0, __file__.rsplit("/", 1)[0])
import safetensors_numpy
from replay_trace import Data, build

# Of the axis' largest sum of |w g|, or |w (H g)|. SNIP's gradients in f32 are good to some 1e-6 of their length; their
# difference over a step of 2e-4 of the weights' length makes some thousand times as much of that. Exact scores are made in
# double over a step of 1e-8 of that length: double's 1e-16 becomes 1e-8 of the gradient's length, and was seen as 1e-8 of
# the sums of perceptrons, 6e-8 of those of the residual net. Products are stored as f32, which is 6e-8 of them.
TOLERANCE = {"snip": 1e-5, "exact": 1e-6, "difference": 2e-3}
STEP = 2e-4


def writers(axis, names):
    """The layers whose rows are the axis' units."""
    if axis.startswith("hidden."):
        layers = [n for n in names if n.startswith("layers.")]
        linear = sorted((n for n in layers if names[n].dim() == 2), key=lambda n: int(n.split(".")[1]))
        return [linear[int(axis.split(".")[1])]]
    stage, _, kind = axis.rpartition(".")
    if kind == "inner":
        return [stage + ".conv1.weight"]
    assert kind == "stream", axis
    block = re.compile(re.escape(stage) + r"\.\d+\.(conv2|shortcut\.0)\.weight$")
    return [n for n in names if block.match(n) or (stage == "layer1" and n == "conv1.weight")]


def length(vectors):
    return float(sum((v.detach() ** 2).sum() for v in vectors)) ** 0.5


def gradient(net, x, y, graph=False):
    return torch.autograd.grad(F.cross_entropy(net(x), y), list(net.parameters()), create_graph=graph)


def difference(net, x, y):
    """H g, as salience.h has it."""
    w, g = list(net.parameters()), gradient(net, x, y)
    before, h, ends = [v.detach().clone() for v in w], STEP * length(w) / length(g), []
    for sign in (1, -1):
        with torch.no_grad():
            for v, b, d in zip(w, before, g):
                v.copy_(b + sign * h * d)
        ends.append(gradient(net, x, y))
    with torch.no_grad():
        for v, b in zip(w, before):
            v.copy_(b)
    return [(a - b) / (2 * h) for a, b in zip(*ends)]


def exact(net, x, y):
    """H g, as autograd has it."""
    g = gradient(net, x, y, True)
    return torch.autograd.grad(sum((a * a.detach()).sum() for a in g), list(net.parameters()))


def products(net, of):
    return {n: (v * d).detach() for (n, v), d in zip(net.named_parameters(), of)}


def scores(product, axis):
    """Of each unit; the largest stay. And the largest sum of what makes one."""
    rows = [product[n].flatten(1) for n in writers(axis, product)]
    return sum(r.sum(1) for r in rows).numpy(), float(sum(abs(r).sum(1) for r in rows).max())


def check(folder):
    run = yaml.safe_load(open(folder + "/run.yaml"))
    tensors, meta = safetensors_numpy.load(folder + "/model.safetensors")
    shape = tuple(int(n) for n in meta["tessera.input"].split("x"))
    state = {k: torch.from_numpy(v.copy()) for k, v in tensors.items()}
    state = {k: v.double() if v.is_floating_point() else v for k, v in state.items()}
    data = Data(folder, shape)
    x = torch.from_numpy(data.x)
    told = []
    for criterion in ("snip", "grasp"):
        said = json.load(open(f"{folder}/{criterion}.json"))
        ours, way = said["scores"], said["scores_by"] or criterion
        allowed, of = TOLERANCE[way], {"snip": gradient, "exact": exact, "difference": difference}[way]
        net = build(run, state, shape, int(meta["tessera.outputs"]))
        shown = x.flatten(1) if run["model"]["name"] == "mlp" else x
        product = products(net, of(net, shown, data.y))
        smooth = products(net, (gradient if criterion == "snip" else exact)(net, shown, data.y))
        _, ticket = safetensors_numpy.load(f"{folder}/{criterion}.safetensors")
        kept = json.loads(ticket["tessera.ticket"])["kept"]
        far, kinks, units = 0.0, 0.0, 0
        assert ours.keys() == kept.keys(), (ours.keys(), kept.keys())
        for axis, got in ours.items():
            (want, unit), (beside, _) = scores(product, axis), scores(smooth, axis)
            if criterion == "snip":
                want, beside = abs(want), abs(beside)
            off = abs(numpy.array(got) - want).max() / unit
            assert off <= allowed, f"{folder} {criterion} {axis}: off by {off:.1e} of the largest sum"
            # what stays is what counts most, but for those that are as good as equal
            gone = sorted(set(range(len(want))) - set(kept[axis]))
            least, most = want[kept[axis]].min(), want[gone].max()
            assert least >= most - 2 * allowed * unit, f"{folder} {criterion} {axis}: others stay"
            kinks = max(kinks, abs(numpy.array(got) - beside).max() / unit)
            far, units = max(far, off), units + len(want)
        told.append(f"{criterion} ({way}) of {units} units off by {far:.0e} ({kinks:.0e} from autograd's)")
    print(f"{folder}: {', '.join(told)}")


for name in sys.argv[1:]:
    check(name)
