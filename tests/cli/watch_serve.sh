#!/usr/bin/env bash
# tessera watch --serve: the live page's addresses, its stream, and some 200 hostile requests (tests/watch/hostile.py) beside a run
# that trains meanwhile and must not notice.
set -eu
program=$1 source=$2
. "$source/tests/cli.sh"
pids=()
at_end() { for p in "${pids[@]}"; do kill "$p" 2>/dev/null || :; done; }

serving_run 2000
"$program" train run.yaml --out unseen --quiet >/dev/null
"$program" train run.yaml --out runs/secret-run --quiet --set epochs=3 >/dev/null
"$program" watch runs --serve --token-file token -n 0.2 >said 2>serve_err &
serve=$!
pids+=("$serve")
for _ in $(seq 500); do [ -s said ] && break || sleep 0.02; done
address=$(sed 's/^watch *//' said)
[ "$(stat -c %a token)" = 600 ] || complain "others may read the token"

"$program" train run.yaml --out runs/seen --quiet >/dev/null &
train=$!
pids+=("$train")
python "$source/tests/watch/hostile.py" "$address" "$serve" "$PWD/runs" || complain "hostile requests"
wait $train || complain "the run was disturbed"
[ "$(model_hash unseen)" = "$(model_hash runs/seen)" ] || complain "the run was disturbed: it has other bits"

# Only 127.0.0.1 is listened on; a port that is taken is refused; the token is kept for the next time.
port=$(sed -E 's|.*:([0-9]+)/.*|\1|' <<<"$address")
if command -v ss >/dev/null; then
    [ "$(ss -Hltn "sport = :$port" | awk '{print $4}')" = "127.0.0.1:$port" ] || complain "it listens on $(ss -Hltn "sport = :$port")"
fi
refused 4 "cannot listen on 127.0.0.1:$port" watch runs --serve --port "$port"
kill -TERM $serve
wait $serve || complain "it ended with $?: $(cat serve_err)"
[ ! -s serve_err ] || complain "it said: $(cat serve_err)"
"$program" watch runs --serve --token-file token --port "$port" >said2 2>err &
pids+=($!)
for _ in $(seq 500); do [ -s said2 ] && break || sleep 0.02; done
cmp said said2 || complain "another address after a restart"
python - "$address" <<'P'
import sys, urllib.request
assert b"live.js" in urllib.request.urlopen(sys.argv[1], timeout=20).read()
P
chmod 644 token
refused 2 "others may read this token" watch runs --serve --token-file token
