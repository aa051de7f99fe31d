#!/usr/bin/env bash
# The live page in a browser (tests/watch/live_page.py): the list, a run's page that follows a run that goes on, its stop, its
# resumption, and a server that goes away and comes back.
set -eu
program=$1 source=$2
. "$source/tests/cli.sh"
command -v chromium chromium-browser google-chrome >/dev/null || skip "the live page is not tried in a browser: install chromium"
mkdir -p runs
if "$program" watch runs --serve --token-file no/such/folder 2>&1 | grep -q 'built without libmicrohttpd'; then
    skip "this build cannot serve pages: install libmicrohttpd-dev"
fi
cat >run.yaml <<'Y'
data: {name: glyphs, n: 400, test_n: 100}
model: {hidden: [32, 32]}
optim: {lr: 0.01}
scheme: {name: ist, workers: 2, local_steps: 2}
epochs: 100000
batch: 20
eval: {every: 5}
threads: 1
Y
python "$source/tests/watch/live_page.py" "$program" "$source" || fail "the live page"
