"""Data sets: arrays, data frames, files and the sets that Tessera knows by name."""
from __future__ import annotations

import ctypes
from typing import Any, Sequence

import numpy as np

from . import _header as header
from . import frames
from .arrays import as_numpy, describe, inputs, is_missing, numbers, view
from .config import Config
from ._library import Address, Handle, call, create, library, sized, utf8, warn
from .errors import UsageError

_FORMS = {None: header.TSR_FORM_AUTO, "vectors": header.TSR_VECTORS, "images": header.TSR_IMAGES,
          "sequences": header.TSR_SEQUENCES}
_FEW = 20  # different whole numbers that may well be classes


class Data(Handle):
    """Samples for training and testing. Made by :func:`tessera.data`."""

    _kind, _made_by = "tsr_data", "tessera.data"

    def __init__(self, address: Address, keep: Sequence[Any] = ()) -> None:
        super().__init__(address)
        self._open().keep = keep  # memory that the library borrows, as long as it does
        self._info = sized(header.tsr_data_info)
        call(library.tsr_data_look, ctypes.byref(self._info), self)

    def __len__(self) -> int:
        return self._info.n

    @property
    def name(self) -> str:
        """What it is called in messages."""
        self._open()
        return self._info.name.decode()

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of one sample: (channels, height, width); vectors have their numbers as channels."""
        return self._info.channels, self._info.height, self._info.width

    @property
    def classes(self) -> list[str] | None:
        """Names of the classes; None for real targets."""
        self._open()
        if not self._info.classes:
            return None
        if not self._info.class_name:
            return [str(i) for i in range(self._info.classes)]
        return [self._info.class_name[i].decode() for i in range(self._info.classes)]

    def _array(self, name: str) -> np.ndarray | None:
        return view(getattr(self._info, name), self._open())

    @property
    def x(self) -> np.ndarray | None:
        """The inputs for training, where they lie: to be read. None where there are none; y, test_x, test_y likewise."""
        return self._array("x")

    @property
    def y(self) -> np.ndarray | None:
        """Classes or targets for training."""
        return self._array("y")

    @property
    def test_x(self) -> np.ndarray | None:
        """The inputs for testing."""
        return self._array("test_x")

    @property
    def test_y(self) -> np.ndarray | None:
        """Classes or targets for testing."""
        return self._array("test_y")

    def __repr__(self) -> str:
        kind = f"{self._info.classes} classes" if self._info.classes else f"{self._info.targets} targets"
        return f"<data {self.name}: {self._info.n} samples of {self.shape} for training, {self._info.test_n} for testing, {kind}>"


# ---- What is to be learnt ------------------------------------------------------------------------


def _words(y: np.ndarray, what: str) -> list[Any]:
    """The cells of an array of words, or of objects."""
    try:
        cells = [c.decode() if isinstance(c, bytes) else c for c in y.ravel().tolist()]
        "".join(c for c in cells if isinstance(c, str)).encode()
    except UnicodeError as problem:  # two words may differ in such a character alone
        raise UsageError(f"{what} has a word that is not UTF-8 ({problem}): decode it first") from None
    missing = next((i for i, c in enumerate(cells) if is_missing(c)), None)
    if missing is not None:
        raise UsageError(f"{what}: sample {missing} has no value: leave it out")
    return cells


def labels(y: Any, classes: list[Any] | None, what: str) -> tuple[np.ndarray, list[Any] | None]:
    """Words become classes by their sorted order: (numbers, names). Numbers stay what they are."""
    y = as_numpy(y, what)
    if y.dtype.kind not in "OUS":
        return y, classes
    cells = _words(y, what)
    if not any(isinstance(c, str) for c in cells):
        return numbers(cells, what).reshape(y.shape), classes  # numbers in an array of objects
    other = next((c for c in cells if not isinstance(c, str)), None)
    if other is not None:
        raise UsageError(f"{what} has words and other things: {other!r} is a {type(other).__name__}")
    classes = sorted(set(cells)) if classes is None else [str(c) for c in classes]
    place = {name: i for i, name in enumerate(classes)}
    unknown = next((c for c in cells if c not in place), None)
    if unknown is not None:
        raise UsageError(f"{what} holds {unknown!r}, which is none of the classes {', '.join(classes[:8])}")
    return np.array([place[c] for c in cells], np.int64).reshape(y.shape), classes


def _same_kind(y: Any, test_y: Any) -> None:
    """Words are classes by their sorted order, numbers by their own: of two kinds nobody could say which class is which."""
    kinds = ["words" if a.dtype.kind in "US" or (a.dtype.kind == "O" and any(isinstance(c, (str, bytes)) for c in a.ravel()))
             else "numbers" for a in (as_numpy(y, "y"), as_numpy(test_y, "test_y"))]
    if kinds[0] != kinds[1]:
        raise UsageError(f"y holds {kinds[0]} and test_y {kinds[1]}: give both in one form")


def _whole(y: np.ndarray) -> bool:
    return bool(y.size) and bool(np.all(np.isfinite(y))) and bool(np.all(y == np.round(y)))


def _wanted(y: np.ndarray, regress: bool | None, what: str) -> np.ndarray:
    """Real numbers are targets, unless they are said to be classes; those that look like classes are asked about."""
    y = numbers(y, what)
    if y.dtype.kind != "f":
        return y
    if regress is False:
        if not _whole(y):
            raise UsageError(f"{what} holds real numbers, which are not classes")
        return y.astype(np.int64)
    if regress is None and y.ndim == 1 and y.size > _FEW and _whole(y) and y.min() >= 0 and len(np.unique(y)) <= _FEW:
        warn(f"{what} has only {len(np.unique(y))} different whole numbers, but they are of a real type, and so "
             f"targets: give {what}.astype(int) or regress=False for classes, regress=True for targets")
    return y


# ---- Making one ----------------------------------------------------------------------------------


def data(x: Any, y: Any = None, test_x: Any = None, test_y: Any = None, *, form: str | None = None, lengths: Any = None,
         test_lengths: Any = None, classes: Sequence[Any] | None = None, regress: bool | None = None, name: str | None = None,
         target: str | None = None, columns: Sequence[str] | None = None, missing: bool = False, copy: bool = True,
         **settings: Any) -> Data:
    """A data set from arrays, from a data frame, from a file, or by its name.

    ``data(x, y)``: numpy or torch arrays, data frames, lists; samples first. Two dimensions are vectors, four images
    [n, channels, height, width] (three with ``form="images"``), sequences are [n, positions, numbers] with
    ``form="sequences"``. y: whole numbers or words are classes (``regress=True``: whole numbers are targets, too),
    other numbers targets (``regress=False``: whole ones of a real type are classes). With ``copy=False`` arrays in C's
    order (inputs of float32 or uint8) are used where they lie.

    ``data(frame, target="price")``: a data frame with words, dates and missing cells, read as a CSV file is;
    ``test_x`` may be another one. ``data("glyphs", n=2000)``, ``data("table.csv", target="price")``: as in a run file,
    with the keys of its ``data:`` section as arguments.
    """
    if isinstance(x, (str, bytes)) or hasattr(x, "__fspath__"):
        return _named(x, y, settings | ({"target": target} if target else {}))
    if frames.is_frame(x) and target is not None and y is None:
        return _frame(x, test_x, settings | {"target": target})
    if settings:
        raise UsageError(f"{next(iter(settings))} is not for arrays")
    if form not in _FORMS:
        raise UsageError(f"form is None, vectors, images or sequences, not {form!r}")
    if y is None:
        raise UsageError("y is missing: what the samples are to be trained for")
    if isinstance(y, str):
        raise UsageError(f"y is the text {y!r}: for a column of a data frame say target={y!r}")
    return _arrays({"x": x, "y": y, "test_x": test_x, "test_y": test_y, "length": lengths, "test_length": test_lengths},
                   columns, classes, regress, copy,
                   dict(name=utf8(name), form=_FORMS[form], regress=bool(regress), target=utf8(target), missing=bool(missing)))


def _frame_columns(given: dict[str, Any], columns: Sequence[str] | None) -> list[str] | None:
    """Frames become arrays; the test's columns are matched with the training's by name."""
    found = list(columns) if columns is not None else None
    if frames.is_frame(given["x"]):
        names, given["x"] = frames.numbers_of(given["x"], "x")
        if frames.is_frame(given["test_x"]):
            given["test_x"] = frames.numbers_of(frames.in_order(given["test_x"], names, "test_x"), "test_x")[1]
        found = found or names
    elif frames.is_frame(given["test_x"]):
        raise UsageError("test_x is a data frame and x is none: their columns cannot be matched by name")
    return found


def _arrays(given: dict[str, Any], columns: Sequence[str] | None, classes: Sequence[Any] | None, regress: bool | None,
            copy: bool, options: dict[str, Any]) -> Data:
    found = _frame_columns(given, columns)
    names = list(classes) if classes is not None else None
    if names is None and given["test_y"] is not None:
        _same_kind(given["y"], given["test_y"])
    given["y"], names = labels(given["y"], names, "y")
    given["y"] = _wanted(given["y"], regress, "y")
    if given["test_y"] is not None:
        given["test_y"] = numbers(labels(given["test_y"], names, "test_y")[0], "test_y")
        if given["y"].dtype.kind != "f" and given["test_y"].dtype.kind == "f":
            given["test_y"] = _wanted(given["test_y"], False, "test_y")
    o = sized(header.tsr_data_options, borrow=not copy, classes=len(names) if names else 0, **options)
    keep: list[Any] = []
    for field, values in given.items():
        if values is not None:
            array = (inputs if field in ("x", "test_x") else numbers)(values, field)
            keep.append(array)
            setattr(o, field, describe(array))
    if found and (keep[0].ndim != 2 or len(found) != keep[0].shape[-1]):
        raise UsageError(f"{len(found)} names for columns, but x has the shape {keep[0].shape}")
    for field, words in (("class_name", names), ("column", found)):
        if words:
            texts = (ctypes.c_char_p * len(words))(*(utf8(str(w)) for w in words))
            keep.append(texts)
            setattr(o, field, ctypes.cast(texts, ctypes.POINTER(ctypes.c_char_p)))
    return Data(create(library.tsr_data_create, ctypes.byref(o)), keep if not copy else ())


def _named(name: Any, y: Any, settings: dict[str, Any]) -> Data:
    if y is not None:
        raise UsageError("a file or a named data set brings its own y")
    config = Config()
    text = (utf8(name) or b"").decode("utf-8", "surrogateescape")
    is_path = hasattr(name, "__fspath__") or "/" in text or "." in text
    config["data.path" if is_path else "data.name"] = text
    for key, value in settings.items():
        config["data." + key] = value
    return Data(create(library.tsr_data_read, config))


def _frame(frame: Any, test: Any, settings: dict[str, Any]) -> Data:
    """As the CSV file that says the same is read: one way to tell words, dates, classes and missing cells."""
    if test is not None and not frames.is_frame(test):
        raise UsageError("test_x: another data frame is needed, with the same columns")
    if any(str(kind).startswith("datetime") for kind in frame.dtypes):
        settings = {"dates": "days"} | settings
    target = settings["target"]
    if not isinstance(target, str) and str(target) not in frames.names_of(frame):
        raise UsageError(f"the data frame has no column {target!r}; it has {', '.join(frames.names_of(frame))}")
    settings = {"header": "yes"} | settings  # names may be numbers, which a file's first line would not be taken for
    with frames.Table(frame) as path:
        if test is None:
            return _named(path, None, settings)
        with frames.Table(test, "tessera-test-frame-") as test_path:
            return _named(path, None, settings | {"test_path": test_path})
