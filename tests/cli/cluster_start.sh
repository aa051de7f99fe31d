#!/usr/bin/env bash
# cluster_start.sh PROGRAM SOURCE: a rank that ends before all have met, or never comes, hangs nobody: all end, with a sentence
# that names it. On the old program the others waited forever in MPI_Init. SIGTERM is heard there, too. Every wait has a limit.
set -u
program=$1
command -v mpirun >/dev/null || { echo "no mpirun here (openmpi-bin): skipped"; exit 77; }
ldd "$program" | grep -q libmpi || { echo "this build has no MPI: skipped"; exit 77; }
# shellcheck source=tests/cli.sh
. "$2/tests/cli.sh"
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
tools=$2/tests/python
at_end() { local r; for r in 0 1 2; do kill -9 "$(cat pid-$r 2>/dev/null)" 2>/dev/null; done; }
# Each rank leaves its number, waits while there is a file hold-RANK, and does what do-RANK says.
cat >rank <<'EOT'
#!/bin/sh
r=$OMPI_COMM_WORLD_RANK
echo $$ >"pid-$r"
while [ -e "hold-$r" ]; do sleep 0.05; done
[ ! -e "do-$r" ] || . "./do-$r"
exec "$@"
EOT
chmod +x rank
cat >run.yaml <<'EOT'
data: {name: glyphs, n: 200, test_n: 50}
model: {name: mlp, hidden: [16]}
optim: {lr: 0.01}
scheme: {name: ist, workers: 2, local_steps: 2}
rounds: 20
threads: 1
EOT
me=$(hostname)
# ranks LIMIT OPTION...: the run, ended after that many seconds; fails when it had to be
ranks() { local limit=$1; shift; rm -rf out; rm -f pid-*; timeout "$limit" mpirun --enable-recovery -n 3 ./rank "$program" train run.yaml --quiet --out out "$@" >/dev/null 2>log </dev/null; [ $? != 124 ]; }
said() { grep -qF -- "$1" log || complain "$2: it did not say '$1' but $(head -c 600 log)"; }
# meeting: rank 0 listens, rank 1 is connected; both wait in MPI_Init for rank 2, which is held
meeting() {
    local port
    for _ in $(seq 400); do
        port=$(python "$tools/ports.py" "$(cat pid-0 2>/dev/null || echo 0)" | cut -d' ' -f3)
        [ -n "$port" ] && python "$tools/ports.py" --to "$port" "$(cat pid-1 2>/dev/null || echo 0)" && sleep 0.5 && return
        sleep 0.1
    done
    complain "rank 1 did not reach rank 0: $(cat log)"
}
# Who has lost the coordinator asks mpirun to end all and, when that does not answer, ends by itself after a few seconds.
quiet() {
    local r
    rm -f hold-*
    for r in 0 1 2; do
        for _ in $(seq 150); do kill -0 "$(cat pid-$r 2>/dev/null)" 2>/dev/null || break; sleep 0.1; done
        ! kill -0 "$(cat pid-$r 2>/dev/null)" 2>/dev/null || complain "$1: rank $r is left behind"
    done
    rm -f do-*
}

echo "== no run file on one host: a worker's, the coordinator's"
for r in 2 0; do
    echo "exec \"$program\" train gone.yaml --quiet --out out" >do-$r
    ranks 100 || complain "no run file on rank $r: the others hang"
    said "gone.yaml: cannot open" "no run file on rank $r"
    quiet "no run file on rank $r"
done
echo "== killed before it has come"
for r in 1 0; do
    echo "kill -9 \$\$" >do-$r
    ranks 100 --set cluster.start=3 || complain "rank $r killed: the others hang"
    said "rank $r on $me has not joined within 3 s" "rank $r killed at once"
    quiet "rank $r killed at once"
done
echo "== killed while MPI begins"
for r in 1 0; do
    touch hold-2
    ranks 100 &
    run=$!
    meeting
    kill -9 "$(cat pid-$r)"
    wait $run || complain "rank $r killed in MPI_Init: the others hang"
    said "rank $r on $me ended before all ranks had met" "rank $r killed in MPI_Init"
    quiet "rank $r killed in MPI_Init"
done
echo "== SIGTERM while MPI waits for a rank"
touch hold-2
ranks 100 &
run=$!
meeting
kill -TERM "$(cat pid-0)"
wait $run || complain "SIGTERM is not heard while MPI begins"
said "stopped before all ranks had met" "SIGTERM"
quiet SIGTERM
echo "== mpirun answers no rank: it was found locked up after a rank was killed as it began"
touch hold-0 hold-1 hold-2
rm -f pid-*
ranks 100 --set cluster.start=3 &
run=$!
for _ in $(seq 300); do [ -s pid-0 ] && [ -s pid-1 ] && [ -s pid-2 ] && break; sleep 0.1; done
kill -STOP "$(sed 's/.*) . \([0-9]*\).*/\1/' "/proc/$(cat pid-0)/stat")" # the parent of a rank
rm hold-*
wait $run || complain "mpirun does not answer: the ranks hang"
said "mpirun does not answer its ranks, so it was ended" "mpirun stopped"
quiet "mpirun stopped"
[ $failed -eq 0 ] && echo "cluster_start: all well"
