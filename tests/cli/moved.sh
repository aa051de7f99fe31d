#!/usr/bin/env bash
# A run that is taken up elsewhere: its data may lie in another place as long as they are the same data, a finished run may be opened
# with other kernels (nothing is computed), and one that is not finished is not mixed of two kinds without being told to.
set -eu
program=$1
. "$2/tests/cli.sh"

awk 'BEGIN { srand(4); print "a,b,y"; for (i = 0; i < 400; i++) { a = rand(); b = rand(); print a "," b "," a - 2 * b } }' > table.csv
cat > run.yaml <<'Y'
data: {path: table.csv, target: y, task: regress}
model: {hidden: [16]}
optim: {lr: 0.05}
epochs: 4
batch: 20
checkpoint: {every: 1, keep: 4}
Y
train() { "$program" train run.yaml --quiet --set threads=1 "$@" > /dev/null; }
resume() { train --out "$1" --resume "${@:2}"; }
weights_of() { tail -c 200 "$1/model.safetensors" | sha256sum; } # the header names the data's place
cut() { # the second of four epochs is the last that was saved
    rm "$1/model.safetensors" "$1"/checkpoints/ckpt-0000000000[46]*
    [ -e "$1/checkpoints/ckpt-000000000032.safetensors" ] || fail "$1: no checkpoint of the second epoch"
}
half() { train --out "$1" && cut "$1"; }

train --out whole

# Moved data: the same weights; other data in the old place: refused, in words.
half moved
mkdir "new place" && mv table.csv "new place/"
resume moved --set "data.path=new place/table.csv"
[ "$(weights_of moved)" = "$(weights_of whole)" ] || fail "data that moved: other weights"
grep -q "new place" moved/run.yaml || fail "run.yaml still names the old place"
sed '2s/^0/1/' "new place/table.csv" > table.csv
cut moved
refused 2 "was trained on other data" train run.yaml --out moved --resume --quiet
mv "new place/table.csv" table.csv

# Other kernels: any x86 has Nehalem's too. A finished run is opened, one that is not is refused, --force goes on.
before=$(model_hash whole)
OPENBLAS_CORETYPE=Nehalem resume whole || fail "a finished run was not opened"
[ "$(model_hash whole)" = "$before" ] || fail "a finished run changed"
half other
OPENBLAS_CORETYPE=Nehalem refused 2 "was computed by" train run.yaml --out other --resume --quiet
OPENBLAS_CORETYPE=Nehalem resume other --force 2> /dev/null || fail "--force did not go on"
# ... and is on the record, in the metrics, in later checkpoints and in the model: once nobody could tell such a model from a pure one.
record() { # FOLDER WHAT: everywhere
    grep -q "^{\"event\":\"forced\",\"round\":32,\"what\":\"$2\",\"change\":\".* -> .*\"}" "$1/metrics.jsonl" || fail "$1: no line of metrics tells of $2"
    for file in "$1/model.safetensors" "$1/checkpoints/ckpt-000000000048.safetensors"; do
        grep -aqF "\\\"what\\\":\\\"$2\\\"" "$file" || fail "$file does not tell of $2"
    done
}
record other kernels
! grep -qa tessera.forced whole/model.safetensors || fail "the record is of a run without --force"
# Killed before its next checkpoint and resumed without --force, since run.yaml is the new one now: the record must not be lost.
half changed
"$program" train run.yaml --quiet --set threads=1 --out changed --resume --force --set optim.lr=0.04 --set epochs=4 > /dev/null 2>&1
record changed "run file"
cut changed
train --out changed --resume --set optim.lr=0.04
record changed "run file"
grep -q '"change":"optim.lr: 0.05 -> 0.04"' changed/metrics.jsonl || fail "the change is not told: $(grep forced changed/metrics.jsonl)"

# A --resume --force that is refused later on leaves the old run.yaml: the right run file must still be taken.
half late
cp late/run.yaml before.yaml
for f in late/checkpoints/*; do truncate -s 100 "$f"; done
refused 3 "none of the" train run.yaml --out late --resume --force --quiet --set optim.lr=0.04
cmp before.yaml late/run.yaml || fail "a refused --resume --force has rewritten run.yaml"
refused 3 "none of the" train run.yaml --out late --resume --quiet
