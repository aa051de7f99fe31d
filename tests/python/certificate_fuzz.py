"""Random small runs of every paper, each compared with the paper's oracle row by row.

    certificate_fuzz.py PROGRAM [--paper rnn,grelu,...] [--seeds 1-100,205] [--keep FOLDER] [--limit SECONDS]

A seed is a run: the same numbers draw the same run file on every machine (certificate_runs.py). The program trains it
with a trace, and the oracle (certificate_<paper>.py) says what every row of every certificate must be. What differs, an
oracle that crashes and a program that ends in another way than a sentence allows are told with the seed; the folder of
such a run stays when --keep says where. Runs that the program refuses (exit 2: the run
file, 3: the data) are counted: they compare nothing, so more than a fifth of them is a failure of the generator.
"""
import argparse
import contextlib
import importlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
import warnings

import yaml

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import certificate_runs
import certificate_runs_shares
from certificate_common import Check

# paper: what draws a run file, and the module whose check_run(check, folder) judges its folder
PAPERS = {
    "rnn": (certificate_runs.rnn, "certificate_rnn"),
    "grelu": (certificate_runs.grelu, "certificate_grelu"),
    "deep_relu": (certificate_runs.deep_relu, "certificate_deep_relu"),
    "masked": (certificate_runs_shares.shallow, "certificate_masked"),
    "loft": (certificate_runs_shares.cnn1, "certificate_loft"),
}
SOUND, REFUSED = {0, 5}, {2, 3}  # it ended, or its loss was no longer finite; run file or data are not taken


def numbers(text):
    """[1, 2, 3, 9] of "1-3,9"."""
    out = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        out += range(int(low), int(high or low) + 1)
    return out


class Fuzz:
    def __init__(self, program, keep, limit):
        self.program, self.keep, self.limit = os.path.abspath(program), keep, limit
        self.count = {"runs": 0, "refused": 0, "diverged": 0, "blank": 0, "rows": 0, "differ": 0}

    def tell(self, paper, seed, folder, lines):
        self.count["differ"] += 1
        for line in lines[:12]:
            print(f"DIFFERS: {paper} {seed}: {line}")
        if len(lines) > 12:
            print(f"DIFFERS: {paper} {seed}: ... and {len(lines) - 12} more")
        sys.stdout.flush()
        if self.keep:
            to = f"{self.keep}/{paper}-{seed}"
            shutil.rmtree(to, ignore_errors=True)
            shutil.copytree(folder, to)

    def one(self, paper, seed):
        draw, module = PAPERS[paper]
        with tempfile.TemporaryDirectory() as folder:
            config = draw(certificate_runs.generator(paper, seed), folder)
            with open(f"{folder}/run.yaml", "w") as f:
                yaml.safe_dump(config, f)
            code, said = self.train(folder)
            self.count["runs"] += 1
            if code in REFUSED:
                self.count["refused"] += 1
                print(f"refused: {paper} {seed}: {said}")
                return
            if code not in SOUND:
                self.tell(paper, seed, folder, [f"exit {code}: {said}"])
                return
            self.count["diverged"] += code == 5
            if os.path.exists(f"{folder}/out/trace/round-000000.safetensors"):
                self.judge(paper, seed, folder, module)
            else:  # it diverged within the first round: there is nothing to compute from
                self.count["blank"] += 1

    def begin(self, folder):
        """The run whose weights this one goes on from, where there is one: true when it left a model."""
        command = [self.program, "train", "first.yaml", "--quiet", "--out", "first"]
        if os.path.exists(f"{folder}/first.yaml"):
            subprocess.run(command, cwd=folder, capture_output=True, timeout=self.limit)
        return os.path.exists(f"{folder}/first/model.safetensors")

    def train(self, folder):
        command = [self.program, "train", "run.yaml", "--trace", "--quiet", "--out", "out"]
        if self.begin(folder):
            command += ["--init", "first/model.safetensors"]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=self.limit)
        except subprocess.TimeoutExpired:
            return 124, f"more than {self.limit} s"
        return done.returncode, done.stderr.strip()[-300:]

    def judge(self, paper, seed, folder, module):
        check = Check()
        try:
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # 0/0 and overflows are what some runs are made for
                more = {"from_file": True} if os.path.exists(f"{folder}/first/model.safetensors") else {}
                importlib.import_module(module).check_run(check, f"{folder}/out", **more)
        except Exception:
            last = traceback.format_exc().strip().splitlines()
            check.complain("the oracle crashed: " + " | ".join(t.strip() for t in last[-5:]))
        self.count["rows"] += check.rows
        if not check.rows and not check.failures:
            check.complain("no row was compared")
        if check.failures:
            self.tell(paper, seed, folder, [f.replace(folder, "") for f in check.failures])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--paper", default=",".join(PAPERS))
    parser.add_argument("--seeds", default="1-20")
    parser.add_argument("--keep")
    parser.add_argument("--limit", type=float, default=60)
    args = parser.parse_args()
    fuzz = Fuzz(args.program, args.keep, args.limit)
    for paper in args.paper.split(","):
        for seed in numbers(args.seeds):
            fuzz.one(paper, seed)
    print(", ".join(f"{name} {value}" for name, value in fuzz.count.items()))
    if fuzz.count["refused"] * 5 > fuzz.count["runs"]:
        print("too many runs were refused: the generator draws what the program does not take")
        sys.exit(1)
    sys.exit(1 if fuzz.count["differ"] else 0)


if __name__ == "__main__":
    main()
