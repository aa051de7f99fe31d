#!/usr/bin/env bash
# Traced runs of every scheme, replayed by PyTorch in double from the trace alone, local step by local step: momentum that is
# reset or carried, decay, Nesterov, schedules, crops and flips, RandAugment by PIL, cutout, shards, micro-batches, numbers rounded on the wire,
# recalibration, workers that sit out. (Convolutional nets and LoFT: loft.sh. Other processes: cluster.sh.)
set -eu
program=$1 source=$2
. "$2/tests/cli.sh"
with_python torch yaml numpy
cat > run.yaml <<'Y'
data: {name: glyphs, n: 1000, test_n: 100}
model: {name: mlp, hidden: [64, 48, 32], norm: batch}
optim: {lr: 0.05, momentum: 0.9, weight_decay: 5.0e-4}
rounds: 10
batch: 32
Y
traced=()
run() { # name, settings...
    local name=$1; shift
    "$program" train run.yaml --out "$name" --trace --quiet "$@" > /dev/null
    traced+=("$name")
}
run dense
run plain --set model.norm=none --set optim.nesterov=true --set optim.schedule=cosine --set optim.warmup=0.3
run linear --set 'model.hidden=[]' --set backend=ref
run moved --set data.augment=crop-flip --set optim.momentum=0
run micro --set scheme.micro_batches=4 --set rounds=3
run whole --set data.n=128 --set batch=128 --set scheme.micro_batches=4 --set rounds=3 # in an order of its own
few=(--set rounds=4 --set scheme.workers=3)
local=("${few[@]}" --set scheme.local_steps=3)
run gpipe "${few[@]}" --set scheme.name=gpipe --set scheme.micro_batches=2
run dropout "${few[@]}" --set scheme.name=dropout --set scheme.workers=1 --set scheme.xi=0.6
run multisample "${few[@]}" --set scheme.name=multisample --set optim.nesterov=true
run masked "${local[@]}" --set scheme.name=masked --set scheme.xi=0.7 --set data.augment=crop-flip
run ist "${local[@]}" --set scheme.name=ist --set scheme.momentum=carry --set scheme.data=shard --set optim.schedule=cosine
run bf16 "${local[@]}" --set scheme.name=ist --set scheme.momentum=carry --set scheme.wire=bf16 --set rounds=2
run local_sgd "${local[@]}" --set scheme.name=local_sgd --set optim.name=gd --set optim.momentum=0.9 --set scheme.data=shard --set rounds=2 --set data.n=200
run measured "${local[@]}" --set scheme.name=loft --set scheme.axes=hidden.0,hidden.1,hidden.2 --set scheme.recalibrate=3 --set scheme.events=round --set data.augment=flip
run idle "${few[@]}" --set scheme.name=masked --set scheme.xi=0.2 --set 'model.hidden=[6, 5]' --set model.norm=none
if python -c 'import PIL' 2> /dev/null; then
    both=(--set data.randaugment=2 --set data.cutout=9 --set data.augment=crop-flip)
    run operated "${both[@]}" --set data.magnitude=14
    run colours "${both[@]}" --set data.channels=3 --set data.randaugment=3 --set data.normalize=unit --set optim.momentum=0
    run shares "${local[@]}" "${both[@]}" --set scheme.name=ist --set data.normalize=standardize --set scheme.recalibrate=2
    run drawn "${both[@]}" --set data.order=replacement --set data.normalize=none
else
    echo "python3-pil is not installed: RandAugment is not replayed"
fi
run blanked --set data.cutout=11 --set optim.momentum=0
OMP_NUM_THREADS=1 python "$source/tests/python/replay_trace.py" "${traced[@]}" > told || { cat told; fail "not replayed"; }
cat told
grep -q ' idle' told && grep -q ' 4 recalibrated' told || fail "no worker sat out, or nothing was recalibrated"

# What stands in the trace is what is checked: each of these changes must be noticed.
OMP_NUM_THREADS=1 python - "$source" <<'P'
import os, shutil, sys
sys.path.insert(0, sys.argv[1] + "/tests/python")
import replay_trace, safetensors_numpy
pil = [("operated", 't["op.0"][0, 3, 0, 0] = 13 if t["op.0"][0, 3, 0, 0] < 10 else 0'),
       ("operated", 't["op.0"][0, :, :, 1] ^= 1'),
       ("shares", 't["op.1"][0, :, 0] = t["op.1"][0, ::-1, 0]'),
       ("colours", 't["cutout.0"][0, :, 1] += 3'),
       ("drawn", 't["op.0"][0, :, 1, 0] = 10')] if os.path.isdir("operated") else []
for run, change in (*pil,
                    ("blanked", 't["cutout.0"][0, 2, 0] += 5'),
                    ("masked", 't["crop.0"][0, 0, 0] += 1'),
                    ("masked", 't["flip.1"][2] ^= 1'),
                    ("masked", 't["loss.2"][1] += 1e-3'),
                    ("masked", 't["batch.2"][0] = t["batch.2"][1]'),
                    ("dense", 't["rate"] *= 1.01'),
                    ("dense", 't["momentum.after.layers.0.weight"][1] *= 1.01'),
                    ("ist", 't["local.1.layers.3.weight"][3, 2] += 1e-3'),
                    ("ist", 't["share.0.hidden.1"][:2] = t["share.0.hidden.1"][1::-1]'),
                    ("ist", 'del t["momentum.before.layers.0.weight"]'),
                    ("measured", 't["after.layers.1.running_mean"][0] += 1e-2')):
    shutil.copytree(run, "spoilt")
    path = "spoilt/trace/round-000000.safetensors"
    tensors, meta = safetensors_numpy.load(path)
    t = {k: v.copy() for k, v in tensors.items()}
    exec(change)
    safetensors_numpy.save(path, t, meta)
    try:
        replay_trace.Replay("spoilt").check()
    except (AssertionError, KeyError):
        shutil.rmtree("spoilt")
    else:
        sys.exit(f"torch_replay: not noticed in {run}: {change}")
P
echo "traces: every scheme replayed"
