#!/usr/bin/env bash
# Bad model files: eval, predict, info and train --init refuse each with exit code 3, a sentence that
# begins with the file and says what is wrong in it, in a second and little memory; no byte of the
# file reaches the terminal as a control character.
set -u
tessera=$1 source=$2
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
command -v python3 >/dev/null || { echo "python3 makes the files; it is not here"; exit 77; }
failed=0 tried=0
complain() { echo "FAILED: $1"; failed=1; }
cat > run.yaml <<'Y'
data: {name: glyphs, n: 200, test_n: 50}
model: {name: mlp, hidden: [16], norm: batch}
epochs: 1
batch: 50
Y
"$tessera" train run.yaml --out run --quiet >/dev/null || exit 1
# The address space that a sound file needs is enough for every bad one, but a sanitizer takes terabytes.
space=unlimited
(ulimit -v 3000000; "$tessera" info run/model.safetensors) >/dev/null 2>&1 && space=3000000
limited() { (ulimit -v $space; ulimit -t 5; exec timeout -s KILL 30 "$tessera" "$@" >out 2>err </dev/null); }
limited info run/model.safetensors || complain "info of a sound file: $(cat err)"
limited eval run/model.safetensors || complain "eval of a sound file: $(cat err)"

# refused FILE WORDS COMMAND...
refused() {
    local file=$1 words=$2 rc
    shift 2
    limited "$@"
    rc=$?
    tried=$((tried + 1))
    [ $rc -eq 3 ] && grep -qF -- "tessera: $file" err && grep -qF -- "$words" err ||
        complain "$*: exit $rc, expected 3 with '$words'; it said: $(head -c 500 err | cat -v)"
    LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]' out err && complain "$*: control characters in what it said"
    [ "$(wc -l <err)" -eq 1 ] || complain "$*: not one line: $(head -c 500 err)"
    [ ! -e new ] || complain "$*: it left a folder"
    rm -rf new
}
mkdir bad
python3 "$source/tests/python/bad_models.py" run/model.safetensors bad >table || exit 1
while IFS=$'\t' read -r name words; do
    refused "bad/$name" "$words" info "bad/$name"
    refused "bad/$name" "$words" eval "bad/$name"
    case $name in # what --init does not look at: only the tensors count there
    no-run | run-* | input-* | outputs-* | format-* | classes-* | scaling-* | schema-*) ;;
    *) refused "bad/$name" "$words" train run.yaml --out new --init "bad/$name" ;;
    esac
    refused "bad/$name" "$words" predict "bad/$name"
done <table
checkpoint=$(find run/checkpoints -name '*.safetensors')
mkfifo fifo
for command in info eval predict; do
    refused "$checkpoint" "give the model.safetensors of a run" $command "$checkpoint"
    refused bad "is a folder" $command bad
    refused run "run is a folder: give run/model.safetensors" $command run
    refused fifo "a pipe" $command fifo
    refused /dev/zero "a device" $command /dev/zero
    refused absent "cannot open" $command absent
done
refused fifo "a pipe" train run.yaml --out new --init fifo

# Text in a sound file is shown, never obeyed.
python3 - <<'P'
import json, struct
raw = open("run/model.safetensors", "rb").read()
n = struct.unpack("<Q", raw[:8])[0]
header = json.loads(raw[8:8 + n])
meta = header["__metadata__"]
for key in [k for k in meta if k.endswith("crc32c")]:
    del meta[key]
meta["tessera.model"] = "model:\n  name: \x1b]0;owned\x07\n"
meta["tessera.version"] = "9\x1b[2J"
meta["tessera.classes"] = json.dumps(["a\x1b[31m", 'b,"c"', "d\ne"] + ["x"] * 7)
text = json.dumps(header).encode()
open("odd", "wb").write(struct.pack("<Q", len(text)) + text + raw[8 + n:])
for key in ["tessera.model", "tessera.version", "tessera.classes"]:
    meta.pop(key, None)
text = json.dumps(header).encode()
open("bare", "wb").write(struct.pack("<Q", len(text)) + text + raw[8 + n:])
P
for file in odd bare; do
    for command in "info" "info --json" "eval" "predict"; do
        # shellcheck disable=SC2086
        limited $command $file || complain "$command $file: exit $?, $(head -c 300 err)"
        LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]' out err && complain "$command $file: control characters"
        [ "$command" != "info --json" ] || python3 -m json.tool out >/dev/null || complain "info --json $file: no JSON"
        [ "$command" != predict ] || python3 -c "
import csv
rows = list(csv.reader(open('out')))
assert len(rows) == 51 and all(len(r) == 4 for r in rows), rows[:3]" || complain "predict $file: no CSV"
    done
done
echo "$tried bad models refused"
[ $tried -ge 100 ] || complain "only $tried were tried"
exit $failed
