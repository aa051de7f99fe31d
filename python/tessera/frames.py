"""Data frames: columns are known by their names, as those of a CSV file are, never by their places alone."""
from __future__ import annotations

import json
import os
import re
import tempfile
from typing import Any, Sequence

import numpy as np

from .arrays import is_missing
from .errors import UsageError

_HELD = {"M": "dates", "m": "durations", "c": "complex numbers"}  # by numpy's kinds
_MISSING = ("", "?", "-", "na", "n/a", "nan", "-nan", "+nan", "null")  # as in a file


def is_frame(x: Any) -> bool:
    """A data frame of pandas, or one that behaves like it."""
    return hasattr(x, "columns") and hasattr(x, "dtypes") and hasattr(x, "to_numpy")


def names_of(frame: Any) -> list[str]:
    """The names of its columns, which must differ."""
    names = [str(c) for c in frame.columns]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise UsageError(f"the data frame has two columns called {twice!r}: rename one")
    return names


def _column(frame: Any, name: str) -> Any:
    return frame.iloc[:, names_of(frame).index(name)] if hasattr(frame, "iloc") else frame[name]


def _kind(column: Any) -> str:
    kind = getattr(column.dtype, "kind", "O")
    return "O" if str(column.dtype) in ("category", "string") else kind


def _texts(column: Any) -> list[Any]:
    """A column of objects with its texts as a file has them: missing ones are NaN. To Python alone 1_5 is 15: no number here."""
    return [cell if not isinstance(cell, str) else np.nan if _word(cell) is None else cell.replace("_", "?") for cell in column]


def _numbers(column: Any, name: str) -> np.ndarray:
    """A column of numbers; a missing one is NaN."""
    cells = [np.nan if is_missing(cell) else cell for cell in _texts(column)] if _kind(column) == "O" else []
    for kind in [_kind(column)] + [cell.dtype.kind for cell in cells if isinstance(cell, np.generic)]:
        if kind in _HELD:  # numpy would make numbers of them: nanoseconds, the real part
            raise UsageError(f"column {name} of the data frame holds {_HELD[kind]}, and the network takes numbers there")
    try:
        if cells:
            return np.fromiter(map(float, cells), np.float64)
        if hasattr(column.dtype, "na_value"):  # pandas' own types, which have missing values
            return column.to_numpy(dtype=np.float64, na_value=np.nan)
        return np.asarray(column, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as problem:
        raise UsageError(f"column {name} of the data frame has a cell that is not a number: {problem}") from None


def _days(column: Any, name: str) -> np.ndarray:
    """Days since 1970-01-01, as the library counts the dates of a table. Numbers are no dates: numpy would count them in
    nanoseconds. Microseconds reach as far as dates are written; of nanoseconds numpy goes round at the years 1678 and 2262."""
    if any(isinstance(cell, str) for cell in column):  # as in a file: without spaces around them, NA is missing
        column = np.array([_word(cell) if isinstance(cell, str) else cell for cell in column], object)
    none = np.array([is_missing(cell) for cell in column], bool)
    wrong = next((cell for cell in column if isinstance(cell, str) and not re.match(r"\d{4}-\d\d-\d\d", cell)), None)
    others = _kind(column) in "biufmc" or any(isinstance(cell, (bool, int, float)) for cell in np.asarray(column, object)[~none])
    if wrong is not None or (others and not none.all()):
        found = f"the text {wrong!r}" if wrong is not None else _HELD.get(_kind(column), "numbers")
        raise UsageError(f"column {name} of the data frame holds {found}, and the network was trained on dates there: give "
                         f"dates (pandas.to_datetime)")
    try:
        times = np.full(len(none), "NaT", "datetime64[us]")
        times[~none] = np.asarray(column[~none], dtype="datetime64[us]")
    except (ValueError, TypeError) as problem:
        raise UsageError(f"column {name} of the data frame has a cell that is not a date: {problem}") from None
    return np.where(none, np.nan, times.astype(np.int64) / 86400e6)


def _word(cell: Any) -> str | None:
    """A cell as a file has it, without spaces around it; None: it is missing."""
    word = "" if is_missing(cell) else str(cell).strip(" \t")
    return None if word.lower() in _MISSING else word


def _one_hot(column: Any, name: str, words: Sequence[str]) -> np.ndarray:
    """An input for each word that the training had: 1 for the cell's own."""
    cells = [_word(cell) for cell in column]
    unknown = next((cell for cell in cells if cell is not None and cell not in words), None)
    if unknown is not None:
        raise UsageError(f"column {name} of the data frame has the word {unknown!r}; the network knows {', '.join(words)}")
    place = {word: i for i, word in enumerate(words)}
    found = np.zeros((len(cells), len(words)))
    for i, cell in enumerate(cells):
        found[i] = np.nan if cell is None else found[i]
        if cell is not None:
            found[i, place[cell]] = 1
    return found


def numbers_of(frame: Any, what: str) -> tuple[list[str], np.ndarray]:
    """(names, numbers) of a frame in which every column has numbers."""
    names = names_of(frame)
    for i, name in enumerate(names):
        kind = _kind(_column(frame, name))
        if kind not in "biuf":
            raise UsageError(f"column {name} of the data frame {what} holds {_HELD.get(kind, 'words')}: give the whole frame and the name of the "
                             f"column to predict, tessera.data(frame, target=...), or turn them into numbers")
    kinds = {str(kind) for kind in frame.dtypes}
    if len(kinds) == 1 and kinds <= {"float32", "float64", "uint8"}:
        return names, frame.to_numpy()  # where it lies
    return names, np.column_stack([_numbers(_column(frame, n), n) for n in names]) if names else frame.to_numpy()


def in_order(frame: Any, names: Sequence[str], what: str) -> Any:
    """The frame's columns of these names, in this order; others are left out."""
    have = names_of(frame)
    lacking = [n for n in names if n not in have]
    if lacking:
        raise UsageError(f"{what} has no column {lacking[0]!r}, which the network was trained on; it has {', '.join(have)}")
    if have == list(names):
        return frame
    return frame.iloc[:, [have.index(n) for n in names]] if hasattr(frame, "iloc") else frame[list(names)]


def inputs(frame: Any, schema: str | None, what: str = "the data frame") -> np.ndarray:
    """What a network reads of a frame: the columns of its training by name, a word as its inputs, a date as days."""
    columns = json.loads(schema).get("columns", []) if schema else []
    if not columns or columns[0]["name"] is None:
        return numbers_of(frame, what)[1]  # it was trained on numbers without names
    frame = in_order(frame, [c["name"] for c in columns], what)
    if all(_kind(_column(frame, c["name"])) in "biuf" and c["words"] is None and not c.get("dates") for c in columns):
        return numbers_of(frame, what)[1]
    found = []
    for c in columns:
        column = _column(frame, c["name"])
        if c["words"] is not None:
            found.append(_one_hot(column, c["name"], c["words"]))
        else:
            found.append((_days if c.get("dates") else _numbers)(column, c["name"])[:, None])
    return np.concatenate(found, axis=1)


class Table:
    """A frame as the CSV file that says the same, for as long as it is read. Its first line has the names, so row 0 of the
    frame is line 2. `prefix` says what sentences call it (FRAME_FILES)."""

    def __init__(self, frame: Any, prefix: str = "tessera-frame-") -> None:
        for name in names_of(frame):
            if _kind(_column(frame, name)) in "mc":
                raise UsageError(f"column {name} of the data frame holds {_HELD[_kind(_column(frame, name))]}: turn them into "
                                 f"numbers")
        flags = [c for c in frame.columns if str(frame[c].dtype) in ("bool", "boolean")]
        file, self.path = tempfile.mkstemp(prefix=prefix, suffix=".csv")
        os.close(file)
        frame.astype({c: "Int64" for c in flags}).to_csv(self.path, index=False)

    def __enter__(self) -> str:
        return self.path

    def __exit__(self, *_: object) -> None:
        os.unlink(self.path)
