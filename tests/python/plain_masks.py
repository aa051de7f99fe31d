"""Model files of networks trained in shares, in plain modules of PyTorch.

    plain_masks.py same MODEL OUT.npy       the file, loaded (strict) into the plain module that its
                                            `model:` section describes, gives the outputs in OUT.npy
                                            for the samples of trace/data.safetensors beside it
    plain_masks.py outputs A.npy B.npy      two sets of outputs are the same
    plain_masks.py age MODEL XI OLD         the file as our first version wrote it: the factor XI not
                                            in the weights but left to the run file inside
"""
import json
import os
import struct
import sys

import numpy
import torch
import yaml

sys.path.insert(0, __file__.rsplit("/", 1)[0])
import plain_nets
import safetensors_numpy

FIXED = ("a", "linear.weight")  # of shallow, of cnn1: what the factor is in


def close(have, want, what):
    # f32 sums over a few hundred units in another order, and a factor rounded once more
    far = abs(have - want).max() / abs(want).max()
    assert far <= 2e-6, f"{what}: outputs differ by {far:.1e}"
    print(f"{what}: outputs differ by {far:.1e}")


def same(path, out):
    tensors, meta = safetensors_numpy.load(path)
    shape = tuple(int(n) for n in meta["tessera.input"].split("x"))
    model = yaml.safe_load(meta["tessera.model"])["model"]
    net = plain_nets.build(model, shape, int(meta["tessera.outputs"]))
    net.load_state_dict({k: torch.from_numpy(v.copy()) for k, v in tensors.items()})
    data, _ = safetensors_numpy.load(os.path.join(os.path.dirname(path), "trace/data.safetensors"))
    x = torch.from_numpy(data["x"].copy()).reshape(-1, *shape)
    close(numpy.load(out), net(x).detach().numpy().reshape(len(x), -1), path)


def age(path, xi, old):
    raw = open(path, "rb").read()
    (length,) = struct.unpack("<Q", raw[:8])
    header, data = json.loads(raw[8 : 8 + length]), bytearray(raw[8 + length :])
    meta = header["__metadata__"]
    assert meta["tessera.format"] == "model/2"
    meta["tessera.format"] = "model/1"
    del meta["tessera.crc32c"], meta["tessera.header.crc32c"]
    for name in FIXED:
        if name in header:
            begin, end = header[name]["data_offsets"]
            data[begin:end] = (numpy.frombuffer(data[begin:end], "<f4") / numpy.float32(xi)).astype("<f4").tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    open(old, "wb").write(struct.pack("<Q", len(text)) + text + data)


if sys.argv[1] == "same":
    for model, out in zip(sys.argv[2::2], sys.argv[3::2]):
        same(model, out)
elif sys.argv[1] == "outputs":
    for a, b in zip(sys.argv[2::2], sys.argv[3::2]):
        close(numpy.load(a), numpy.load(b), f"{a}, {b}")
else:
    age(*sys.argv[2:])
