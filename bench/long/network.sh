# network.sh: to be sourced by root. Two network namespaces with a wire between them (relay.c), and mpirun across it.
#
#   network_up MILLISECONDS MBIT MTU    tessa (10.77.0.1) and tessb (10.77.0.2), device tess0 in both; one way takes MILLISECONDS
#   network_down
#   across RANKS-A RANKS-B COMMAND...   mpirun over both: the first ranks, rank 0 among them, in tessa
#   counters                            bytes that tess0 of tessa has sent and received
# shellcheck shell=bash disable=SC2154 # work and source are the caller's
network_up() {
    local ns me=1
    network_down
    cc -O2 -o "$work/relay" "$source/bench/long/relay.c"
    for ns in tessa tessb; do ip netns add $ns && ip netns exec $ns ip link set lo up; done
    "$work/relay" tessa tessb tess0 "$1" >"$work/relay.log" 2>&1 &
    relay=$!
    for _ in $(seq 100); do grep -q ready "$work/relay.log" && break; sleep 0.05; done
    for ns in tessa tessb; do
        ip netns exec $ns ip link set tess0 mtu "$3" txqueuelen 2000
        ip netns exec $ns ip addr add 10.77.0.$me/30 dev tess0
        ip netns exec $ns ip link set tess0 up
        [ "$2" = 0 ] || ip netns exec $ns tc qdisc add dev tess0 root tbf rate "$2"mbit burst 64kb latency 400ms
        me=2
    done
    # mpirun takes namespaces for hosts: the agent that would be ssh enters one, under a host's name of its own.
    cat >"$work/agent" <<'EOT'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
shift
exec ip netns exec tessb unshare --uts sh -c "hostname tessb; $*"
EOT
    chmod +x "$work/agent"
}

network_down() {
    [ -z "${relay:-}" ] || kill "$relay" 2>/dev/null
    relay=
    for ns in tessa tessb; do
        for pid in $(ip netns pids $ns 2>/dev/null); do kill -9 "$pid" 2>/dev/null || true; done # ranks of a run that was cut off
        ip netns del $ns 2>/dev/null || true
    done
}

across() {
    local a=$1 b=$2
    shift 2
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
        ip netns exec tessa unshare --uts sh -c 'hostname tessa; exec "$@"' sh \
        timeout -k 5 "${LIMIT:-240}" mpirun --enable-recovery --mca plm rsh --mca plm_rsh_agent "$work/agent" --mca pml ob1 \
        --mca btl self,vader,tcp --mca btl_tcp_if_include tess0 --mca oob_tcp_if_include tess0 \
        --host "tessa:$a,10.77.0.2:$b" -n $((a + b)) --map-by slot "$@"
}

counters() { ip netns exec tessa cat /sys/class/net/tess0/statistics/tx_bytes /sys/class/net/tess0/statistics/rx_bytes | xargs; }
