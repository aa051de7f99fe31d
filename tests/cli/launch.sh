#!/usr/bin/env bash
# launch.sh PROGRAM SOURCE: tessera launch calls mpirun so that it works here, as root or not, on any number of cores: the bits
# are those of train, options pass through, the exit code is the run's, Ctrl-C saves. Hosts are played by an agent in ssh's place
# that runs everything here; --ship must bring the files through it. The mpirun calls of README and docs/cluster.md work as written.
set -u
program=$1 source=$2
command -v mpirun >/dev/null || { echo "no mpirun here (openmpi-bin): skipped"; exit 77; }
ldd "$program" | grep -q libmpi || { echo "this build has no MPI: skipped"; exit 77; }
# shellcheck source=tests/cli.sh
. "$2/tests/cli.sh"
unset OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe # as a user has it
make_points
cat >run.yaml <<'EOT'
data: {path: points.csv, target: y}
model: {name: mlp, hidden: [16, 16]}
optim: {lr: 0.02}
scheme: {name: ist, workers: 3, local_steps: 2}
rounds: 30
batch: 20
cluster: {deadline: 60}
EOT
limit() { timeout 300 "$program" "$@" </dev/null; }

"$program" train run.yaml --out one --quiet >/dev/null || fail "train in one process"
echo "== -n: the bits of train, and what was called"
limit launch -n 3 run.yaml --out three --json >result 2>log || complain "launch -n 3: exit $? $(cat log)"
[ "$(model_hash one)" = "$(model_hash three)" ] || complain "launch has other bits"
grep -q 'tessera: mpirun .*--oversubscribe --bind-to none --enable-recovery .*-n 3 .*train run.yaml --out three' log || complain "it does not say what it called: $(cat log)"
[ "$(wc -l <result)" = 1 ] && grep -q '"rounds":30' result || complain "not one object on standard output: $(cat result)"
grep -q "$(printf 'TESSERA_LAUNCH=')" log && complain "the token is told"
"$program" launch run.yaml --out x --dry-run --set scheme.workers=4 --ports 20000-20099 --resume >line || complain "--dry-run"
grep -q -- '-n 5 .*train run.yaml --out x --set scheme.workers=4 --resume' line && grep -q 'oob_tcp_dynamic_ipv4_ports 20095-20098' line && grep -q 'cluster.port=20099' line || complain "--dry-run says $(cat line)"
[ "$(id -u)" != 0 ] || grep -q -- --allow-run-as-root line || complain "root is not let"
[ ! -e x ] || complain "--dry-run made a folder"

echo "== exit codes pass through"
code() { local want=$1; shift; limit launch "$@" --quiet >result 2>log; local got=$?; [ $got = "$want" ] || complain "launch $*: exit $got instead of $want: $(tail -3 log)"; }
code 2 -n 3 run.yaml --out bad --set optim.lr=fast
code 2 -n 3 run.yaml
code 3 -n 3 gone.yaml --out bad
code 3 -n 3 run.yaml --out bad --set data.path=gone.csv
code 5 -n 3 run.yaml --out bad --set optim.lr=1000000
code 2 -n 1 run.yaml --out bad
code 2 --hosts 'a,-oProxyCommand=x' run.yaml --out bad
code 2 --hosts 'a;b' run.yaml --out bad
code 2 -n 3 --ports 1-2 run.yaml --out bad

echo "== Ctrl-C saves, exit 130; --resume ends with the same bits"
long="--set rounds=20000 --set eval.every=0 --set checkpoint.every=0"
# shellcheck disable=SC2086
"$program" train run.yaml --out whole --quiet $long >/dev/null
# shellcheck disable=SC2086
limit launch -n 3 run.yaml --out cut --quiet $long >/dev/null 2>log &
run=$!
for _ in $(seq 300); do [ -s cut/metrics.jsonl ] || [ -e cut/run.yaml ] && break; sleep 0.1; done
sleep 1
kill -INT "$(cat /proc/$run/task/$run/children)" # of timeout: the program
wait $run
got=$?
[ $got = 130 ] || complain "after Ctrl-C exit $got: $(cat log)"
ls cut/checkpoints/*.safetensors >/dev/null 2>&1 || complain "Ctrl-C did not save: $(cat log)"
# shellcheck disable=SC2086
limit launch -n 4 run.yaml --out cut --resume --quiet $long >/dev/null 2>log || complain "not resumed: $(cat log)"
[ "$(model_hash whole)" = "$(model_hash cut)" ] || complain "stopped and resumed has other bits"

echo "== a stop that comes before the ranks hear signals waits for them: it was lost, or killed a rank"
for delay in 0.05 0.1 0.15 0.2 0.25 0.3 0.4 0.6; do
    "$program" launch -n 3 run.yaml --out "early$delay" --quiet --set rounds=100000000 --set eval.every=0 --set checkpoint.every=0 >/dev/null 2>log &
    run=$!
    sleep $delay
    kill -TERM $run
    for _ in $(seq 300); do kill -0 $run 2>/dev/null || break; sleep 0.1; done
    ! kill -0 $run 2>/dev/null || { complain "SIGTERM after $delay s was not heard: $(cat log)"; kill -TERM $run; }
    wait $run
    got=$?
    [ $got = 130 ] || [ $got = 143 ] || complain "SIGTERM after $delay s: exit $got: $(cat log)" # 143: launch itself had hardly begun
done

echo "== nohup: the end of the terminal ends nothing"
env --ignore-signal=HUP "$program" launch -n 3 run.yaml --out nohup --quiet --set rounds=4000 --set eval.every=0 --set checkpoint.every=0 >/dev/null 2>log &
run=$!
for _ in $(seq 300); do [ -e nohup/run.yaml ] && break; sleep 0.1; done
kill -HUP $run || complain "it was over before the terminal's end"
wait $run
got=$?
[ $got = 0 ] && [ -s nohup/model.safetensors ] || complain "under nohup the end of the terminal ended the run: exit $got: $(cat log)"

echo "== hosts, played by an agent; --ship"
mkdir -p far bin
cat >bin/tar <<EOT
#!/bin/sh
# what is unpacked on the far host lands in its own folder
[ "\$1 \$2 \$3" = "-C / -xf" ] || exec /usr/bin/tar "\$@"
exec /usr/bin/tar -C "$PWD/far" -xf -
EOT
cat >agent <<EOT
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do shift; done
echo "\$1" >>"$PWD/called"
shift
PATH=$PWD/bin:\$PATH exec sh -c "\$*"
EOT
chmod +x agent bin/tar
# Both hosts are this one: their shared memory would have the same names.
export OMPI_MCA_plm_rsh_agent=$PWD/agent OMPI_MCA_btl=self,tcp
limit launch --hosts localhost,far run.yaml --out hosts --ship >/dev/null 2>log || complain "launch --hosts: exit $? $(cat log)"
[ "$(model_hash one)" = "$(model_hash hosts)" ] || complain "with hosts it has other bits: $(cat log)"
grep -qx far called || complain "the agent was not asked for far"
cmp -s run.yaml "far$PWD/run.yaml" && cmp -s points.csv "far$PWD/points.csv" || complain "--ship did not bring run file and data: $(find far -type f)"
grep -q -- '--host localhost:2,far:1 .*-n 3' log || complain "other hosts than asked for: $(cat log)"
grep -q "shipped .*points.csv to far" log || complain "--ship says nothing: $(cat log)"
printf '#!/bin/sh\nexit 255\n' >agent
limit launch --hosts localhost,far run.yaml --out hosts2 --ship >/dev/null 2>log && complain "a host that cannot be reached"
grep -q 'far: the files did not arrive' log || complain "no sentence for a host that cannot be reached: $(cat log)"
unset OMPI_MCA_plm_rsh_agent OMPI_MCA_btl

echo "== every mpirun of README and docs/cluster.md that needs no other host, as written"
mkdir -p path && ln -s "$program" path/tessera
sed -n 's/^\(mpirun .*\)/\1/p; s/^\(tessera launch -n .*\)/\1/p' "$source/README.md" "$source/docs/cluster.md" | sed 's/ *#.*//' | grep -v -e hostfile -e '\.\.\.' -e SLURM >calls
[ "$(wc -l <calls)" -ge 2 ] || complain "no calls found in the pages: $(cat calls)"
while read -r call; do
    rm -rf runs
    folder=$(sed 's/.*--out \([^ ]*\).*/\1/' <<<"$call")
    PATH=$PWD/path:$PATH timeout 120 sh -c "$call" >/dev/null 2>log </dev/null || complain "as written it fails: $call: $(cat log)"
    [ -s "$folder/model.safetensors" ] || complain "as written it makes no model: $call: $(cat log)"
done <calls
[ $failed -eq 0 ] && echo "launch: all well"
