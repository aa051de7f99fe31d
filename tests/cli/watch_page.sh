#!/usr/bin/env bash
# The live page in a browser (tests/watch/live_page.py): the list, a run's page that follows a run that goes on, its stop, its
# resumption, and a server that goes away and comes back.
set -eu
program=$1 source=$2
. "$source/tests/cli.sh"
with_browser
serving_run 100000
echo "eval: {every: 5}" >>run.yaml
python "$source/tests/watch/live_page.py" "$program" "$source" || fail "the live page"
