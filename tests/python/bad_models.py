"""Makes bad model files from a good one: bad_models.py GOOD FOLDER

One file per row of the table at the end; prints "name TAB words that the refusal must contain".
Files keep no checksums unless the damage is meant for them: another tool could have written them.
"""
import json
import os
import struct
import sys


def read(path):
    raw = open(path, "rb").read()
    n = struct.unpack("<Q", raw[:8])[0]
    return json.loads(raw[8:8 + n]), raw[8 + n:]


def write(path, header, data):
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)


good, folder = sys.argv[1:]
raw = open(good, "rb").read()


class Model:
    """The good file as something to change."""

    def __init__(self):
        self.header, self.data = read(good)
        self.meta = self.header["__metadata__"]
        for key in [k for k in self.meta if k.endswith("crc32c")]:
            del self.meta[key]

    def tensors(self):
        """name -> [dtype, shape, bytes], in the order of the data"""
        items = [(k, v) for k, v in self.header.items() if k != "__metadata__"]
        items.sort(key=lambda kv: kv[1]["data_offsets"])
        return {k: [v["dtype"], v["shape"], self.data[slice(*v["data_offsets"])]] for k, v in items}

    def put(self, tensors):
        self.header = {"__metadata__": self.meta}
        self.data = b""
        for k, (dtype, shape, data) in tensors.items():
            self.header[k] = {"dtype": dtype, "shape": shape,
                              "data_offsets": [len(self.data), len(self.data) + len(data)]}
            self.data += data


def changed(change):
    def make(path):
        m = Model()
        t = m.tensors()
        change(m, t)
        m.put(t)
        write(path, m.header, m.data)
    return make


def meta(key, value):
    def change(m, _):
        if value is None:
            m.meta.pop(key, None)
        else:
            m.meta[key] = value
    return changed(change)


def scaling(**keys):
    def change(m, _):
        m.meta["tessera.scaling"] = json.dumps({**json.loads(m.meta["tessera.scaling"]), **keys})
    return changed(change)


def schema(columns, classes):
    return meta("tessera.schema", json.dumps({"kind": "table", "columns": columns, "classes": classes, "targets": ["y"],
                                              "normalize": "none", "target_scale": "none"}))


def run_file(old, new):
    def change(m, _):
        assert old in m.meta["tessera.run"], old
        m.meta["tessera.run"] = m.meta["tessera.run"].replace(old, new)
    return changed(change)


def tensor(name, function):
    return changed(lambda m, t: t.__setitem__(name, function(t[name])))


def number(value):
    return tensor("layers.0.weight", lambda w: [w[0], w[1], struct.pack("<f", value) + w[2][4:]])


def as_doubles(value):
    def function(w):
        floats = list(struct.unpack("<%df" % (len(w[2]) // 4), w[2]))
        floats[7] = value
        return ["F64", w[1], struct.pack("<%dd" % len(floats), *floats)]
    return tensor("layers.0.weight", function)


def many_layers(m, t):
    m.meta["tessera.run"] = m.meta["tessera.run"].replace("hidden: [16]", "hidden: [" + "1, " * 9000 + "1]")


def raw_bytes(data):
    return lambda path: open(path, "wb").write(data)


def flipped(at):
    return raw_bytes(raw[:at] + bytes([raw[at] ^ 64]) + raw[at + 1:])


W = "layers.0.weight"
table = {
    "missing-tensor": (changed(lambda m, t: t.pop(W)), "tensor layers.0.weight is missing"),
    "no-tensors": (changed(lambda m, t: t.clear()), "is missing"),
    "stranger": (changed(lambda m, t: t.update({"x\x1b[31m": ["F32", [1], b"\0" * 4]})), ""),
    "stranger-plain": (changed(lambda m, t: t.update({"extra": ["F32", [1], b"\0" * 4]})), "tensor extra is not part"),
    "other-shape": (tensor(W, lambda w: [w[0], w[1][::-1], w[2]]), "has shape [784, 16] but the model needs [16, 784]"),
    "flat": (tensor(W, lambda w: [w[0], [784 * 16], w[2]]), "has shape [12544]"),
    "integers": (tensor(W, lambda w: ["I32", w[1], w[2]]), "has type I32"),
    "long-integers": (tensor(W, lambda w: ["I64", w[1], w[2] * 2]), "has type I64"),
    "nan": (number(float("nan")), "holds NaN at element 0"),
    "infinity": (number(float("inf")), "holds infinity at element 0"),
    "beyond-float": (as_doubles(1e300), "beyond the range of F32 at element 7"),
    "count-negative": (tensor("layers.1.num_batches_tracked", lambda w: ["I64", [], struct.pack("<q", -5)]), "num_batches_tracked"),
    "count-huge": (tensor("layers.1.num_batches_tracked", lambda w: ["I64", [], struct.pack("<q", 2**63 - 1)]), "num_batches_tracked"),
    "variance-negative": (tensor("layers.1.running_var", lambda w: ["F32", w[1], struct.pack("<f", -1.0) + w[2][4:]]), "running_var"),
    "no-run": (meta("tessera.run", None), "no run file inside"),
    "run-empty": (meta("tessera.run", ""), "run file inside"),
    "run-text": (meta("tessera.run", "hello"), "run file inside:1:1"),
    "run-yaml": (meta("tessera.run", "optim: {lr: ["), "run file inside"),
    "run-bomb": (meta("tessera.run", "[" * 100000), "run file inside"),
    "run-key": (run_file("norm: batch", "nrom: batch"), "did you mean model.norm?"),
    "run-other": (run_file("hidden: [16]", "hidden: [16, 16]"), "tensor layers.3.weight has shape"),
    "run-wide": (run_file("hidden: [16]", "hidden: [10000000, 10000000]"), "needs [10000000, 784]"),
    "run-deep": (changed(many_layers), "needs [1, 784]"),
    "input-zero": (meta("tessera.input", "0x28x28"), "make no network"),
    "input-negative": (meta("tessera.input", "-1x28x28"), "make no network"),
    "input-large": (meta("tessera.input", "1048575x1048575x1048575"), "make no network"),
    "input-overflow": (meta("tessera.input", "99999999999999999999x1x1"), "tessera.input"),
    "input-two": (meta("tessera.input", "28x28"), "tessera.input"),
    "input-junk": (meta("tessera.input", "1x28x28 and more"), "tessera.input"),
    "input-none": (meta("tessera.input", None), "tessera.input"),
    "input-other": (meta("tessera.input", "1x32x32"), "layers.0.weight"),
    "outputs-negative": (meta("tessera.outputs", "-10"), "make no network"),
    "outputs-word": (meta("tessera.outputs", "ten"), "tessera.outputs"),
    "outputs-junk": (meta("tessera.outputs", "10x"), "tessera.outputs"),
    "outputs-other": (meta("tessera.outputs", "11"), ""),
    "format-other": (meta("tessera.format", "model/9\x1b[2J"), "model/9"),
    "format-none": (meta("tessera.format", None), "no architecture inside"),
    "classes-word": (meta("tessera.classes", "zero"), "tessera.classes"),
    "classes-object": (meta("tessera.classes", '{"a": 1}'), "tessera.classes"),
    "classes-numbers": (meta("tessera.classes", "[1, 2]"), "tessera.classes"),
    "classes-many": (meta("tessera.classes", json.dumps(["a"] * 11)), "tessera.classes"),
    "classes-margins": (changed(lambda m, t: m.meta.update({"tessera.outputs": "1", "tessera.classes": '["-1", "+1"]'})), "tessera.schema has 10 classes, tessera.classes 2"),
    "run-refused": (run_file("name: mlp", "name: rnn"), "run-refused: "),
    "schema-columns": (schema([{"name": "x"}], 10), "tessera.schema has columns of 1 inputs, the network 784"),
    "schema-classes": (schema([], 3), "tessera.schema has 3 classes, tessera.classes 10"),
    "scaling-none": (meta("tessera.scaling", None), "tessera.scaling"),
    "scaling-word": (meta("tessera.scaling", "much"), "tessera.scaling"),
    "scaling-list": (meta("tessera.scaling", "[]"), "tessera.scaling"),
    "scaling-short": (meta("tessera.scaling", '{"shift": []}'), "tessera.scaling"),
    "scaling-words": (meta("tessera.scaling", '{"shift": ["a"], "scale": ["b"]}'), "tessera.scaling"),
    "scaling-huge": (meta("tessera.scaling", '{"shift": [1e999], "scale": [1e999]}'), "tessera.scaling"),
    "scaling-deep": (meta("tessera.scaling", "[" * 100000), "tessera.scaling"),
    "scaling-many": (scaling(shift=[0] * 7, scale=[1] * 7), "7"),
    "scaling-beyond": (scaling(shift=[1e300]), "tessera.scaling"),
    "scaling-target": (scaling(target_scale=0), "tessera.scaling"),
    "bit-header": (flipped(60), ""),
    "bit-data": (flipped(len(raw) - 500), "is damaged"),
    "bit-length": (flipped(1), ""),
    "short": (raw_bytes(raw[:-1]), ""),
    "half": (raw_bytes(raw[:len(raw) // 2]), ""),
    "header-only": (raw_bytes(raw[:200]), ""),
    "seven": (raw_bytes(raw[:7]), ""),
    "empty": (raw_bytes(b""), "empty"),
    "longer": (raw_bytes(raw + b"PK\3\4"), ""),
    "length-huge": (raw_bytes(struct.pack("<Q", 2**63) + raw[8:]), "header"),
    "text": (raw_bytes(b"epochs: 10\nbatch: 32\n"), ""),
    "zip": (raw_bytes(b"PK\3\4" + b"\0" * 400), ""),
}
for name, (make, words) in table.items():
    make(os.path.join(folder, name))
    print(name, words, sep="\t")
