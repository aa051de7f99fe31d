#!/usr/bin/env bash
# tessera export: every model of the list and tickets of them as ONNX files, plain and with norms folded and the scaling
# inside. onnx.checker passes each; numpy, and ONNX Runtime where it is (tools/onnxruntime), compute what predict says.
set -u
program=$1 source=$2
. "$source/tests/cli.sh"
with_python numpy onnx
"$program" export no-such-model --onnx x.onnx >said 2>&1
! grep -q 'built without ONNX' said || skip "$(cat said)"
runtime=${TESSERA_ONNXRUNTIME:-$source/build/onnxruntime/libonnxruntime.so.1}
[ -f "$runtime" ] || { echo "no ONNX Runtime here (tools/onnxruntime fetches it, 114 MB): compared in numpy alone" && runtime=; }
export TESSERA_ONNXRUNTIME=none.so # what is not asked for is not found

python - <<'P'
import numpy, os
rng = numpy.random.default_rng(3)
numpy.save("grey.npy", rng.integers(0, 256, (3, 1, 28, 28), dtype="u1"))
numpy.save("colour.npy", rng.integers(0, 256, (3, 3, 32, 32), dtype="u1"))
numpy.save("points.npy", rng.normal(size=(5, 6)).astype("f4"))
x = rng.integers(0, 256, (6, 3, 224, 224), dtype="u1")
os.mkdir("large"), os.mkdir("ends"), os.mkdir("every")
numpy.save("large/x.npy", x), numpy.save("large/y.npy", numpy.arange(6) % 2)
numpy.save("photos.npy", x[:2])
x = rng.normal(size=(12, 7, 4)).astype("f4")  # sequences of different lengths
length = rng.integers(1, 8, 12)
for folder, y in ("ends", rng.integers(0, 3, 12)), ("every", rng.normal(size=(12, 7, 2)).astype("f4")):
    numpy.save(folder + "/x.npy", x), numpy.save(folder + "/y.npy", y), numpy.save(folder + "/length.npy", length)
rows = []
with open("prices.csv", "w") as f:  # words, a missing cell, a target in logarithms
    f.write("city,size,rooms,price\n")
    for i in range(30):
        rows.append([i % 3 == 1, i % 3 == 0, i % 3 == 2, 50 + 3 * i, numpy.nan if i == 4 else i % 5])
        f.write(f"{'Bern Basel Chur'.split()[i % 3]},{50 + 3 * i},{'' if i == 4 else i % 5},{1000 + 37 * i + 211 * (i % 3)}\n")
numpy.save("prices.npy", numpy.array(rows, "f4"))
P

# judge NAME MODEL X [LENGTHS [DATA]]: what predict says of X (or of DATA) is what its two files will have to say
judge() {
    "$program" predict "$2" --data "${5:-$3}" --out "$1.npy" --quiet >said 2>&1 || { complain "predict $1: $(cat said)" && return; }
    "$program" export "$2" --onnx "$1.onnx" --seconds 0 --quiet >said 2>&1 || complain "export $1: $(cat said)"
    "$program" export "$2" --onnx "$1-raw.onnx" --fold --transform --seconds 0 --quiet >said 2>&1 || complain "export $1: $(cat said)"
    printf '%s %s.npy %s %s\n' "$1.onnx" "$1" "$3" "${4:-}" "$1-raw.onnx" "$1" "$3" "${4:-}" >>list
}
# model NAME DATA MODEL X [MORE]: trained for two rounds
model() {
    printf 'data: {%s}\nmodel: {%s}\noptim: {lr: 0.002}\nrounds: 2\nbatch: 4\nthreads: 1\n%s\n' "$2" "$3" "${5:-}" >run.yaml
    "$program" train run.yaml --out "$1" --quiet >said 2>&1 || { complain "train $1: $(cat said)" && return; }
    case $4 in ends | every) judge "$1" "$1/model.safetensors" "$4/x.npy" "$4/length.npy" "$4" ;; prices.npy) judge "$1" "$1/model.safetensors" prices.npy '' prices.csv ;; *) judge "$1" "$1/model.safetensors" "$4" ;; esac
}
glyphs='name: glyphs, n: 8, test_n: 4, channels: 3'
sphere='name: sphere, n: 8, dim: 6, test_n: 4'
names=$(sed -n '/define TSRI_MODEL_NAMES/,/^$/s/^ *X(\([a-z0-9_]*\)).*/\1/p' "$source/src/io/names.h")
for name in $names; do
    case $name in
    mlp) model mlp 'name: glyphs, n: 8, test_n: 4' 'name: mlp, hidden: [20, 12], norm: batch' grey.npy ;;
    shallow) model shallow "$sphere, task: regress" 'name: shallow, width: 16' points.npy 'scheme: {name: masked, workers: 2, local_steps: 1, xi: 0.5}' ;;
    relu_deep) model relu_deep "$sphere" 'name: relu_deep, hidden: [16, 12]' points.npy ;;
    rnn)
        model rnn 'path: ends, format: npy' 'name: rnn, width: 12, read: last' ends
        model rnn-deep 'path: every, format: npy' 'name: rnn, width: 12, layers: 3, read: every, train: all' every
        model rnn-shares 'path: ends, format: npy' 'name: rnn, width: 12, layers: 2, read: last' ends 'scheme: {name: ist, workers: 2, local_steps: 1}'
        ;;
    grelu)
        model grelu "$sphere" 'name: grelu, width: 24, layers: 2' points.npy
        model grelu-rank "$sphere" 'name: grelu, width: 24, layers: 2, gate_rank: 6' points.npy
        ;;
    relu_twin) model relu_twin "$sphere" 'name: relu_twin, width: 24, layers: 2' points.npy ;;
    vgg*_bn | vgg*_plain) model "$name" 'path: large, format: npy' "name: $name, width: 2" photos.npy ;;
    wideresnet) model wideresnet "$glyphs" 'name: wideresnet, depth: 10, factor: 2' colour.npy ;;
    cnn1) model cnn1 'name: glyphs, n: 8, test_n: 4' 'name: cnn1, width: 8' grey.npy ;;
    resnet34) model resnet34 "$glyphs" 'name: resnet34, width: 4, stem: imagenet' colour.npy ;;
    *) model "$name" "$glyphs" "name: $name, width: 4" colour.npy ;;
    esac
done
# Tables: columns of words, a missing cell, a target in logarithms.
model table 'path: prices.csv, target: price, task: regress, target_scale: log, unit: Fr' 'name: mlp, hidden: [8]' prices.npy
model scaled 'path: prices.csv, target: price, task: regress' 'name: mlp, hidden: [8]' prices.npy
# Tickets: the streams cut, too; of bottlenecks; of one hidden layer; of sequences.
ticket() { # OF X [OPTION...]
    local of=$1 x=$2
    shift 2
    "$program" prune "$of/model.safetensors" --ratio 0.6 --seconds 0 --recalibrate 0 --out "$of-ticket.safetensors" --quiet "$@" >said 2>&1 ||
        { complain "prune $of: $(cat said)" && return; }
    case $x in ends | every) judge "$of-ticket" "$of-ticket.safetensors" "$x/x.npy" "$x/length.npy" "$x" ;; *) judge "$of-ticket" "$of-ticket.safetensors" "$x" ;; esac
}
ticket preresnet18 colour.npy --axes all
ticket resnet50 colour.npy --axes inner
ticket mlp grey.npy
ticket shallow points.npy
ticket rnn ends
PYTHONPATH=$source/tests/python python "$source/tests/python/onnx_check.py" list ${runtime:+"$runtime"} >said || complain "$(grep -E 'Error|Exception' said || tail -n 5 said)"
echo "$(wc -l <list) files: $(awk '{ for (i = 1; i < NF; i++) if ($i == "numpy" && $(i + 1) + 0 > most) most = $(i + 1) + 0 } END { print "numpy within", most }' said)," \
    "$(awk '/ONNX Runtime/ { if ($NF + 0 > most) most = $NF + 0 } END { print "ONNX Runtime within", most }' said)"

# What is said of a file: norms folded, names in the metadata.
"$program" export preresnet18/model.safetensors --onnx a.onnx --fold --seconds 0 --json >said || complain "--json"
grep -qE '"norms_folded":[1-9][0-9]*,"norms_left":[1-9]' said || complain "norms of preresnet18: $(cat said)"
"$program" export resnet18/model.safetensors --onnx b.onnx --fold --seconds 0 --json >said || complain "--json"
grep -qE '"norms_folded":[1-9][0-9]*,"norms_left":0,' said || complain "norms of resnet18: $(cat said)"
[ "$(field "$(cat said)" bytes)" = "$(stat -c %s b.onnx)" ] || complain "bytes: $(cat said)"
python - <<'P' || complain "metadata"
import json, onnx
def notes(path): return {p.key: p.value for p in onnx.load(path).metadata_props}
table, glyphs = notes("table.onnx"), notes("resnet18.onnx")
assert json.loads(table["columns"]) == ["city=Basel", "city=Bern", "city=Chur", "size", "rooms"], table
assert json.loads(table["targets"]) == ["price"] and table["unit"] == "Fr" and table["task"] == "regress"
assert glyphs["task"] == "classify" and len(json.loads(glyphs["classes"])) == 10, glyphs
P

# Measured where ONNX Runtime is, a ticket beside the whole; said where it is not.
"$program" export mlp-ticket.safetensors --onnx c.onnx --beside mlp/model.safetensors --seconds 0.05 >said || complain "without ONNX Runtime: $(cat said)"
grep -q 'ONNX Runtime cannot be loaded' said && grep -q '^file .* -> ' said || complain "without ONNX Runtime: $(cat said)"
refused 1 'ONNX Runtime cannot be loaded' export mlp/model.safetensors --onnx d.onnx --seconds 0.05 --runtime none.so
if [ -n "$runtime" ]; then
    "$program" export mlp-ticket.safetensors --onnx e.onnx --beside mlp/model.safetensors --seconds 0.05 --runtime "$runtime" --threads 2 --batch 3 --json >said ||
        complain "with ONNX Runtime"
    python - <<'P' || complain "with ONNX Runtime: $(cat said)"
import json
said = json.load(open("said"))
assert said["runtime"] and said["difference"] <= 1e-5 and said["difference_beside"] <= 1e-5, said
assert said["bytes"] < said["bytes_beside"] and min(said["ms"], said["ms_onnx"], said["ms_onnx_beside"]) > 0, said
P
    refused 1 'is not ONNX Runtime' export mlp/model.safetensors --onnx f.onnx --seconds 0.05 --runtime libm.so.6
fi

# Refused, and nothing is left behind.
refused 2 'give --onnx FILE' export mlp/model.safetensors
refused 2 'a.onnx already exists' export mlp/model.safetensors --onnx a.onnx
refused 3 'no-such-file' export no-such-file --onnx g.onnx
refused 3 'grey.npy' export grey.npy --onnx g.onnx
refused 2 'take different inputs' export mlp/model.safetensors --onnx g.onnx --beside resnet18/model.safetensors
refused 2 '--beside compares speeds' export mlp/model.safetensors --onnx h.onnx --beside mlp/model.safetensors --seconds 0
refused 1 'no-such-folder' export mlp/model.safetensors --onnx no-such-folder/a.onnx --seconds 0
[ ! -e h.onnx ] && [ -z "$(find . -name '*.tmp*')" ] || complain "a file was left behind: $(ls)"
