"""The rows of src/backend/cuda/engines.c, made of what a tuned run says:

    TESSERA_CUDNN_TELL=1 TESSERA_CUDNN_TUNE=1 tessera bench run.yaml --set backend=cuda --set precision=bf16 2> said.txt
    cuda-engines.py [--all] said.txt [MORE ...]

Of each shape the engine with the least time, where it beats the first that cuDNN lists by a hundredth; a shape whose first
one is as good needs no row, unless --all asks for it. Files may hold several runs: each engine counts with the least time that it had.
"""
import re
import sys

LINE = re.compile(r"cudnn (forward|input|weight) (\d+) x (\d+) x (\d+) x (\d+) to (\d+), window (\d+) / (\d+), bf16: "
                  r"place (\d+), engine (\d+), workspace (\d+), ([\d.]+) us")
PASSES = ("forward", "input", "weight")


def read(paths):
    """{shape: {(place, engine): least us}}"""
    found = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for m in filter(None, map(LINE.search, file)):
                n, h, w, c, k, size, stride, place, engine = (int(m[i]) for i in (2, 3, 4, 5, 6, 7, 8, 9, 10))
                if h == w and float(m[12]) > 0:
                    times = found.setdefault((n, h, c, k, size, stride, PASSES.index(m[1])), {})
                    times[place, engine] = min(float(m[12]), times.get((place, engine), float("inf")))
    return found


def main(paths):
    every = "--all" in paths
    paths = [path for path in paths if path != "--all"]
    for shape, times in sorted(read(paths).items()):
        (place, engine), best = min(times.items(), key=lambda item: item[1])
        first = next((us for (at, _), us in sorted(times.items()) if at == 0), None)
        if every or first is None or best < 0.99 * first:
            print("    {" + ", ".join(map(str, (*shape, place, engine))) + "},")


main(sys.argv[1:])
