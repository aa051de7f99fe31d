"""live.py PROGRAM [MINUTES]: the live page beside a run with four workers under mpirun, with a page of it open in Chromium.

After a third of the time the run is stopped and resumed, after two thirds the server is stopped and started again; in the last third
the hostile requests of tests/watch/hostile.py come. Every five seconds: resident memory, descriptors and processor time of the server,
and the round that the page shows. Wanted: the server's memory grows by less than GROWTH within each of its lives (medians of the
first and last third, the first 30 s left out), the page follows the run again after each restart, the run goes on through all of it, the
browser's console has nothing to say but that the server was away. Exit 1 when something is not so.
"""
import os, re, signal, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(HERE, "..", "..", "tests")
sys.path.insert(0, os.path.join(TESTS, "pages"))
from browser import Browser  # noqa: E402

PROGRAM, MINUTES = os.path.abspath(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 10
GROWTH = 2 << 20  # malloc's arenas move by a page now and then; a leak of one page a look would be 40 MB
RUN = """
seed: 1
data: {name: glyphs, n: 2000, test_n: 500}
model: {name: mlp, hidden: [256, 256]}
optim: {lr: 0.01, momentum: 0.9}
scheme: {name: ist, workers: 4, local_steps: 4}
rounds: 100000000
batch: 50
threads: 1
eval: {every: 20}
checkpoint: {every: 200}
"""
ENV = dict(os.environ, OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
BAR = "document.getElementById('live').textContent"
started, bad, lives = [], [], []


def start(command, **more):
    p = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=ENV, **{"stdout": subprocess.DEVNULL, **more})
    started.append(p)
    return p


def train(*more):
    return start(["mpirun", "-n", "5", PROGRAM, "train", "run.yaml", "--out", "runs/seen", "--quiet", *more])


def serve(*more):
    with open("said", "w") as said:
        p = start([PROGRAM, "watch", "runs", "--serve", "--token-file", "token", *more], stdout=said)
    end = time.time() + 30
    while not os.path.getsize("said") and time.time() < end:
        time.sleep(0.05)
    lives.append([])
    return p, open("said").read().split()[1]


def looked(pid):
    """Resident bytes, descriptors, processor seconds."""
    status = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status") if ":" in line)
    times = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(status["VmRSS"].split()[0]) * 1024, len(os.listdir(f"/proc/{pid}/fd")),
            (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK"))


def round_of(page):
    found = re.search(r"round (\d+(?:[ ,\u00a0\u2009\u202f]\d{3})*)", page.eval(BAR) or "")
    return int(re.sub(r"\D", "", found.group(1))) if found else 0


def look(server, page, began, until):
    looks = 0
    while looks < 4 or time.time() - began < until:
        looks += 1
        time.sleep(5)
        page.eval("1")  # what its console said is heard
        lives[-1].append((time.time() - began, *looked(server.pid), round_of(page)))


def goes_on(page, what, seconds=90):
    end, first = time.time() + seconds, None
    while time.time() < end:
        shown = round_of(page) if "running" in page.eval(BAR) else None
        if shown and first and shown > first:
            return
        first = first or shown
        time.sleep(0.5)
    bad.append("%s: the page does not follow the run; it says %r" % (what, page.eval(BAR)))


def judge():
    for number, seen in enumerate(lives):
        calm = [s for s in seen if s[0] > seen[0][0] + min(30, 60 * MINUTES / 10)] or seen
        third = max(1, len(calm) // 3)
        grown = statistics.median(s[1] for s in calm[-third:]) - statistics.median(s[1] for s in calm[:third])
        shown = seen[-1][4] - seen[0][4]
        part = 100 * (seen[-1][3] - seen[0][3]) / max(1e-9, seen[-1][0] - seen[0][0])
        print("server %d: %.0f to %.0f s, %.1f MB, grown by %+.2f MB, %d descriptors at most, %.2f %% of one core, %d rounds shown" %
              (number + 1, seen[0][0], seen[-1][0], seen[-1][1] / 1e6, grown / 1e6, max(s[2] for s in seen), part, shown))
        if grown > GROWTH:
            bad.append("the memory of server %d grows" % (number + 1))


def all_of_it(browser):
    open("run.yaml", "w").write(RUN)
    os.mkdir("runs")
    subprocess.run([PROGRAM, "train", "run.yaml", "--out", "runs/secret-run", "--quiet", "--set", "rounds=40"], check=True, stdout=subprocess.DEVNULL)
    run, (server, address) = train(), serve()
    page, began, third = browser.open(address), time.time(), 60 * MINUTES / 3
    while 'run/seen/' not in page.eval("document.getElementById('runs').innerHTML"):
        time.sleep(0.5)
    page.load(address + "run/seen/")
    goes_on(page, "at first")
    look(server, page, began, third)
    run.send_signal(signal.SIGTERM)
    run.wait(120)
    time.sleep(3)
    if "interrupted" not in page.eval(BAR):
        bad.append("the run's stop is not shown: %r" % page.eval(BAR))
    run = train("--resume")
    goes_on(page, "after the run's restart")
    look(server, page, began, 2 * third)
    if page.faults:
        bad.append("the console: %s" % page.faults[:3])
    server.send_signal(signal.SIGTERM)
    server.wait(60)
    time.sleep(5)
    page.eval("1")
    if "away" not in page.eval(BAR):
        bad.append("the server's end is not shown: %r" % page.eval(BAR))
    server, again = serve("--port", re.search(r":(\d+)/", address).group(1))
    if again != address:
        bad.append("another address after the restart")
    goes_on(page, "after the server's restart")
    before = round_of(page)
    hostile = subprocess.run(["python3", os.path.join(TESTS, "watch", "hostile.py"), address, str(server.pid), os.path.abspath("runs")],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(hostile.stdout.strip())
    if hostile.returncode != 0:
        bad.append("hostile requests")
    look(server, page, began, 3 * third)
    goes_on(page, "after the hostile requests")
    print("the page showed round %d before the hostile requests and %d at the end" % (before, round_of(page)))
    others = [f for f in page.faults if "ERR_CONNECTION_REFUSED" not in f and "ERR_INCOMPLETE_CHUNKED" not in f]
    if others:
        bad.append("the console: %s" % others[:3])
    if run.poll() is not None:
        bad.append("the run ended by itself")
    run.send_signal(signal.SIGTERM)
    run.wait(120)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    try:
        with Browser() as b:
            all_of_it(b)
    finally:
        for process in started:
            if process.poll() is None:
                process.terminate()
                process.wait(60)
    judge()
    os.chdir("/")
print("bad: " + "; ".join(bad) if bad else "memory flat, followed through both restarts, strangers refused")
sys.exit(1 if bad else 0)
