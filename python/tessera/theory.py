"""What the theory asks of a run: tangent kernels, certificates, costs."""
from __future__ import annotations

import ctypes
import json
from typing import Any

import numpy as np

from . import _header as header
from .arrays import numbers
from .config import Config
from .data import Data
from .model import Model
from ._library import Handle, ask, call, create, library, sized, text_of, utf8
from .errors import UsageError

_KINDS = {"auto": header.TSR_NTK_AUTO, "exact": header.TSR_NTK_EXACT, "finite": header.TSR_NTK_FINITE,
          "infinite": header.TSR_NTK_INFINITE}
_VERDICTS = {header.TSR_NO_VERDICT: None, header.TSR_HOLDS: "holds", header.TSR_FAILS: "fails",
             header.TSR_VACUOUS: "vacuous", header.TSR_OPEN: "open", header.TSR_DOES_NOT_APPLY: "does not apply"}
_DOUBLES = ctypes.POINTER(ctypes.c_double)


def ntk(net: Model | Config, data: Data | None = None, n: int = 100, kind: str = "auto", output: int | None = None,
        test_set: bool = False) -> np.ndarray:
    """The tangent kernel [n, n] of a network, or of a config's first weights, on the first n samples."""
    if kind not in _KINDS:
        raise UsageError(f"a kernel is {', '.join(_KINDS)}, not {kind!r}")
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise UsageError(f"a kernel of {n} samples")
    o = sized(header.tsr_ntk_options, kind=_KINDS[kind], n=int(n), output=0 if output is None else output + 1,
              test_set=test_set, data=data)
    kernel = np.empty((int(n), int(n)))
    function = library.tsr_model_ntk if isinstance(net, Model) else library.tsr_config_ntk
    call(function, kernel.ctypes.data_as(_DOUBLES), net, ctypes.byref(o))
    return kernel


def eigenvalues(matrix: Any) -> np.ndarray:
    """Of a symmetric matrix, ascending."""
    matrix = np.ascontiguousarray(numbers(matrix, "the matrix"), np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise UsageError(f"a matrix of shape {matrix.shape} is not square")
    if not np.all(np.isfinite(matrix)):
        raise UsageError("the matrix has a number that is not finite")
    out = np.empty(len(matrix))
    call(library.tsr_eigenvalues, out.ctypes.data_as(_DOUBLES), matrix.ctypes.data_as(_DOUBLES), len(matrix))
    return out


class Certificate(Handle):
    """Rows of what a paper's theorems ask, beside what the run has."""

    _kind, _made_by = "tsr_certificate", "tessera.certify"

    @property
    def paper(self) -> str:
        """Whose theorems they are."""
        return ask(library.tsr_certificate_paper, self).decode()

    @property
    def rows(self) -> list[dict[str, Any]]:
        """[{theorem, where, quantity, measured, required, verdict, factor, reason}]"""
        found = []
        for i in range(ask(library.tsr_certificate_rows, self)):
            c = sized(header.tsr_certificate_row)
            call(library.tsr_certificate_at, ctypes.byref(c), self, i)
            row = {name: getattr(c, name) for name, _ in c._fields_ if name != "size"}
            row = {k: v.decode() if isinstance(v, bytes) else v for k, v in row.items()}
            found.append(row | {"verdict": _VERDICTS[row["verdict"]]})
        return found

    def json(self) -> Any:
        """What `tessera certify --json` prints, as Python has it."""
        out = ctypes.c_void_p()
        call(library.tsr_certificate_json, ctypes.byref(out), self)
        return json.loads(text_of(out.value))

    def __str__(self) -> str:
        out = ctypes.c_void_p()
        call(library.tsr_certificate_text, ctypes.byref(out), self)
        return text_of(out.value) or ""


def certify(config: Config, data: Data | None = None) -> Certificate:
    """The certificate of the run that a config describes, before it begins."""
    return Certificate(create(library.tsr_certify, config, data))


def _fields(struct: Any) -> dict[str, Any]:
    return {name: getattr(struct, name) for name, kind in struct._fields_ if name not in ("size", "data")}


def cost(config: Config) -> dict[str, Any]:
    """What a run takes: parameters, operations, memory of a worker, bytes on the wire."""
    c = sized(header.tsr_cost)
    call(library.tsr_cost_count, ctypes.byref(c), config, None)
    return _fields(c)


def check(config: Config) -> dict[str, Any]:
    """Is the run sound? What it needs; everything that training would refuse is refused."""
    c = sized(header.tsr_needs)
    call(library.tsr_check, ctypes.byref(c), config)
    return _fields(c) | {"backend": c.backend.decode()}


class Page(str):
    """The path of a report; a notebook shows the page itself."""

    def _repr_html_(self) -> str:
        import html
        with open(self, encoding="utf-8") as file:
            return f'<iframe srcdoc="{html.escape(file.read())}" width="100%" height="700" style="border:0"></iframe>'


def report(folder: Any, path: Any = None, pictures: Any = None) -> Page:
    """Makes the page of a run's or a sweep's folder; returns its path, which a notebook shows as the page. With
    pictures="base", every chart is a file, too: base-learning.svg, .csv, .png."""
    call(library.tsr_report, utf8(folder), utf8(path))
    if pictures:
        call(library.tsr_report_pictures, ctypes.byref(ctypes.c_int64()), utf8(folder), utf8(pictures))
    return Page(path or f"{folder}/report.html")


__all__ = ["Certificate", "Config", "certify", "check", "cost", "eigenvalues", "ntk", "report"]
