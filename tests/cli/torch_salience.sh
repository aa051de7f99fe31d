#!/usr/bin/env bash
# prune --criterion snip and grasp: the scores of every unit, and what stays, beside PyTorch's in double, of perceptrons
# with and without norms and of a residual net on all its axes.
set -eu
program=$1 source=$2
. "$2/tests/cli.sh"
with_python torch yaml numpy
scored() { # FOLDER MODEL
    cat > run.yaml <<Y
data: {name: glyphs, n: 48, test_n: 10}
model: {$2}
optim: {name: gd, lr: 0.05, momentum: 0.9}
rounds: 3
Y
    "$program" train run.yaml --out "$1" --trace --quiet > /dev/null
    for criterion in snip grasp; do
        "$program" prune "$1/model.safetensors" --ratio 0.5 --criterion $criterion --axes all --seconds 0 --json \
            --out "$1/$criterion.safetensors" > "$1/$criterion.json"
    done
}
scored plain 'name: mlp, hidden: [40, 30]'
scored normed 'name: mlp, hidden: [40, 30], norm: batch'
scored residual 'name: preresnet18, width: 8'
OMP_NUM_THREADS=1 python "$source/tests/python/salience_torch.py" plain normed residual || fail "not PyTorch's scores"

# What stands there is what is checked: each of these changes must be noticed.
for change in "d['scores']['hidden.0'][3] *= -1" "d['scores']['hidden.1'][2] += 0.3 * max(d['scores']['hidden.1'])"; do
    cp -r plain spoilt
    for criterion in snip grasp; do
        python -c "import json; d = json.load(open('plain/$criterion.json')); $change; json.dump(d, open('spoilt/$criterion.json', 'w'))"
    done
    ! python "$source/tests/python/salience_torch.py" spoilt > /dev/null 2>&1 || fail "not noticed: $change"
    rm -r spoilt
done
echo "salience: SNIP and GraSP are PyTorch's"
