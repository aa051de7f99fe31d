"""Arrays of any library as the C interface sees them, without a copy where their memory allows it."""
from __future__ import annotations

import sys
from typing import Any

import numpy as np

from . import _header as header
from . import devices
from .errors import UsageError

_TYPES = {"float32": header.TSR_F32, "float64": header.TSR_F64, "uint8": header.TSR_U8,
          "int32": header.TSR_I32, "int64": header.TSR_I64}
_NEAREST = {"b": "uint8", "i": "int64", "u": "int64", "f": "float32"}  # by numpy's kinds: bool, int16, float16, ...
_CODES = {header.TSR_F32: np.float32, header.TSR_F64: np.float64, header.TSR_U8: np.uint8,
          header.TSR_I32: np.int32, header.TSR_I64: np.int64}


def as_numpy(values: Any, what: str = "the array") -> np.ndarray:
    """values as a numpy array that shares its memory where it can: numpy, torch, DLPack, buffers, lists."""
    if isinstance(values, np.ma.MaskedArray):
        if np.ma.is_masked(values):
            raise UsageError(f"{what} has masked cells, which would be taken for numbers: fill them "
                             f"({what}.filled(numpy.nan), with missing=True)")
        return values.data
    if isinstance(values, np.ndarray):
        return values
    if _is_tensor(values):
        return _from_torch(values, what)
    if hasattr(values, "toarray"):
        raise UsageError(f"{what} is a sparse matrix: {what}.toarray() makes it a dense one")
    if devices.is_there(values):
        return devices.copy(values, what)
    if hasattr(values, "__array_interface__") or hasattr(values, "__array__"):
        return np.asarray(values)
    if hasattr(values, "__dlpack__") and hasattr(np, "from_dlpack"):
        try:
            return np.from_dlpack(values)
        except (RuntimeError, TypeError, BufferError) as problem:
            raise UsageError(f"{what} lies where numpy cannot read it ({problem}): copy it to the CPU first") from None
    return _from_list(values, what)


def _is_tensor(values: Any) -> bool:
    """PyTorch's, or of a class of somebody's own that is derived from it."""
    torch = sys.modules.get("torch")
    return type(values).__module__.partition(".")[0] == "torch" or isinstance(values, getattr(torch, "Tensor", ()))


def is_missing(cell: Any) -> bool:
    """None, NaN, numpy's NaT, and pandas' NA and NaT, of which NA has no truth."""
    return (cell is None or type(cell).__name__ in ("NAType", "NaTType")
            or bool(isinstance(cell, (float, np.number, np.datetime64)) and cell != cell))


def _from_list(values: Any, what: str) -> np.ndarray:
    if isinstance(values, (list, tuple)) and any(map(_is_tensor, values)):
        values = [as_numpy(v, what) for v in values]  # numpy would ask each tensor for one number
    try:
        return np.asarray(values)
    except ValueError:
        raise UsageError(f"{what} is a list whose rows have different lengths") from None


def _from_torch(tensor: Any, what: str) -> np.ndarray:
    """A tensor of the CPU shares its memory; one of a GPU is copied here first; bf16 becomes float32."""
    try:
        tensor = tensor.detach()
        if tensor.device.type != "cpu":
            tensor = tensor.cpu()
        if str(tensor.dtype) in ("torch.bfloat16", "torch.float16"):
            tensor = tensor.float()
        if hasattr(tensor, "resolve_neg"):  # one that is to be negated
            tensor = tensor.resolve_neg()
        return tensor.numpy()
    except (AttributeError, TypeError, RuntimeError) as problem:
        raise UsageError(f"{what} is not a tensor that numpy can read ({problem})") from None


def numbers(values: Any, what: str) -> np.ndarray:
    """A numpy array of a type that the library takes. Refuses what is no array of numbers."""
    array = as_numpy(values, what)
    if array.size > 1 and not any(array.strides):
        array = array.copy()  # one number for all: strides of 0 mean C's order to the library, which would read on behind it
    if array.dtype.name in _TYPES and array.dtype.isnative:
        return array
    nearest = _NEAREST.get(array.dtype.kind)
    if not nearest:
        raise UsageError(f"{what} holds {array.dtype}, not numbers")
    if array.dtype.kind == "u" and array.dtype.itemsize == 8 and array.size and array.max() > np.iinfo(np.int64).max:
        raise UsageError(f"{what} holds whole numbers beyond 63 bits")
    wide = array.dtype.kind == "f" and array.dtype.itemsize >= 8  # float64 of the other byte order, and longer ones
    return array.astype("float64" if wide else nearest)


def inputs(values: Any, what: str) -> np.ndarray:
    """numbers() of samples. Truth is 1 there, and no byte of a picture, which would be 1/255."""
    array = as_numpy(values, what)
    return numbers(array.astype(np.float32) if array.dtype.kind == "b" else array, what)


def describe(array: np.ndarray) -> Any:
    """The C struct of a numpy array. It points into the array, which must live as long as the struct."""
    if array.ndim > header.TSR_DIMS:
        raise UsageError(f"an array of {array.ndim} dimensions: at most {header.TSR_DIMS} are possible")
    made = header.tsr_array(data=array.ctypes.data, type=_TYPES[array.dtype.name], dims=array.ndim)
    made.shape[:array.ndim] = array.shape
    made.stride[:array.ndim] = array.strides
    return made


class _Memory:
    """Memory of the library's for numpy, which keeps its owner as long as an array uses it."""

    def __init__(self, address: int, kind: np.dtype, shape: tuple, owner: Any) -> None:
        self.owner = owner
        self.__array_interface__ = {"version": 3, "data": (address, True), "typestr": kind.str, "shape": shape}


def view(array: Any, owner: Any) -> np.ndarray | None:
    """What the library describes, where it lies: to be read. None: there is no data."""
    if not array.data:
        return None
    return np.asarray(_Memory(array.data, np.dtype(_CODES[array.type]), tuple(array.shape[:array.dims]), owner))
