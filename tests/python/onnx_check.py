"""ONNX files that Tessera wrote, judged: onnx_check.py LIST [ONNX RUNTIME'S LIBRARY]

A line of LIST is "FILE OUT X [LENGTHS]": FILE passes onnx.checker, takes any batch, and gives OUT (what
tessera predict says) of X, raw inputs, all npy. In numpy, and in ONNX Runtime where it is there.
"""
import json
import sys

import numpy
import onnx
import onnx.checker
import onnx_numpy
from onnx_runtime import Runtime

# Relative to the largest output. f32 sums of at most some thousand products, in other orders than ours,
# through up to 152 layers: each rounds to 6e-8, and norms keep sizes; 1e-5 is some hundred of these.
FAR = 1e-5


def prepare(x, notes):
    """What the network sees of raw inputs: docs/formats.md, tessera.scaling."""
    scaling, schema = json.loads(notes["tessera.scaling"]), json.loads(notes["tessera.schema"])
    if scaling["fill"]:
        x = numpy.where(numpy.isnan(x), numpy.array(scaling["fill"], "f4"), x)
    if scaling["shift"]:
        channels = x.shape[-1] if x.ndim == 3 else x.shape[1]
        shape = x.shape[1:] if len(scaling["shift"]) != channels else (
            (1, -1) if x.ndim == 3 else (-1,) + (1,) * (x.ndim - 2))
        x = (x - numpy.array(scaling["shift"], "f4").reshape(shape)) * numpy.array(scaling["scale"], "f4").reshape(shape)
    if schema["normalize"] in ("unit", "patch"):
        wide = x.astype(float)
        axes = (2,) if x.ndim == 3 else tuple(range(1, x.ndim))
        size = numpy.sqrt((wide * wide).sum(axes, keepdims=True))
        length = 1 if schema["normalize"] == "unit" else 1 / 3
        x = numpy.where(size > 0, wide / numpy.where(size > 0, size, 1) * length, wide)
    return x.astype("f4")


def original(y, notes):
    scaling = json.loads(notes["tessera.scaling"])
    y = y / scaling["target_scale"] + scaling["target_shift"]
    return numpy.exp(y) if scaling["target_log"] else y


def judge(runtime, path, out, x, lengths=None):
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    notes = {p.key: p.value for p in model.metadata_props}
    shape = [d.dim_param or d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    assert shape[0] == "batch", shape
    want, x = numpy.load(out), numpy.load(x).astype("f4")
    x = x.reshape([len(x)] + ([-1, shape[2]] if len(shape) == 3 else shape[1:]))
    inputs = {"input": x if notes["transform"] == "true" else prepare(x, notes)}
    if lengths:
        inputs["lengths"] = numpy.load(lengths).astype("i4")
    told = []
    for name, run in [("numpy", lambda some: onnx_numpy.run(model, some))] + (
            [(f"ONNX Runtime {runtime.version}", lambda some: runtime.run(model.SerializeToString(), some))] if runtime else []):
        (y,) = run(inputs)
        y = y.reshape(len(x), -1)
        if notes["transform"] != "true" and notes["task"] == "regress":
            y = original(y, notes)
        far = abs(y - want).max() / abs(want).max()
        assert y.shape == want.shape and far <= FAR, f"{path}: {name}: {y.shape} differs by {far:.1e}"
        (one,) = run({k: v[:1] for k, v in inputs.items()})  # another batch
        assert len(one) == 1
        told.append(f"{name} {far:.0e}")
    print(f"{path}: {len(model.graph.node)} nodes, {', '.join(told)}")


runtime = Runtime(sys.argv[2]) if len(sys.argv) > 2 else None
wrong = 0
for line in open(sys.argv[1]):
    try:
        judge(runtime, *line.split())
    except Exception as e:
        print(f"{line.split()[0]}: {type(e).__name__}: {e}")
        wrong += 1
sys.exit(wrong > 0)
