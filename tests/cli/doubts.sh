#!/usr/bin/env bash
# What can be read in one way only, but may be meant otherwise, is said: units of images and sequences, columns that never
# vary, names that nobody could compare, parts of a set that were left out.
set -eu
program=$1
. "$2/tests/cli.sh"
with_python numpy
python "$2/tests/python/schema_doubts.py" "$program" || fail "something was not said"
