"""Draws PNG pictures into a folder for each class, train and test: discs, squares, triangles and crosses of any size,
place and dark colour on light paper, with noise. Needs nothing but Python.

    python3 examples/guide/shapes.py shapes 200 50        that many of each class
"""
import os
import random
import struct
import sys
import zlib

SIDE = 24
SHAPES = {
    "cross": lambda x, y, r: min(abs(x), abs(y)) < 0.35 * r and max(abs(x), abs(y)) < r,
    "disc": lambda x, y, r: x * x + y * y < r * r,
    "square": lambda x, y, r: max(abs(x), abs(y)) < 0.85 * r,
    "triangle": lambda x, y, r: -0.8 * r < y < r and abs(x) < 0.6 * (y + 0.8 * r),
}


def png(path, rows):
    """Rows of bytes, three a pixel, as a PNG file."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    head = struct.pack(">IIBBBBB", len(rows[0]) // 3, len(rows), 8, 2, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    with open(path, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b""))


def picture(draw, inside):
    r, cx, cy = draw.uniform(4, 9), draw.uniform(8, 16), draw.uniform(8, 16)
    ink, paper = [draw.randrange(0, 110) for _ in range(3)], [draw.randrange(140, 256) for _ in range(3)]
    return [bytes(min(255, max(0, c + int(draw.gauss(0, 55)))) for x in range(SIDE)
                  for c in (ink if inside(x - cx, y - cy, r) else paper)) for y in range(SIDE)]


def main(folder, training, test):
    draw = random.Random(3)
    for part, count in (("train", training), ("test", test)):
        for name, shape in SHAPES.items():
            os.makedirs(os.path.join(folder, part, name), exist_ok=True)
            for i in range(count):
                png(os.path.join(folder, part, name, f"{i:03d}.png"), picture(draw, shape))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
