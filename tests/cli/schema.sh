#!/usr/bin/env bash
# A model knows what it was trained on: pairs of a training file and a new file that differ in order, names, words,
# types, units, encodings or missing parts. The answer is right, or a refusal says why; never a silent change.
set -eu
program=$1
. "$2/tests/cli.sh"
with_python numpy
python "$2/tests/python/schema_pairs.py" "$program" || fail "a pair was answered wrongly"
