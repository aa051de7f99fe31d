#!/usr/bin/env bash
# certify.sh PROGRAM SOURCE: what certify: {every: 1} adds to a run of model shallow, n = 2000 samples of 100 inputs, m = 8192 units,
# ROUNDS (1000) rounds: of dense, and of masked with 4 shares of half the units. Runs with and without certificates take turns,
# REPEATS (3) times. Printed are seconds of the processor (user and system), which others on the machine do not stretch, and of the
# clock, the least and the median of the repeats, and the part that certificates add.
set -eu
program=$1 source=$2 rounds=${ROUNDS:-1000} repeats=${REPEATS:-3} threads=${THREADS:-2} schemes=${SCHEMES:-dense masked}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/run.yaml" <<YAML
seed: 1
threads: $threads
data: {name: ackley, n: 2000, test_n: 10, dim: 100}
model: {name: shallow, width: 8192, kappa: 0.1}
loss: half_squares
optim: {name: gd, lr: 1.0e-3}
rounds: $rounds
eval: {every: 0}
checkpoint: {every: 0}
YAML
settings() {
    case $1 in dense) echo "--set scheme.name=dense" ;; masked) echo "--set scheme.name=masked --set scheme.workers=4 --set scheme.xi=0.5" ;; esac
}
echo "n 2000, d 100, m 8192, $rounds rounds, $threads threads; $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs); commit $(git -C "$source" rev-parse --short HEAD)"
for _ in $(seq "$repeats"); do
    for scheme in $schemes; do
        for every in 0 1; do
            rm -rf "$work/out"
            # shellcheck disable=SC2046
            /usr/bin/time -a -o "$work/times" -f "$scheme $every %U %S %e" \
                "$program" train "$work/run.yaml" --out "$work/out" --quiet $(settings "$scheme") --set "certify.every=$every" > /dev/null
        done
    done
done
/usr/bin/python3 - "$work/times" <<'PYTHON'
import statistics
import sys

times = {}
for line in open(sys.argv[1]):
    scheme, every, user, system, wall = line.split()
    times.setdefault(scheme, {}).setdefault(every, []).append((float(user) + float(system), float(wall)))
print("scheme   seconds    without: min  median   with: min  median   added: of min  of medians")
for scheme, both in times.items():
    for k, name in enumerate(("processor", "clock")):
        least, middle = ([f(run[k] for run in both[e]) for e in "01"] for f in (min, statistics.median))
        print(f"{scheme:7}  {name:9} {least[0]:13.1f} {middle[0]:7.1f} {least[1]:11.1f} {middle[1]:7.1f}"
              f" {least[1] / least[0] - 1:15.1%} {middle[1] / middle[0] - 1:11.1%}")
PYTHON
