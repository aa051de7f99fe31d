#!/usr/bin/env python3
"""Whole runs with backend: cuda beside backend: cpu, and what a kill leaves.

    cuda-runs.py PROGRAM [NAME ...]

Each run of the table trains the same ten rounds on both, from one run file; the weights must agree, and with cuda be the
same bits twice and when the run was killed and resumed. A run begun with cpu goes on with cuda.

Two backends add in other orders, and ten rounds of training make much of it: a ReLU that is on here and off there. So
cuda may be as far from ref as cpu is, times 20, and 1e-5 of a tensor's largest number where cpu happens to be close. One
line a run; exit 1 when one fails. Needs numpy. With
TESSERA_CUDA it tries the module that this names (tests/cli/cuda.sh: the emulated one).
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

IMAGES = "data.name=glyphs data.n=128 data.test_n=32 data.channels=3"
FLAT = "data.name=glyphs data.n=256 data.test_n=64"
# name: settings. Ten rounds; batches of 16 or 32.
RUNS = {
    "mlp dense": f"{FLAT} model.hidden=[32,24] batch=32",
    "mlp adamw clip": f"{FLAT} model.hidden=[32] batch=32 optim.name=adamw optim.lr=0.01 optim.clip=0.5 optim.ema=0.9",
    "mlp micro": f"{FLAT} model.hidden=[32] batch=32 scheme.micro_batches=4",
    "mlp smoothed": f"{FLAT} model.hidden=[32] batch=32 label_smoothing=0.1 class_weights=balanced",
    "mlp ist": f"{FLAT} model.hidden=[32,24] batch=32 scheme.name=ist scheme.workers=4 scheme.local_steps=3",
    "mlp local_sgd": f"{FLAT} model.hidden=[32] batch=32 scheme.name=local_sgd scheme.workers=2 scheme.local_steps=2",
    "mlp dropout": f"{FLAT} model.hidden=[32] batch=32 scheme.name=dropout",
    "mlp gpipe": f"{FLAT} model.hidden=[32,24] batch=32 scheme.name=gpipe scheme.workers=2 scheme.micro_batches=4",
    "shallow masked": "data.name=sphere data.n=40 data.dim=8 model.name=shallow model.width=64 optim.name=gd optim.lr=0.01 "
                      "scheme.name=masked scheme.workers=3",
    "relu_deep": "data.name=sphere data.n=64 data.dim=8 model.name=relu_deep model.width=32 model.layers=3 optim.name=gd",
    "grelu": "data.name=sphere data.n=64 data.dim=8 model.name=grelu model.width=48 model.layers=2 optim.name=gd "
             "optim.lr=1.0e-5",
    "rnn": "data.name=sequences data.n=48 data.dim=6 data.length=7 model.name=rnn model.width=24 optim.name=gd optim.lr=0.001",
    "cnn1": f"{IMAGES} model.name=cnn1 model.width=16 batch=16 optim.lr=1000",
    "vgg11": f"{IMAGES} model.name=vgg11 model.width=4 batch=16 optim.lr=1.0e-3",
    "resnet18": f"{IMAGES} model.name=resnet18 model.width=4 batch=16 optim.lr=1.0e-3",
    "preresnet18 dense": f"{IMAGES} model.name=preresnet18 model.width=4 batch=16 optim.lr=1.0e-3",
    "preresnet18 bf16": f"{IMAGES} model.name=preresnet18 model.width=8 batch=16 optim.lr=1.0e-3 precision=bf16",
    "preresnet18 loft": f"{IMAGES} model.name=preresnet18 model.width=8 batch=16 optim.lr=1.0e-3 scheme.name=loft scheme.workers=4 "
                        "scheme.local_steps=2",
}


def weights(path):
    """A safetensors file as {name: array}; counts and statistics too."""
    with open(path, "rb") as f:
        size = int.from_bytes(f.read(8), "little")
        head = json.loads(f.read(size))
        data = f.read()
    kinds = {"F32": np.float32, "I64": np.int64, "F64": np.float64}
    return {name: np.frombuffer(data[t["data_offsets"][0]:t["data_offsets"][1]], kinds[t["dtype"]]).astype(np.float64)
            for name, t in head.items() if name != "__metadata__"}


class Tries:
    def __init__(self, program):
        self.program, self.folder = program, tempfile.mkdtemp(prefix="cuda-runs-")

    def train(self, name, backend, settings, *options):
        out = os.path.join(self.folder, name)
        sets = [a for s in settings.split() for a in ("--set", s)]
        done = subprocess.run([self.program, "train", os.path.join(self.folder, "run.yaml"), "--out", out, "--set",
                               f"backend={backend}", *sets, *options], capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise RuntimeError(f"{backend}: {done.stderr.strip()[-300:]}")
        return weights(os.path.join(out, "model.safetensors"))

    def kill(self, name, settings):
        """Begins the run and kills it when its first checkpoint is there."""
        out = os.path.join(self.folder, name)
        sets = [a for s in settings.split() for a in ("--set", s)]
        child = subprocess.Popen([self.program, "train", os.path.join(self.folder, "run.yaml"), "--out", out, "--set",
                                  "backend=cuda", *sets], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        checkpoints = os.path.join(out, "checkpoints")
        while child.poll() is None and not (os.path.isdir(checkpoints) and any(
                f.endswith(".safetensors") for f in os.listdir(checkpoints))):
            time.sleep(0.001)
        child.kill()
        child.wait()

    def run(self, settings):
        """How far cpu and cuda are from ref, in parts of a tensor's largest number; what was not as it should be."""
        for name in ("ref", "cpu", "cuda", "again", "killed", "moved"):
            shutil.rmtree(os.path.join(self.folder, name), ignore_errors=True)
        ten, five = settings + " rounds=10 checkpoint.every=0.2", settings + " rounds=10 checkpoint.every=0.2"
        ref, cpu, cuda = (self.train(b, b, ten) for b in ("ref", "cpu", "cuda"))
        wrong = []
        if not equal(cuda, self.train("again", "cuda", ten)):
            wrong.append("other bits the second time")
        self.kill("killed", ten)
        if not equal(cuda, self.train("killed", "cuda", ten, "--resume")):
            wrong.append("other bits when killed and resumed")
        self.train("moved", "cpu", settings + " rounds=5 checkpoint.every=0.2")
        moved = self.train("moved", "cuda", five, "--resume", "--force")
        near, far = distance(cpu, ref), max(distance(cuda, ref), distance(moved, ref))
        if not far <= 20 * near + 1e-5:  # NaN fails, too
            wrong.append("too far")
        return near, far, wrong


def equal(a, b):
    return all((a[k] == b[k]).all() for k in a)


def distance(a, b):
    return max(np.abs(a[k] - b[k]).max() / max(np.abs(b[k]).max(), 1e-3) for k in b if b[k].size)


def main():
    tries, bad = Tries(sys.argv[1]), 0
    with open(os.path.join(tries.folder, "run.yaml"), "w") as f:
        f.write("optim: {lr: 0.02}\n")
    for name, settings in RUNS.items():
        if len(sys.argv) > 2 and name not in sys.argv[2:]:
            continue
        try:
            near, far, wrong = tries.run(settings)
            print(f"{'BAD' if wrong else 'ok '} {name}: {far:.1e} from ref, cpu is {near:.1e}; "
                  f"{', '.join(wrong) or 'bits kept'}", flush=True)
        except (RuntimeError, subprocess.TimeoutExpired) as e:
            wrong = [e]
            print(f"BAD {name}: {e}", flush=True)
        bad += bool(wrong)
    shutil.rmtree(tries.folder)
    print(f"cuda-runs: {bad} bad")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
