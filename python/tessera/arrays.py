"""Arrays of any library as the C interface sees them, without a copy where their memory allows it."""
import ctypes

import numpy as np

from . import _header as header
from .errors import UsageError

_TYPES = {"float32": header.TSR_F32, "float64": header.TSR_F64, "uint8": header.TSR_U8,
          "int32": header.TSR_I32, "int64": header.TSR_I64}
_NEAREST = {"b": "uint8", "i": "int64", "u": "int64", "f": "float32"}  # by numpy's kinds: bool, int16, float16, ...
_CODES = {header.TSR_F32: np.float32, header.TSR_F64: np.float64, header.TSR_U8: np.uint8,
          header.TSR_I32: np.int32, header.TSR_I64: np.int64}


def as_numpy(values, what="the array"):
    """values as a numpy array that shares its memory where it can: numpy, torch, DLPack, buffers, lists."""
    if isinstance(values, np.ndarray):
        return values
    if type(values).__module__.partition(".")[0] == "torch":
        return _from_torch(values)
    if hasattr(values, "__array_interface__") or hasattr(values, "__array__"):
        return np.asarray(values)
    if hasattr(values, "__dlpack__") and hasattr(np, "from_dlpack"):
        try:
            return np.from_dlpack(values)
        except (RuntimeError, TypeError, BufferError) as problem:
            raise UsageError(f"{what} lies where numpy cannot read it ({problem}): copy it to the CPU first") from None
    return np.asarray(values)


def _from_torch(tensor):
    """A tensor of the CPU shares its memory; one of a GPU is copied here first; bf16 becomes float32."""
    tensor = tensor.detach()
    if tensor.device.type != "cpu":
        tensor = tensor.cpu()
    if str(tensor.dtype) in ("torch.bfloat16", "torch.float16"):
        tensor = tensor.float()
    return tensor.numpy()


def numbers(values, what):
    """A numpy array of a type that the library takes. Refuses what is no array of numbers."""
    array = as_numpy(values, what)
    if array.dtype.name in _TYPES and array.dtype.isnative:
        return array
    nearest = _NEAREST.get(array.dtype.kind)
    if not nearest:
        raise UsageError(f"{what} holds {array.dtype}, not numbers")
    if array.dtype.kind == "u" and array.dtype.itemsize == 8 and array.size and array.max() > np.iinfo(np.int64).max:
        raise UsageError(f"{what} holds whole numbers beyond 63 bits")
    return array.astype("float64" if array.dtype.itemsize > 8 else nearest)


def describe(array):
    """The C struct of a numpy array. It points into the array, which must live as long as the struct."""
    if array.ndim > header.TSR_DIMS:
        raise UsageError(f"an array of {array.ndim} dimensions: at most {header.TSR_DIMS} are possible")
    made = header.tsr_array(data=array.ctypes.data, type=_TYPES[array.dtype.name], dims=array.ndim)
    made.shape[:array.ndim] = array.shape
    made.stride[:array.ndim] = array.strides
    return made


def view(array):
    """A numpy array of what the library describes, in its memory: it must not outlive the owner. None: no data."""
    if not array.data:
        return None
    kind = np.dtype(_CODES[array.type])
    shape = tuple(array.shape[:array.dims])
    count = int(np.prod(shape, dtype=np.int64))
    memory = (ctypes.c_char * (count * kind.itemsize)).from_address(array.data)
    return np.frombuffer(memory, kind).reshape(shape)
