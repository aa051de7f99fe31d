#!/usr/bin/env bash
# hosts.sh PROGRAM SOURCE: tessera launch --hosts between hosts. Three hosts, and a fourth that only launches, are made of
# namespaces around a bridge: each has a network, a name, shared memory and a work folder of its own; in ssh's place an agent
# enters them. The files are shipped, the bits are those of one process, every port is among --ports, and a host whose wire is
# cut neither stops the run nor keeps launch from ending, be it a worker's or the coordinator's. Works as root, or as anybody
# who may make namespaces of users.
set -u
program=$1 source=$2
if [ -z "${TESSERA_INSIDE:-}" ]; then
    for tool in mpirun ip ss unshare nsenter; do
        command -v $tool >/dev/null || { echo "skipped: there is no $tool here (openmpi-bin, iproute2, util-linux)"; exit 77; }
    done
    [ -e /etc/hosts ] || { echo "skipped: there is no /etc/hosts here to give each host its own"; exit 77; }
    ldd "$program" | grep -q libmpi || { echo "this build has no MPI: skipped"; exit 77; }
    own=(--net --mount --pid --fork --kill-child --mount-proc) # whatever is started ends with this script
    [ "$(id -u)" = 0 ] || own+=(--map-root-user)
    why=$(unshare "${own[@]}" ip link add probe type bridge 2>&1) || { echo "skipped: no namespaces can be made here: $why"; exit 77; }
    TESSERA_INSIDE=1 exec unshare "${own[@]}" bash "$0" "$@"
fi
# shellcheck source=tests/cli.sh
. "$source/tests/cli.sh"

hosts=(alpha beta gamma)
# on HOST COMMAND...: on that host, in this folder as it has it
on() { nsenter -t "$(cat "$scratch/pid-$1")" -n -u -m -r sh -c 'cd "$0" && exec "$@"' "$PWD" "${@:2}"; }

# make_host NUMBER NAME: 10.78.0.NUMBER; all but the first have an empty work folder
make_host() {
    unshare --net --uts --mount sleep infinity &
    echo $! >"$scratch/pid-$2"
    for _ in $(seq 200); do [ "$(readlink /proc/$!/ns/mnt)" != "$(readlink /proc/self/ns/mnt)" ] && break; sleep 0.05; done
    ip link add "wire$1" type veth peer name eth0 netns $! && ip link set "wire$1" master hub up || return 1
    on "$2" sh -ec "hostname $2; ip link set lo up; ip addr add 10.78.0.$1/24 dev eth0; ip link set eth0 up
        mount -t tmpfs none /dev/shm; mount --bind '$scratch/names' /etc/hosts; [ $1 = 1 ] || mount -t tmpfs none '$scratch/work'"
}

mkdir work
ip link add hub type bridge && ip link set hub up && ip addr add 10.78.0.254/24 dev hub || fail "no bridge"
printf '127.0.0.1 localhost\n10.78.0.1 alpha\n10.78.0.2 beta\n10.78.0.3 gamma\n10.78.0.4 delta\n' >names
for i in 0 1 2; do make_host $((i + 1)) "${hosts[i]}" || fail "host ${hosts[i]} cannot be made"; done
make_host 4 delta || fail "host delta cannot be made"
cat >agent <<EOT
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do shift; done
host=\$1
shift
exec nsenter -t "\$(cat "$scratch/pid-\$host")" -n -u -m -r sh -c "\$*"
EOT
chmod +x agent
export OMPI_MCA_plm_rsh_agent=$scratch/agent
cd work || exit 1
make_points
cat >run.yaml <<'EOT'
data: {path: points.csv, target: y}
model: {name: mlp, hidden: [16, 16]}
optim: {lr: 0.02}
scheme: {name: ist, workers: 3, local_steps: 2}
rounds: 30
batch: 20
threads: 1
cluster: {deadline: 60}
EOT
"$program" train run.yaml --out one --quiet >/dev/null || fail "train in one process"

echo "== three hosts: shipped, the bits of one process"
on beta test ! -e run.yaml || fail "beta sees alpha's folder: nothing would be checked"
launch() { on "$1" timeout "$2" "$program" launch --hosts "${@:3}" </dev/null; }
launch alpha 200 alpha,beta,gamma run.yaml --out three --ship >/dev/null 2>log || fail "launch --hosts: exit $? $(cat log)"
[ "$(model_hash one)" = "$(model_hash three)" ] || complain "between hosts it has other bits: $(cat log)"
for host in beta gamma; do
    on $host cmp run.yaml "/proc/$$/cwd/run.yaml" && on $host test -s points.csv || complain "--ship did not bring the files to $host: $(cat log)"
done

echo "== the coordinator is where launch is called, or on the first host"
on delta sh -c 'cat >run.yaml' <run.yaml
on beta sh -c 'cat >run.yaml' <run.yaml
launch beta 200 alpha,beta,gamma run.yaml --out there --dry-run | grep -q -- '--host alpha:1,beta:2,gamma:1 ' || complain "beta has no place for its coordinator"
launch beta 200 alpha,beta,gamma run.yaml --out there --quiet >/dev/null 2>log || complain "launched on beta: exit $? $(cat log)"
on beta test -s there/model.safetensors || complain "launched on beta, it is not the coordinator: $(cat log)"

echo "== a wire is cut: the runs go on, and launch ends, where a worker was there and where the coordinator was"
long=(--set cluster.deadline=2 --set rounds=4000 --set eval.every=10)
launch alpha 200 alpha,beta,gamma run.yaml --out cut --ports 20000-20049 "${long[@]}" >/dev/null 2>log &
run=$!
launch delta 100 gamma,beta run.yaml --out far --ports 20050-20099 --silence 15 "${long[@]}" --set scheme.workers=2 --set rounds=20000 --set eval.every=50 >/dev/null 2>log-far &
far=$!
for _ in $(seq 600); do [ -s cut/metrics.jsonl ] && on gamma test -s far/metrics.jsonl && break; sleep 0.1; done
for host in "${hosts[@]}"; do on $host ss -Hltn | awk '{print $4}' | grep -v '^127\.' >ports; cp ports "../ports-$host"; done
# A stranger on another machine (the bridge) is not let in at MPI's own ports, where one would halt the run; a rank's host is.
knock() { timeout "$1" bash -c "exec 3<>/dev/tcp/$2/$3" 2>/dev/null; }
on beta ss -Hltnp | sed -n 's/.* 0\.0\.0\.0:\([0-9]*\) .*"tessera".*/\1/p' >own
[ -s own ] || complain "beta: no port of MPI is found: nothing is checked"
while read -r port; do
    (knock 0.5 10.78.0.2 "$port" && echo "$port" >>../reached) &
    [ "$port" -ge 20050 ] || on alpha bash -c "$(declare -f knock); knock 10 10.78.0.2 $port" ||
        complain "alpha does not reach MPI's port $port on beta" # from 20050 on it is the other run's, without alpha
    wait $!
done <own
[ ! -e ../reached ] || complain "a stranger reaches MPI's ports on beta: $(cat ../reached)"
on gamma ip link set eth0 down
for host in "${hosts[@]}"; do
    echo "$host: $(tr '\n' ' ' <"../ports-$host")"
    grep -q ':200[0-9][0-9]$' "../ports-$host" || complain "$host listens nowhere: nothing is checked"
    ! grep -qv ':200[0-9][0-9]$' "../ports-$host" || complain "$host listens outside of --ports: $(cat "../ports-$host")"
done
wait $run
code=$?
[ $code = 0 ] || complain "after the cut: exit $code $(cat log)"
[ -s cut/model.safetensors ] || complain "the run did not end: $(tail -n 3 cut/metrics.jsonl)"
grep -q '"event":"lost".*"rank":3' cut/metrics.jsonl || complain "the cut came too late: no share was lost"
grep -q 'rank 3 on gamma has not answered' log || complain "no word about gamma: $(cat log)"
grep -q 'mpirun still waits for a host that does not answer' log || complain "launch does not say why it left: $(cat log)"
wait $far
code=$?
[ $code = 1 ] || complain "the coordinator cut off: exit $code $(tail -n 3 log-far)"
grep -q 'no word from the coordinator on gamma for 15 s: launch ends without it' log-far || complain "no word about a coordinator that is cut off: $(tail -n 3 log-far)"
! grep -q ' alive$' log log-far || complain "what is meant for launch was passed on: $(grep -m 1 ' alive$' log log-far)"
for _ in $(seq 300); do on gamma test -s far/model.safetensors && break; sleep 0.1; done
on gamma test -s far/model.safetensors || complain "the coordinator that was cut off did not go on: $(on gamma tail -n 2 far/metrics.jsonl)"
[ $failed -eq 0 ] && echo "hosts: all well"
