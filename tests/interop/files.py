#!/usr/bin/python3
"""The other side of tests/unit/test_interop.c: numpy (and PyTorch, when it is there) read what the
library wrote and write what it must read.

    tests/interop/files.py FOLDER        exit status 77 without numpy, 1 when something differs

Reads FOLDER/ours.safetensors and FOLDER/ours-<dtype>.npy; element i of each tensor must be i - 3 in
its own type (true where i is odd, for booleans). Writes FOLDER/theirs.safetensors and FOLDER/theirs-*.npy the same way.
The safetensors parser below follows the format's description and shares nothing with the library.
"""
import json
import struct
import sys

try:
    import numpy as np
except ImportError:
    print("numpy is not here")
    sys.exit(77)

TYPES = {"BOOL": "?", "U8": "u1", "I8": "i1", "I16": "<i2", "U16": "<u2", "F16": "<f2", "I32": "<i4",
         "U32": "<u4", "F32": "<f4", "I64": "<i8", "U64": "<u8", "F64": "<f8"}
SHAPE = (2, 3, 4)


def pattern(dtype):
    i = np.arange(24).reshape(SHAPE)
    if dtype == "BOOL":
        return i % 2 == 1
    return (i - 3).astype(TYPES[dtype])


def bf16(values):  # the upper half of a float, for numbers that it holds exactly
    return (values.astype("<f4").view("<u4") >> 16).astype("<u2")


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def read_safetensors(path):
    raw = open(path, "rb").read()
    (n,) = struct.unpack("<Q", raw[:8])
    assert n % 8 == 0, "the header is not padded to 8 bytes"
    header = json.loads(raw[8:8 + n].decode("utf-8"))
    metadata, data = header.pop("__metadata__"), raw[8 + n:]
    tensors, at = {}, 0
    for name, about in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = about["data_offsets"]
        assert begin == at, "not end to end"
        kind = "<u2" if about["dtype"] == "BF16" else TYPES[about["dtype"]]
        assert begin % np.dtype(kind).itemsize == 0, "not aligned in the file"
        tensors[name] = about["dtype"], np.frombuffer(data[begin:end], kind).reshape(about["shape"])
        at = end
    assert at == len(data), "bytes after the last tensor"
    for name, digits in json.loads(metadata["tessera.crc32c"]).items():
        assert digits == "%08x" % crc32c(tensors[name][1].tobytes()), "checksum of " + name
    blank = raw[8:8 + n].replace(metadata["tessera.header.crc32c"].encode(), b"00000000")
    assert metadata["tessera.header.crc32c"] == "%08x" % crc32c(blank), "checksum of the header"
    return tensors, metadata


def write_safetensors(path, tensors, metadata):
    header, blobs, at = {"__metadata__": metadata}, [], 0
    for name, (dtype, value) in tensors.items():
        blob = value.tobytes()
        header[name] = {"dtype": dtype, "shape": list(value.shape), "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    text = json.dumps(header).encode()  # not padded, and in no order: the format allows both
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def check_torch(tensors):
    try:
        import torch
    except ImportError:
        print("PyTorch is not here")
        return
    kinds = {"F32": torch.float32, "F64": torch.float64, "F16": torch.float16, "BF16": torch.bfloat16,
             "I64": torch.int64, "I32": torch.int32, "U8": torch.uint8}
    expected = torch.arange(24).reshape(SHAPE) - 3
    for name, (dtype, value) in tensors.items():
        if dtype in kinds:
            t = torch.frombuffer(bytearray(value.tobytes()), dtype=kinds[dtype]).reshape(SHAPE)
            assert torch.equal(t, expected.to(kinds[dtype])), "PyTorch sees another " + name
    print("PyTorch agrees")


def main(folder):
    tensors, metadata = read_safetensors(folder + "/ours.safetensors")
    assert metadata["text"] == 'line\n"quoted" \\ \u20ac', metadata
    assert len(tensors) == 13
    for name, (dtype, value) in tensors.items():
        assert name == "tensor.\u00e9." + dtype
        wanted = bf16(np.arange(24) - 3).reshape(SHAPE) if dtype == "BF16" else pattern(dtype)
        assert value.shape == SHAPE and value.tobytes() == wanted.tobytes(), name
    check_torch(tensors)
    for dtype, kind in TYPES.items():
        a = np.load(f"{folder}/ours-{dtype}.npy", allow_pickle=False)
        assert a.dtype == np.dtype(kind) and a.shape == SHAPE and (a == pattern(dtype)).all(), dtype
        np.save(f"{folder}/theirs-{dtype}.npy", pattern(dtype))
        np.save(f"{folder}/columns-{dtype}.npy", np.asfortranarray(pattern(dtype)))
    a = np.load(folder + "/scalar.npy")
    assert a.shape == () and a == 2.5
    with open(folder + "/version3.npy", "wb") as f:
        np.lib.format.write_array(f, pattern("F32"), version=(3, 0))
    theirs = {"t." + dtype: (dtype, pattern(dtype)) for dtype in TYPES}
    write_safetensors(folder + "/theirs.safetensors", theirs, {"format": "pt", "e": "\u20ac"})


main(sys.argv[1])
