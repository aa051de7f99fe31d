"""live_cost.py PROGRAM [PAIRS [SECONDS]]: what the live page costs a run with four workers under mpirun.

One run; beside it a server (tessera watch --serve) and a reader who holds the stream open and fetches the page every three seconds,
as the page itself does. Both stand still (SIGSTOP) for SECONDS (2) and go on for SECONDS, PAIRS (100) times; which of the two
comes first alternates. The run's metrics tell how many rounds it made in each window. Whole runs with and without a page differ by
ten per cent for reasons of their own (which rank lies on which processor); windows of one run do not. Exit 1 when the page takes
more than 1 %, 3 when that cannot be said.
"""
import json, os, signal, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import paired  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
PAIRS, SECONDS = int(sys.argv[2]) if len(sys.argv) > 2 else 100, float(sys.argv[3]) if len(sys.argv) > 3 else 2
SETTLE = 0.5  # of each window: who was stopped catches up, or ends what it was at
LIMIT = 0.01
RUN = """
seed: 1
data: {name: glyphs, n: 2000, test_n: 500}
model: {name: mlp, hidden: [256, 256]}
optim: {lr: 0.01, momentum: 0.9}
scheme: {name: ist, workers: 4, local_steps: 4}
rounds: 100000000
batch: 50
threads: 1
eval: {every: 10}
checkpoint: {every: 0}
"""
READER = """
import sys, time, urllib.request
base = sys.argv[1]
last = 0.0
for line in urllib.request.urlopen(base + "events"):
    if time.monotonic() - last > 3:
        last = time.monotonic()
        urllib.request.urlopen(base + "run/seen/").read()
"""
ENV = dict(os.environ, OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
METRICS = "runs/seen/metrics.jsonl"


def wait_for(path):
    end = time.time() + 60
    while not (os.path.exists(path) and os.path.getsize(path)):
        if time.time() > end:
            sys.exit(f"live_cost: nothing in {path}")
        time.sleep(0.05)


def lines():
    """(seconds, round) of the run's evaluations; a line that is being written is left out."""
    with open(METRICS, encoding="utf-8") as f:
        rows = [json.loads(line) for line in f if line.endswith("\n")]
    return [(row["seconds"], row["round"]) for row in rows if "test_loss" in row]


def begun():
    """When the run's clock began, by ours."""
    return os.stat(METRICS).st_mtime - lines()[-1][0]


def processor(pid):
    times = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")


def rounds_at(made, t):
    """The round at second t of the run, between two evaluations on a straight line."""
    k = next(i for i in range(1, len(made)) if made[i][0] >= t)
    (a, first), (b, last) = made[k - 1], made[k]
    return first + (last - first) * (t - a) / (b - a)


def windows(page):
    """[(begin, end, with the page)] by our clock."""
    found = []
    for pair in range(PAIRS):
        for watched in (False, True) if pair % 2 == 0 else (True, False):
            for p in page:
                p.send_signal(signal.SIGCONT if watched else signal.SIGSTOP)
            begin = time.time()
            time.sleep(SECONDS)
            found.append((begin + SETTLE, time.time(), watched))
    return found


def measure(page):
    offsets = [begun()]
    found = windows(page)
    offsets.append(begun())
    time.sleep(2)  # the line that comes after the last window
    made, zero = lines(), statistics.mean(offsets)
    pace = [(rounds_at(made, end - zero) - rounds_at(made, begin - zero)) / (end - begin) for begin, end, _ in found]
    ratios = []
    for k in range(0, len(found), 2):
        on, off = (k, k + 1) if found[k][2] else (k + 1, k)
        ratios.append(pace[off] / pace[on])
    return ratios, statistics.median(pace)


def main():
    os.chdir(tempfile.mkdtemp())
    with open("run.yaml", "w", encoding="utf-8") as f:
        f.write(RUN)
    os.mkdir("runs")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": ENV}
    started = [subprocess.Popen(["mpirun", "-n", "5", PROGRAM, "train", "run.yaml", "--out", "runs/seen", "--quiet"], **quiet)]
    try:
        wait_for(METRICS)
        with open("said", "w", encoding="utf-8") as said:
            server = subprocess.Popen([PROGRAM, "watch", "runs", "--serve"], **{**quiet, "stdout": said})
        started.append(server)
        wait_for("said")
        reader = subprocess.Popen([sys.executable, "-c", READER, open("said", encoding="utf-8").read().split()[1]], **quiet)
        started.append(reader)
        time.sleep(5)
        before = processor(server.pid)
        ratios, pace = measure((reader, server))
        used = processor(server.pid) - before
        for what, p in ("server", server), ("reader", reader), ("run", started[0]):
            if p.poll() is not None:
                sys.exit(f"live_cost: the {what} has ended")
    finally:
        for p in reversed(started):
            p.send_signal(signal.SIGCONT)
            p.send_signal(signal.SIGTERM)
            p.wait()
    mean, least, most = paired.interval(ratios)
    print(f"{PAIRS} pairs of windows of {SECONDS:g} s, {pace:.0f} rounds/s; processor time of the server {used:.2f} s in "
          f"{PAIRS * SECONDS:.0f} s: {100 * used / PAIRS / SECONDS:.2f} % of one core")
    print(f"a round takes {100 * (mean - 1):+.2f} % longer with the live page (95 %: {100 * (least - 1):+.2f} to {100 * (most - 1):+.2f}, "
          f"median {100 * (statistics.median(ratios) - 1):+.2f}): {paired.verdict(least, most, LIMIT, 'the live page')}")
    return 0 if most <= 1 + LIMIT else 1 if least > 1 + LIMIT else 3


sys.exit(main())
