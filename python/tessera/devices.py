"""Arrays that lie on a GPU, copied to the computer's own memory, where the library reads them.

CuPy, numba, JAX and others say by `__cuda_array_interface__` or `__dlpack_device__` where an array is. The library it comes
from copies it, where it has a way; else NVIDIA's driver does. Tensors of PyTorch have a way of their own (arrays.py). The tests use stand-ins for all of them.
"""
from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

from .errors import UsageError

_READABLE = (1, 3, 11, 13)  # DLPack's kinds of memory that the processor reads: its own, pinned, managed
_HOST = (1, 0)
_ORDINAL = 9                # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL


def is_there(values: Any) -> bool:
    """Does it lie on a device?"""
    if hasattr(values, "__cuda_array_interface__"):
        return True
    return hasattr(values, "__dlpack_device__") and int(values.__dlpack_device__()[0]) not in _READABLE


def copy(values: Any, what: str) -> np.ndarray:
    """A copy in the computer's memory."""
    reasons = []
    for way in (_by_itself, _by_dlpack, _by_torch, _by_driver):
        try:
            found = way(values)
        except Exception as problem:  # noqa: whatever another library raises, the next way may do
            reasons.append(f"{problem}" or type(problem).__name__)
            continue
        if isinstance(found, np.ndarray):
            return found
    raise UsageError(f"{what} lies on a GPU and could not be copied from there ({'; '.join(reasons) or 'it offers no way'}): "
                     f"copy it to the CPU first")


# ---- Ways ----------------------------------------------------------------------------------------


def _by_itself(values: Any) -> Any:
    """CuPy's and numba's arrays."""
    for name in ("get", "copy_to_host"):
        method = getattr(values, name, None)
        if callable(method) and hasattr(values, "__cuda_array_interface__"):
            return method()
    return None


class _Here:
    """What numpy asks for, of an array that brings itself here."""

    def __init__(self, values: Any) -> None:
        self._values = values

    def __dlpack_device__(self) -> tuple[int, int]:
        return _HOST

    def __dlpack__(self, **_: Any) -> Any:
        return self._values.__dlpack__(dl_device=_HOST, copy=True)


def _by_dlpack(values: Any) -> Any:
    """The array API since 2023.12: a DLPack of a copy elsewhere."""
    return np.from_dlpack(_Here(values)) if hasattr(values, "__dlpack__") and hasattr(np, "from_dlpack") else None


def _by_torch(values: Any) -> Any:
    """By a PyTorch that the program has loaded."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(values, "__dlpack__"):
        return None
    return torch.from_dlpack(values).cpu().numpy()


def _by_driver(values: Any) -> Any:
    """The bytes from the first number to the last, then the numbers among them."""
    said = getattr(values, "__cuda_array_interface__", None)
    if said is None:
        return None
    if said.get("mask") is not None:
        raise ValueError("it has a mask")
    kind, shape = np.dtype(said["typestr"]), tuple(said["shape"])
    if 0 in shape:
        return np.empty(shape, kind)
    strides = said.get("strides") or np.empty(shape, kind).strides
    ends = [(n - 1) * stride for n, stride in zip(shape, strides)]
    first, last = sum(e for e in ends if e < 0), sum(e for e in ends if e > 0) + kind.itemsize
    room = np.empty(last - first, np.uint8)
    driver().copy(room.ctypes.data, said["data"][0] + first, room.nbytes)
    return np.ndarray(shape, kind, room, -first, strides)


class _Driver:
    """The calls of NVIDIA's driver that a copy takes."""

    def __init__(self) -> None:
        self._cuda = ctypes.CDLL("libcuda.so.1")
        self._call("cuInit", ctypes.c_uint(0))

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._cuda, name)(*arguments)
        if status:
            raise OSError(f"{name} failed with {status}")

    def copy(self, to: int, source: int, count: int) -> None:
        """Waits for all that is going on there, then copies."""
        device, context, pointer = ctypes.c_int(0), ctypes.c_void_p(), ctypes.c_uint64(source)
        self._call("cuPointerGetAttribute", ctypes.byref(device), _ORDINAL, pointer)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        try:
            self._call("cuCtxPushCurrent_v2", context)
            try:
                self._call("cuCtxSynchronize")
                self._call("cuMemcpyDtoH_v2", ctypes.c_void_p(to), pointer, ctypes.c_size_t(count))
            finally:
                self._call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))
        finally:
            self._call("cuDevicePrimaryCtxRelease_v2", device)


def driver() -> Any:
    """NVIDIA's driver; OSError where there is none."""
    return _Driver()
