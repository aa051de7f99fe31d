#!/usr/bin/env bash
# `check` refuses all that `train` refuses before its first step, with the same exit code and the same sentence, and neither
# leaves a folder. A case is a line: words of the sentence '@' the run file (as printf %b takes it). `convert_at` was let through
# by check once, and so were certificates of models without a theorem.
set -u
program=$1
. "$2/tests/cli.sh"
tried=0
glyphs='data: {name: glyphs, n: 32, test_n: 8}\nbatch: 8\n'
sphere='data: {name: sphere, n: 20, dim: 10, task: regress, test_n: 5}\nbatch: 10\n'
vowels='data: {name: sequences, n: 20, test_n: 5}\nbatch: 10\n'
res='model: {name: preresnet18, width: 4}\n'
printf 'x\n' >file.csv
printf 'a,b,y\n1,2,0\n1,2,1\n3,4,1\n2,2,0\n5,1,1\n' >five.csv
printf 'a,b,y\n1,inf,0\n' >inf.csv

# both WORDS ARGUMENT...: one.yaml
both() {
    local words=$1 check=0 train=0
    shift
    timeout 60 "$program" check one.yaml "$@" >out 2>check.err </dev/null || check=$?
    timeout 60 "$program" train one.yaml --out run --quiet "$@" >out 2>train.err </dev/null || train=$?
    # Warnings before it may differ; the last line is the refusal.
    if [ $train = 0 ] || ! grep -qF -- "$words" train.err; then
        complain "train: exit $train, expected a refusal with '$words': $(tail -n 1 train.err)"
    elif [ $check != $train ] || [ "$(tail -n 1 check.err)" != "$(tail -n 1 train.err)" ]; then
        complain "check: exit $check, $(tail -n 1 check.err)
    train: exit $train, $(tail -n 1 train.err)"
    fi
    [ ! -e run ] || { complain "a folder was left: $words"; rm -rf run; }
    tried=$((tried + 1))
}

while IFS='@' read -r words text; do
    [ -n "$words" ] || continue
    text=${text//GLYPHS/$glyphs} text=${text//SPHERE/$sphere} text=${text//VOWELS/$vowels} text=${text//RES/$res}
    printf '%b' "$text" >one.yaml
    both "$words"
done <<'EOT'
did you mean optim.lr?@GLYPHSoptim: {lrr: 1}\n
must be@GLYPHSepochs: -1\n
there is no data set named@data: {name: glyps}\n
is made, not read from files@data: {name: glyphs, path: five.csv}\n
no such file@data: {path: nothing.csv}\n
mnist: not found@data: {name: mnist}\n
line 2, column 2@data: {path: inf.csv}\n
leave data.task out@data: {name: glyphs, task: regress}\n
tessera@data: {name: sphere, n: 50, dim: 2, phi: 1.5}\n
cannot tell the format@data: {path: /dev}\n
loss: mse@SPHEREloss: cross_entropy\n
use model: {name: rnn}@VOWELSmodel: {name: mlp}\n
rnn reads sequences@GLYPHSmodel: {name: rnn}\n
the loss begins at position@VOWELSmodel: {name: rnn, first: 1000}\n
model.filter is odd@GLYPHSmodel: {name: cnn1, filter: 2}\n
does not read model.gate_rank@SPHEREmodel: {name: relu_twin, width: 8, layers: 2, gate_rank: 2}\n
gate_rank 8 must be less than the width@SPHEREmodel: {name: grelu, width: 8, layers: 2, gate_rank: 8}\n
model.depth of a wideresnet is 6n+4@GLYPHSmodel: {name: wideresnet, depth: 11}\n
images of 224 to 255 pixels@GLYPHSmodel: {name: vgg16_bn}\n
the model has no axis 'nothing'@GLYPHSmodel: {hidden: [8], widths: "nothing=3"}\n
does not read model.width@GLYPHSmodel: {name: mlp, width: 8}\n
does not read scheme.xi@GLYPHSscheme: {name: dense, xi: 0.3}\n
'data' is given twice@GLYPHSdata: {name: glyphs, n: 32, test_n: 8, order: replacement}\noptim: {name: gd}\n
there is nothing to draw with@data: {name: glyphs, n: 32, test_n: 8, order: replacement}\noptim: {name: gd}\n
batch is 64 but@data: {name: glyphs, n: 32, test_n: 8}\nbatch: 64\n
each of the 8 workers has only@GLYPHSscheme: {name: local_sgd, workers: 8, data: shard}\n
not both@GLYPHSepochs: 1\nrounds: 1\n
has one worker, not 2@GLYPHSscheme: {name: dense, workers: 2}\n
is one step, not 3@GLYPHSscheme: {name: dropout, local_steps: 3}\n
shares of ist are disjoint@GLYPHSscheme: {name: ist, workers: 2, draw: bernoulli}\n
scheme.weights has 3 numbers@GLYPHSscheme: {name: masked, workers: 2, draw: categorical, weights: [1, 2, 3]}\n
xi is 0@GLYPHSscheme: {name: masked, workers: 2, draw: bernoulli, xi: 0}\n
scheme.scale: share is for@GLYPHSRESscheme: {name: masked, workers: 2, scale: share}\n
the model has no stage 9@GLYPHSRESscheme: {name: loft, workers: 2, stages: [9]}\n
no pairs of convolutions@GLYPHSscheme: {name: loft, workers: 2}\n
no axis nowhere@GLYPHSRESscheme: {name: loft, workers: 2, axes: "nowhere"}\n
workers@GLYPHSmodel: {hidden: [3]}\nscheme: {name: ist, workers: 8}\n
do not divide the batch@GLYPHSscheme: {name: gpipe, workers: 2, micro_batches: 3}\n
cannot be cut after@GLYPHSscheme: {name: gpipe, workers: 2, cuts: "nowhere"}\n
but into 3 at most@GLYPHSscheme: {name: gpipe, workers: 40, micro_batches: 1}\n
the same samples@GLYPHSscheme: {name: gpipe, workers: 2, data: shard}\n
no axis fc9@GLYPHSscheme: {name: masked, workers: 2, axes: "fc9"}\n
there is no error to stop at@SPHEREstop: {metric: test_error, patience: 2}\n
no metric falls below 0@GLYPHSstop: {metric: loss, below: -0.5}\n
is looked at with every evaluation@data: {name: glyphs, n: 32, test_n: 8}\nbatch: 8\neval: {every: 0}\nstop: {metric: test_loss, patience: 2}\n
only loss: cross_entropy reads it@SPHERElabel_smoothing: 0.1\n
only loss: cross_entropy reads it@GLYPHSloss: mse\nclass_weights: balanced\n
class_weights@GLYPHSclass_weights: "[1, 2]"\n
average the weights of two networks@SPHEREmodel: {name: grelu, width: 32, layers: 2}\noptim: {ema: 0.9}\nepochs: 2\nconvert_at: 1\n
convert_at is epoch 9@SPHEREmodel: {name: grelu, width: 32, layers: 2}\nepochs: 2\nconvert_at: 9\n
convert_at@GLYPHSepochs: 2\nconvert_at: 1\n
no equal ReLU net@data: {path: five.csv, split: 0, task: regress}\nbatch: 5\nmodel: {name: grelu, width: 32, layers: 2}\nepochs: 2\nconvert_at: 1\n
no theorem speaks of@GLYPHScertify: {every: 1}\n
out of memory@GLYPHSmodel: {hidden: [10000000, 10000000]}\n
from 1 to 1000000@GLYPHSscheme: {name: multisample, workers: 100000000}\n
EOT
# What stands on the command line counts, too.
printf '%b' "$glyphs" >one.yaml
both "did you mean" --set optim.nam=sgd
both "batch is 999" --set batch=999
both "no such file" --data nothing.csv
[ $failed -ne 0 ] || echo "check_train: $tried run files, refused alike"
