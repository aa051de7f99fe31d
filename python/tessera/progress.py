"""A line that says how far a run is, in a terminal or a notebook."""
import math
import sys
import time

_EVERY = 0.2  # seconds


def _notebook():
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    return type(shell).__name__ == "ZMQInteractiveShell"


class Bar:
    """wanted: True, False, or None: where the output is a terminal or a notebook."""

    def __init__(self, wanted=None):
        self._on = _notebook() or sys.stderr.isatty() if wanted is None else wanted
        self._next, self._width = 0.0, 0

    def due(self):
        return self._on and time.monotonic() >= self._next

    def show(self, now, last=False):
        if not self._on or not (last or self.due()):
            return
        self._next = time.monotonic() + _EVERY
        part = now["round"] / max(now["rounds"], 1)
        line = f"{'█' * round(24 * part):·<24} {100 * part:3.0f} %  round {now['round']}/{now['rounds']}  loss {now['loss']:.4g}"
        if not math.isnan(now["test_accuracy"]):
            line += f"  test {100 * now['test_accuracy']:.2f} %"
        elif not math.isnan(now["test_rmse"]):
            line += f"  test rmse {now['test_rmse']:.4g}"
        if 0 < part < 1:
            line += f"  {now['seconds'] / part * (1 - part):.0f} s left"
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

    def close(self):
        if self._on and self._width:
            sys.stderr.write("\n")
            sys.stderr.flush()
        self._on = False
