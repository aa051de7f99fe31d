"""How the peers in these benchmarks are timed: what bench/compare.py reads."""
import resource
import time


def least_and_median(step, repeats, warm):
    """Milliseconds of `repeats` calls, after `warm` that do not count."""
    for _ in range(warm):
        step()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        step()
        times.append((time.perf_counter() - start) * 1e3)
    times.sort()
    return times[0], times[len(times) // 2]


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
