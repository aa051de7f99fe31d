#!/usr/bin/env bash
# live.sh PROGRAM [MINUTES [PAIRS [SECONDS]]]: what the live page costs a run with four workers under mpirun.
#
# 1. live_cost.py: the rounds that one run makes while the page is served and read and while it is not, in PAIRS (default 100)
#    pairs of windows of SECONDS (default 2), with a 95 % interval (Student's).
# 2. live.py: MINUTES (default 10) beside a run that is stopped and resumed and a server that is restarted, with a page open in
#    Chromium, and the hostile requests of tests/watch/hostile.py meanwhile.
#
# On a quiet machine with the defaults: about 17 minutes. Exit 1 when a verdict is bad, 3 when the first is undecided.
set -eu
program=$(readlink -f "$1") minutes=${2:-10} pairs=${3:-100} seconds=${4:-2}
source=$(readlink -f "$(dirname "$0")/../..")
echo "machine: $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg); commit $(git -C "$source" rev-parse --short HEAD)"
code=0
python3 "$source/bench/long/live_cost.py" "$program" "$pairs" "$seconds" || code=$?
[ "$minutes" = 0 ] || python3 "$source/bench/long/live.py" "$program" "$minutes" || code=1
exit $code
