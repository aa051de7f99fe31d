#!/usr/bin/env bash
# prune --criterion snip and grasp: the scores of every unit, and what stays, beside PyTorch's in double, of perceptrons
# with and without norms and of a residual net on all its axes. GraSP's are autograd's own H g, and where the gradient has
# a jump at the very weights the difference that prune says it took.
set -eu
program=$1 source=$2
. "$2/tests/cli.sh"
with_python torch yaml numpy
scored() { # FOLDER DATA MODEL OPTIM WAY
    cat > run.yaml <<Y
data: {$2}
model: {$3}
optim: {name: gd, $4}
rounds: 3
Y
    "$program" train run.yaml --out "$1" --trace --quiet > /dev/null
    for criterion in snip grasp; do
        "$program" prune "$1/model.safetensors" --ratio 0.5 --criterion $criterion --axes all --seconds 0 --json \
            --out "$1/$criterion.safetensors" > "$1/$criterion.json" 2> "$1/$criterion.said"
    done
    grep -q '"scores_by":null' "$1/snip.json" || fail "$1: snip says how grasp is made"
    grep -q "\"scores_by\":\"$5\"" "$1/grasp.json" || fail "$1: grasp's scores are not $5"
}
scored plain 'name: glyphs, n: 48, test_n: 10' 'name: mlp, hidden: [40, 30]' 'lr: 0.05' exact
scored many 'name: glyphs, n: 800, test_n: 10' 'name: mlp, hidden: [40, 30]' 'lr: 0.05' exact
scored normed 'name: glyphs, n: 48, test_n: 10' 'name: mlp, hidden: [40, 30], norm: batch' 'lr: 0.05' exact
scored residual 'name: glyphs, n: 48, test_n: 10' 'name: preresnet18, width: 4' 'lr: 0.05' exact
if grep -h grasp ./*/grasp.said; then fail "a warning about exact scores"; fi

# Before the first step biases are 0, and so is what the first layer makes of a sample of zeros.
awk 'BEGIN { srand(1); print "a,b,c,d,kind\n0,0,0,0,one"
    for (i = 0; i < 39; i++) { x = rand() - .5; y = rand() - .5; z = rand() - .5
        printf "%.4f,%.4f,%.4f,%.4f,%s\n", x, y, z, rand() - .5, (x + y * z > 0 ? "one" : "two") } }' > dots.csv
scored kinked 'path: dots.csv, test_path: dots.csv, normalize: none' 'name: mlp, hidden: [12, 8]' 'lr: 0' difference
grep -q 'grasp: .*the input of a ReLU is 0' kinked/grasp.said || fail "no word about the jump"

OMP_NUM_THREADS=1 python "$source/tests/python/salience_torch.py" plain many normed residual kinked || fail "not PyTorch's scores"

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
