"""Data sets: arrays, files and the sets that Tessera knows by name."""
import ctypes

import numpy as np

from . import _header as header
from .arrays import as_numpy, describe, numbers, view
from .config import Config
from ._library import Handle, call, create, library, sized, utf8
from .errors import UsageError

_FORMS = {None: header.TSR_FORM_AUTO, "vectors": header.TSR_VECTORS, "images": header.TSR_IMAGES,
          "sequences": header.TSR_SEQUENCES}


def _columns(x):
    """The names of a data frame's columns, and its numbers."""
    if hasattr(x, "columns") and hasattr(x, "to_numpy"):
        words = [str(c) for c, kind in zip(x.columns, x.dtypes) if kind == object or str(kind) in ("category", "string")]
        if words:
            raise UsageError(f"column {words[0]} of the data frame holds words: turn words into numbers first, or give the "
                             f"table as a CSV file, whose columns are recognised")
        return [str(c) for c in x.columns], x.to_numpy()
    return None, x


def _labels(y, classes):
    """Words become classes by their sorted order: (numbers, names)."""
    y = as_numpy(y, "y")
    if y.dtype.kind not in "OUS":
        return y, classes
    if classes is None:
        classes = sorted(set(y.ravel().tolist()))
    place = {name: i for i, name in enumerate(classes)}
    unknown = next((v for v in y.ravel().tolist() if v not in place), None)
    if unknown is not None:
        raise UsageError(f"y holds {unknown!r}, which is none of the classes")
    return np.array([place[v] for v in y.ravel().tolist()], np.int64).reshape(y.shape), classes


class Data(Handle):
    """Samples for training and testing. Made by :func:`tessera.data`."""

    _destroy = "tsr_data_destroy"

    def __init__(self, address, keep=()):
        super().__init__(address)
        self._keep = keep  # memory that the library borrows
        self._info = sized(header.tsr_data_info)
        call(library.tsr_data_look, ctypes.byref(self._info), self._handle)

    def __len__(self):
        return self._info.n

    @property
    def name(self):
        return self._info.name.decode()

    @property
    def shape(self):
        """Of one sample: (channels, height, width); vectors have their numbers as channels."""
        return self._info.channels, self._info.height, self._info.width

    @property
    def classes(self):
        """Names of the classes; None for real targets."""
        if not self._info.classes:
            return None
        if not self._info.class_name:
            return [str(i) for i in range(self._info.classes)]
        return [self._info.class_name[i].decode() for i in range(self._info.classes)]

    def _array(self, name):
        self._handle  # still open
        found = view(getattr(self._info, name))
        return None if found is None else found.copy()

    @property
    def x(self):
        """A copy of the inputs for training; test_x, y and test_y likewise. None where there are none."""
        return self._array("x")

    @property
    def y(self):
        return self._array("y")

    @property
    def test_x(self):
        return self._array("test_x")

    @property
    def test_y(self):
        return self._array("test_y")

    def __repr__(self):
        kind = f"{self._info.classes} classes" if self._info.classes else f"{self._info.targets} targets"
        return f"<data {self.name}: {self._info.n} samples of {self.shape} for training, {self._info.test_n} for testing, {kind}>"


def data(x, y=None, test_x=None, test_y=None, *, form=None, lengths=None, test_lengths=None, classes=None, regress=False,
         name=None, target=None, columns=None, missing=False, copy=True, **settings):
    """A data set from arrays, from a file, or by its name.

    ``data(x, y)``: numpy or torch arrays, data frames, lists; samples first. Two dimensions are vectors, four images
    [n, channels, height, width] (three with ``form="images"``), sequences are [n, positions, numbers] with
    ``form="sequences"``. y: whole numbers from 0 or words are classes (``regress=True``: whole numbers are targets, too),
    other numbers targets. With ``copy=False`` arrays in C's order (inputs of float32 or uint8) are used where they lie.

    ``data("glyphs", n=2000)``, ``data("table.csv", target="price")``: as in a run file, with the keys of its ``data:``
    section as arguments.
    """
    if isinstance(x, str) or hasattr(x, "__fspath__"):
        return _named(x, y, settings | ({"target": target} if target else {}))
    if settings:
        raise UsageError(f"{next(iter(settings))} is not for arrays")
    if form not in _FORMS:
        raise UsageError(f"form is None, vectors, images or sequences, not {form!r}")
    found, x = _columns(x)
    _, test_x = _columns(test_x)
    classes = list(classes) if classes is not None else None
    names = classes
    if y is None:
        raise UsageError("y is missing: what the samples are to be trained for")
    y, names = _labels(y, names)
    if test_y is not None:
        test_y, _ = _labels(test_y, names)
    o = sized(header.tsr_data_options, name=utf8(name), form=_FORMS[form], regress=regress, target=utf8(target),
              missing=missing, borrow=not copy, classes=len(names) if names else 0)
    keep = []
    for field, values in (("x", x), ("y", y), ("test_x", test_x), ("test_y", test_y), ("length", lengths),
                          ("test_length", test_lengths)):
        if values is not None:
            array = numbers(values, field)
            keep.append(array)
            setattr(o, field, describe(array))
    for field, words in (("class_name", names), ("column", columns or found)):
        if words is not None:
            texts = (ctypes.c_char_p * len(words))(*(str(w).encode() for w in words))
            keep.append(texts)
            setattr(o, field, ctypes.cast(texts, ctypes.POINTER(ctypes.c_char_p)))
    if columns or found:
        if len(columns or found) != (numbers(x, "x").shape[-1] if np.ndim(x) else 0):
            raise UsageError(f"{len(columns or found)} names for columns, but x has {np.shape(x)[-1]}")
    return Data(create(library.tsr_data_create, ctypes.byref(o)), keep if not copy else ())


def _named(name, y, settings):
    if y is not None:
        raise UsageError("a file or a named data set brings its own y")
    config = Config()
    is_path = hasattr(name, "__fspath__") or "/" in name or "." in name
    config["data.path" if is_path else "data.name"] = str(name)
    for key, value in settings.items():
        config["data." + key] = value
    return Data(create(library.tsr_data_read, config._handle))
