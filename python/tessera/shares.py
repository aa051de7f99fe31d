"""Shares: subnetworks as objects, the one idea of Tessera.

    share = tessera.Share(net).draw("chunks", workers=4, worker=0)
    small = share.take(net)                        a model of its own: train it
    tessera.put(net, [share], [small])             back into the whole
"""
from __future__ import annotations

import ctypes
from contextlib import ExitStack
from typing import Any, Iterator, Sequence

import numpy as np

from . import _header as header
from .model import Model
from ._library import Handle, ask, call, create, library, sized, utf8
from .errors import UsageError

_KINDS = {"whole": header.TSR_DRAW_WHOLE, "bernoulli": header.TSR_DRAW_BERNOULLI,
          "categorical": header.TSR_DRAW_CATEGORICAL, "chunks": header.TSR_DRAW_CHUNKS}


class Share(Handle):
    """A choice of units on the axes of a network; at first the whole of each."""

    _kind = "tsr_share"

    def __init__(self, net: Model) -> None:
        super().__init__(create(library.tsr_share_create, net))

    def _rows(self) -> Iterator[Any]:
        for i in range(ask(library.tsr_share_axes, self)):
            row = sized(header.tsr_axis)
            call(library.tsr_share_axis, ctypes.byref(row), self, i)
            yield row

    @property
    def axes(self) -> dict[str, np.ndarray]:
        """The units that it keeps on each axis: {axis: indices}."""
        with self._open().lock:  # they are the share's until it changes
            return {row.name.decode(): np.array(row.index[:row.kept], np.int64) for row in self._rows()}

    @property
    def cuttable(self) -> list[str]:
        """The axes on which shares and tickets may pick."""
        with self._open().lock:
            return [row.name.decode() for row in self._rows() if row.cuttable]

    def give(self, axis: str, index: Any) -> Share:
        """These units of the axis."""
        index = _plain(index, np.int64, "index")
        call(library.tsr_share_give, self, utf8(axis), index.ctypes.data_as(ctypes.POINTER(ctypes.c_int64)), index.size)
        return self

    def best(self, axis: str, scores: Any, count: int) -> Share:
        """The axis's `count` units with the largest scores."""
        scores = _plain(scores, np.float64, "scores")
        units = {row.name.decode(): row.units for row in self._rows()}.get(axis)
        if units is not None and scores.shape != (units,):
            raise UsageError(f"{axis} has {units} units, and there are {scores.size} scores")
        call(library.tsr_share_best, self, utf8(axis), scores.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), count)
        return self

    def draw(self, kind: str, workers: int = 1, worker: int = 0, round: int = 0, seed: int = 1, xi: float = 1.0,  # noqa: A002
             weights: Any = None, axes: Sequence[str] | None = None) -> Share:
        """By chance, as the schemes do: "bernoulli", "categorical", "chunks" or "whole"."""
        if kind not in _KINDS:
            raise UsageError(f"shares are drawn {', '.join(_KINDS)}, not {kind!r}")
        if weights is not None:
            weights = _plain(weights, np.float64, "weights")
            if weights.shape != (workers,):
                raise UsageError(f"{weights.size} weights for {workers} workers")
        o = sized(header.tsr_draw, kind=_KINDS[kind], workers=workers, worker=worker, round=round, seed=seed, xi=xi,
                  axes=utf8(",".join(axes)) if axes else None,
                  weight=weights.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) if weights is not None else None)
        call(library.tsr_share_draw, self, ctypes.byref(o))
        return self

    def take(self, net: Model) -> Model:
        """The share of a network as a smaller one."""
        return Model(create(library.tsr_share_take, self, net))


def _plain(values: Any, kind: Any, what: str) -> np.ndarray:
    """In C's order, of that type; real numbers are no indices."""
    try:
        found = np.asarray(values)
        return np.ascontiguousarray(found if found.size else found.astype(kind)).astype(kind, casting="same_kind")
    except (TypeError, ValueError) as problem:
        raise UsageError(f"{what}: {problem}") from None


def put(net: Model, shares: Sequence[Share], models: Sequence[Model]) -> None:
    """Writes models, the shares of net, back into it: the mean where several have a number."""
    if len(shares) != len(models):
        raise UsageError(f"{len(shares)} shares and {len(models)} models")
    for kind, things in ((Share, shares), (Model, models)):
        other = next((thing for thing in things if not isinstance(thing, kind)), None)
        if other is not None:
            raise UsageError(f"a {kind.__name__.lower()} is needed, not {type(other).__name__}")
    n, owners = len(shares), [thing._open() for thing in (*shares, *models)]
    addresses = [owner.address for owner in owners]
    with ExitStack() as locks:
        for owner in sorted({*owners, net._open()} if isinstance(net, Model) else owners, key=id):
            locks.enter_context(owner.lock)
        call(library.tsr_share_put, net, (ctypes.c_void_p * n)(*addresses[:n]), (ctypes.c_void_p * n)(*addresses[n:]), n)
        net._forget()
