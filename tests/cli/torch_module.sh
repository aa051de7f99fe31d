#!/usr/bin/env bash
# prune, ticket and import write a PyTorch module beside the model: self-contained, of these very widths,
# and with the model's outputs. Networks that PyTorch's plain modules cannot be get none, and that is said.
set -u
program=$1 source=$2
. "$source/tests/cli.sh"
with_python torch numpy

# judge MODULE MODEL X [WEIGHTS]
judge() {
    "$program" predict "$2" --data "$3" --out out.npy --quiet >/dev/null 2>&1 || complain "predict of $2"
    PYTHONPATH='' python "$source/tests/python/torch_module.py" "$1" "$3" out.npy ${4+"$4"} || complain "$1"
}
python -c '
import numpy
rng = numpy.random.default_rng(3)
numpy.save("grey.npy", rng.integers(0, 256, (4, 1, 28, 28), dtype="u1"))
numpy.save("colour.npy", rng.integers(0, 256, (4, 3, 32, 32), dtype="u1"))'

try() { # CHANNELS IMAGES MODEL: trained a little, pruned, its module asked
    printf 'data: {name: glyphs, n: 40, test_n: 10, channels: %s}\nmodel: {%s}\nrounds: 2\nbatch: 20\n' "$1" "$3" >run.yaml
    rm -rf run small.*
    "$program" train run.yaml --out run --quiet >/dev/null || fail "train $3"
    "$program" prune run/model.safetensors --ratio 0.4 --axes all --seconds 0 --out small.safetensors --quiet >said || fail "prune $3"
    grep -qx 'PyTorch     small.py' said || complain "prune does not name the module of $3"
    judge small.py small.safetensors "$2"
}
try 1 grey.npy "name: mlp, hidden: [20, 12], norm: batch"
try 1 grey.npy "name: vgg11, width: 4"
try 3 colour.npy "name: preresnet18, width: 4"
try 3 colour.npy "name: wideresnet, depth: 10, factor: 2, bias: false"
try 3 colour.npy "name: resnet34, width: 4, stem: imagenet"

# Inputs and targets of every kind of scaling: prepare() left out gaps, units and all but channels, and prices came back as
# numbers around 0.
python -c '
import numpy
rng = numpy.random.default_rng(4)
x = rng.normal(3, 2, (200, 4)).astype("f4")
numpy.save("rows.npy", x[:5])
y = numpy.exp(x[:, 0] / 4) + 5 + x[:, 1].clip(0)
lines = [",".join(f"{v:.9g}" for v in (*row, t)) for row, t in zip(x, y)]
lines[9] = "," + lines[9].split(",", 1)[1]
open("prices.csv", "w").write("a,b,c,d,price\n" + "\n".join(lines) + "\n")
x[0, 1] = numpy.nan
numpy.save("gap.npy", x[:5])
numpy.savetxt("gap.csv", x[:5], delimiter=",", header="a,b,c,d", comments="")'
scaled() { # DATA INPUTS
    printf 'data: {%s}\nmodel: {name: mlp, hidden: [12]}\noptim: {lr: 0.01}\nrounds: 20\nbatch: 20\n' "$1" >scaled.yaml
    rm -rf scaled half.*
    "$program" train scaled.yaml --out scaled --quiet >/dev/null || fail "train on $1"
    "$program" prune scaled/model.safetensors --ratio 0.4 --seconds 0 --out half.safetensors --quiet >/dev/null || fail "prune of $1"
    judge half.py half.safetensors "$2"
}
for target in standardize minmax log none; do
    scaled "path: prices.csv, task: regress, target_scale: $target" rows.npy
done
for input in standardize minmax unit none; do
    scaled "path: prices.csv, task: regress, normalize: $input" rows.npy
    scaled "name: glyphs, n: 40, test_n: 10, channels: 3, normalize: $input" colour.npy
done
scaled "path: prices.csv, task: regress" rows.npy
"$program" predict half.safetensors --data gap.csv --out out.npy --quiet >/dev/null 2>&1 || complain "predict with a gap"
PYTHONPATH='' python "$source/tests/python/torch_module.py" half.py gap.npy out.npy || complain "a gap"

# It takes no other file's place unasked, and needs nothing of the folder it was made in.
refused 2 "small.safetensors already exists" prune run/model.safetensors --ratio 0.4 --seconds 0 --out small.safetensors
rm small.safetensors
refused 2 "small.py, where the PyTorch module goes, already exists" prune run/model.safetensors --ratio 0.4 --seconds 0 --out small.safetensors
"$program" prune run/model.safetensors --ratio 0.4 --seconds 0 --out small.safetensors --force --quiet >/dev/null || complain "--force"
mkdir elsewhere && mv small.py small.safetensors elsewhere
judge elsewhere/small.py elsewhere/small.safetensors colour.npy
odd="od\"\"\"d\\ \$(touch x).safetensors"
"$program" prune run/model.safetensors --ratio 0.4 --seconds 0 --out "$odd" --quiet >/dev/null || complain "an odd name"
judge "${odd%.safetensors}.py" "$odd" colour.npy

# A ticket's folder: one module for the network as pruned and as fine-tuned.
cat > run.yaml <<'Y'
data: {name: glyphs, n: 40, test_n: 10, channels: 3}
model: {name: resnet18, width: 4}
rounds: 2
batch: 20
ticket: {ratios: [0.5], seconds: 0.1, epochs: 1}
Y
"$program" ticket run.yaml --out tickets --quiet >/dev/null || fail "ticket"
folder=$(dirname tickets/ticket-*/model.py)
judge "$folder/model.py" "$folder/model.safetensors" colour.npy
judge "$folder/model.py" "$folder/ticket.safetensors" colour.npy "$folder/ticket.safetensors"

# No plain module computes these.
printf 'data: {name: sphere, n: 20, dim: 5, task: regress, test_n: 4}\nmodel: {name: shallow, width: 16}\noptim: {lr: 0.01}\nrounds: 1\nbatch: 10\n' >run.yaml
rm -rf run
"$program" train run.yaml --out run --quiet >/dev/null || fail "train shallow"
"$program" prune run/model.safetensors --ratio 0.5 --seconds 0 --out shallow.safetensors >said || complain "prune shallow"
grep -q '^PyTorch     no module: layer ' said && [ ! -e shallow.py ] || complain "shallow: $(cat said)"
