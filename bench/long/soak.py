"""soak.py PROGRAM [SECONDS [FOLDER]]: four workers under mpirun for hours (default two), watched from outside.

Every ten seconds the resident memory, open descriptors and threads of each rank are read from /proc, and written to
FOLDER/soak.csv. At the end the run is sent SIGTERM and resumed for one more checkpoint. Wanted: no rank's memory grows by more than
GROWTH between the first eighth of the time and the last (medians), no rank holds more descriptors or threads than at first,
the run says that all is saved and can be resumed, nothing is left behind. One line per rank; exit 1 when something is not so.
"""
import json, os, signal, statistics, subprocess, sys, tempfile, time

PROGRAM = os.path.abspath(sys.argv[1])
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 7200
FOLDER = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else tempfile.mkdtemp(prefix="soak-")
RANKS = 5
GROWTH = 1 << 20  # a page here and there is malloc's; a leak of one number a round would be far above it
RUN = """
seed: 1
data: {name: fashion-mnist, limit: 4000}
model: {name: mlp, hidden: [64], norm: batch}
optim: {lr: 0.01, momentum: 0.9}
scheme: {name: ist, workers: 4, local_steps: 4}
rounds: 100000000
batch: 32
threads: 1
eval: {every: 50}
checkpoint: {every: 200}
"""
RANK = '#!/bin/sh\necho $$ >"pid-$OMPI_COMM_WORLD_RANK"\nexec "$@"\n'
ENV = dict(os.environ, OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_ALLOW_RUN_AS_ROOT="1",
           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def start(more=()):
    return subprocess.Popen(["mpirun", "--enable-recovery", "-n", str(RANKS), "./rank", PROGRAM, "train", "run.yaml", "--out", "out",
                             "--quiet", "--json", *more], cwd=FOLDER, env=ENV, stdout=open(f"{FOLDER}/out.txt", "a"),
                            stderr=subprocess.STDOUT, start_new_session=True)


def pids():
    return [int(open(f"{FOLDER}/pid-{r}").read()) for r in range(RANKS)]


def look(pid):
    """Resident bytes, descriptors, threads; None when it is not there."""
    try:
        status = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status") if ":" in line)
        return int(status["VmRSS"].split()[0]) * 1024, len(os.listdir(f"/proc/{pid}/fd")), int(status["Threads"])
    except (OSError, KeyError):
        return None


def last_round():
    with open(f"{FOLDER}/out/metrics.jsonl") as f:
        return max(json.loads(x)["round"] for x in f if x.endswith("\n"))


def stop(process):
    process.send_signal(signal.SIGTERM)
    return process.wait(timeout=120)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    open(f"{FOLDER}/run.yaml", "w").write(RUN)
    open(f"{FOLDER}/rank", "w").write(RANK)
    os.chmod(f"{FOLDER}/rank", 0o755)
    began, process = time.time(), start()
    rows, bad = [[] for _ in range(RANKS)], []
    with open(f"{FOLDER}/soak.csv", "w") as table:
        table.write("seconds,rank,resident,descriptors,threads\n")
        while time.time() - began < SECONDS and process.poll() is None:
            time.sleep(10)
            for r, pid in enumerate(pids()):
                seen = look(pid)
                if seen is None:
                    bad.append(f"rank {r} is gone after {time.time() - began:.0f} s")
                    continue
                rows[r].append(seen)
                table.write(f"{time.time() - began:.0f},{r},{seen[0]},{seen[1]},{seen[2]}\n")
            table.flush()
            if bad:
                break
    if process.poll() is not None:
        bad.append(f"mpirun ended by itself with {process.returncode}")
    code = stop(process) if process.poll() is None else process.returncode
    rounds = last_round()
    left = [r for r, pid in enumerate(pids()) if look(pid)]
    if "all saved" not in open(f"{FOLDER}/out.txt").read():
        bad.append("it did not say that all is saved")
    print(f"{time.time() - began:.0f} s, {rounds} rounds told, mpirun's exit {code}")
    for r, seen in enumerate(rows):
        eighth = max(1, len(seen) // 8)
        early, late = seen[:eighth], seen[-eighth:]
        grown = statistics.median(x[0] for x in late) - statistics.median(x[0] for x in early)
        descriptors, threads = (max(x[k] for x in late) - max(x[k] for x in early) for k in (1, 2))
        print(f"rank {r}: {seen[-1][0] / 1e6:.1f} MB, grown by {grown / 1e6:+.3f} MB; {seen[-1][1]} descriptors ({descriptors:+d}), "
              f"{seen[-1][2]} threads ({threads:+d}), {len(seen)} looks")
        if grown > GROWTH or descriptors > 0 or threads > 0:
            bad.append(f"rank {r} has grown")
    if left:
        bad.append(f"ranks {left} were left behind")
    again = start(("--resume",))
    time.sleep(20)
    if again.poll() is not None or last_round() < rounds:
        bad.append("it could not be resumed")
    else:
        stop(again)
    print("bad: " + "; ".join(bad) if bad else "flat, nothing left behind, resumed")
    return 1 if bad else 0


sys.exit(main())
