# cli.sh - what the scripts of tests/cli share. After `program=$1`:
#
#     . "$2/tests/cli.sh"
#     fail WORDS...                      ends the test
#     complain WORDS...                  the test goes on, and fails at its end
#     skip WORDS...                      ends the test as skipped: why, and what would be needed
#     python ARGUMENT...                 Debian's own, the one that can have PyTorch
#     with_python MODULE...              goes on only where it has these
#     refused CODE WORDS ARGUMENT...     the program, called so, ends with CODE and says WORDS (on standard error)
#     model_hash FOLDER                  the SHA-256 of a run's model
#     timeless FOLDER                    a run's lines of metrics without their times
#     field JSON KEY                     the number behind "KEY": in a line
#     with_browser                       goes on only where Chromium is
#     serving_run EPOCHS                 goes on only where pages can be served: makes runs/ and run.yaml for it
#     certified_run [LINE...]            prints the run file of masked neurons whose theorem is measured, with more lines
#     $real_data                         the folder of real data sets, which may not be there
#
# The script goes on in a scratch folder that is removed at its end; `at_end` may be defined for more.
# shellcheck shell=bash
failed=0
real_data=$(readlink -m "${TESSERA_DATA:-$2/../shared/data}")
scratch=$(mktemp -d)
cd "$scratch" || exit 1

at_end() { :; }
end_test() {
    local code=$?
    [ "$BASHPID" = $$ ] || return # a subshell that was ended before it forgot the trap
    at_end
    cd / && rm -rf "$scratch"
    [ $failed -eq 0 ] || exit 1 # also when the rest was skipped
    exit $code
}
trap end_test EXIT

fail() { echo "$(basename "$0" .sh): $*" >&2; exit 1; }
complain() { echo "$(basename "$0" .sh): FAILED: $*" >&2; failed=1; }
skip() { echo "skipped: $*"; exit 77; }

python() { /usr/bin/python3 "$@"; }
with_python() {
    local module
    for module; do python -c "import $module" 2>/dev/null || skip "/usr/bin/python3 has no $module here"; done
}

with_browser() {
    command -v chromium chromium-browser google-chrome >/dev/null ||
        skip "it is not tried in a browser: install chromium (Debian's; 410 MB)"
}

serving_run() {
    mkdir -p runs
    if "$program" watch runs --serve --token-file no/such/folder 2>&1 | grep -q 'built without libmicrohttpd'; then
        skip "this build cannot serve pages: install libmicrohttpd-dev"
    fi
    cat >run.yaml <<Y
data: {name: glyphs, n: 400, test_n: 100}
model: {hidden: [32, 32]}
optim: {lr: 0.01}
scheme: {name: ist, workers: 2, local_steps: 2}
epochs: $1
batch: 20
threads: 1
Y
}

certified_run() {
    cat <<'Y'
seed: 3
model: {name: shallow, width: 150, kappa: 0.5}
loss: half_squares
optim: {name: gd, lr: 0.2, momentum: 0}
scheme: {name: masked, workers: 2, local_steps: 2, xi: 0.6}
Y
    printf '%s\n' "$@"
}

refused() {
    local code=$1 words=$2 got=0
    shift 2
    "$program" "$@" >out 2>err </dev/null || got=$?
    [ "$got" = "$code" ] && grep -qF -- "$words" err || complain "$*: exit $got, expected $code with '$words'; it said: $(head -c 600 err)"
}

model_hash() { sha256sum <"$1/model.safetensors" || echo "no model in $1"; } # so that two that are missing are not equal
timeless() { sed -E 's/,"seconds":[^}]*//' "$1/metrics.jsonl"; }
field() { sed -E "s/.*\"$2\":([^,}]*).*/\1/" <<<"$1"; }

# points.csv: 400 points of the unit square, those above its diagonal in, the others out.
make_points() {
    python - <<'P'
import random
random.seed(1)
with open("points.csv", "w") as f:
    f.write("a,b,y\n")
    for _ in range(400):
        a, b = random.random(), random.random()
        f.write(f"{a:.6f},{b:.6f},{'in' if a + b > 1 else 'out'}\n")
P
}
