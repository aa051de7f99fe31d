"""ONNX Runtime by its C interface (ctypes): no Python package of it is in Debian 12, but npm's
onnxruntime-node carries the library. The places in its table of functions are part of its ABI."""
import ctypes
import math

import numpy

ERROR_MESSAGE, CREATE_ENV, SESSION_FROM_ARRAY, RUN, OPTIONS, THREADS = 2, 3, 8, 9, 10, 24
TENSOR_WITH_DATA, DATA, COUNT, DIMENSIONS, SHAPE, CPU_MEMORY = 49, 51, 61, 62, 65, 69
P = ctypes.c_void_p


class Base(ctypes.Structure):
    _fields_ = [("api", ctypes.CFUNCTYPE(P, ctypes.c_uint32)), ("version", ctypes.CFUNCTYPE(ctypes.c_char_p))]


class Runtime:
    def __init__(self, path):
        library = ctypes.CDLL(path)
        library.OrtGetApiBase.restype = ctypes.POINTER(Base)
        base = library.OrtGetApiBase().contents
        self.version = base.version().decode()
        self.table = ctypes.cast(base.api(4), ctypes.POINTER(P))
        self.env, self.options, self.memory = P(), P(), P()
        self.call(CREATE_ENV, 3, b"test", ctypes.byref(self.env))
        self.call(OPTIONS, ctypes.byref(self.options))
        self.call(THREADS, self.options, 1)
        self.call(CPU_MEMORY, 0, 0, ctypes.byref(self.memory))

    def call(self, at, *arguments):
        status = ctypes.CFUNCTYPE(P)(self.table[at])
        status.argtypes = None
        failed = status(*arguments)
        if failed:
            message = ctypes.CFUNCTYPE(ctypes.c_char_p, P)(self.table[ERROR_MESSAGE])
            raise RuntimeError(message(failed).decode())

    def value(self, array):
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        kind = {"float32": 1, "int32": 6}[str(array.dtype)]
        out = P()
        self.call(TENSOR_WITH_DATA, self.memory, P(array.ctypes.data), ctypes.c_size_t(array.nbytes),
                  shape, ctypes.c_size_t(array.ndim), kind, ctypes.byref(out))
        return out

    def array(self, value):
        info, dims, data = P(), ctypes.c_size_t(), P()
        self.call(SHAPE, value, ctypes.byref(info))
        self.call(COUNT, info, ctypes.byref(dims))
        shape = (ctypes.c_int64 * dims.value)()
        self.call(DIMENSIONS, info, shape, dims)
        self.call(DATA, value, ctypes.byref(data))
        flat = ctypes.cast(data, ctypes.POINTER(ctypes.c_float))
        return numpy.ctypeslib.as_array(flat, (math.prod(shape),)).reshape(tuple(shape)).copy()

    def run(self, bytes_, inputs):
        session, out = P(), P()
        self.call(SESSION_FROM_ARRAY, self.env, bytes_, ctypes.c_size_t(len(bytes_)), self.options,
                  ctypes.byref(session))
        arrays = {k: numpy.ascontiguousarray(v) for k, v in inputs.items()}
        names = (ctypes.c_char_p * len(arrays))(*[k.encode() for k in arrays])
        values = (P * len(arrays))(*[self.value(v) for v in arrays.values()])
        self.call(RUN, session, None, names, values, ctypes.c_size_t(len(arrays)),
                  (ctypes.c_char_p * 1)(b"output"), ctypes.c_size_t(1), ctypes.byref(out))
        return [self.array(out)]
