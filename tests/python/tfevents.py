"""tfevents.py METRICS EVENTS - a reader of TensorBoard's event files, written from their description, and a comparison: every number of
metrics.jsonl is in EVENTS, once, as the nearest 32-bit number, at its round, under its name; nothing else is.

numpy only. A record is u64 length, u32 masked CRC-32C of it, the bytes, u32 masked CRC-32C of them; the bytes are a tensorflow.Event.
"""
import json
import struct
import sys

import numpy as np


def table():
    c = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        c = np.where(c & 1, (c >> 1) ^ np.uint32(0x82F63B78), c >> 1)
    return [int(x) for x in c]


TABLE = table()


def crc32c(data):
    c = 0xFFFFFFFF
    for b in data:
        c = c >> 8 ^ TABLE[(c ^ b) & 255]
    return c ^ 0xFFFFFFFF


assert crc32c(b"123456789") == 0xE3069283


def masked(data):
    c = crc32c(data)
    return ((c >> 15 | c << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(raw):
    at = 0
    while at < len(raw):
        head = raw[at:at + 8]
        (n,) = struct.unpack("<Q", head)
        (check,) = struct.unpack("<I", raw[at + 8:at + 12])
        assert check == masked(head), "the checksum of a length at byte %d" % at
        data = raw[at + 12:at + 12 + n]
        assert len(data) == n
        (check,) = struct.unpack("<I", raw[at + 12 + n:at + 16 + n])
        assert check == masked(data), "the checksum of a record at byte %d" % at
        yield data
        at += 16 + n


def varint(data, at):
    value = shift = 0
    while True:
        b = data[at]
        value |= (b & 127) << shift
        shift += 7
        at += 1
        if b < 128:
            return value, at


def fields(data):
    """(number, value) of each field of a message: ints, floats, doubles or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = struct.unpack("<d", data[at:at + 8])[0], at + 8
        elif wire == 5:
            value, at = struct.unpack("<f", data[at:at + 4])[0], at + 4
        else:
            assert wire == 2, wire
            n, at = varint(data, at)
            value, at = data[at:at + n], at + n
            assert len(value) == n
        yield key >> 3, value
    assert at == len(data)


def events(path):
    """(wall time, step, tag, value) of every scalar."""
    with open(path, "rb") as f:
        all_records = list(records(f.read()))
    first = dict(fields(all_records[0]))
    assert first[3] == b"brain.Event:2" and set(first) == {1, 3}, first
    for data in all_records[1:]:
        event = dict(fields(data))
        assert set(event) == {1, 2, 5}, event.keys()
        for number, value in fields(event[5]):
            assert number == 1
            scalar = dict(fields(value))
            assert set(scalar) == {1, 2}, scalar
            yield event[1], event[2], scalar[1].decode(), scalar[2]


def flat(value, name):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, name + [key])
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from flat(inner, name + [str(i)])
    elif value is not None and not isinstance(value, str):
        yield "/".join(name), float(value)


def expected(path):
    with open(path) as f:
        for line in f:
            told = json.loads(line)
            event = told.pop("event", None)
            told.pop("format", None)
            step = told.pop("round")
            for name, value in flat(told, [event] if event else []):
                yield step, name, value


if __name__ == "__main__":
    got, wanted = list(events(sys.argv[2])), list(expected(sys.argv[1]))
    assert len(got) == len(wanted) > 0, (len(got), len(wanted))
    with np.errstate(over="ignore"):
        for (wall, step, tag, value), (round_, name, number) in zip(got, wanted):
            assert (step, tag) == (round_, name), (step, tag, round_, name)
            assert np.float32(number) == np.float32(value), (tag, number, value)
    walls = [wall for wall, *_ in got]
    assert walls == sorted(walls) and walls[-1] - walls[0] < 1e6 and walls[0] > 1e9, (walls[0], walls[-1])
    print("%d numbers" % len(got))
