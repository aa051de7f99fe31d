"""A line that says how far a run is, in a terminal or a notebook."""
from __future__ import annotations

import html
import math
import os
import sys
import time
from typing import Any, Mapping

_EVERY = 0.2  # seconds


def _notebook() -> bool:
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    return type(shell).__name__ == "ZMQInteractiveShell"


class _Line:
    """What a notebook shows: a bar of its own, and where it can show none the text."""

    def __init__(self, part: float, text: str) -> None:
        self._part, self._text = part, text

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return f'<progress max="1" value="{self._part:.4f}"></progress> {html.escape(self._text)}'


def _words(now: Mapping[str, Any], part: float) -> str:
    line = f"{100 * part:3.0f} %  round {now['round']}/{now['rounds']}  loss {now['loss']:.4g}"
    if not math.isnan(now["test_accuracy"]):
        line += f"  test {100 * now['test_accuracy']:.2f} %"
    elif not math.isnan(now["test_rmse"]):
        line += f"  test rmse {now['test_rmse']:.4g}"
    if 0 < part < 1:
        line += f"  {now['seconds'] / part * (1 - part):.0f} s left"
    return line


def _columns() -> int:
    """Of the terminal. A line as long as it would go on in the next one, and stay there."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError, AttributeError):  # no terminal
        return 80


def _fitted(part: float, text: str, columns: int) -> str:
    """The bar is as long as there is room for, and on a narrow terminal gone."""
    cells = min(24, columns - len(text) - 2)
    bar = f"{'█' * round(cells * part):·<{cells}} " if cells >= 6 else ""
    return (bar + text)[:columns - 1]


class Bar:
    """wanted: True, False, or None: where the output is a terminal or a notebook."""

    def __init__(self, wanted: bool | None = None) -> None:
        self._in_notebook = _notebook()
        self._on = (self._in_notebook or (sys.stderr is not None and sys.stderr.isatty())) if wanted is None else bool(wanted)
        self._next, self._width, self._shown = 0.0, 0, None

    def due(self) -> bool:
        """Is it time for a new line?"""
        return self._on and time.monotonic() >= self._next

    def show(self, now: Mapping[str, Any], last: bool = False) -> None:
        """Shows where the run is, not too often."""
        if not self._on or not (last or self.due()):
            return
        self._next = time.monotonic() + _EVERY
        part = now["round"] / max(now["rounds"], 1)
        text = _words(now, part)
        if self._in_notebook:
            self._display(_Line(part, text))
            return
        columns = _columns()
        line = _fitted(part, text, columns)
        sys.stderr.write("\r" + line.ljust(min(self._width, columns - 1)))
        sys.stderr.flush()
        self._width = len(line)

    def _display(self, line: _Line) -> None:
        from IPython.display import display
        if self._shown is None:
            self._shown = display(line, display_id=True)
        else:
            self._shown.update(line)

    def close(self) -> None:
        """Ends the line."""
        if self._on and self._width:
            sys.stderr.write("\n")
            sys.stderr.flush()
        self._on = False
