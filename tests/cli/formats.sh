#!/usr/bin/env bash
# docs/formats.md against the program: every field of every --json, of metrics, of model files, checkpoints and traces stands
# there with its type, and what stands there is written. What it complains of names the line to add, and where.
set -eu
program=$1 source=$2
. "$2/tests/cli.sh"
command -v python3 > /dev/null || skip "no python3 here"
mkdir said
json() { # SECTION ARGUMENT...: what the program prints with --json, for that section
    local section=$1; shift
    "$program" "$@" --json --quiet > one 2> err || fail "$*: $(cat err)"
    grep -q '^{"format":1,' one || fail "$*: does not begin with the format: $(head -c 60 one)"
    cat one >> "said/$section"
}

# ---- Runs: shares with all events, the best iterate, rankings; one without; a certificate of each paper -----------
cat > run.yaml <<'Y'
data: {name: glyphs, n: 60, test_n: 20, augment: crop-flip}
model: {name: mlp, hidden: [8, 6], norm: batch}
optim: {lr: 0.05, momentum: 0.9, keep: best}
scheme: {name: ist, workers: 2, local_steps: 2, momentum: carry, recalibrate: 1, events: step}
rounds: 4
batch: 10
threads: 1
distance: {every: 0.5}
Y
sed '/^scheme:/d' run.yaml > dense.yaml
cat > grelu.yaml <<'Y'
data: {name: ackley, n: 30, dim: 4, test_n: 10}
model: {name: grelu, width: 40, layers: 2}
optim: {name: gd, lr: 1.0e-4}
rounds: 2
threads: 1
certify: {every: 1}
Y
cat > masked.yaml <<'Y'
data: {name: sphere, n: 12, dim: 5, task: regress, test_n: 4}
model: {name: shallow, width: 64}
optim: {name: gd, lr: 0.1, momentum: 0}
scheme: {name: masked, workers: 2, local_steps: 2}
rounds: 2
threads: 1
certify: {every: 1}
Y
cat > cnn.yaml <<'Y'
data: {name: sphere, n: 6, dim: 16, task: regress, test_n: 2}
model: {name: cnn1, width: 16}
loss: half_squares
optim: {name: gd, lr: 0.05}
scheme: {name: masked, workers: 2, local_steps: 1}
rounds: 2
threads: 1
certify: {every: 1, budget: 1000}
Y
cat > rnn.yaml <<'Y'
data: {name: sequences, n: 8, test_n: 2}
model: {name: rnn, width: 16, read: every}
loss: half_squares
certify: {every: 1}
rounds: 1
batch: 4
threads: 1
Y
json 'train --json' train run.yaml --out runs/bird --set stop.metric=mask_distance
json 'train --json' train run.yaml --out runs/a --trace
json 'train --json' train dense.yaml --out runs/b
json 'train --json' train run.yaml --out runs/changed --trace --set data.randaugment=1 --set data.cutout=3
json 'train --json' train dense.yaml --out runs/w --trace --set optim.name=adamw --set optim.ema=0.9 --set rounds=2
json 'train --json' train dense.yaml --out runs/wl --trace --set optim.name=adam --set scheme.name=local_sgd --set rounds=2
json 'train --json' train dense.yaml --out runs/forced --set checkpoint.every=0.2
rm runs/forced/model.safetensors runs/forced/checkpoints/ckpt-000000000004.safetensors
json 'train --json' train dense.yaml --out runs/forced --set checkpoint.every=0.2 --resume --force --set optim.lr=0.04
json 'train --json' train dense.yaml --out runs/auto --set backend=auto
json 'train --json' train dense.yaml --out runs/back --set optim.lr=100 --set rounds=12 --set on_divergence=rollback --set model.norm=none
json 'train --json' train grelu.yaml --out runs/g --trace
json 'train --json' train grelu.yaml --out runs/c --set convert_at=1
# one that is stopped while its certificate is made (tests/cli/stop_look.sh)
"$program" train grelu.yaml --out runs/cut --trace --quiet --set data.n=800 --set model.width=128 --set certify.budget=1000000000 >/dev/null 2>err &
pid=$!
for _ in $(seq 4000); do [ -e runs/cut/trace/round-000000.safetensors ] && break || sleep 0.005; done
kill -TERM $pid
wait $pid || grep -q 'while its certificate was made' err || fail "a run that was to be stopped: $(cat err)"
cat > deep.yaml <<'Y'
data: {name: sphere, n: 12, test_n: 2, dim: 4, phi: 0.1}
model: {name: relu_deep, layers: 2, width: 16}
optim: {name: sgd, momentum: 0}
batch: 4
rounds: 2
certify: {every: 1}
threads: 1
Y
json 'train --json' train deep.yaml --out runs/d --trace
json 'train --json' train rnn.yaml --out runs/r --trace
json 'train --json' train cnn.yaml --out runs/l --trace
json 'train --json' train masked.yaml --out runs/m --trace
a=runs/a/model.safetensors g=runs/g/model.safetensors
if command -v mpirun > /dev/null && ldd "$program" | grep -q libmpi; then
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        timeout 100 mpirun -n 3 "$program" train dense.yaml --out runs/ranks --set scheme.name=gpipe --set scheme.workers=2 --quiet --json \
        > out 2> err || fail "with ranks: $(cat err)"
    tail -1 out >> 'said/train --json'
    json 'report --json' report runs/a runs/ranks --out c.html
fi

# ---- Every command ------------------------------------------------------------------------------------------------
json 'check --json' check run.yaml
json 'cost --json' cost run.yaml --compare
module=$(dirname "$program")/tests/cuda/libtessera-cuda-emulated.so
[ -f "$module" ] || skip "the emulated module needs a C++ compiler: apt-get install g++"
export TESSERA_CUDA=$module
json 'check --json' check dense.yaml --set backend=cuda
json 'cost --json' cost dense.yaml --set backend=cuda
json 'train --json' train dense.yaml --out runs/gpu --set backend=cuda
json 'bench --json' bench dense.yaml --repeats 1 --set backend=cuda
unset TESSERA_CUDA
json 'cost --json' cost run.yaml --workers 2,3 --device-gflops 10
json 'cost --json' cost dense.yaml --set scheme.name=gpipe --set scheme.workers=2
json 'eval --json' eval $a
json 'eval --json' eval $g --out runs/g/evaluation.json
json 'eval --json' eval $g --gates lowrank:5 --batch 4
json 'predict --json' predict $a --out p.npy
json 'predict --json' predict $g --gates exact --out q.npy
json predictions predict $a --probabilities
json predictions predict $g
json 'info --json' info $a
json 'bench --json' bench run.yaml --repeats 1
json 'prune --json' prune $a --ratio 0.5 --axes all --out runs/t.safetensors --seconds 0.01
json 'prune --json' prune runs/m/model.safetensors --ratio 0.5 --out runs/tm.safetensors --seconds 0 # no module
json 'train --json' finetune runs/t.safetensors --epochs 1 --lr 0.01 --out runs/ft
json 'distance --json' distance $a runs/b/model.safetensors --axes all --ratio 0.5
json 'ticket --json' ticket run.yaml --out runs/tick --set 'ticket.ratios=[0.5]' --set ticket.axes=all --set epochs=1 --set rounds=0
json 'train --json' train dense.yaml --out runs/net --set data.augment=none --set model.name=resnet18 --set model.width=2 --set model.hidden=[256,256] --set model.norm=none --set rounds=1 --set distance.every=0
if "$program" export runs/net/model.safetensors --onnx runs/first.onnx --seconds 0 > /dev/null 2> err || ! grep -q 'built without ONNX' err; then
    json 'export --json' export runs/net/model.safetensors --onnx runs/net.onnx --beside runs/net/model.safetensors --seconds 0.01
fi
json 'import --json' import runs/net/model.safetensors --out runs/imported.safetensors --normalize none
json 'convert --json' convert $g --to relu --out r.safetensors
json 'convert --json' convert r.safetensors --to grelu --out s.safetensors
json 'ntk --json' ntk grelu.yaml -n 8 --spectrum
json 'ntk --json' ntk masked.yaml -n 8
json 'certify --json' certify grelu.yaml
json 'certify --json' certify masked.yaml
json 'certify --widths --json' certify grelu.yaml --widths 16,24,32
json 'theory --json' theory
json 'sweep --json' sweep run.yaml --grid optim.lr=0.01,0.02 --seeds 1 --curves --out runs/sweep
json 'sweep --json' sweep grelu.yaml --grid model.width=24 --seeds 1 --set data.n=24 --set convert_at=1 --set certify.every=0 --out runs/refused
json 'report --json' report runs/a
json 'report --json' report runs/a runs/b -a 1 --out c.html
json 'reproduce --json' reproduce deeprelu/width --quick --seeds 1 --out study --commit 1234
"$program" reproduce loft/table1 --paper --quiet --commit 1234 --out cells --cells 'preresnet18-gpipe-prune80-seed1' --set data.name=glyphs \
    --set data.channels=3 --set data.n=32 --set data.test_n=16 --set model.width=1 --set epochs=1 --set ticket.epochs=1 --set batch=16 > one 2>&1 ||
    fail "a cell: $(cat one)"
cp cells/cells/*.json 'said/A cell of a study'
mkdir studies && cp -r study studies/deeprelu-width
json 'reproduce --index --json' reproduce --index studies
json 'watch --json' watch runs
json 'metrics --json' metrics runs/a --csv m.csv --tensorboard board
json 'reproduce --list --json' reproduce --list
json 'data list --json' data list
json 'data info --json' data info glyphs --set data.n=50
json 'data info --json' data info sequences --set data.n=50
printf 'a,b,y\n1,?,0.5\n2,3,1.5\n4,5,2.5\n' > own.csv
json 'data info --json' data info own.csv --set data.split=0
printf 'a,b,y\n1,2,0.5\n1,2,1.5\n4,5,2.5\n' > twice.csv # one sample, two targets
json 'data info --json' data info twice.csv --set data.split=0
printf 'a,b,c,y\n1,red,9,0.5\n2,blue,8,1.5\n4,red,7,2.5\n3,blue,6,2.0\n' > words.csv
cat > table.yaml <<'Y'
data: {path: words.csv, target: y, ignore: c, split: 0}
model: {name: mlp, hidden: [3]}
rounds: 1
batch: 2
threads: 1
Y
json 'train --json' train table.yaml --out runs/table
json 'data make --json' data make sphere --out made --set data.n=20
json 'help --json' help
json 'help run-file --json' help run-file
json 'version --json' version
! "$program" help zork --json > 'said/A failure with --json' 2> /dev/null || fail "there is a command zork"
cmp <(python3 -c 'import json; d = json.load(open("said/ticket --json")); del d["report"]; print(json.dumps(d))') \
    <(python3 -c 'import json; print(json.dumps(json.load(open("runs/tick/ticket.json"))))') || complain "ticket.json is not what --json printed"
cmp study/summary.json 'said/reproduce --json' || complain "summary.json is not what --json printed"

python3 "$source/tests/python/format_files.py" said runs
compare() { python3 "$source/tests/python/formats.py" "$1" said; }
compare "$source/docs/formats.md" || complain "docs/formats.md does not say what the program writes"

# It notices what is missing, what is there in vain, and a wrong type.
without() { # words, sed script: the page changed so is told so
    sed "$2" "$source/docs/formats.md" > page.md
    ! compare page.md > out || complain "not noticed: $2"
    grep -qF -- "$1" out || complain "$2: it said $(cat out)"
}
without 'section "bench --json": add the row: | `peak_mb` | real | meaning |' '/^### bench/,/^###/{/`peak_mb`/d}'
without 'section "version --json": nothing wrote `zork`' 's/^| `version`, `compiler` | text |/| `version`, `compiler`, `zork` | text |/'
without 'section "evaluation": `bytes_total` is int here, not text' '/^### evaluation/,/^###/s/| `bytes_total` | int |/| `bytes_total` | text |/'
without 'section "round-000000.safetensors": add the row: | `rate` |' '/^| `rate` | F64/d'
without 'section "Checkpoints: metadata": add the row: | `tessera.kernels` |' '/^| `tessera.kernels`/d'
