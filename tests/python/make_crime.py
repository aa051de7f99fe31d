"""Writes a table shaped like UCI's Communities and Crime: make_crime.py FILE.

The real one is not ours to ship. This one has its traps (no header, five columns that predict nothing, two of them and 22 of
the others mostly '?', everything between 0 and 1 with two digits) and its nature: 122 columns that are mixtures of a few
causes, and a target that follows from them with little
noise, so that training comes near the floor that the paper speaks of. Same bytes on every machine.
"""
import random
import sys

ROWS, COLUMNS, CAUSES, POLICE = 1994, 122, 12, range(96, 118)

draw = random.Random(20090713)
mixture = [[draw.gauss(0, 1) for _ in range(CAUSES)] for _ in range(COLUMNS + 1)]


def share(weights, causes, noise):
    """A number between 0 and 1 whose spread is about that of the real columns (0.2)."""
    mean = sum(w * c for w, c in zip(weights, causes)) / CAUSES**0.5
    return min(max(0.4 + 0.18 * (mean + noise * draw.gauss(0, 1)), 0), 1)


with open(sys.argv[1], "w") as out:
    for row in range(ROWS):
        causes = [draw.gauss(0, 1) for _ in range(CAUSES)]
        seen = draw.random() < 0.16  # few towns told about their police
        cells = [str(1 + row % 56), "?" if seen else "5", "?", "town%d" % row, str(1 + row % 10)]
        for column in range(COLUMNS):
            value = "%.2f" % share(mixture[column], causes, 0.4)
            cells.append("?" if column in POLICE and not seen else value)
        cells.append("%.2f" % share(mixture[COLUMNS], causes, 0.1))
        out.write(",".join(cells) + "\n")
