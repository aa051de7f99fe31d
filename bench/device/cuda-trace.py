"""What a trace of kernels (cuda-trace.c) says of steps that are recorded graphs:

    cuda-trace.py trace.csv [ROWS]

Steps are launches of graphs with at least 100 kernels of 12 kinds. `alone` are those in whose time no other step ran, `at once` all
others. For each: the span of a step, the sum of its kernels' times, and per kind of kernel count, time alone, time at once,
and blocks, threads, shared memory and registers. Of what runs at once also how long the GPU was busy at all and how many
kernels ran on average.
"""
import collections
import re
import sys

KINDS = (("finish_sums", "norm: sums forward"), ("back_sums", "norm: sums backward"), ("back_apply", "norm: apply backward"),
         ("apply", "norm: apply"), ("update", "update"), ("unpack", "packing"), ("pack", "packing"), ("wgrad", "conv: weights"),
         ("dgrad", "conv: inputs"), ("fprop", "conv: forward"), ("copy ", "copies"), ("memset", "memsets"))


def kind_of(name):
    return next((kind for part, kind in KINDS if part in name), "other")


def read(path):
    """{correlation: [(start, end, blocks, threads, shared, registers, cluster, name, graph)]} of graphs"""
    steps = collections.defaultdict(list)
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            f = line.rstrip("\n").split(",", 10)
            if len(f) == 11 and f[3] != "0":
                name = re.sub(r"[0-9a-f]{8,}", "", re.sub(r"^_Z\w*?\d+(?=[a-z])|_kernel.*", "", f[10]))
                steps[int(f[2])].append((int(f[0]), int(f[1]), *map(int, f[4:9]), name, int(f[3])))
    return {k: v for k, v in steps.items() if len(v) >= 100 and len({x[7] for x in v}) >= 12}


def spans(steps):
    return sorted((min(k[0] for k in v), max(k[1] for k in v), c) for c, v in steps.items())


def split(steps):
    """Correlations of steps that ran alone, and of the others."""
    alone, others, last = [], [], 0
    order = spans(steps)
    for i, (start, end, c) in enumerate(order):
        beside = start < last or (i + 1 < len(order) and order[i + 1][0] < end)
        (others if beside else alone).append(c)
        last = max(last, end)
    return alone, others


def gaps(steps, chosen):
    """Mean nanoseconds from the end of a step to the begin of the next of the same graph, of those under a step's length."""
    last, found = {}, []
    for start, end, c in spans({c: steps[c] for c in chosen}):
        graph = steps[c][0][8]
        if graph in last and 0 <= start - last[graph] < end - start:
            found.append(start - last[graph])
        last[graph] = end
    return sum(found) / max(1, len(found))


def busy(kernels):
    """Nanoseconds in which any of them ran, and the sum of their times."""
    total = end = 0
    for k in sorted(kernels):
        total += max(0, k[1] - max(k[0], end))
        end = max(end, k[1])
    return total, sum(k[1] - k[0] for k in kernels)


def table(steps, alone, others, rows):
    seen = collections.defaultdict(lambda: [[0, 0], [0, 0], None])
    kinds = collections.defaultdict(lambda: [0, 0])
    for which, chosen in enumerate((alone, others)):
        for c in chosen:
            for k in steps[c]:
                entry = seen[(k[7], k[2])]
                entry[which][0] += 1
                entry[which][1] += k[1] - k[0]
                entry[2] = k
                kinds[kind_of(k[7])][which] += k[1] - k[0]
    counts = [max(1, len(alone)), max(1, len(others))]
    print("kind, us of a step alone, at once")
    for kind, sums in sorted(kinds.items(), key=lambda item: -item[1][0]):
        print(f"  {kind:22s} {sums[0] / counts[0] / 1e3:8.1f} {sums[1] / counts[1] / 1e3:8.1f}")
    print("kernel, times a step, us alone, us at once, blocks, threads, shared, registers, cluster")
    for (name, _), (a, b, k) in sorted(seen.items(), key=lambda item: -item[1][1][1])[:rows]:
        print(f"  {name[:60]:60s} {(a[0] / counts[0]) or (b[0] / counts[1]):5.1f} {a[1] / max(1, a[0]) / 1e3:7.1f} "
              f"{b[1] / max(1, b[0]) / 1e3:7.1f} {k[2]:6d} {k[3]:5d} {k[4]:7d} {k[5]:4d} {k[6]:2d}")


def main(path, rows):
    steps = read(path)
    alone, others = split(steps)
    for text, chosen in (("alone", alone), ("at once", others)):
        if chosen:
            mean = sum(max(k[1] for k in steps[c]) - min(k[0] for k in steps[c]) for c in chosen) / len(chosen)
            kernels = [k for c in chosen for k in steps[c]]
            any_ran, all_ran = busy(kernels)
            print(f"{text}: {len(chosen)} steps of {len(kernels) / len(chosen):.0f} kernels, span {mean / 1e3:.0f} us, "
                  f"kernels {all_ran / len(chosen) / 1e3:.0f} us, GPU busy {any_ran / len(chosen) / 1e3:.0f} us a step, "
                  f"{all_ran / any_ran:.2f} kernels at once, {gaps(steps, chosen) / 1e3:.0f} us from a step to the next")
    table(steps, alone, others, rows)


main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 40)
