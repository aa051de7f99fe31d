#!/usr/bin/env bash
# loft_figures.sh PROGRAM OUT: Figures 1, 4 and 5 of the LoFT paper as docs/measurements/tickets.md shows them: PreActResNet-18 of width 16 on
# CIFAR-10 cut to TRAIN (6400) and TEST (5000) images, 20 epochs, SEEDS (3: fewer decide nothing), THREADS (2). 18 minutes on 8 cores of a
# Xeon; stopped and called again it goes on. The three share their runs: fig5 makes them, fig1 and fig4 draw.
# CIFAR10 is the data's folder. Kernels follow the CPU: another kind of it, other last bits.
set -eu
program=$1 out=$2
data=${CIFAR10:-$HOME/.local/share/tessera/cifar10} each=$((${TRAIN:-6400} / 5)) test=${TEST:-5000}
mkdir -p "$out/data" "$out/fig5/runs"
for i in 1 2 3 4 5; do head -c $((each * 3073)) "$data/data_batch_$i.bin" > "$out/data/data_batch_$i.bin"; done
head -c $((test * 3073)) "$data/test_batch.bin" > "$out/data/test_batch.bin"
cp "$data/batches.meta.txt" "$out/data/"
for figure in fig5 fig1 fig4; do
    mkdir -p "$out/$figure"
    [ -e "$out/$figure/runs" ] || ln -s ../fig5/runs "$out/$figure/runs"
    "$program" reproduce loft/$figure --data "$out/data" --seeds "${SEEDS:-3}" --threads "${THREADS:-2}" --out "$out/$figure"
done
