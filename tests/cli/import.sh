#!/usr/bin/env bash
# PyTorch's checkpoints, saved in every usual way, become models: weights to the bit, outputs to 1e-5,
# and eval, prune, finetune and ticket take them. Hostile ones are refused and nothing in them runs.
set -u
program=$(realpath "$1") source=$2
. "$source/tests/cli.sh"

mkdir hostile
python "$source/tests/python/hostile_pickles.py" "$program" "$PWD/hostile" || complain "hostile pickles"

# An empty tensor may have a shape whose sides multiply to more than can be counted.
python - <<'P'
import json, struct
header = json.dumps({"pre_logits.fc1.weight": {"dtype": "F32", "shape": [0, 1 << 40, 1 << 40], "data_offsets": [0, 0]}}).encode()
open("vast.safetensors", "wb").write(struct.pack("<Q", len(header)) + header)
P
refused 4 'pre_logits.fc1.weight: 1099511627776 x 1099511627776 is out of range' import vast.safetensors --out vast
with_python torch numpy

import() { "$program" import "$@" --quiet >/dev/null || fail "import $*"; }

mkdir cases
python "$source/tests/python/import_torch.py" make cases || fail "PyTorch made no files"
for case in cases/*; do
    # shellcheck disable=SC2046
    import "$case"/weights.* --out "$case/model.safetensors" $(cat "$case/options")
    "$program" predict "$case/model.safetensors" --data "$case/x.npy" --out "$case/out.npy" --quiet >/dev/null 2>&1 ||
        complain "predict of $case"
done
python "$source/tests/python/import_torch.py" check cases/* || complain "outputs or weights differ"
whole=$("$program" import cases/resnet18-whole/weights.pth --out whole --json)
[ "$(field "$whole" outputs)" = 1000 ] && [ "$(field "$whole" width)" = 64 ] && [ "$(field "$whole" input)" = '"3x224x224"' ] ||
    complain "import --json says $whole"

# The same weights saved in any way are the same model, but for the name of the file.
first=
for case in cases/resnet18-*-*; do
    import "$case"/weights.* --out again --size 40 --normalize none --force --seed 1
    sum=$(python - <<'P'
import hashlib, json, struct
raw = open("again", "rb").read()
n = struct.unpack("<Q", raw[:8])[0]
meta = json.loads(raw[8:8 + n])["__metadata__"]
assert meta["tessera.imported"].startswith("weights."), meta
print(hashlib.sha256(raw[8 + n:] + meta["tessera.run"].encode()).hexdigest())
P
)
    [ -z "$first" ] || [ "$first" = "$sum" ] || complain "$case makes another model"
    first=$sum
done

# An ordinary model from here on: a new head, then eval, finetune, prune and a ticket of it.
given=(--data glyphs --set data.channels=3 --set data.n=60 --set data.test_n=20)
import cases/resnet18-plain-pt/weights.pt --out head --size 32 --classes 10
import cases/resnet18-plain-pt/weights.pt --out head2 --size 32 --classes 10 --seed 2
cmp -s head head2 && complain "--seed draws the same last layer"
"$program" eval head "${given[@]}" --quiet >/dev/null || complain "eval"
"$program" finetune head "${given[@]}" --epochs 1 --lr 0.01 --set batch=30 --out tuned --quiet >/dev/null || complain "finetune"
"$program" prune head --ratio 0.5 --seconds 0 --out pruned --quiet >/dev/null || complain "prune"
"$program" prune cases/resnet18-whole/model.safetensors --ratio 0.5 --seconds 0 --out half.safetensors --quiet >/dev/null || complain "prune"
for name in resnet50-plain-pt wide_resnet50_2 vgg16_bn vgg16_plain; do # pruned on all axes that can be cut
    "$program" prune cases/$name/model.safetensors --ratio 0.5 --axes all --seconds 0 --out cases/$name/half.safetensors --quiet >/dev/null ||
        complain "prune $name"
done
for model in cases/resnet18-whole/model cases/resnet34-module-pth/model cases/imagenet/model cases/resnet50-whole/model \
    cases/{resnet50-plain-pt,wide_resnet50_2,vgg16_bn,vgg16_plain}/{model,half} half; do
    case $model in half) x=cases/resnet18-whole/x.npy ;; *) x=${model%/*}/x.npy ;; esac
    "$program" predict $model.safetensors --data "$x" --out module.npy --quiet >/dev/null 2>&1 || complain "predict of $model"
    python "$source/tests/python/torch_module.py" $model.py "$x" module.npy || complain "$model.py"
done
"$program" eval pruned "${given[@]}" --quiet >/dev/null || complain "eval of what was pruned"
"$program" finetune pruned "${given[@]}" --epochs 1 --lr 0.01 --set batch=30 --out tuned2 --quiet >/dev/null || complain "finetune of what was pruned"
cat > run.yaml <<'Y'
data: {name: glyphs, channels: 3, n: 60, test_n: 20}
model: {name: resnet18, width: 8, stem: imagenet}
optim: {lr: 0.01}
epochs: 1
batch: 30
ticket: {ratios: [0.5], seconds: 0.1}
Y
"$program" ticket run.yaml --init head --out ticket --quiet >/dev/null || complain "ticket"
# Training on scales by its own data: a module that loads what was fine-tuned went on scaling by ImageNet's numbers, and
# said nothing.
"$program" prune head --ratio 0.5 --seconds 0 --out cut.safetensors --quiet >/dev/null || complain "prune"
"$program" finetune cut.safetensors "${given[@]}" --epochs 1 --lr 0.01 --set batch=30 --out tuned3 --quiet >/dev/null || complain "finetune"
load() { python -W error -c 'import cut, sys; cut.load(*sys.argv[1:])' "$@"; }
load || complain "a module warns of its own file"
load tuned3/model.safetensors 2>&1 | grep -q 'scaled otherwise than prepare() does: tessera prune tuned3/model.safetensors --ratio 0' ||
    complain "a module says nothing of a file that was scaled otherwise"
"$program" prune tuned3/model.safetensors --ratio 0 --seconds 0 --out tuned3.safetensors --quiet >/dev/null || complain "prune --ratio 0"
"$program" predict tuned3/model.safetensors --data cases/imagenet/x.npy --out module.npy --quiet >/dev/null 2>&1
python -W error "$source/tests/python/torch_module.py" tuned3.py cases/imagenet/x.npy module.npy || complain "the module that load() advises"
printf '%s\n' a b c d e f g >names
import cases/imagenet/weights.pth --out named --size 32 --names names
"$program" predict named --data cases/imagenet/x.npy 2>/dev/null | tail -n +2 | cut -d, -f2 | grep -qvx '[a-g]' && complain "names of classes"

refused 2 "give --out" import cases/imagenet/weights.pth
refused 2 "already exists" import cases/imagenet/weights.pth --out named
refused 3 "cannot open" import absent.pth --out new
refused 2 "cannot be imported; these can" import cases/imagenet/weights.pth --out new --model mlp
refused 3 "layer1.2.conv1.weight is missing" import cases/imagenet/weights.pth --out new --model resnet34
refused 3 "the ends of a vgg11" import cases/imagenet/weights.pth --out new --model vgg11
refused 2 "1 channels, and there are 3 means" import cases/small-stem/weights.pth --out new
refused 3 "not a network that is known here" import cases/vgg16_bn/weights.pth --out new --size 64
refused 2 "224 to 255 pixels" import cases/vgg16_bn/weights.pth --out new --size 64 --model vgg16_bn
refused 2 "belong together" import cases/small-stem/weights.pth --out new --mean 0.5
refused 2 "a deviation is above 0" import cases/small-stem/weights.pth --out new --mean 0.5 --std 0
refused 2 "is not a number" import cases/small-stem/weights.pth --out new --mean a --std 1
# Names are UTF-8, a byte-order mark is none of them, and no two are the same: of two the first took the other's pictures.
printf '\357\273\277%s\r\n' a >names
printf '%s\n' b c d e f g >>names
import cases/imagenet/weights.pth --out marked --size 32 --names names
"$program" predict marked --data cases/imagenet/x.npy --json 2>/dev/null | grep -qF '"classes":["a","b",' || complain "names with a byte-order mark"
printf '%s\n' a b c a e f g >names7
refused 2 'line 4: "a" is the name of line 1, too' import cases/imagenet/weights.pth --out new --size 32 --names names7
printf '%s\n' a b '' d e f g >names7
refused 2 "line 3 is empty" import cases/imagenet/weights.pth --out new --size 32 --names names7
printf '%s\n' a b $'\344' d e f g >names7
import cases/imagenet/weights.pth --out latin --size 32 --names names7 2>/dev/null
"$program" predict latin --data cases/imagenet/x.npy --json 2>/dev/null | grep -qF '"ä"' || complain "names in Latin-1"
# Means of bytes would have made every picture the same.
refused 2 "divide them by 255" import cases/imagenet/weights.pth --out new --size 32 --mean 123.7,116.3,103.5 --std 58.4,57.1,57.4
# A model of our own lost its scaling and the names of its classes.
refused 2 "is a model already" import named --out new --size 32
"$program" import named --out bare --size 32 --normalize none 2>&1 >/dev/null | grep -q "is a model already: its scaling" || complain "a model of our own imported"
# Arrays as large as the pictures that the model takes are as good as pictures.
python -c "
import numpy as np, os
os.makedirs('arrays')
np.save('arrays/x.npy', np.random.default_rng(1).integers(0, 256, (40, 3, 32, 32)).astype('u1'))
np.save('arrays/y.npy', np.arange(40) % 7)"
"$program" finetune cases/imagenet/model.safetensors --data arrays --epochs 1 --lr 0.001 --set batch=8 --out tuned_arrays --quiet >/dev/null || complain "finetune on arrays"
printf '%s\n' a b c d e f g h >names8
refused 2 "more than 7 names for 7 outputs" import cases/imagenet/weights.pth --out new --size 32 --names names8
cp cases/imagenet/weights.pth here.pth # a name without a folder before it
import here.pth --out beside --size 32
refused 2 "7 names for 10 outputs" import cases/uncounted/weights.pth --out new --names names
refused 2 "has no data of its own: give --data" eval head
refused 2 "has no data of its own: give --data" finetune pruned --out new
python - <<'P'
import torch
torch.save({"w": torch.ones(2)}, "old.pth", _use_new_zipfile_serialization=False)
state = torch.load("cases/imagenet/weights.pth")
torch.save({"epoch": 3, "state_dict": state, "state_dict_ema": {k: v.clone() for k, v in state.items()}}, "averaged.pth")
state["layer1.0.conv1.weight"][0, 0, 0, 0] = float("nan")
torch.save(state, "nan.pth")
torch.save(torch.nn.Conv2d(1, 2, 3), "module.pth")
P
refused 3 "before version 1.6; save it again" import old.pth --out new
# What was chosen, and what no file tells, is said.
says() { # WORDS ARGUMENT...
    "$program" import "${@:2}" --out said --force 2>&1 | grep -qF -- "$1" || complain "import ${*:2} does not say '$1'"
}
says "the weights are those of state_dict; state_dict_ema, which holds tensors, too, is left out" averaged.pth --size 32
says "taken for the form that is usual for CIFAR, without max pooling" cases/small-stem/weights.pth --normalize none
says "pixels   scaled by ImageNet's means" cases/imagenet/weights.pth --size 32
says "pixels   divided by 255" cases/imagenet/weights.pth --size 32 --normalize none
refused 3 "layer1.0.conv1.weight holds" import nan.pth --out new
refused 3 "torch.nn.modules.conv.Conv2d, which is code" import module.pth --out new
[ ! -e new ] || complain "a refused import left a file"
