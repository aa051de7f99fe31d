#!/usr/bin/env bash
# cifar10.sh PROGRAM SOURCE: PreActResNet-18 of width 16 on CIFAR-10, trained for SECONDS_EACH (600) with THREADS (2)
# by us and by PyTorch: who is how far? We choose the number of steps that fits, from the pace of PACE (200), and
# PyTorch's schedule follows the clock; it gets the time that we took if that was more. WHO=ours or WHO=theirs runs one alone.
# RECIPE: sgd (as it was), smooth (sgd with smoothed labels and an average of the weights), adamw (the same with AdamW).
# PRECISION: f32 or bf16, for both. COMPILE=1: PyTorch by torch.compile, compiled before its time begins.
set -eu
program=$1 source=$2 seconds=${SECONDS_EACH:-600} threads=${THREADS:-2} recipe=${RECIPE:-smooth} precision=${PRECISION:-f32} paced=${PACE:-200}
# shellcheck source=bench/kernels.sh
. "$source/bench/kernels.sh"
data=${CIFAR10:-$HOME/.local/share/tessera/cifar10} # `tessera data get cifar10`
here=$source/bench/long out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

sets=(--set data.path="$data" --set threads="$threads" --set precision="$precision" --set eval.every=0)
case $recipe in
sgd) ;;
smooth) sets+=(--set label_smoothing=0.1 --set optim.ema=0.995) ;;
adamw) sets+=(--set label_smoothing=0.1 --set optim.ema=0.995 --set optim.name=adamw --set optim.lr=0.003 --set optim.weight_decay=0.05) ;;
*) echo "cifar10.sh: RECIPE is sgd, smooth or adamw" && exit 2 ;;
esac

# Seconds that the first steps take, with their data and one evaluation.
brief() {
    "$program" train "$here/cifar10.yaml" --out "$(mktemp -d -p "$out")" "${sets[@]}" \
        --set rounds="$1" --json 2>/dev/null | tail -1 | "$python" -c 'import json, sys; print(json.load(sys.stdin)["seconds"])'
}

ours() {
    local pace steps
    brief 20 >/dev/null # the machine warms up
    # The least of three: something else on the machine for a moment once left a third of the time unused.
    pace=$("$python" -c "print(min($(for _ in 1 2 3; do echo "$(brief $((paced + 20))) - $(brief 20),"; done)) / $paced)")
    steps=$("$python" -c "print(max(1, int(0.99 * $seconds / $pace)))")
    "$program" train "$here/cifar10.yaml" --out "$out/ours" "${sets[@]}" \
        --set rounds="$steps" --json >"$out/ours.json" 2>"$out/ours.log"
    "$python" - "$out/ours.json" "$steps" "$out/seconds" <<'PY'
import json, sys
r = json.loads(open(sys.argv[1]).read().strip().splitlines()[-1])
print(f"tessera steps {sys.argv[2]} accuracy {100 * r['accuracy']:.2f} seconds {r['seconds']:.1f}")
print(r["seconds"], file=open(sys.argv[3], "w"))
PY
}
theirs() {
    local given=$seconds
    [ ! -e "$out/seconds" ] || given=$("$python" -c "print(max($seconds, $(cat "$out/seconds")))")
    "$python" "$here/torch_cifar10.py" "$data" "$threads" "$given" --recipe "$recipe" --precision "$precision" ${COMPILE:+--compile}
}

echo "PreActResNet-18, width 16, CIFAR-10, recipe $recipe, $precision, $seconds s each, $threads threads; $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs)"
case ${WHO:-each} in
ours) ours ;;
theirs) theirs ;;
*) ours && theirs ;;
esac
