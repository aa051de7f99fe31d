"""Writes houses.csv, a table like those of real life: numbers, words, missing cells, a price to be learned.

    python3 examples/guide/houses.py houses.csv 1500
"""
import random
import sys

path, rows = sys.argv[1], int(sys.argv[2])
draw = random.Random(7)
towns = {"Aldham": 1.0, "Brill": 1.4, "Corby": 0.8, "Derwen": 1.1}
with open(path, "w", encoding="utf-8") as out:
    out.write("area,rooms,year,town,garden,price\n")
    for _ in range(rows):
        area, year = draw.uniform(40, 220), draw.randint(1900, 2024)
        rooms, town = max(1, round(area / 28 + draw.gauss(0, 0.7))), draw.choice(list(towns))
        garden = draw.choice(["yes", "no"])
        price = 1000 * towns[town] * (1.9 * area + 9 * rooms + 0.004 * (year - 1940) ** 2 + 25 * (garden == "yes"))
        price *= draw.gauss(1, 0.05)
        seen = f"{area:.1f}" if draw.random() > 0.03 else ""  # what nobody wrote down
        out.write(f"{seen},{rooms},{year},{town},{garden},{price:.0f}\n")
