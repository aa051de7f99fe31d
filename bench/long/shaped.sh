#!/usr/bin/env bash
# shaped.sh PROGRAM SOURCE [wire|bytes|race ...]: runs across two network namespaces, over TCP, as root (network.sh, relay.c).
#
#   wire   what the wire between them does: round trip, bulk rate
#   bytes  the interface's own counters beside what the run counted and what `tessera cost` says, coordinator here, workers there
#   race   time to the same accuracy at 100 Mbit/s and 20 ms there and back: LoFT, local SGD and GPipe with four workers, two on each
#          side, the same net and data: a table, and in $OUT metrics (race-*.jsonl) and pictures (race.svg, .csv, .png)
#
# NET=.. (width) LIMIT=.. (seconds of a run) GOAL=.. (accuracy at which a run may end) LR=.. change the race; LARGE=1 adds GPipe with
# four times the batch; CORES=.. RELAY_CORE=.. give ranks and wire cores of their own (network.sh). pack.sh carries it elsewhere.
set -eu
program=$(readlink -f "$1") source=$2
shift 2
[ "$(id -u)" = 0 ] || { echo "namespaces need root"; exit 77; }
work=$(mktemp -d) out=${OUT:-.}
trap 'network_down; rm -rf "$work"' EXIT
# shellcheck source=bench/long/network.sh
. "$(dirname "$0")/network.sh"
[ $# -gt 0 ] || set -- wire bytes race

field() { sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p" "$2" | tail -n 1 | grep . || echo 0; }

wire() {
    network_up 10 100 1500
    there b "${PYTHON:-/usr/bin/python3}" - <<'P' &
import socket
s = socket.create_server(("10.77.0.2", 7700))
c, _ = s.accept()
for _ in range(20):
    c.sendall(c.recv(1))
n = 0
while n < 20_000_000:
    n += len(c.recv(1 << 16))
c.sendall(b"!")
P
    sleep 1
    there a "${PYTHON:-/usr/bin/python3}" - <<'P'
import socket, time
c = socket.create_connection(("10.77.0.2", 7700))
c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
trips = []
for _ in range(20):
    t = time.time(); c.sendall(b"x"); c.recv(1); trips.append(time.time() - t)
t = time.time(); c.sendall(bytes(20_000_000)); c.recv(1); took = time.time() - t
print(f"wire: round trip {1e3 * min(trips):.1f} ms least, {1e3 * sorted(trips)[10]:.1f} median; 20 MB in {took:.2f} s: {160 / took:.1f} Mbit/s")
P
    wait $! || true
}

net=${NET:-16}
cat >"$work/run.yaml" <<Y
seed: 1
data: {name: fashion-mnist, limit: 6000, test_limit: 1000}
model: {name: preresnet18, width: $net}
optim: {lr: ${LR:-0.05}, momentum: 0.9}
scheme: {name: loft, workers: 4, local_steps: 25}
batch: 32
threads: 1
checkpoint: {every: 0}
cluster: {deadline: 600} # a busy machine must not look like a dead worker
Y

# count KIND SCHEME MTU RANKS-A RANKS-B more...: the counters of one short run beside what it counted
count() {
    local kind=$1 scheme=$2 mtu=$3 a=$4 b=$5 before after cost
    shift 5
    network_up 0 0 "$mtu" "$kind"
    rm -rf "$work/out"
    "$program" cost "$work/run.yaml" --json --set scheme.name="$scheme" "$@" >"$work/cost"
    cost=$(($(field bytes_total "$work/cost") + $(field bytes_collected "$work/cost")))
    read -r -a before < <(counters)
    across "$a" "$b" "$program" train "$work/run.yaml" --out "$work/out" --quiet --json --set scheme.name="$scheme" "$@" >"$work/result" 2>"$work/log" ||
        { cat "$work/log"; exit 1; }
    read -r -a after < <(counters)
    network_down
    awk -v k="$kind" -v s="$scheme" -v mtu="$mtu" -v n="$(($(field bytes_total "$work/result") + $(field bytes_collected "$work/result")))" -v c="$cost" \
        -v tx=$((after[0] - before[0])) -v rx=$((after[2] - before[2])) -v p=$((after[1] - before[1] + after[3] - before[3])) 'BEGIN {
        printf "%-4s %-9s mtu %4d  counted %11d  cost %11d  sent %10d (%+5.2f %%)  received %10d (%+5.2f %%)  both %+5.2f %%  %d bytes a packet\n",
            k, s, mtu, n, c, tx, (2 * tx / n - 1) * 100, rx, (2 * rx / n - 1) * 100, ((tx + rx) / n - 1) * 100, (tx + rx) / p }'
}

# veth counts segments as the kernel hands them over (up to 64 kB with one head), tun every packet of the wire with its head of TCP
# and IP. GPipe's cut lies behind the first blocks, so that nearly all numbers that are collected are those of the far stage.
bytes() {
    local kind scheme quick=(--set data.limit=1000 --set data.test_limit=100 --set eval.every=0 --set model.width=16)
    local piped=(--set scheme.local_steps=1 --set scheme.workers=2 --set scheme.cuts=layer1.1 --set rounds=30 --set batch=64)
    echo "bytes: counted by the run, both ways (gpipe: numbers that are collected, too); sent and received by the interface, beside half of that"
    for kind in veth tun; do
        for scheme in loft local_sgd; do
            count $kind $scheme 1500 1 4 "${quick[@]}" --set batch=4 --set scheme.local_steps=1 --set rounds=4
        done
        count $kind gpipe 1500 2 1 "${quick[@]}" "${piped[@]}"
    done
    count tun loft 9000 1 4 "${quick[@]}" --set batch=4 --set scheme.local_steps=1 --set rounds=4
    count tun gpipe 9000 2 1 "${quick[@]}" "${piped[@]}"
}

# raced NAME more...: one run of the race, cut off at the limit or when it has got as far as anyone asks
raced() {
    local name=$1 folder=$work/$1 runner
    shift
    network_up 10 100 1500
    rm -rf "${folder:?}"
    across 3 2 "$program" train "$work/run.yaml" --out "$folder" --quiet --json --set checkpoint.every=0 "$@" >"$work/result" 2>"$work/log" &
    runner=$!
    while kill -0 $runner 2>/dev/null; do
        sleep 0.5
        awk -F'"test_accuracy":' -v goal="${GOAL:-0.87}" 'NF > 1 && $2 + 0 >= goal { exit 3 }' "$folder/metrics.jsonl" 2>/dev/null || [ $? != 3 ] || network_down
    done
    wait $runner || true
    network_down
    tail -n 1 "$work/relay.log"
    [ -f "$folder/metrics.jsonl" ] || { cat "$work/log"; exit 1; }
    cp "$folder/metrics.jsonl" "$out/race-$name.jsonl"
    finished+=("$folder")
}

# Each scheme looks at the test set as often as the others see samples of one worker: every 25 steps.
race() {
    local often=(--set eval.every=0.1337 --set rounds=400) piped=(--set scheme.local_steps=1 --set eval.every=0.1337 --set rounds=10000)
    LIMIT=${LIMIT:-60} finished=()
    raced loft "${often[@]}" --set scheme.name=loft
    raced local_sgd "${often[@]}" --set scheme.name=local_sgd
    raced gpipe "${piped[@]}" --set scheme.name=gpipe
    [ -z "${LARGE:-}" ] || LIMIT=$((LIMIT * 2 / 3)) raced gpipe-large "${piped[@]}" --set scheme.name=gpipe --set batch=128 --set eval.every=0.53
    "$program" report "${finished[@]}" --out "$work/race.html" --picture "$out/race"
}

for part; do "$part"; done
