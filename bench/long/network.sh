# network.sh: to be sourced by root. Two network namespaces with a wire between them, and mpirun across it.
#
#   network_up MILLISECONDS MBIT MTU [KIND]  hosts tessa (10.77.0.1) and tessb (10.77.0.2), device tess0 in both; one way takes
#                                            MILLISECONDS. KIND tun (relay.c carries the packets) or veth (the kernel does, at once)
#   network_down
#   there a|b COMMAND...                     runs it on that host
#   across RANKS-A RANKS-B COMMAND...        mpirun over both: the first ranks, rank 0 among them, on tessa. LIMIT=seconds;
#                                            CORES="0,5 1 2 ...": rank 0 on cores 0 and 5 with two threads, rank 1 on 1 ...
#   counters                                 bytes and packets that tess0 of tessa has sent, bytes and packets it has received
#
# A host is a process that sleeps in namespaces of its own (network, host's name).
# shellcheck shell=bash disable=SC2154,SC2016 # work and source are the caller's
host_a='' host_b='' relay=''
network_up() {
    network_down
    unshare --net --uts sleep infinity & host_a=$!
    disown
    unshare --net --uts sleep infinity & host_b=$!
    disown
    for _ in $(seq 100); do
        [ "$(readlink /proc/$host_a/ns/net)" != "$(readlink /proc/self/ns/net)" ] && [ "$(readlink /proc/$host_b/ns/net)" != "$(readlink /proc/self/ns/net)" ] && break
        sleep 0.05
    done
    there a hostname tessa
    there b hostname tessb
    if [ "${4:-tun}" = veth ]; then veth "$3"; else tun "$1" "$2" "$3"; fi
    # mpirun takes namespaces for hosts: the agent that would be ssh enters one.
    printf '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nshift\nexec nsenter -t %s -n -u sh -c "$*"\n' $host_b >"$work/agent"
    cat >"$work/rank" <<'R'
#!/bin/sh
# rank N CORES-OF-0 ... CORES-OF-N-1 COMMAND...: on its cores alone, a thread on each
n=$1 mine=
shift
for i in $(seq 0 $((n - 1))); do
    [ "$i" != "$OMPI_COMM_WORLD_RANK" ] || mine=$1
    shift
done
[ -n "$mine" ] || exec "$@"
exec taskset -c "$mine" "$@" --set threads=$(echo "$mine" | tr , '\n' | wc -l)
R
    chmod +x "$work/agent" "$work/rank"
}

tun() {
    local program=${RELAY:-$work/relay}
    [ -x "$program" ] || cc -O2 -o "$program" "$source/bench/long/relay.c"
    ${RELAY_CORE:+taskset -c $RELAY_CORE} "$program" $host_a $host_b tess0 "$1" "$2" "$3" >"$work/relay.log" 2>&1 &
    relay=$!
    for _ in $(seq 100); do grep -qs ready "$work/relay.log" && return; sleep 0.05; done
    cat "$work/relay.log"
    exit 1
}

veth() {
    ip link add tess0 netns $host_a type veth peer name tess0 netns $host_b
    for host in a b; do
        there $host ip link set lo up
        there $host ip link set tess0 mtu "$1" up
    done
    there a ip addr add 10.77.0.1/30 dev tess0
    there b ip addr add 10.77.0.2/30 dev tess0
}

there() {
    local pid=$host_a
    [ "$1" = a ] || pid=$host_b
    shift
    nsenter -t "$pid" -n -u "$@"
}

# Whatever is left of a run that was cut off lives in one of the two namespaces, and nothing else does.
network_down() {
    local host space p
    if [ -n "$relay" ]; then
        kill "$relay" 2>/dev/null || true
        wait "$relay" 2>/dev/null || true
    fi
    for host in $host_a $host_b; do
        space=$(readlink "/proc/$host/ns/net") || continue
        [ "$space" != "$(readlink /proc/self/ns/net)" ] || continue
        for p in /proc/[0-9]*; do
            [ "$(readlink "$p/ns/net" 2>/dev/null)" != "$space" ] || kill -9 "${p#/proc/}" 2>/dev/null || true
        done
    done
    host_a='' host_b='' relay=''
}

across() {
    local a=$1 b=$2
    shift 2
    # shellcheck disable=SC2086
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
        there a timeout -k 5 "${LIMIT:-240}" mpirun --enable-recovery --bind-to none --mca plm rsh --mca plm_rsh_agent "$work/agent" --mca pml ob1 \
        --mca btl self,vader,tcp --mca btl_tcp_if_include tess0 --mca oob_tcp_if_include tess0 \
        --host "tessa:$a,10.77.0.2:$b" -n $((a + b)) --map-by slot "$work/rank" "$(echo ${CORES:-} | wc -w)" ${CORES:-} "$@"
}

counters() { there a awk '$1 == "tess0:" { print $10, $11, $2, $3 }' /proc/net/dev; }
