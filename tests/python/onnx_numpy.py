"""The nodes of ONNX that Tessera writes, in numpy and in double: an evaluator of its own, for machines
without ONNX Runtime and beside it. Definitions are those of onnx's Operators.md, opset 15."""
import numpy
from numpy.lib.stride_tricks import sliding_window_view
from onnx import numpy_helper


def windows(x, at, fill):
    """x [N, C, H, W] as [N, C, rows, columns, kernel, kernel]."""
    top, left, bottom, right = at.get("pads", [0, 0, 0, 0])
    x = numpy.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=fill)
    v = sliding_window_view(x, at["kernel_shape"], axis=(2, 3))
    return v[:, :, ::at["strides"][0], ::at["strides"][1]]


def conv(at, x, w, b=None):
    y = numpy.tensordot(windows(x, at, 0), w, axes=([1, 4, 5], [1, 2, 3])).transpose(0, 3, 1, 2)
    return y if b is None else y + b[:, None, None]


def norm(at, x, gamma, beta, mean, var):
    shape = (1, -1) + (1,) * (x.ndim - 2)
    s = gamma / numpy.sqrt(var + at["epsilon"])
    return (x - mean.reshape(shape)) * s.reshape(shape) + beta.reshape(shape)


def rnn(at, x, w, r, b, lengths):
    assert at["activations"] == ["Relu"] and b is None and w.shape[0] == 1
    h = numpy.zeros((x.shape[1], at["hidden_size"]))
    states = []
    for t in range(x.shape[0]):
        on = (t < lengths)[:, None]
        new = numpy.maximum(x[t] @ w[0].T + h @ r[0].T, 0)
        h = numpy.where(on, new, h)
        states.append(numpy.where(on, new, 0))
    return numpy.stack(states)[:, None], h[None]


def average(at, x):
    assert at["count_include_pad"] == 1
    return windows(x, at, 0).mean((4, 5))


def reduce(how):
    return lambda at, x: how(x, axis=tuple(at["axes"]), keepdims=True)


OPS = {
    "Gemm": lambda at, x, w, b=0: at.get("alpha", 1) * (x @ w.T) + b,
    "MatMul": lambda at, x, w: x @ w,
    "Conv": conv,
    "BatchNormalization": norm,
    "Relu": lambda at, x: numpy.maximum(x, 0),
    "Add": lambda at, x, y: x + y,
    "Sub": lambda at, x, y: x - y,
    "Mul": lambda at, x, y: x * y,
    "Div": lambda at, x, y: x / y,
    "Max": lambda at, x, y: numpy.maximum(x, y),
    "Abs": lambda at, x: abs(x),
    "Exp": lambda at, x: numpy.exp(x),
    "IsNaN": lambda at, x: numpy.isnan(x),
    "Greater": lambda at, x, y: x > y,
    "Where": lambda at, c, x, y: numpy.where(c, x, y),
    "MaxPool": lambda at, x: windows(x, at, -numpy.inf).max((4, 5)),
    "AveragePool": average,
    "GlobalAveragePool": lambda at, x: x.mean((2, 3), keepdims=True),
    "Flatten": lambda at, x: x.reshape(len(x), -1),
    "Transpose": lambda at, x: x.transpose(at["perm"]),
    "Squeeze": lambda at, x, axis: numpy.squeeze(x, tuple(axis)),
    "ReduceMax": reduce(numpy.max),
    "ReduceL2": reduce(lambda x, **how: numpy.sqrt((x * x).sum(**how))),
    "RNN": rnn,
}


def attribute(a):
    if a.type == 1:
        return a.f
    return {2: a.i, 7: list(a.ints), 8: [s.decode() for s in a.strings]}[a.type]


def run(model, inputs):
    """The outputs of an onnx.ModelProto for a dictionary of inputs."""
    value = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    value = {k: v.astype(float) if v.dtype == "f4" else v for k, v in value.items()}
    value.update({k: v.astype(float) if v.dtype == "f4" else v for k, v in inputs.items()})
    value[""] = None
    for node in model.graph.node:
        at = {a.name: attribute(a) for a in node.attribute}
        out = OPS[node.op_type](at, *[value[name] for name in node.input])
        value.update(zip(node.output, out if isinstance(out, tuple) else [out]))
    return [value[o.name] for o in model.graph.output]
