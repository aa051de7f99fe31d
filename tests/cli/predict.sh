#!/usr/bin/env bash
# A model treats new data as it treated its own: the scaling measured in training is inside the file.
# Predictions come in the units of the data, and a table that was never seen is judged whole.
set -eu
program=$1
. "$2/tests/cli.sh"
awk 'BEGIN { srand(1); print "a,b,y"; for (i = 0; i < 600; i++) { a = 100 * rand(); b = rand(); print a "," b "," 1000 + 20 * a - 300 * b } }' > train.csv
awk 'BEGIN { srand(2); print "a,b,y"; for (i = 0; i < 50; i++) { a = 90 + rand(); b = 0.5 + rand() / 100; print a "," b "," 1000 + 20 * a - 300 * b } }' > new.csv
cat > run.yaml <<'Y'
data: {path: train.csv, target: y}
model: {name: mlp, hidden: [32]}
optim: {lr: 0.05, momentum: 0.9, schedule: cosine}
epochs: 60
batch: 32
Y
"$program" train run.yaml --out run --quiet > /dev/null
"$program" predict run/model.safetensors --data new.csv --out new-predicted.csv > /dev/null
[ "$(wc -l < new-predicted.csv)" = 51 ] || fail "not every row of the new table was predicted"
# The new rows lie in a corner (a about 90.5, b about 0.505): scaled by their own mean they would
# look like the middle of the training set, y about 1850, not 2660.
paste -d, <(tail -n +2 new.csv) <(tail -n +2 new-predicted.csv) | awk -F, '
    { e = $5 - $3; if (e < 0) e = -e; if (e > worst) worst = e }
    END { print "largest error " worst " of targets near 2660"; exit worst > 60 }' || fail "new rows are not predicted"
accuracy=$("$program" eval run/model.safetensors --json)
case $accuracy in *'"accuracy":null'*) ;; *) fail "real targets have no accuracy: $accuracy" ;; esac
"$program" predict run/model.safetensors --out outputs.npy > /dev/null
[ "$(head -c 6 outputs.npy | tail -c 5)" = NUMPY ] || fail "outputs.npy is no npy file"
# Answers never take the place of what they are answers to.
refused 2 "new.csv is the data itself" predict run/model.safetensors --data new.csv --out new.csv
refused 2 "run/model.safetensors is the model itself" predict run/model.safetensors --data new.csv --out run/model.safetensors
refused 2 "train.csv is the data itself" predict run/model.safetensors --out ./train.csv
refused 3 "missing.csv: no such file" predict run/model.safetensors --data missing.csv

# An answer that is not a number is refused, not passed on: it was once "class 10, probability -nan", exit 0.
printf 'a,b,y\n50,0.5,1850\n3.4e38,0.5,1850\n' > far.csv
refused 3 "far.csv: row 2: the model's answer is not a finite number" predict run/model.safetensors --data far.csv
printf 'a,b,y\n50,3.4e38,1850\n' > farther.csv
refused 3 "input 2 (b) is 3.4e+38, beyond single precision" eval run/model.safetensors --data farther.csv

# What a trained model keeps cannot be set beside it: it was read by nobody, or made another network.
for key in data.target=a data.task=classify data.ignore=a data.normalize=none model.hidden=8 optim.lr=1; do
    refused 2 "set ${key%=*}: a trained model keeps it" predict run/model.safetensors --data new.csv --set $key
done
