"""Shares: subnetworks as objects, the one idea of Tessera.

    share = tessera.Share(net).draw("chunks", workers=4, worker=0)
    small = share.take(net)                        a model of its own: train it
    tessera.put(net, [share], [small])             back into the whole
"""
import ctypes

import numpy as np

from . import _header as header
from .model import Model
from ._library import Handle, call, create, library, sized, utf8
from .errors import UsageError

_KINDS = {"whole": header.TSR_DRAW_WHOLE, "bernoulli": header.TSR_DRAW_BERNOULLI,
          "categorical": header.TSR_DRAW_CATEGORICAL, "chunks": header.TSR_DRAW_CHUNKS}


class Share(Handle):
    """A choice of units on the axes of a network; at first the whole of each."""

    _destroy = "tsr_share_destroy"

    def __init__(self, net):
        super().__init__(create(library.tsr_share_create, net._handle))

    def _rows(self):
        for i in range(library.tsr_share_axes(self._handle)):
            row = sized(header.tsr_axis)
            call(library.tsr_share_axis, ctypes.byref(row), self._handle, i)
            yield row

    @property
    def axes(self):
        """The units that it keeps on each axis: {axis: indices}."""
        return {row.name.decode(): np.array(row.index[:row.kept], np.int64)
                for row in self._rows()}

    @property
    def cuttable(self):
        """The axes on which shares and tickets may pick."""
        return [row.name.decode() for row in self._rows() if row.cuttable]

    def give(self, axis, index):
        """These units of the axis."""
        index = np.ascontiguousarray(index, np.int64)
        call(library.tsr_share_give, self._handle, utf8(axis), index.ctypes.data_as(ctypes.POINTER(ctypes.c_int64)), index.size)
        return self

    def best(self, axis, scores, count):
        """The axis's `count` units with the largest scores."""
        scores = np.ascontiguousarray(scores, np.float64)
        units = {row.name.decode(): row.units for row in self._rows()}.get(axis)
        if units is not None and scores.shape != (units,):
            raise UsageError(f"{axis} has {units} units, and there are {scores.size} scores")
        call(library.tsr_share_best, self._handle, utf8(axis), scores.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), count)
        return self

    def draw(self, kind, workers=1, worker=0, round=0, seed=1, xi=1.0, weights=None, axes=None):  # noqa: A002
        """By chance, as the schemes do: "bernoulli", "categorical", "chunks" or "whole"."""
        if kind not in _KINDS:
            raise UsageError(f"shares are drawn {', '.join(_KINDS)}, not {kind!r}")
        if weights is not None:
            weights = np.ascontiguousarray(weights, np.float64)
            if weights.shape != (workers,):
                raise UsageError(f"{weights.size} weights for {workers} workers")
        o = sized(header.tsr_draw, kind=_KINDS[kind], workers=workers, worker=worker, round=round, seed=seed, xi=xi,
                  axes=utf8(",".join(axes)) if axes else None,
                  weight=weights.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) if weights is not None else None)
        call(library.tsr_share_draw, self._handle, ctypes.byref(o))
        return self

    def take(self, net):
        """The share of a network as a smaller one."""
        return Model(create(library.tsr_share_take, self._handle, net._handle))


def put(net, shares, models):
    """Writes models, the shares of net, back into it: the mean where several have a number."""
    if len(shares) != len(models):
        raise UsageError(f"{len(shares)} shares and {len(models)} models")
    n = len(shares)
    call(library.tsr_share_put, net._handle, (ctypes.c_void_p * n)(*(s._handle for s in shares)),
         (ctypes.c_void_p * n)(*(m._handle for m in models)), n)
    net._forget()
