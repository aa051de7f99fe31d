#!/usr/bin/env bash
# Studies that are ended while they work. SIGTERM: cells that are nowhere saved before they are done hear it, too, exit 130, and
# say what to do next. kill -9 at every rename: the same command makes the same cells, and leaves no temporary file.
set -u
program=$1
. "$2/tests/cli.sh"

# stops STUDY BEGUN ARGUMENT...: said BEGUN, the study works for hours; it ends within LIMIT after SIGTERM.
LIMIT=60 # seconds: a step takes milliseconds here, and the machine may be busy with others
stops() {
    local study=$1 begun=$2 folder=stop-${1//\//-} pid code=0
    shift 2
    "$program" reproduce "$study" --seeds 1 --threads 1 --out "$folder" "$@" >out 2>err &
    pid=$!
    while kill -0 $pid 2>/dev/null && ! grep -q " $begun\$" err; do sleep 0.1; done
    sleep 0.3
    kill -TERM $pid 2>/dev/null || { complain "$study was over: $(tail -n 3 err)" && return; }
    for _ in $(seq $((10 * LIMIT))); do kill -0 $pid 2>/dev/null || break; sleep 0.1; done
    if kill -KILL $pid 2>/dev/null; then
        complain "$study does not hear SIGTERM"
    fi
    wait $pid || code=$?
    [ $code = 130 ] && grep -q "stopped; what is done is in $folder: give the same command again to go on" err ||
        complain "$study: exit $code after SIGTERM: $(tail -n 3 err)"
    [ -z "$(ls "$folder/cells" 2>/dev/null)" ] || complain "$study: a cell of a half: $(ls "$folder/cells")"
}
cells() { local study=$1 cell=$2 && shift 2 && stops "$study" "$cell" --paper --cells "$cell" "$@"; }
images="--set data.name=glyphs --set data.channels=3 --set data.n=1000 --set data.test_n=32 --set data.limit=0 --set data.test_limit=0"
table="--set data.name=ackley --set data.n=2000 --set data.test_n=8 --set data.limit=0 --set data.split=0.2"
endless="--set rounds=100000000"
# shellcheck disable=SC2086
{
    cells deeprelu/width n125-d20-L2-seed1 --set model.width=8 --set data.n=400 $endless
    cells rnn/convergence n4-m2048-d20-seed1 --set model.width=64 --set rounds=10000000
    cells rnn/length relu-m2048-seed1 --set model.width=6000
    cells grelu/fig2b gradients-grelu-batch-241600-seed1 $table --set model.width=100 --set batch=16 --set epochs=100000
    cells grelu/table2 kernel-depth-6-width-10000-grelu $images --set model.width=1500
    cells deeprelu/losses logistic-sgd-m1024-seed1 --set model.width=64 --set data.n=60 --set batch=10 $endless # a run: it is saved
    stops loft/theorem1 "16 filters" --set rounds=10000000
}

strace -o /dev/null true 2>/dev/null || { echo "strace is not here, or may not trace: the kills were skipped" && exit; }
# made FOLDER: its cells without what was measured with a clock
made() {
    python - "$1" <<'P'
import glob, json, sys
for path in sorted(glob.glob(sys.argv[1] + "/cells/*")):
    cell = json.load(open(path))
    del cell["measured"]["seconds"]
    cell.get("series", {}).pop("metrics.seconds", None)
    print(path.rsplit("/", 1)[1], json.dumps(cell, sort_keys=True))
P
}
# killed STUDY CELL ARGUMENT...
killed() {
    local study=$1 folder=${1//\//-} n=0 want
    local call=("$program" reproduce "$study" --paper --cells "$2" --seeds 1 --threads 1 --quiet "${@:3}" --out)
    "${call[@]}" "whole-$folder" >out 2>err || complain "$study: $(cat err)"
    want=$(made "whole-$folder")
    [ -n "$want" ] || complain "$study has no cell"
    while :; do
        n=$((n + 1))
        rm -rf cut
        { strace -f -qq -o trace -e trace=rename -e "inject=rename:signal=KILL:when=$n" "${call[@]}" cut >out 2>err; } 2>/dev/null
        grep -q 'killed by SIGKILL' trace || break
        made cut >/dev/null || complain "$study, killed at rename $n: half a cell"
        "${call[@]}" cut >out 2>err || complain "$study, killed at rename $n, again: $(cat err)"
        [ "$(made cut)" = "$want" ] || complain "$study, killed at rename $n: another cell"
        [ -z "$(find cut -name '.tessera-*.tmp')" ] || complain "$study, killed at rename $n: $(find cut -name '.tessera-*.tmp') is left"
    done
    [ $n -gt 4 ] || complain "$study was killed $((n - 1)) times only"
}
killed rnn/length relu-m2048-seed1 --set model.width=12
killed rnn/memorise sgd-seed1 --set model.width=16 --set epochs=10 --set data.length=5
[ $failed -ne 0 ] || echo "reproduce-stops: ok"
