"""faults.py PROGRAM [KILLS STOPS DEATHS [SEED]]: runs of four workers under mpirun in which something dies or stops.

KILLS runs lose a random worker at a random round, STOPS have one stopped (half of them forever), in DEATHS the coordinator
is killed and the run resumed with another number of ranks. Each has a deadline. Wanted: exit 0, all rounds, an accuracy within a
point of the run without faults (for a resumed run: its very bits), no process left behind. One line per run, counts at the end.
A run that ended before its fault came does not count; another is drawn.
"""
import hashlib, json, os, random, shutil, signal, subprocess, sys, tempfile, time

PROGRAM = os.path.abspath(sys.argv[1])
KILLS, STOPS, DEATHS = (int(x) for x in (sys.argv[2:5] or (100, 20, 20)))
random.seed(int(sys.argv[5]) if len(sys.argv) > 5 else 1)
DEADLINE = 120  # seconds for a run of one or two on a quiet machine
ROUNDS = 60
MISSED = "ended before its fault"
RUN = f"""
seed: 1
data: {{name: fashion-mnist, limit: 4000}}
model: {{name: mlp, hidden: [64], norm: batch}}
optim: {{lr: 0.05, momentum: 0.9, schedule: cosine}}
scheme: {{name: SCHEME, workers: 4, local_steps: 12}}
rounds: {ROUNDS}
batch: 32
threads: 1
eval: {{every: 0.2}}
checkpoint: {{every: 0.5}}
"""
RANK = '#!/bin/sh\necho $$ $(cut -d" " -f22 /proc/$$/stat) >"pid-$OMPI_COMM_WORLD_RANK"\nexec "$@"\n'
ENV = dict(os.environ, OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_ALLOW_RUN_AS_ROOT="1",
           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def is_there(pid, start):
    """By number and moment of birth: the program starts itself anew and is not called tessera then."""
    try:
        state = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    except OSError:
        return False
    return state[19] == start and state[0] != "Z"


class Run:
    """One mpirun in a folder of its own."""

    def __init__(self, folder, ranks, more=()):
        self.folder = folder
        for r in range(8):
            if os.path.exists(f"{folder}/pid-{r}"):
                os.remove(f"{folder}/pid-{r}")
        self.log = open(f"{folder}/log", "a")
        self.process = subprocess.Popen(
            ["mpirun", "--enable-recovery", "-n", str(ranks), "./rank", PROGRAM, "train", "run.yaml", "--out", "out",
             "--quiet", "--json", *more], cwd=folder, env=ENV, stdout=subprocess.PIPE, stderr=self.log, text=True,
            start_new_session=True)

    def known(self, rank):
        try:
            pid, start = open(f"{self.folder}/pid-{rank}").read().split()
            return int(pid), start
        except (OSError, ValueError):
            return 0, ""

    def pid(self, rank):
        return self.known(rank)[0]

    def round(self):
        try:
            lines = [json.loads(x) for x in open(f"{self.folder}/out/metrics.jsonl") if x.endswith("\n")]
        except OSError:
            return 0
        return max((x["round"] for x in lines), default=0)

    def wait_for_round(self, wanted):
        """And a moment longer: faults come anywhere within a round."""
        while self.process.poll() is None and self.round() < wanted:
            time.sleep(0.005)
        time.sleep(random.uniform(0, 0.03))

    def alive(self, ranks):
        return [r for r in ranks if self.pid(r) and is_there(*self.known(r))]

    def send(self, rank, what):
        """False: it has ended already."""
        try:
            if self.alive([rank]):
                os.kill(self.pid(rank), what)
                return True
        except ProcessLookupError:  # just now
            pass
        return False

    def end(self):
        """Result or a word for what went wrong."""
        try:
            out, _ = self.process.communicate(timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            for r in range(8):
                if self.alive([r]):
                    self.send(r, signal.SIGKILL)
            return "hangs"
        if self.process.returncode != 0:
            return f"exit {self.process.returncode}"
        lines = [x for x in out.splitlines() if x.startswith("{")]
        return json.loads(lines[-1]) if lines else "no result"


def make(folder, scheme):
    os.makedirs(folder)
    open(f"{folder}/run.yaml", "w").write(RUN.replace("SCHEME", scheme))
    open(f"{folder}/rank", "w").write(RANK)
    os.chmod(f"{folder}/rank", 0o755)


def digest(folder):
    return hashlib.sha256(open(f"{folder}/out/model.safetensors", "rb").read()).hexdigest()


def judge(result, whole, run, ranks=range(5)):
    if isinstance(result, str):
        return result
    if result["rounds"] != ROUNDS:
        return f"{result['rounds']} rounds"
    if abs(result["accuracy"] - whole["accuracy"]) > 0.01:
        return f"accuracy {result['accuracy']:.4f}, without faults {whole['accuracy']:.4f}"
    left = run.alive(ranks)
    if left:
        time.sleep(2)
        left = run.alive(ranks)
    return f"ranks {left} left behind" if left else "well"


def missed(run):
    result = run.end()
    return result if isinstance(result, str) else MISSED


def killed(folder, whole):
    run, at, who = Run(folder, 5), random.randrange(1, ROUNDS - 1), random.randrange(1, 5)
    run.wait_for_round(at)
    hit = run.send(who, signal.SIGKILL)
    return judge(run.end(), whole, run) if hit else missed(run), f"rank {who} killed at round {at}"


def stopped(folder, whole):
    run = Run(folder, 5, ["--set", "cluster.deadline=1"])
    at, who = random.randrange(1, ROUNDS * 2 // 3), random.randrange(1, 5)
    seconds = random.choice([0, random.uniform(1.2, 3)])
    run.wait_for_round(at)
    hit = run.send(who, signal.SIGSTOP)
    if seconds:
        time.sleep(seconds)
        run.send(who, signal.SIGCONT)
    how = f"for {seconds:.1f} s" if seconds else "forever"
    return judge(run.end(), whole, run) if hit else missed(run), f"rank {who} stopped at round {at} {how}"


def resumed(folder, whole):
    run, at, ranks = Run(folder, 5), random.randrange(1, ROUNDS - 1), random.randrange(2, 6)
    run.wait_for_round(at)
    if not run.send(0, signal.SIGKILL):
        return missed(run), f"coordinator ended before round {at}"
    since = time.time()
    while run.alive(range(1, 5)) and time.time() - since < 30:
        time.sleep(0.05)
    gone = time.time() - since
    run.end()
    word = f"coordinator killed at round {at}, workers gone after {gone:.1f} s, resumed with {ranks} ranks"
    if gone > 5:
        return "workers outlived it", word
    again = Run(folder, ranks, ["--resume"])
    verdict = judge(again.end(), whole, again)
    if verdict == "well" and digest(folder) != whole["digest"]:
        verdict = "other bits"
    return verdict, word


def main():
    counts = {}
    with tempfile.TemporaryDirectory() as work:
        whole = {}
        for scheme in ("ist", "local_sgd"):
            make(f"{work}/{scheme}", scheme)
            whole[scheme] = Run(f"{work}/{scheme}", 5).end()
            if isinstance(whole[scheme], str):
                sys.exit(f"{scheme} without faults: {whole[scheme]}: {open(f'{work}/{scheme}/log').read()}")
            whole[scheme]["digest"] = digest(f"{work}/{scheme}")
            print(f"{scheme} without faults: accuracy {whole[scheme]['accuracy']:.4f}, {whole[scheme]['seconds']:.1f} s")
        jobs = [killed] * KILLS + [stopped] * STOPS + [resumed] * DEATHS
        tries = 0
        while jobs and tries < 2 * (KILLS + STOPS + DEATHS) + 10:
            scheme = ("ist", "local_sgd")[len(jobs) % 2]
            folder = f"{work}/{tries}"
            make(folder, scheme)
            start = time.time()
            verdict, what = jobs[0](folder, whole[scheme])
            print(f"{tries:4} {scheme:9} {what}: {verdict} ({time.time() - start:.1f} s)", flush=True)
            tries += 1
            if verdict == MISSED:
                continue
            counts.setdefault(jobs.pop(0).__name__, []).append(verdict)
            if verdict != "well":
                print(open(f"{folder}/log").read()[-2000:], flush=True)
            shutil.rmtree(folder)
    bad = len(jobs)  # not even tried
    for name, verdicts in counts.items():
        print(f"{name}: {verdicts.count('well')} of {len(verdicts)} well")
        bad += len(verdicts) - verdicts.count("well")
    return 1 if bad else 0


sys.exit(main())
