# cli.sh - what the scripts of tests/cli share. After `program=$1`:
#
#     . "$2/tests/cli.sh"
#     fail WORDS...                      ends the test
#     refused CODE WORDS ARGUMENT...     the program, called so, ends with CODE and says WORDS
#
# The script goes on in a scratch folder that is removed at its end.
# shellcheck shell=bash
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "$(basename "$0" .sh): $*" >&2; exit 1; }

refused() {
    local code=$1 words=$2 got=0
    shift 2
    "$program" "$@" >out 2>err || got=$?
    [ "$got" = "$code" ] || fail "$*: exit $got, not $code: $(cat err)"
    grep -qF -- "$words" err || fail "$*: no '$words' in: $(cat err)"
}
