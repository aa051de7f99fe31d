"""Networks: parameters as arrays, predictions, files, tickets."""
from __future__ import annotations

import ctypes
import math
import os
import re
import tempfile
import threading
from typing import Any, Iterator, Mapping, Sequence

import numpy as np

from . import _header as header
from . import frames
from . import _library
from .arrays import as_numpy, describe, inputs, numbers, view
from .config import Config
from .data import Data, data as make_data
from ._library import Address, Handle, ask, call, create, library, sized, utf8
from .errors import UsageError


class Result:
    """How good a network is on some samples: loss, accuracy (or rmse of real targets), n."""

    def __init__(self, c: Any) -> None:
        self.n, self.loss, self.seconds, self.rounds = c.n, c.loss, c.seconds, c.rounds
        self.accuracy: float | None = None if math.isnan(c.accuracy) else c.accuracy
        self.rmse: float | None = None if math.isnan(c.rmse) else c.rmse
        self.bytes_total: int = c.bytes_total

    def __repr__(self) -> str:
        how = "" if self.rmse is None else f", rmse {self.rmse:.4g}"
        if self.accuracy is not None:
            how = f", accuracy {100 * self.accuracy:.2f} %"
        return f"<loss {self.loss:.4g}{how} on {self.n} samples>"


class _Predictor(Handle):
    _kind, _shared, _survives_fork = "tsr_predictor", True, False


class Model(Handle):
    """A network with its numbers, the scaling of its inputs and the settings that made it.

    From :func:`tessera.train`, :func:`tessera.load`, :func:`tessera.model`. Safe to predict with from several threads.
    """

    _kind, _made_by = "tsr_model", "tessera.train, tessera.load or tessera.model"

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self._predictors: dict[tuple, _Predictor] = {}
        self._making = threading.Lock()
        self.metrics: dict[str, np.ndarray] = {}   # of the run that made it: column -> array
        self.result: Result | None = None          # likewise: on its test set

    # ---- What it is ----------------------------------------------------------------------

    @property
    def _info(self) -> Any:
        info = sized(header.tsr_model_info)
        info.owners.append(self._open())  # its texts are the model's
        call(library.tsr_model_look, ctypes.byref(info), info.owners[0])
        return info

    @property
    def config(self) -> Config:
        """A copy of the settings that made it."""
        owner = self._open()
        with owner.lock:
            return Config(_address=create(library.tsr_config_copy, Address(ask(library.tsr_model_config, owner))))

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of one input: (channels, height, width)."""
        info = self._info
        return info.channels, info.height, info.width

    @property
    def classes(self) -> list[str] | None:
        """Names of the classes, in the order of the outputs; None for real targets."""
        info = self._info
        if not info.classes:
            return None
        if not info.class_name:
            return [str(i) for i in range(info.classes)]
        return [info.class_name[i].decode() for i in range(info.classes)]

    @property
    def columns(self) -> list[str] | None:
        """Names of the columns it was trained on; None where they had none. Data frames are matched by them."""
        import json
        found = json.loads(self._schema or "{}").get("columns") or []
        return [c["name"] for c in found] if found and found[0]["name"] is not None else None

    @property
    def _schema(self) -> str | None:
        return self._meta("tessera.schema")

    def _meta(self, key: str) -> str | None:
        """What its file says under a key."""
        owner = self._open()
        with owner.lock:
            text = ask(library.tsr_model_meta, owner, utf8(key))
        return text.decode("utf-8", "replace") if text is not None else None

    @property
    def numbers(self) -> int:
        """How many numbers its parameters have."""
        return self._info.numbers

    @property
    def flops(self) -> float:
        """Operations of one sample's forward pass."""
        return self._info.flops

    @property
    def accuracy(self) -> float | None:
        """On the test set of the run that made it; None for real targets, or when no run did."""
        return self.result.accuracy if self.result else None

    def frame(self) -> Any:
        """The metrics of the run that made it as a pandas data frame."""
        import pandas
        return pandas.DataFrame(self.metrics)

    def __repr__(self) -> str:
        info = self._info
        what = f"{info.classes} classes" if info.classes else f"{info.outputs} targets"
        return f"<{self.config['model.name']}: {info.numbers} numbers in {info.params} parameters, {what}>"

    # ---- Parameters ----------------------------------------------------------------------

    @staticmethod
    def _params(owner: Any) -> Iterator[Any]:
        for i in range(ask(library.tsr_model_params, owner)):
            row = sized(header.tsr_param)
            call(library.tsr_model_param, ctypes.byref(row), owner, i)
            yield row

    def parameters(self, copy: bool = True) -> dict[str, np.ndarray]:
        """Every parameter: {name in PyTorch: numpy array}. With copy=False they are views, to be read, of the model's own
        memory, which they keep."""
        owner, found = self._open(), {}
        with owner.lock:
            for row in self._params(owner):
                values = view(row.values, owner)
                if copy:
                    values = values.astype(np.int64) if row.count else values.copy()
                found[row.name.decode()] = values
        return found

    def state_dict(self) -> dict[str, Any]:
        """The parameters as torch tensors: ``module.load_state_dict(net.state_dict())``."""
        import torch
        return {name: torch.from_numpy(values) if values.ndim else torch.tensor(values.item())
                for name, values in self.parameters().items()}

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True) -> None:
        """Writes parameters: a dictionary of arrays or tensors with PyTorch's names. All must fit, or nothing changes."""
        if not hasattr(state, "keys"):
            raise UsageError(f"a state_dict is a dictionary of names and arrays, not {type(state).__name__}")
        have = self.parameters()
        lacking, unknown = sorted(set(have) - set(state)), sorted(map(str, set(state) - set(have)))
        if strict and (lacking or unknown):
            raise UsageError((f"there is no {lacking[0]} among the parameters given" if lacking else
                              f"the network has no parameter {unknown[0]}") + " (strict=False passes over that)")
        given = {}
        for name in have:
            if name in state:
                given[name] = numbers(state[name], name)
                if given[name].shape != have[name].shape:
                    raise UsageError(f"{name} has the shape {have[name].shape}, not {given[name].shape}")
        trial = Model(create(library.tsr_model_copy, self))
        for name, values in given.items():
            call(library.tsr_model_set, trial, name.encode(), ctypes.byref(describe(values)))
        self._owner = trial._owner
        self._forget()

    def _forget(self) -> None:
        self._predictors = {}

    # ---- Answers -------------------------------------------------------------------------

    def _predictor(self, answer: int, threads: int, missing: bool = False) -> _Predictor:
        """Made once for each kind of answer, and again in the child of a fork, which has no threads of its parent's."""
        key = (answer, threads, missing, _library._process)
        found, made_for = self._predictors, self._open()
        if key not in found:
            with self._making:
                if key not in found:
                    o = sized(header.tsr_predictor_options, answer=answer, threads=threads, missing=missing)
                    found[key] = _Predictor(create(library.tsr_predictor_create, self, ctypes.byref(o)))
        del made_for
        return found[key]

    def _inputs(self, x: Any, missing: bool) -> tuple[np.ndarray, bool]:
        """Numbers of x as training had them: a data frame's columns are found by name."""
        if not frames.is_frame(x):
            return inputs(x, "x"), missing
        schema = self._schema
        return numbers(frames.inputs(x, schema), "x"), missing or bool(schema and '"words":[' in schema.replace(" ", ""))

    def _answers(self, x: Any, answer: int, lengths: Any, threads: int, missing: bool) -> np.ndarray:
        array, missing = self._inputs(x, missing)
        p = self._predictor(answer, threads, missing)
        width = ask(library.tsr_predictor_width, p)
        if array.ndim and array.shape[0] == 0:
            return np.empty((0, width), np.float32)
        c, length = describe(array), None
        if lengths is not None:
            lengths = numbers(lengths, "lengths")
            length = ctypes.byref(describe(lengths))
        out = np.empty((array.shape[0] if array.ndim else 0, width), np.float32)
        call(library.tsr_predictor_run, out.ctypes.data_as(ctypes.POINTER(ctypes.c_float)), p, ctypes.byref(c), length)
        return out

    def outputs(self, x: Any, lengths: Any = None, threads: int = 1, missing: bool = False) -> np.ndarray:
        """What the network gives for each sample [n, outputs]; real targets in their own units. A data frame's columns are
        matched with those of the training by name. missing: NaN is filled in as in training."""
        return self._answers(x, header.TSR_OUTPUTS, lengths, threads, missing)

    def predict_proba(self, x: Any, lengths: Any = None, threads: int = 1, missing: bool = False) -> np.ndarray:
        """Probabilities of the classes [n, classes], in the order of ``classes``."""
        if self.classes is None:
            raise UsageError("the network predicts real targets: it has no probabilities")
        return self._answers(x, header.TSR_PROBABILITIES, lengths, threads, missing)

    def predict(self, x: Any, lengths: Any = None, threads: int = 1, missing: bool = False) -> np.ndarray:
        """The class of each sample: its number, where classes are numbers, else its place in ``classes``. Or its real
        targets."""
        names = self.classes
        if names is None:
            found = self.outputs(x, lengths, threads, missing)
            return found[:, 0] if found.shape[1] == 1 else found
        place = self._answers(x, header.TSR_PROBABILITIES, lengths, threads, missing).argmax(1)
        values = [int(n) for n in names if re.fullmatch(r"-?\d{1,18}", n)]
        return np.array(values)[place] if len(set(values)) == len(names) else place  # 01 and 1 are two classes

    __call__ = outputs

    def evaluate(self, x: Any, y: Any = None, **how: Any) -> Result:
        """How good it is on a data set (its test part), on x and y, or on a data frame with its ``target="price"``."""
        made = x if isinstance(x, Data) else self._test_data(x, y, how)
        result = sized(header.tsr_result)
        call(library.tsr_model_judge, ctypes.byref(result), self, made)
        return Result(result)

    def _test_data(self, x: Any, y: Any, how: dict[str, Any]) -> Data:
        """Samples to be judged on: classes are this network's, a data frame's columns its own."""
        if frames.is_frame(x) and y is None and how.get("target") is not None:
            return make_data(x, **{"task": "regress" if self.classes is None else "classify"} | how)
        if frames.is_frame(x):
            x = frames.inputs(x, self._schema)
        if y is not None and not isinstance(y, str):
            kind = as_numpy(y, "y").dtype.kind
            if self.classes is None:
                how = ({"regress": True} if kind in "iub" else {}) | how  # whole numbers are targets here
            elif kind in "OUS":
                how = {"classes": self.classes} | how
            elif kind == "f":
                how = {"regress": False} | how  # 0.0 and 1.0 are classes here
        return make_data(x, y, **how)

    # ---- Files ---------------------------------------------------------------------------

    def save(self, path: Any) -> None:
        """Writes the model file, whole or not at all."""
        call(library.tsr_model_write, self, utf8(path))

    def to_bytes(self) -> bytes:
        """The bytes of its model file."""
        out, n = ctypes.c_void_p(), ctypes.c_int64()
        call(library.tsr_model_bytes, ctypes.byref(out), ctypes.byref(n), self)
        try:
            return ctypes.string_at(out.value, n.value)
        finally:
            library.tsr_free(out)

    def export_onnx(self, path: Any, fold: bool = False, transform: bool = False) -> dict[str, int]:
        """Writes it as an ONNX file (docs/export.md); returns what was written. fold: norms into convolutions; transform:
        the scaling of the inputs as nodes."""
        o, made = sized(header.tsr_onnx_options, fold=fold, transform=transform), sized(header.tsr_onnx_made)
        call(library.tsr_export_onnx, ctypes.byref(made), utf8(path), self, ctypes.byref(o))
        return {name: getattr(made, name) for name, _ in made._fields_ if name != "size"}

    def onnx_speed(self, beside: Model | None = None, batch: int = 1, threads: int = 1, seconds: float = 3.0,
                   fold: bool = False, runtime: Any = None) -> dict[str, Any]:
        """How fast it is here and, where it is installed, in ONNX Runtime, in turns; `runtime` names its library. Numbers of
        this network and of the one beside it; NaN: not measured."""
        place = runtime or os.environ.get("TESSERA_ONNXRUNTIME") or "libonnxruntime.so.1"
        o = sized(header.tsr_onnx_speed_options, library=utf8(place), beside=beside, batch=batch, threads=threads,
                  seconds=seconds, fold=fold)
        found = sized(header.tsr_onnx_speed)
        call(library.tsr_onnx_measure, ctypes.byref(found), self, ctypes.byref(o))
        rows = {name: getattr(found, name) for name, _ in found._fields_ if name != "size"}
        return {k: v.decode() if isinstance(v, bytes) else list(v) if hasattr(v, "__len__") else v for k, v in rows.items()}

    def copy(self) -> Model:
        """One of its own with the same numbers."""
        return Model(create(library.tsr_model_copy, self))

    def __reduce__(self) -> Any:
        return _restore, (self.to_bytes(), self.metrics, self.result)

    def close(self) -> None:
        """Ends it and what it answers with."""
        if "_predictors" in self.__dict__:
            self._forget()
        super().close()

    # ---- Tickets -------------------------------------------------------------------------

    def prune(self, ratio: float = 0.5, **how: Any) -> Model:
        """A ticket: a network that really is smaller, by the ratio of units that go. docs/tickets.md has the options:
        criterion, axes, round_to, seed, reinit, recalibrate; global_ is one ranking over all layers; measure="ops", keep=0.3
        finds the ratio."""
        options = {"ratio": ratio, "criterion": "l2", "round_to": 1, "seed": 1}
        if how.get("keep") and not how.get("measure"):
            raise UsageError("keep is what is to be left of the params, the ops or the time: name one of them (measure='ops')")
        for name, value in how.items():
            field = name.rstrip("_")
            if field not in dict(header.tsr_prune_options._fields_) or field == "size":
                raise UsageError(f"prune has no option {name}")
            options[field] = value
        o = sized(header.tsr_prune_options, **{k: utf8(v) if isinstance(v, str) else v for k, v in options.items()})
        return Model(create(library.tsr_model_prune, self, ctypes.byref(o)))

    def scores(self, axis: str, criterion: str = "l2") -> np.ndarray:
        """One number for each unit of an axis; tickets keep the largest."""
        out, n = ctypes.POINTER(ctypes.c_double)(), ctypes.c_int64()
        call(library.tsr_model_scores, ctypes.byref(out), ctypes.byref(n), self, utf8(axis), utf8(criterion))
        try:
            return np.array(out[:n.value])
        finally:
            library.tsr_free(ctypes.cast(out, ctypes.c_void_p))

    def convert(self, to_relu: bool = True, least_squares: bool = False) -> tuple[Model, dict[str, Any]]:
        """The ReLU network that equals a gated one on every training point of its settings' data, or the way back:
        (network, what it came to)."""
        c = sized(header.tsr_conversion)
        made = Model(create(library.tsr_model_convert, ctypes.byref(c), self, to_relu, least_squares))
        return made, {name: getattr(c, name) for name, _ in c._fields_ if name != "size"}

    def finetune(self, x: Any = None, y: Any = None, epochs: int = 0, lr: float = 0.0, **how: Any) -> Model:
        """Trains it further, dense and in one process; epochs and lr as in its own run where they are 0."""
        from .training import train
        config = self.config
        call(library.tsr_config_finetune, config, epochs, lr)
        return train(config, x, y, start=self, **how)

    def distance(self, other: Model) -> list[tuple[str, float, float]]:
        """LoFT's filter distance to another network: [(layer, distance, relative)]."""
        out, n = ctypes.POINTER(header.tsr_layer_distance)(), ctypes.c_int64()
        owner = self._open()  # has the names of the layers
        call(library.tsr_model_distance, ctypes.byref(out), ctypes.byref(n), owner, other)
        try:
            return [(out[i].layer.decode(), out[i].distance, out[i].relative) for i in range(n.value)]
        finally:
            library.tsr_free(ctypes.cast(out, ctypes.c_void_p))
            del owner


def _parse(content: bytes) -> Address:
    return create(library.tsr_model_parse, ctypes.cast(ctypes.c_char_p(content), ctypes.c_void_p), len(content))


def _restore(content: bytes, metrics: dict[str, np.ndarray], result: Result | None) -> Model:
    """A model that was pickled."""
    made = Model(_parse(content))
    made.metrics, made.result = metrics, result
    return made


def load(path: Any) -> Model:
    """A model from its file, or from the bytes of one."""
    if isinstance(path, (bytes, bytearray, memoryview)):
        return Model(_parse(bytes(path)))
    return Model(create(library.tsr_model_read, utf8(path)))


def import_network(source: Any, model: str | None = None, *, side: int = 0, classes: int = 0, seed: int = 1,
                   names: Any = None, mean: Sequence[float] | None = None, deviation: Sequence[float] | None = None) -> Model:
    """A network of PyTorch's: the path of a checkpoint or safetensors file, of which nothing is executed, a state_dict, or
    a module (docs/import.md lists those that are known).

    mean, deviation: of pixels in 0 .. 1; they are taken off whatever the network is shown, pixels of 0 .. 255. Without them it
    takes real numbers as they are, as the module does, and divides bytes by 255. (The program takes ImageNet's by default.)
    """
    if hasattr(source, "state_dict"):
        source = source.state_dict()
    if isinstance(source, Mapping):
        import torch
        with tempfile.TemporaryDirectory(prefix="tessera-") as folder:
            torch.save({name: torch.from_numpy(np.array(v)) if isinstance(v, np.ndarray) else v for name, v in source.items()},
                       folder + "/state_dict.pth")
            return import_network(folder + "/state_dict.pth", model, side=side, classes=classes, seed=seed, names=names,
                                  mean=mean, deviation=deviation)
    o = sized(header.tsr_import_options, model=utf8(model), side=side, classes=classes, seed=seed, names=utf8(names))
    if mean is not None or deviation is not None:
        if mean is None or deviation is None or len(mean) != len(deviation) or len(mean) > 4:
            raise UsageError("mean and deviation have one number for each channel, at most four")
        o.channels = len(mean)
        o.mean[:len(mean)], o.deviation[:len(mean)] = mean, deviation
    return Model(create(library.tsr_import, utf8(source), ctypes.byref(o)))


def model(name: Any, like: Data | None = None, *, shape: Sequence[int] | None = None, outputs: int | None = None,
          classes: bool = True, **settings: Any) -> Model:
    """A network with its first weights: ``model("mlp", like=data, hidden=[64])``, or for inputs of a shape
    (channels, height, width) that are not scaled: ``model("preresnet18", shape=(3, 32, 32), outputs=10)``."""
    config = name.copy() if isinstance(name, Config) else Config({"model.name": name})
    config.update(settings)
    if like is not None:
        return Model(create(library.tsr_model_create, config, like))
    if shape is None or outputs is None:
        raise UsageError("a network needs data to be like, or a shape and a number of outputs")
    if not 1 <= len(tuple(shape)) <= 3:
        raise UsageError(f"a shape is (numbers,) or (channels, height, width), not {tuple(shape)}")
    three = (tuple(shape) + (1, 1))[:3]
    if not all(isinstance(s, (int, np.integer)) and 0 < s < 2 ** 31 for s in three):
        raise UsageError(f"a shape has whole numbers above 0, not {tuple(shape)}")
    return Model(create(library.tsr_model_build, config, (ctypes.c_int64 * 3)(*map(int, three)), outputs, classes))
