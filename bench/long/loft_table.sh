#!/usr/bin/env bash
# loft_table.sh pretrain|finetune|all|table|bundle PROGRAM SOURCE OUT: Table 1 of the LoFT paper on PreActResNet-18 of width 16.
# Seven ways to pretrain (dense, gpipe, local SGD and LoFT with 2 and 4 workers), tickets at 50 % and 80 %, fine-tuned.
# `dense` is the whole network trained for the epochs of pretraining and fine-tuning together, never pruned. gpipe with 2
# and with 4 stages has the same 4 micro-batches, so both give the same weights, as in the paper.
#
# Each run is a process with THREADS (2) threads, JOBS (1) at once, the longest first; what is done is not done again and
# what was interrupted goes on, so that slots of some minutes add up: STOP_AFTER seconds (0 = never) end a slot softly.
# CIFAR10 is the data's folder; TRAIN and TEST samples of it (0 = all); EPOCHS (3) of pretraining, FINE (6) of
# fine-tuning; LOCAL (25) local steps; SEEDS ("1 2"); METHODS (all seven); SHARES replicate (the paper's) or shard.
#
# bundle packs program, libraries (all but the C library's) and TRAIN + TEST samples into OUT/bundle.tar.xz, for a bare
# machine; there: tar xf bundle.tar.xz, LD_LIBRARY_PATH=bundle/lib CIFAR10=bundle/cifar10 loft_table.sh all bundle/tessera ...
set -eu
command=$1 program=$2 source=$3 out=$4
threads=${THREADS:-2} jobs=${JOBS:-1} seeds=${SEEDS:-1 2} epochs=${EPOCHS:-3} fine=${FINE:-6} local=${LOCAL:-25}
data=${CIFAR10:-$HOME/.local/share/tessera/cifar10}
began=$(date +%s)
mkdir -p "$out"

# Runs the program until the slot is over; the program saves when it is told to stop.
within() {
    local left=604800
    [ "${STOP_AFTER:-0}" = 0 ] || left=$((began + STOP_AFTER - $(date +%s)))
    [ "$left" -gt 5 ] || return 0
    timeout --signal=TERM --kill-after=20 "$left" "$@"
}
settings() { echo "--set data.path=$data --set data.format=cifar10 --set data.limit=${TRAIN:-0} --set data.test_limit=${TEST:-0} --set threads=$threads --set seed=$1"; }

pretrain() { # method, seed
    local to=$out/$1-$2 workers=${1#*-} more
    [ ! -e "$to/result.json" ] || return 0
    case $1 in
    dense) more="--set scheme.name=dense --set scheme.workers=1 --set scheme.local_steps=1 --set optim.final_lr=0 --set epochs=$((epochs + fine))" ;;
    gpipe-*) more="--set scheme.name=gpipe --set scheme.workers=$workers --set scheme.local_steps=1 --set scheme.micro_batches=4 --set epochs=$epochs" ;;
    *) more="--set scheme.name=${1%-*} --set scheme.workers=$workers --set scheme.local_steps=$local --set scheme.data=${SHARES:-replicate} --set epochs=$epochs" ;;
    esac
    # shellcheck disable=SC2046,SC2086
    within "$program" train "$source/examples/cifar-loft/run.yaml" --out "$to" --resume --quiet --json $(settings "$2") $more > "$to.log" 2> "$to.err" &&
        [ -s "$to.log" ] && tail -1 "$to.log" > "$to/result.json"
}

finetune() { # method, seed, ratio
    local from=$out/$1-$2 to=$out/$1-$2-$3
    [ -e "$from/result.json" ] && [ ! -e "$to/result.json" ] || return 0
    [ -e "$to.safetensors" ] || "$program" prune "$from/model.safetensors" --ratio "$3" --out "$to.safetensors" --seconds 0 --json > "$to.prune.json"
    # shellcheck disable=SC2046
    within "$program" finetune "$to.safetensors" --out "$to" --resume --quiet --json --epochs "$fine" --lr 0.05 $(settings "$2") \
        --set optim.final_lr=0 > "$to.log" 2> "$to.err" && [ -s "$to.log" ] && tail -1 "$to.log" > "$to/result.json"
}

# What is to be done, a line each, the longest first.
list() {
    for method in ${METHODS:-local_sgd-4 loft-4 dense local_sgd-2 loft-2 gpipe-2 gpipe-4}; do
        for seed in $seeds; do
            if [ "$1" = pretrain ]; then
                echo "pretrain $method $seed"
            elif [ "$method" != dense ]; then
                echo "finetune $method $seed 0.5"
                echo "finetune $method $seed 0.8"
            fi
        done
    done
}
ready() { [ "$1" = pretrain ] || [ -e "$out/$2-$3/result.json" ]; }

# Starts the first task that can begin whenever one of the slots is free; ends when what is left has nothing to begin from.
everyone() { # pretrain, finetune or both
    local tasks next i
    mapfile -t tasks < <(for kind in "$@"; do list "$kind"; done)
    while [ ${#tasks[@]} -gt 0 ]; do
        next=
        if [ "$(jobs -rp | wc -l)" -lt "$jobs" ]; then
            for i in "${!tasks[@]}"; do
                # shellcheck disable=SC2086
                ready ${tasks[i]} && next=$i && break
            done
        fi
        if [ -n "$next" ]; then
            ${tasks[next]} &
            unset "tasks[next]"
        elif [ -n "$(jobs -rp)" ]; then
            wait -n || true
        else
            break
        fi
    done
    wait || true
}
bundle() {
    local to=$out/bundle record=3073 each=$((${TRAIN:-50000} / 5))
    rm -rf "$to" && mkdir -p "$to/lib" "$to/cifar10"
    cp "$program" "$to/tessera" && strip "$to/tessera"
    ldd "$program" | awk '$3 ~ /^\// { print $3 }' | grep -Ev '/(libc|libm|libdl|libpthread|librt|ld-linux.*)\.so' | xargs -I{} cp -L {} "$to/lib/"
    for i in 1 2 3 4 5; do head -c $((each * record)) "$data/data_batch_$i.bin" > "$to/cifar10/data_batch_$i.bin"; done
    head -c $((${TEST:-10000} * record)) "$data/test_batch.bin" > "$to/cifar10/test_batch.bin"
    cp "$data/batches.meta.txt" "$to/cifar10/"
    tar -C "$out" -c bundle | xz -T2 -6 > "$out/bundle.tar.xz"
    ls -l "$out/bundle.tar.xz"
}
table() {
    /usr/bin/python3 "$source/bench/long/loft_table.py" "$out" "$epochs" "$fine"
}
case $command in
pretrain | finetune) everyone "$command" ;;
all) everyone pretrain finetune; table ;;
table) table ;;
bundle) bundle ;;
*) echo "loft_table.sh: pretrain, finetune, all, table or bundle, not '$command'" >&2; exit 2 ;;
esac
