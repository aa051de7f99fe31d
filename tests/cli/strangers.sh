#!/usr/bin/env bash
# strangers.sh PROGRAM SOURCE: who knocks at the ports of a cluster run stops nothing. A hundred strangers (silent, one byte,
# garbage, huge lengths, a slow trickle) at the lifeline's port while ranks are still to come: the run begins and has the bits
# of one process. While it trains no rank listens anywhere; a hundred at each port of mpirun do not slow the rounds.
# (The lifeline's own tests, with replayed handshakes, are unit/test_lifeline.)
set -u
program=$1
command -v mpirun >/dev/null || { echo "no mpirun here (openmpi-bin): skipped"; exit 77; }
ldd "$program" | grep -q libmpi || { echo "this build has no MPI: skipped"; exit 77; }
# shellcheck source=tests/cli.sh
. "$2/tests/cli.sh"
tools=$2/tests/python
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
job='' mpi=''
at_end() { exec 7>&-; [ -z "$job" ] || kill -9 "$job" 2>/dev/null; for r in 0 1 2; do kill -9 "$(cat pid-$r 2>/dev/null)" 2>/dev/null; done; }

cat >rank <<'EOT'
#!/bin/sh
echo $$ >"pid-$OMPI_COMM_WORLD_RANK"
[ "$OMPI_COMM_WORLD_RANK" != 2 ] || while [ -e wait ]; do sleep 0.1; done # until the strangers are there
exec "$@"
EOT
chmod +x rank
cat >run.yaml <<'EOT'
seed: 3
data: {name: glyphs, n: 600, test_n: 100}
model: {name: mlp, hidden: [48, 40], norm: batch}
optim: {lr: 0.01}
scheme: {name: ist, workers: 4, local_steps: 3}
rounds: 1000000
batch: 32
threads: 1
eval: {every: 0.5}
checkpoint: {every: 0}
cluster: {deadline: 60}
EOT

pid_of() { for _ in $(seq 300); do [ -s "pid-$1" ] && cat "pid-$1" && return; sleep 0.1; done; }
ports_of() { python "$tools/ports.py" "$@"; }
# rate SECONDS: rounds a second in that time
round_now() { tail -n 1 out/metrics.jsonl 2>/dev/null | sed -n 's/.*"round":\([0-9]*\).*/\1/p'; }
rate() { local a b; a=$(round_now); sleep "$1"; b=$(round_now); echo $(((${b:-0} - ${a:-0}) / $1)); }
# strangers PORT...: they are there until `away`, which says how many
strangers() {
    rm -f gate
    mkfifo gate
    python "$tools/strangers.py" "$@" <gate >crowd &
    crowd=$!
    exec 7>gate
    for _ in $(seq 300); do grep -qs here crowd && return; sleep 0.1; done
    return 1
}
away() { exec 7>&-; wait $crowd; tail -n 1 crowd; }

touch wait
timeout 200 mpirun --enable-recovery -n 3 ./rank "$program" train run.yaml --quiet --json --out out >result 2>log &
mpi=$!
first=$(pid_of 0)
for _ in $(seq 300); do ports_of "$first" >ports; [ -s ports ] && break; sleep 0.1; done
cat ports
[ -s ports ] || fail "the coordinator does not listen: $(cat log)"
! grep -qv ' 127.0.0.1 ' ports || fail "all ranks are here, and the coordinator listens elsewhere: $(cat ports)"
# shellcheck disable=SC2046
strangers $(cut -d' ' -f3 ports) || fail "no strangers could be made"
rm wait
for _ in $(seq 600); do [ -n "$(round_now)" ] && break; sleep 0.1; done
[ -n "$(round_now)" ] || fail "with strangers at its port the run did not begin: $(cat log)"
away
! grep -q 'cannot reach' log || complain "a rank got no lifeline: $(cat log)"

echo "== while it trains no rank listens, and mpirun's strangers cost nothing"
ports_of "$(pid_of 0)" "$(pid_of 1)" "$(pid_of 2)" >ports
[ ! -s ports ] || complain "a rank still listens: $(cat ports)"
read -r starter _ </proc/$mpi/task/$mpi/children # mpirun is the child of timeout
ports_of "$starter" | tee ports
[ -s ports ] || complain "mpirun's ports are not found: nothing would be checked"
before=$(rate 2)
# shellcheck disable=SC2046
strangers $(cut -d' ' -f3 ports) || complain "no strangers could be made"
during=$(rate 2)
echo "rounds a second: $before before, $during with strangers"
# Others share this machine: only a halt or a slow-down like the old one (250 to 34) is told from their noise.
[ $((during * 4)) -ge "$before" ] && [ "$during" -gt 0 ] || complain "strangers slow the rounds from $before to $during a second"

echo "== SIGTERM is heard: saved, exit of the ranks"
kill -TERM "$first"
# mpirun may be too busy with its strangers to bury it
ended() { case $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) in Z* | '') return 0 ;; *) return 1 ;; esac; }
for _ in $(seq 300); do ended "$first" && break; sleep 0.1; done
ended "$first" || complain "the coordinator did not stop"
away
wait $mpi
grep -q 'all saved: add --resume' log || complain "it did not say that it saved: $(tail -3 log)"
ls out/checkpoints/*.safetensors >/dev/null || complain "no checkpoint"
[ $failed -eq 0 ] && echo "strangers: all well"
