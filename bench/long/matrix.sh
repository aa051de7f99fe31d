#!/usr/bin/env bash
# matrix.sh PROGRAM SOURCE: one SHA-256 of the model for every way to run it: in one process with 1, 2, 4 threads, with 1 to 4 workers
# under mpirun, and the coordinator killed at three points and the run resumed with another number of ranks; for every scheme.
# One line per run; ends with 0 when all are equal. (tests/cli/cluster.sh has the small part of it that CI runs.)
set -u
program=$1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
cat >run.yaml <<'EOT'
seed: 5
data: {name: glyphs, n: 600, test_n: 50}
model: {name: mlp, hidden: [48, 40], norm: batch}
optim: {lr: 0.05, momentum: 0.9}
scheme: {name: ist, workers: 4, local_steps: 3}
rounds: 60
batch: 32
eval: {every: 0.5}
checkpoint: {every: 0.5, keep: 1000}
cluster: {deadline: 60}
EOT
# shellcheck disable=SC2016
printf '#!/bin/sh\necho $$ >"pid-$OMPI_COMM_WORLD_RANK"\nexec "$@"\n' >rank
chmod +x rank
bad=0 runs=0
sum() { sha256sum "$1/model.safetensors" 2>/dev/null | cut -d' ' -f1; }
# verdict WHAT FOLDER
verdict() {
    runs=$((runs + 1))
    if [ "$(sum "$2")" = "$wanted" ]; then echo "$scheme, $1: the same"; else echo "$scheme, $1: OTHER BITS"; bad=$((bad + 1)); fi
    rm -rf "$2"
}
ranks() { rm -f pid-*; timeout 120 mpirun --enable-recovery -n "$1" ./rank "$program" train run.yaml --quiet "${@:2}" >/dev/null 2>log; }
round() { tail -n 1 "$1/metrics.jsonl" 2>/dev/null | sed -n 's/.*"round":\([0-9]*\).*/\1/p'; }

# killed RANKS ROUND THEN-RANKS (0 = in one process)
killed() {
    ranks "$1" --out dead "${more[@]}" --set threads=1 &
    while kill -0 $! 2>/dev/null && r=$(round dead) && [ "${r:-0}" -lt "$2" ]; do sleep 0.01; done
    kill -9 "$(cat pid-0)" 2>/dev/null
    wait $!
    r=$(round dead)
    rm -f dead/model.safetensors
    if [ "$3" = 0 ]; then "$program" train run.yaml --quiet --out dead --resume "${more[@]}" >/dev/null; else ranks "$3" --out dead --resume "${more[@]}" --set threads=1; fi
    verdict "$(($1 - 1)) workers, killed at round $r of 60, resumed with $3 ranks" dead
}

for scheme in ${SCHEMES:-masked ist loft local_sgd gpipe}; do
    more=(--set scheme.name="$scheme")
    [ "$scheme" != loft ] || more+=(--set model.name=preresnet18 --set model.hidden=[256,256] --set model.norm=none --set model.width=3 --set data.n=200 --set batch=8)
    [ "$scheme" != gpipe ] || more+=(--set scheme.workers=3 --set scheme.local_steps=1 --set scheme.micro_batches=4)
    "$program" train run.yaml --quiet --out one "${more[@]}" --set threads=1 >/dev/null || exit 1
    wanted=$(sum one)
    verdict "in one process, 1 thread" one
    for threads in 2 4; do
        "$program" train run.yaml --quiet --out one "${more[@]}" --set threads=$threads >/dev/null
        verdict "in one process, $threads threads" one
    done
    for n in 2 3 4 5; do
        ranks $n --out mpi "${more[@]}" --set threads=1
        verdict "$((n - 1)) workers" mpi
    done
    killed 2 10 5
    killed 3 30 2
    killed 5 50 4
    killed 4 25 0
done
echo "matrix: $runs runs, $bad differ"
[ $bad = 0 ]
