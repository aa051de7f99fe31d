"""Thirty independent lines that read and write safetensors: the oracle knows nothing of our C code."""
import json
import struct

import numpy

TYPES = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "I32": "<i4", "U8": "|u1", "BOOL": "|b1"}


def load(path):
    """All tensors as numpy arrays, and the metadata."""
    raw = open(path, "rb").read()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    data = raw[8 + length :]
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        array = numpy.frombuffer(data[begin:end], dtype=TYPES[entry["dtype"]])
        tensors[name] = array.reshape(entry["shape"])
    return tensors, metadata


def save(path, tensors, metadata=None):
    """numpy arrays, in the order given; metadata without the checksums of what was loaded."""
    names = {numpy.dtype(code).str: name for name, code in TYPES.items()}
    header, blobs, at = {}, [], 0
    if metadata:
        header["__metadata__"] = {k: v for k, v in metadata.items() if not k.endswith("crc32c")}
    for name, array in tensors.items():
        blob = numpy.ascontiguousarray(array).tobytes()
        header[name] = {
            "dtype": names[array.dtype.str],
            "shape": list(array.shape),
            "data_offsets": [at, at + len(blob)],
        }
        blobs.append(blob)
        at += len(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + b"".join(blobs))
