"""Networks: parameters as arrays, predictions, files, tickets."""
import ctypes
import math

import numpy as np

from . import _header as header
from .arrays import describe, numbers, view
from .config import Config
from .data import Data, data as make_data
from ._library import Handle, call, create, library, sized, utf8
from .errors import UsageError


class Result:
    """How good a network is on some samples: loss, accuracy (or rmse of real targets), n."""

    def __init__(self, c):
        self.n, self.loss, self.seconds, self.rounds = c.n, c.loss, c.seconds, c.rounds
        self.accuracy = None if math.isnan(c.accuracy) else c.accuracy
        self.rmse = None if math.isnan(c.rmse) else c.rmse
        self.bytes_total = c.bytes_total

    def __repr__(self):
        how = "" if self.rmse is None else f", rmse {self.rmse:.4g}"
        if self.accuracy is not None:
            how = f", accuracy {100 * self.accuracy:.2f} %"
        return f"<loss {self.loss:.4g}{how} on {self.n} samples>"


class _Predictor(Handle):
    _destroy = "tsr_predictor_destroy"


class Model(Handle):
    """A network with its numbers, the scaling of its inputs and the settings that made it.

    From :func:`tessera.train`, :func:`tessera.load`, :func:`tessera.model`. Safe to predict with from several threads.
    """

    _destroy = "tsr_model_destroy"

    def __init__(self, address):
        super().__init__(address)
        self._predictors = {}
        self.metrics = {}   # of the run that made it: column -> array
        self.result = None  # likewise: on its test set

    # ---- What it is ----------------------------------------------------------------------

    @property
    def _info(self):
        info = sized(header.tsr_model_info)
        call(library.tsr_model_look, ctypes.byref(info), self._handle)
        return info

    @property
    def config(self):
        """A copy of the settings that made it."""
        return Config(_address=create(library.tsr_config_copy, library.tsr_model_config(self._handle)))

    @property
    def shape(self):
        """Of one input: (channels, height, width)."""
        info = self._info
        return info.channels, info.height, info.width

    @property
    def classes(self):
        """Names of the classes; None for real targets."""
        info = self._info
        if not info.classes:
            return None
        if not info.class_name:
            return [str(i) for i in range(info.classes)]
        return [info.class_name[i].decode() for i in range(info.classes)]

    @property
    def numbers(self):
        """How many numbers its parameters have."""
        return self._info.numbers

    @property
    def flops(self):
        """Operations of one sample's forward pass."""
        return self._info.flops

    @property
    def accuracy(self):
        """On the test set of the run that made it; None for real targets, or when no run did."""
        return self.result.accuracy if self.result else None

    def frame(self):
        """The metrics of the run that made it as a pandas data frame."""
        import pandas
        return pandas.DataFrame(self.metrics)

    def __repr__(self):
        info = self._info
        what = f"{info.classes} classes" if info.classes else f"{info.outputs} targets"
        return f"<{self.config['model.name']}: {info.numbers} numbers in {info.params} parameters, {what}>"

    # ---- Parameters ----------------------------------------------------------------------

    def _params(self):
        for i in range(library.tsr_model_params(self._handle)):
            row = sized(header.tsr_param)
            call(library.tsr_model_param, ctypes.byref(row), self._handle, i)
            yield row

    def parameters(self):
        """A copy of every parameter: {name in PyTorch: numpy array}."""
        found = {}
        for row in self._params():
            values = view(row.values).copy()
            found[row.name.decode()] = values.astype(np.int64) if row.count else values
        return found

    def state_dict(self):
        """The parameters as torch tensors: ``module.load_state_dict(net.state_dict())``."""
        import torch
        return {name: torch.from_numpy(values) if values.ndim else torch.tensor(values.item())
                for name, values in self.parameters().items()}

    def load_state_dict(self, state, strict=True):
        """Writes parameters: a dictionary of arrays or tensors with PyTorch's names. All must fit, or nothing changes."""
        have = self.parameters()
        lacking, unknown = sorted(set(have) - set(state)), sorted(set(state) - set(have))
        if strict and (lacking or unknown):
            raise UsageError((f"there is no {lacking[0]} among the parameters given" if lacking else
                              f"the network has no parameter {unknown[0]}") + " (strict=False passes over that)")
        given = {}
        for name in have:
            if name in state:
                given[name] = numbers(state[name], name)
                if given[name].shape != have[name].shape:
                    raise UsageError(f"{name} has the shape {have[name].shape}, not {given[name].shape}")
        trial = create(library.tsr_model_copy, self._handle)
        try:
            for name, values in given.items():
                call(library.tsr_model_set, trial, name.encode(), ctypes.byref(describe(values)))
        except Exception:
            library.tsr_model_destroy(trial)
            raise
        old, self._address = self._address, trial
        self._forget()
        library.tsr_model_destroy(old)

    def _forget(self):
        for predictor in self.__dict__.get("_predictors", {}).values():
            predictor.close()
        self._predictors = {}

    # ---- Answers -------------------------------------------------------------------------

    def _predictor(self, answer, threads):
        key = (answer, threads)
        if key not in self._predictors:
            o = sized(header.tsr_predictor_options, answer=answer, threads=threads)
            self._predictors[key] = _Predictor(create(library.tsr_predictor_create, self._handle, ctypes.byref(o)))
        return self._predictors[key]

    def _answers(self, x, answer, lengths, threads):
        p = self._predictor(answer, threads)
        array = numbers(x, "x")
        c, length = describe(array), None
        if lengths is not None:
            lengths = numbers(lengths, "lengths")
            length = ctypes.byref(describe(lengths))
        out = np.empty((array.shape[0] if array.ndim else 0, library.tsr_predictor_width(p._handle)), np.float32)
        call(library.tsr_predictor_run, out.ctypes.data_as(ctypes.POINTER(ctypes.c_float)), p._handle, ctypes.byref(c), length)
        return out

    def outputs(self, x, lengths=None, threads=1):
        """What the network gives for each sample [n, outputs]; real targets in their own units."""
        return self._answers(x, header.TSR_OUTPUTS, lengths, threads)

    def predict_proba(self, x, lengths=None, threads=1):
        """Probabilities of the classes [n, classes]."""
        if self.classes is None:
            raise UsageError("the network predicts real targets: it has no probabilities")
        return self._answers(x, header.TSR_PROBABILITIES, lengths, threads)

    def predict(self, x, lengths=None, threads=1):
        """The class of each sample, as a number, or its real targets."""
        if self.classes is None:
            found = self.outputs(x, lengths, threads)
            return found[:, 0] if found.shape[1] == 1 else found
        return self._answers(x, header.TSR_PROBABILITIES, lengths, threads).argmax(1)

    __call__ = outputs

    def evaluate(self, x, y=None, **how):
        """How good it is on a data set (its test part), or on x and y."""
        made = x if isinstance(x, Data) else make_data(x, y, **({"classes": self.classes} if y is not None and _words(y) else {}), **how)
        result = sized(header.tsr_result)
        call(library.tsr_model_judge, ctypes.byref(result), self._handle, made._handle)
        return Result(result)

    # ---- Files ---------------------------------------------------------------------------

    def save(self, path):
        """Writes the model file, whole or not at all."""
        call(library.tsr_model_write, self._handle, utf8(path))

    def to_bytes(self):
        """The bytes of its model file."""
        out, n = ctypes.c_void_p(), ctypes.c_int64()
        call(library.tsr_model_bytes, ctypes.byref(out), ctypes.byref(n), self._handle)
        try:
            return ctypes.string_at(out.value, n.value)
        finally:
            library.tsr_free(out)

    def export_onnx(self, path, fold=False, transform=False):
        """Writes it as an ONNX file (docs/export.md); returns what was written. fold: norms into convolutions; transform:
        the scaling of the inputs as nodes."""
        o, made = sized(header.tsr_onnx_options, fold=fold, transform=transform), sized(header.tsr_onnx_made)
        call(library.tsr_export_onnx, ctypes.byref(made), utf8(path), self._handle, ctypes.byref(o))
        return {name: getattr(made, name) for name, _ in made._fields_ if name != "size"}

    def copy(self):
        return Model(create(library.tsr_model_copy, self._handle))

    def __getstate__(self):
        return {"bytes": self.to_bytes(), "metrics": self.metrics, "result": self.result}

    def __setstate__(self, state):
        self.__init__(_parse(state["bytes"]))
        self.metrics, self.result = state["metrics"], state["result"]

    def close(self):
        """Ends it and what it answers with."""
        if "_predictors" in self.__dict__:
            self._forget()
        super().close()

    # ---- Tickets -------------------------------------------------------------------------

    def prune(self, ratio=0.5, **how):
        """A ticket: a network that really is smaller, by the ratio of units that go. docs/tickets.md has the options:
        criterion, axes, round_to, seed, reinit, recalibrate; global_ is one ranking over all layers."""
        o = sized(header.tsr_prune_options, ratio=ratio, criterion=b"l2", round_to=1, seed=1)
        for name, value in how.items():
            field = name.rstrip("_")
            if field not in dict(header.tsr_prune_options._fields_) or field == "size":
                raise UsageError(f"prune has no option {name}")
            setattr(o, field, value.encode() if isinstance(value, str) else value)
        return Model(create(library.tsr_model_prune, self._handle, ctypes.byref(o)))

    def scores(self, axis, criterion="l2"):
        """One number for each unit of an axis; tickets keep the largest."""
        out, n = ctypes.POINTER(ctypes.c_double)(), ctypes.c_int64()
        call(library.tsr_model_scores, ctypes.byref(out), ctypes.byref(n), self._handle, utf8(axis), utf8(criterion))
        try:
            return np.array(out[:n.value])
        finally:
            library.tsr_free(ctypes.cast(out, ctypes.c_void_p))

    def convert(self, to_relu=True, least_squares=False):
        """The ReLU network that equals a gated one on every training point of its settings' data, or the way back:
        (network, what it came to)."""
        c = sized(header.tsr_conversion)
        made = Model(create(library.tsr_model_convert, ctypes.byref(c), self._handle, to_relu, least_squares))
        return made, {name: getattr(c, name) for name, _ in c._fields_ if name != "size"}

    def finetune(self, x=None, y=None, epochs=0, lr=0.0, **how):
        """Trains it further, dense and in one process; epochs and lr as in its own run where they are 0."""
        from .training import train
        config = self.config
        call(library.tsr_config_finetune, config._handle, epochs, lr)
        return train(config, x, y, start=self, **how)

    def distance(self, other):
        """LoFT's filter distance to another network: [(layer, distance, relative)]."""
        out, n = ctypes.POINTER(header.tsr_layer_distance)(), ctypes.c_int64()
        call(library.tsr_model_distance, ctypes.byref(out), ctypes.byref(n), self._handle, other._handle)
        try:
            return [(out[i].layer.decode(), out[i].distance, out[i].relative) for i in range(n.value)]
        finally:
            library.tsr_free(ctypes.cast(out, ctypes.c_void_p))


def _words(y):
    return np.asarray(y).dtype.kind in "OUS" if not hasattr(y, "detach") else False


def _parse(content):
    return create(library.tsr_model_parse, ctypes.cast(ctypes.c_char_p(content), ctypes.c_void_p), len(content))


def load(path):
    """A model from its file, or from the bytes of one."""
    if isinstance(path, (bytes, bytearray, memoryview)):
        return Model(_parse(bytes(path)))
    return Model(create(library.tsr_model_read, utf8(path)))


def import_network(path, model=None, *, side=0, classes=0, seed=1, names=None, mean=None, deviation=None):
    """A PyTorch checkpoint or safetensors file of a known network (docs/import.md); nothing in it is executed."""
    o = sized(header.tsr_import_options, model=utf8(model), side=side, classes=classes, seed=seed, names=utf8(names))
    if mean is not None:
        if deviation is None or len(mean) != len(deviation) or len(mean) > 4:
            raise UsageError("mean and deviation have one number for each channel, at most four")
        o.channels = len(mean)
        o.mean[:len(mean)], o.deviation[:len(mean)] = mean, deviation
    return Model(create(library.tsr_import, utf8(path), ctypes.byref(o)))


def model(name, like=None, *, shape=None, outputs=None, classes=True, **settings):
    """A network with its first weights: ``model("mlp", like=data, hidden=[64])``, or for inputs of a shape
    (channels, height, width) that are not scaled: ``model("preresnet18", shape=(3, 32, 32), outputs=10)``."""
    config = name.copy() if isinstance(name, Config) else Config({"model.name": name})
    config.update(settings)
    if like is not None:
        return Model(create(library.tsr_model_create, config._handle, like._handle))
    if shape is None or outputs is None:
        raise UsageError("a network needs data to be like, or a shape and a number of outputs")
    three = (tuple(shape) + (1, 1))[:3] if len(shape) < 3 else tuple(shape)
    return Model(create(library.tsr_model_build, config._handle, (ctypes.c_int64 * 3)(*three), outputs, classes))
