#!/usr/bin/env bash
# extending.sh PROGRAM SOURCE: docs/extending.md followed literally in a copy of the tree. Its code is taken from the page,
# built with warnings as errors and without optimisation (all of it at once: the sections do not know each other), and its
# commands are run; then what they made is looked at.
set -eu
program=$1 source=$2
. "$2/tests/cli.sh"
build=$(dirname "$program")
cache() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }

mkdir tree work
tar -C "$source" -cf - --exclude=./.git --exclude=./build --exclude=./runs --exclude=./tests/fuzz/corpus . | tar -C tree -xf -
python "$source/tests/python/extending.py" "$source/docs/extending.md" tree work || fail "the page does not fit the tree"

mapfile -t tests < <(sed -n 's#^\./run test #test_#p' work/commands)
[ ${#tests[@]} -ge 2 ] || fail "the page runs no unit tests"
cmake -G Ninja -S tree -B made -DCMAKE_C_COMPILER="$(cache CMAKE_C_COMPILER)" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=-g0 \
    -DTESSERA_TESTS=ON -DTESSERA_WERROR=ON >log 2>&1 || fail "cmake: $(tail -5 log)"
cmake --build made -j2 --target tessera_program test_tables "${tests[@]}" >log 2>&1 || fail "the page's code is not built: $(grep -m5 -E 'error|FAILED' log)"

# A GPU's module goes on without the new loss.
! command -v c++ >/dev/null ||
    c++ -fsyntax-only -std=c++17 -x c++ -I tree/tests/cuda -I tree/include -I tree/src tree/src/backend/cuda/loss.cu || complain "the module for GPUs is not built"

# tools/rooms and the tables find nothing wrong with what the page adds.
(cd tree && tools/rooms) >log || complain "$(cat log)"
made/tests/test_tables >log 2>&1 || complain "test_tables: $(cat log)"

cd work
while IFS= read -r line; do
    read -ra words <<<"$line"
    case $line in
    './run test '*) (cd ../tree && "../made/tests/test_${words[2]}") >"${words[2]}.log" 2>&1 || complain "$line: $(tail -5 "${words[2]}.log")" ;;
    'tessera '*) ../made/tessera "${words[@]:1}" >out 2>err || complain "$line: $(cat err)" ;;
    *) complain "what is this: $line" ;;
    esac
done <commands
[ $failed -eq 0 ] || exit 1

grep -q '^log_cosh$' losses.log || fail "the loss was not compared with differences: $(cat losses.log)"
grep -q '^2 pointwise kinds' pointwise.log || fail "the layer was not compared with differences: $(cat pointwise.log)"
python - <<'P' || fail "what the page's commands made is not right"
import json
def lines(folder):
    return [json.loads(line) for line in open(f"runs/{folder}/metrics.jsonl")]
def header(path):
    raw = open(path, "rb").read()
    n = int.from_bytes(raw[:8], "little")
    return json.loads(raw[8 : 8 + n]), raw[8 + n :]
losses = [l["loss"] for l in lines("loss") if "loss" in l]
assert losses[-1] < 0.5 * losses[0], losses  # the new loss falls
whole, small = (header(f)[0] for f in ("runs/model/model.safetensors", "small.safetensors"))
assert whole["layers.2.weight"]["shape"] == [16, 32] and small["layers.2.weight"]["shape"] == [8, 16], (whole, small)
assert lines("scheme")[-1]["bytes_total"] > 0, lines("scheme")
rows = [row for l in lines("certificate") for row in l.get("rows", [])]
assert rows and all(row["where"] == "Lemma" and row["verdict"] == "holds" for row in rows), rows
assert any(row["measured"] > 0 for row in rows), rows
assert header("runs/shelf/model.safetensors")[1] == header("runs/ref/model.safetensors")[1], "the device has bits of its own"
P
echo "extending: the page was followed, its code built and run"
