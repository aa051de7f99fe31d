"""tessera distance in numpy: distance_numpy.py A B JSON, where JSON is what
`tessera distance A B --ratio 0.5 --json` said; distance_numpy.py A B JSON masks: the masks, too, which were by l2; and distance_numpy.py csv FOLDER: the pairs of a run.

Filters are ranked by the l2 norm of the rows of the layer in front of the axis, those of a stream by
all layers that add to it; of a ticket the numbers of its filters in the whole come from its metadata.
"""
import csv
import json
import re
import sys

import numpy

sys.path.insert(0, __file__.rsplit("/", 1)[0])
import safetensors_numpy


def makers(tensors, axis):
    """The weights whose rows make the axis."""
    if axis.endswith(".stream"):
        stage = axis.split(".")[0]
        first = ["conv1.weight"] if stage == "layer1" else []
        return first + [n for n in tensors if re.fullmatch(stage + r"\.\d+\.(conv2|shortcut\.0)\.weight", n)]
    name = {"hidden.0": "layers.0.weight", "hidden.1": "layers.3.weight"}.get(axis)
    return [name or axis.replace(".inner", ".conv1.weight")]


def ranking(path, axis):
    """Filters of the whole, best first."""
    tensors, meta = safetensors_numpy.load(path)
    w = [tensors[n].astype(numpy.float64) for n in makers(tensors, axis)]
    w = numpy.concatenate([t.reshape(len(t), -1) for t in w], 1)
    norms = numpy.sqrt((w ** 2).sum(1))
    kept = numpy.arange(len(w))
    if "tessera.ticket" in meta:
        kept = numpy.array(json.loads(meta["tessera.ticket"])["kept"].get(axis, kept))
    return kept[numpy.argsort(-norms, kind="stable")]


def distance(a, b):
    place = {unit: i + 1 for i, unit in enumerate(b)}
    rank = numpy.array([place.get(unit, len(b) + 1) for unit in a], float)
    i = numpy.arange(1, len(a) + 1)
    return (numpy.abs(numpy.log(i) - numpy.log(rank)) / i).sum()


def mask_distance(a, b, full, ratio):
    """The part of all filters that one of the two keeps alone; a ticket keeps the part of the whole, or all it has."""
    keep = max(1, int(full * (1 - ratio) + 0.5))
    return len(set(a[:keep]) ^ set(b[:keep])) / full


def compare(a, b, said, masks=None):
    layers = json.load(open(said))["layers"]
    assert layers
    for layer in layers:
        want = distance(ranking(a, layer["layer"]), ranking(b, layer["layer"]))
        for ratio, there in layer["mask_distance"].items() if masks else ():
            width = int(re.search(r"width: (\d+)", safetensors_numpy.load(a)[1]["tessera.model"])[1])
            full = width << int(layer["layer"][5]) - 1  # of stage S
            assert there == mask_distance(ranking(a, layer["layer"]), ranking(b, layer["layer"]), full, float(ratio)), layer
        # sums of at most some hundred terms in double
        assert abs(layer["filter_distance"] - want) <= 1e-12 * (1 + want), (layer, want)
    print(f"{len(layers)} layers, distances", [round(l["filter_distance"], 4) for l in layers])


def pairs(folder):
    """The last epoch beside each other, from the model and from the checkpoints that are left."""
    import glob
    rows = list(csv.DictReader(open(folder + "/distance.csv")))
    files = sorted(glob.glob(folder + "/checkpoints/*.safetensors"))
    epochs = sorted({float(r["epoch"]) for r in rows})
    assert len(files) == len(epochs), (files, epochs)
    scores = []
    for f in files:
        tensors, _ = safetensors_numpy.load(f)
        w = tensors["model.layers.0.weight"].astype(numpy.float64)
        scores.append(numpy.argsort(-numpy.sqrt((w ** 2).sum(1)), kind="stable"))
    checked = 0
    for r in rows:
        if r["layer"] != "hidden.0":
            continue
        i, j = epochs.index(float(r["reference_epoch"])), epochs.index(float(r["epoch"]))
        want = distance(scores[i], scores[j])
        assert abs(float(r["filter_distance"]) - want) <= 1e-5 * (1 + want), (r, want)  # six digits
        checked += 1
    assert checked == len(epochs) ** 2
    print(f"{checked} pairs of {len(epochs)} epochs")


if sys.argv[1] == "csv":
    pairs(sys.argv[2])
else:
    compare(*sys.argv[1:])
