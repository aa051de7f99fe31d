#!/usr/bin/env bash
# RandAugment and cutout in a run: the same bits with any threads, without prefetching, stopped and resumed, and as ranks of
# mpirun; said by check and data info; refused where they have no meaning.
set -eu
program=$1
. "$2/tests/cli.sh"
cat > run.yaml <<'Y'
data: {name: glyphs, n: 600, test_n: 60, channels: 3, augment: crop-flip, randaugment: 2, magnitude: 12, cutout: 10}
model: {name: mlp, hidden: [24], norm: batch}
scheme: {name: local_sgd, workers: 2, local_steps: 3}
epochs: 3
batch: 40
checkpoint: {every: 1}
Y
train() { "$program" train run.yaml --quiet "$@" > /dev/null; }
train --out a --set threads=2
train --out b --set threads=1 --set data.prefetch=false
[ "$(model_hash b)" = "$(model_hash a)" ] || complain "one thread, no prefetch: another hash"
train --out c
newest=(c/checkpoints/*)
rm c/model.safetensors "${newest[-1]}" # as if it had been killed in the last epoch
train --out c --resume
[ "$(model_hash c)" = "$(model_hash a)" ] || complain "resumed: another hash"
if command -v mpirun > /dev/null; then
    timeout 100 "$program" launch -n 3 run.yaml --out d > /dev/null 2> log || complain "launch: $(cat log)"
    [ "$(model_hash d)" = "$(model_hash a)" ] || complain "as ranks: another hash"
fi

# Each of the settings counts.
for other in randaugment=1 magnitude=13 cutout=9 augment=flip; do
    train --out "of-$other" --set "data.$other"
    [ "$(model_hash "of-$other")" != "$(model_hash a)" ] || complain "data.$other changes nothing"
done

"$program" check run.yaml > out
for words in 'changes *crop-flip' 'RandAugment, operations on each image: 2' 'cutout.*: 10'; do
    grep -q "$words" out || complain "check says $(cat out)"
done
"$program" data info glyphs --set data.n=100 > out
grep -q 'a sample *image, 28 x 28, 1 channel, of bytes' out || complain "data info says $(cat out)"
python - <<'P' 2> /dev/null && numpy=yes || numpy=no
import numpy
r = numpy.random.default_rng(1)
for folder, x in (("real", r.random((40, 1, 6, 6)).astype("f4")), ("two", r.integers(0, 255, (40, 2, 6, 6), dtype="u1"))):
    import os
    os.mkdir(folder)
    numpy.save(folder + "/x.npy", x)
    numpy.save(folder + "/y.npy", r.integers(0, 3, 40))
P
if [ "$numpy" = yes ]; then
    cat > own.yaml <<'Y'
data: {path: real, randaugment: 1}
model: {hidden: [8]}
epochs: 1
batch: 8
Y
    refused 2 "own.yaml:1:" check own.yaml
    refused 2 "changes 8-bit pixels, and the images of real are real numbers" check own.yaml
    refused 2 "is for grey or colour images, and those of two have 2 channels" check own.yaml --data two
    "$program" train own.yaml --out cut --quiet --set data.randaugment=0 --set data.cutout=3 > /dev/null || complain "cutout of real numbers"
fi
refused 2 "a whole number from 0 to 30" check run.yaml --set data.magnitude=31
refused 2 "a whole number from 0 to 14" check run.yaml --set data.randaugment=15
refused 2 "data.magnitude" check run.yaml --set data.randaugment=0
refused 2 "data.randaugment" check run.yaml --data sphere --set data.channels=1 --set data.augment=none
