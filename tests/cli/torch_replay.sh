#!/usr/bin/env bash
# A traced run, replayed live by PyTorch from the trace alone; and our model file in a plain
# torch.nn.Sequential by its own names (load_state_dict is strict).
set -eu
program=$1 source=$2
/usr/bin/python3 -c 'import torch, yaml, numpy' 2>/dev/null || { echo "skipped: no PyTorch here"; exit 77; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cat > "$work/run.yaml" <<'Y'
data: {name: glyphs, n: 1000}
model: {name: mlp, hidden: [64, 48, 32], norm: batch}
optim: {lr: 0.05, momentum: 0.9, weight_decay: 5.0e-4}
rounds: 10
batch: 32
Y
for settings in "" "--set model.norm=none --set optim.nesterov=true" "--set model.hidden=[] --set backend=ref"; do
    # shellcheck disable=SC2086
    "$program" train "$work/run.yaml" --out "$work/run" --trace --quiet $settings > /dev/null
    /usr/bin/python3 "$source/tests/python/replay_dense.py" "$work/run"
    rm -r "$work/run"
done
