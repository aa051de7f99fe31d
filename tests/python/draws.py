"""The batches of a traced run with data.order: replacement, drawn anew from the seed alone.

    draws.py RUN-FOLDER N WORKERS STEPS      N training samples, STEPS local steps in a round

Sample `row` of worker w's step k is number `row` of the stream (ORDER 2, layer 2; k, w): Philox4x32-10
(Salmon and others, SC'11) and Lemire's unbiased number below N (2019), written from the papers.
"""
import sys

import yaml

sys.path.insert(0, __file__.rsplit("/", 1)[0])
import safetensors_numpy

WORD = 0xFFFFFFFF


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & WORD, (a >> 32) ^ c[3] ^ k[1], a & WORD]
        k = [(k[0] + 0x9E3779B9) & WORD, (k[1] + 0xBB67AE85) & WORD]
    return c


def below(words, bound):
    for word in words:
        product = word * bound
        if product & WORD >= bound or product & WORD >= (1 << 32) % bound:
            return product >> 32
    raise AssertionError("four words refused")


folder, n, workers, steps = sys.argv[1], *map(int, sys.argv[2:])
seed = yaml.safe_load(open(folder + "/run.yaml"))["seed"]
seen = repeated = 0
for round in range(3):
    trace, _ = safetensors_numpy.load(f"{folder}/trace/round-{round:06d}.safetensors")
    for w in range(workers):
        for t, have in enumerate(trace[f"batch.{w}"]):
            step = round * steps + t
            want = [below(philox([row, (2 << 24) + 2, step, w], [seed & WORD, seed >> 32]), n) for row in range(len(have))]
            assert list(have) == want, f"round {round}, worker {w}, step {t}: {list(have)}, not {want}"
            seen += len(want)
            repeated += len(want) - len(set(want))
assert repeated > 0, "no sample was drawn twice"
print(f"{seen} samples as drawn, {repeated} of them again in one batch")
