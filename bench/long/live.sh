#!/usr/bin/env bash
# live.sh PROGRAM [MINUTES [PAIRS [SECONDS]]]: what the live page costs a run with four workers under mpirun.
#
# 1. PAIRS (default 10) pairs of the same run, with and without `tessera watch --serve` and a reader who holds the stream open
#    and fetches the page every three seconds, as the page itself does. Which of the two is first alternates, so that a machine
#    that gets slower or faster takes nothing from either. Each run takes about SECONDS (default 20). Wall time, and processor
#    time of mpirun and all ranks. Verdict: the mean of the pairs' ratios with its 95 % interval (Student's).
# 2. live.py: MINUTES (default 10) beside a run that is stopped and resumed and a server that is restarted, with a page open in
#    Chromium, and the hostile requests of tests/watch/hostile.py meanwhile.
#
# On a quiet machine with the defaults: about 18 minutes. Exit 1 when a verdict is bad, 3 when the first is undecided.
set -eu
program=$(readlink -f "$1") minutes=${2:-10} pairs=${3:-10} seconds=${4:-20}
source=$(readlink -f "$(dirname "$0")/../..")
work=$(mktemp -d)
serve='' reader=''
finish() {
    for p in $reader $serve; do kill "$p" 2>/dev/null || :; done
    rm -rf "$work"
}
trap finish EXIT
cd "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
cat >run.yaml <<'Y'
seed: 1
data: {name: glyphs, n: 2000, test_n: 500}
model: {name: mlp, hidden: [256, 256]}
optim: {lr: 0.01, momentum: 0.9}
scheme: {name: ist, workers: 4, local_steps: 4}
batch: 50
threads: 1
eval: {every: 20}
Y

# run FOLDER ROUNDS: prints wall and processor seconds
run() {
    local TIMEFORMAT='%R %U %S'
    { time mpirun -n 5 "$program" train run.yaml --out "$1" --quiet --set rounds="$2" >/dev/null 2>said; } 2>&1 ||
        { cat said >&2; exit 1; }
}

wait_for() { for _ in $(seq 500); do [ -s "$1" ] && return || sleep 0.02; done; echo "nothing in $1" >&2; exit 1; }

watched() {
    "$program" watch runs --serve >address 2>/dev/null &
    serve=$!
    wait_for address
    python3 - "$(sed 's/^watch *//' address)" "$1" <<'P' &
import sys, time, urllib.request
base, run = sys.argv[1:]
stream = urllib.request.urlopen(base + "events")
last = 0.0
for line in stream:                      # a line each time that something is new
    if time.time() - last > 3:
        last = time.time()
        try:
            urllib.request.urlopen("%srun/%s/" % (base, run)).read()
        except OSError:
            pass                         # it has not begun yet
P
    reader=$!
}

unwatched() {
    kill "$reader" "$serve" 2>/dev/null || :
    wait "$reader" "$serve" 2>/dev/null || :
    reader='' serve=''
    rm -f address
}

mkdir -p runs
read -r wall user system <<<"$(run runs/first 400)"
[ -n "$wall" ] || exit 1
rounds=$(awk -v w="$wall" -v s="$seconds" 'BEGIN { print int(400 * s / w / 20) * 20 + 20 }')
echo "machine: $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg); commit $(git -C "$source" rev-parse --short HEAD); $rounds rounds a run"
echo "pair with wall processor" >told
for i in $(seq "$pairs"); do
    order='no yes'
    [ $((i % 2)) = 0 ] || order='yes no'
    for with in $order; do
        rm -rf runs/pair
        [ $with = no ] || watched pair
        read -r wall user system <<<"$(run runs/pair "$rounds")"
        [ -n "$wall" ] || exit 1
        [ $with = no ] || unwatched
        echo "$i $with $wall $(awk -v a="$user" -v b="$system" 'BEGIN { print a + b }')" | tee -a told
    done
done

code=0
python3 - told <<'P' || code=$?
import math, statistics, sys
rows = [line.split() for line in open(sys.argv[1])][1:]
T = [0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086]
verdict = 0
for name, column in (("wall time", 2), ("processor time", 3)):
    value = {(r[0], r[1]): float(r[column]) for r in rows}
    ratio = [100 * (value[k, "yes"] / value[k, "no"] - 1) for k, with_ in value if with_ == "no"]
    n = len(ratio)
    mean = sum(ratio) / n
    half = T[min(n - 1, 20)] * math.sqrt(sum((x - mean) ** 2 for x in ratio) / (n - 1) / n) if n > 1 else math.inf
    good = "within 1 %" if mean + half <= 1 else "above 1 %" if mean - half > 1 else "undecided"
    if column == 2:
        verdict = {"within 1 %": 0, "above 1 %": 1, "undecided": 3}[good]
    print("%s: %+.2f %% with the live page (95 %%: %+.2f to %+.2f, median %+.2f): %s" %
          (name, mean, mean - half, mean + half, statistics.median(ratio), good))
sys.exit(verdict)
P
[ "$minutes" = 0 ] || python3 "$source/bench/long/live.py" "$program" "$minutes" || code=1
exit $code
