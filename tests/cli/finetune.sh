#!/usr/bin/env bash
# tessera finetune: trains on from a ticket's weights; killed and resumed it gives the same bits; the
# result still says which filters of the whole it has; one mechanism with train --init.
set -eu
program=$1
. "$2/tests/cli.sh"
cat > run.yaml <<'Y'
data: {name: glyphs, n: 400, test_n: 100}
model: {name: mlp, hidden: [40, 24], norm: batch}
optim: {lr: 0.05}
scheme: {name: ist, workers: 2, local_steps: 2}
epochs: 2
batch: 20
Y
"$program" train run.yaml --out whole --quiet > /dev/null
"$program" prune whole/model.safetensors --ratio 0.5 --seconds 0 --out ticket > /dev/null

# Its own run file, made dense; --epochs and --set change it.
"$program" finetune ticket --epochs 3 --lr 0.02 --set seed=7 --out a --quiet --json > a.json
grep -q 'name: dense' a/run.yaml && grep -q 'epochs: 3' a/run.yaml && grep -q 'lr: 0.02' a/run.yaml || fail "run file"
grep -q 'hidden.0=20, hidden.1=12' a/run.yaml || fail "widths: $(grep widths a/run.yaml)"
"$program" info a/model.safetensors > info && grep -q 'layers.0.weight *\[20, 784\]' info || fail "shape"

# train --init with the same keys is the same run.
"$program" train run.yaml --init ticket --set scheme.name=dense --set scheme.workers=1 --set scheme.local_steps=1 \
    --set epochs=3 --set optim.lr=0.02 --set seed=7 --out b --quiet > /dev/null
cmp a/model.safetensors b/model.safetensors || fail "train --init differs from finetune"

# Killed and resumed: the same bits, and the same units.
rc=0
timeout -s KILL 0.35 "$program" finetune ticket --epochs 3 --lr 0.02 --set seed=7 --set checkpoint.every=0.2 --out c --quiet > /dev/null 2>&1 || rc=$?
"$program" finetune ticket --epochs 3 --lr 0.02 --set seed=7 --set checkpoint.every=0.2 --out c --resume --quiet > /dev/null 2>&1
strip() { "$program" predict "$1/model.safetensors" --quiet --out "$2" > /dev/null; }
strip a a.npy; strip c c.npy
cmp a.npy c.npy || fail "resumed run (killed: $rc) differs"
python3 - a/model.safetensors c/model.safetensors ticket <<'P' || fail "the units of the whole"
import json, struct, sys
def kept(path):
    raw = open(path, "rb").read()
    n, = struct.unpack("<Q", raw[:8])
    return json.loads(json.loads(raw[8:8 + n])["__metadata__"]["tessera.ticket"])["kept"]
a, c, t = (kept(p) for p in sys.argv[1:])
assert a == c == t and len(t["hidden.0"]) == 20
P

# Resumed with another model of the same shape: it went on with the first one, and said nothing.
"$program" prune whole/model.safetensors --ratio 0.5 --reinit --seed 9 --seconds 0 --out fresh > /dev/null
cp -r c half && rm half/model.safetensors
find half/checkpoints -name 'ckpt-*' | sort | tail -1 | xargs rm
again() { "$program" finetune "$1" --epochs 3 --lr 0.02 --set seed=7 --set checkpoint.every=0.2 --out half --resume --quiet "${@:2}"; }
code=0
again fresh >out 2>err || code=$?
[ $code = 2 ] && grep -q "is of a run that began with the weights of another model (checksum .*) than the one that is given now" err || fail "another model: exit $code, $(cat err)"
[ ! -e half/model.safetensors ] || fail "another model: it went on"
cp -r half forced
again ticket >/dev/null 2>&1 || fail "the model that it began with"
cmp c/model.safetensors half/model.safetensors || fail "the model that it began with: other bits"
again fresh >/dev/null 2>&1 || fail "a run that is over is told again"
"$program" finetune fresh --epochs 3 --lr 0.02 --set seed=7 --set checkpoint.every=0.2 --out forced --resume --force --quiet >/dev/null 2>&1 || fail "--force"
cmp c/model.safetensors forced/model.safetensors || fail "--force: other bits"

# Another number of classes than the model's; names of classes in its file that are none.
make_points
sed '2,9s/[a-z]*$/aside/' points.csv >three.csv
printf 'data: {path: points.csv, target: y}\nmodel: {name: mlp, hidden: [4]}\nepochs: 1\nbatch: 20\n' >two.yaml
"$program" train two.yaml --out two --quiet >/dev/null
python3 - two/model.safetensors <<'P'
import json, struct, sys
raw = open(sys.argv[1], "rb").read()
n, = struct.unpack("<Q", raw[:8])
header = json.loads(raw[8:8 + n])
meta = {k: v for k, v in header["__metadata__"].items() if not k.endswith("crc32c")}
header["__metadata__"] = dict(meta, **{"tessera.classes": "[1, 2]"})
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
open("numbers", "wb").write(struct.pack("<Q", len(text)) + text + raw[8 + n:])
P
refuse() { refused "$@"; [ ! -e new ] || fail "$*: it left a folder"; }
refuse 3 "cannot open" finetune absent --out new
refuse 2 "give --out DIR" finetune ticket
refuse 2 "holds a run already" finetune ticket --out a
refuse 2 "--epochs must be" finetune ticket --epochs 0 --out new
refuse 3 "has shape [20, 784] but the model needs" train run.yaml --init ticket --set "model.widths=hidden.0=8" --out new
refuse 3 "has shape [2, 4] but the model needs" train two.yaml --set data.path=three.csv --init two/model.safetensors --out new
"$program" train two.yaml --init numbers --out named --quiet >/dev/null || fail "names that nobody asks for"
echo fine
