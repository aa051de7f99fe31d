"""Arrays of a GPU, which this machine need not have: each is a stand-in that says what CuPy, numba, JAX or PyTorch say and
keeps its numbers where no other way than the one that is tried leads to them.

    PYTHONPATH=python TESSERA_LIBRARY=libtessera.so.0 python3 tests/python/gpu_arrays.py
"""
import ctypes
import unittest

import tessera  # before numpy, which then has the right kernels of OpenBLAS
import numpy as np

from tessera import arrays, devices

X = np.random.default_rng(1).normal(size=(20, 6)).astype(np.float32)


class Device:
    """Memory of its own: an address there is `base` bytes away from the one where the bytes are."""

    base = 1 << 60

    def __init__(self):
        self.asked = []

    def copy(self, to, source, count):
        self.asked.append(count)
        ctypes.memmove(to, source - self.base, count)


class Cuda:
    """CUDA's array interface and no more, as of a kernel's output."""

    def __init__(self, values, **more):
        self.values = values  # lives as long
        at = values.__array_interface__
        self.__cuda_array_interface__ = {"version": 3, "data": (at["data"][0] + Device.base, False), "shape": values.shape,
                                         "typestr": values.dtype.str, "strides": at["strides"], "stream": 1} | more

    def __array__(self, *_):
        raise TypeError("Implicit conversion to a NumPy array is not allowed")


class Cupy(Cuda):
    def get(self):
        return self.values.copy()


class Numba(Cuda):
    def copy_to_host(self):
        return self.values.copy()


class Jax:
    """DLPack of a device, and the array API's way to have it elsewhere."""

    def __init__(self, values, old=False):
        self.values, self.old = values, old

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream=None, dl_device=None, copy=None):
        if self.old or dl_device != (1, 0) or not copy:
            raise BufferError("it stays on the device")
        return self.values.copy().__dlpack__()


class Tensor:
    """What PyTorch's tensors of a GPU do: they wait for cpu()."""

    __module__ = "torch"
    dtype = "torch.float32"

    def __init__(self, values, place="cuda"):
        self.values, self.device = values, type("device", (), {"type": place})

    def detach(self):
        return self

    def cpu(self):
        return Tensor(self.values.copy(), "cpu")

    def numpy(self):
        if self.device.type != "cpu":
            raise TypeError("can't convert cuda:0 device type tensor to numpy")
        return self.values


class FromGpus(unittest.TestCase):
    def setUp(self):
        self.device, before = Device(), devices.driver
        devices.driver = lambda: self.device
        self.addCleanup(setattr, devices, "driver", before)

    def same(self, given, want):
        found = arrays.numbers(given, "x")
        self.assertEqual(found.shape, want.shape)
        np.testing.assert_array_equal(found, want)

    def test_the_library_that_made_it(self):
        for kind in (Cupy, Numba, Jax, Tensor):
            self.same(kind(X), X)
        self.assertEqual(self.device.asked, [])
        self.same([Tensor(row) for row in X], X)

    def test_the_driver(self):
        wide = np.random.default_rng(2).normal(size=(8, 5, 6))
        for values in (X, X.T, X[::-1], X[:, ::-2], X[3:9, 1:4], wide.transpose(2, 0, 1)[::2], wide[0, 0, :1], X[:0],
                       np.arange(12, dtype=np.uint8).reshape(3, 4), np.arange(4, dtype=np.int64), X.astype(np.float16),
                       np.broadcast_to(X[:1], (4, 6)), np.float32(7) + np.zeros(())):
            self.same(Cuda(values), values)
        self.assertEqual(self.device.asked[4], 4 * (5 * 6 + 3), "the rows between, and no byte more")
        self.same(Cuda(X, strides=None), X)

    def test_it_is_used(self):
        y = (X[:, 0] > 0).astype(int)
        small = dict(hidden=[8], epochs=2, batch=5, lr=0.05, threads=1)
        net = tessera.train("mlp", Cuda(X), Cuda(y), **small)
        np.testing.assert_array_equal(net.outputs(Jax(X)), tessera.train("mlp", X, y, **small).outputs(X))
        self.assertEqual(net.evaluate(Cupy(X), Tensor(y)).accuracy, net.evaluate(X, y).accuracy)
        net.load_state_dict({name: Cuda(values) for name, values in net.parameters().items()})

    def refused(self, given, why):
        with self.assertRaisesRegex(tessera.UsageError, f"x lies on a GPU and could not be copied from there .*{why}"):
            arrays.numbers(given, "x")

    def test_what_cannot_be_read(self):
        self.refused(Cuda(X, mask=X), "it has a mask")
        self.refused(Jax(X, old=True), "it stays on the device")
        self.refused(Cuda(X, typestr="|V7x"), "V7x")

        def lost(*_):
            raise OSError("cuMemcpyDtoH_v2 failed with 700")
        self.device.copy = lost
        self.refused(Cuda(X), "failed with 700")

    def test_without_a_driver(self):
        try:
            ctypes.CDLL("libcuda.so.1")
        except OSError:
            devices.driver = devices._Driver
            self.refused(Cuda(X), "libcuda")
        else:
            self.skipTest("this machine has NVIDIA's driver")

    def test_of_the_processor_no_copy(self):
        class Here(Jax):
            def __dlpack_device__(self):
                return 1, 0

            def __dlpack__(self, **_):
                return self.values.__dlpack__()
        self.assertEqual(arrays.numbers(Here(X), "x").ctypes.data, X.ctypes.data)


if __name__ == "__main__":
    unittest.main()
