#!/usr/bin/env bash
# The library as programs outside of the tree see it: the six programs of examples/c compile with the header and the
# shared library alone, say what their pages promise, and the names that the library exports are those of the symbol file.
set -eu
program=$1 source=$2
. "$2/tests/cli.sh"
build=$(dirname "$program") library=$(dirname "$program")/libtessera.so
if grep -qE '^TESSERA_(SANITIZE|COVERAGE):STRING=.' "$build/CMakeCache.txt"; then
    skip "programs that link the library would need the same sanitizers"
fi
[ -e "$library" ] || skip "the shared library was not built"

# ---- The ABI: a name that goes breaks programs, one that comes must be meant. -----------------------------
nm -D --defined-only "$library" | awk '$3 ~ /^tsr_/ {print $3}' | sort >exported
grep -v '^#' "$source/tests/library.symbols" >listed
diff listed exported >difference || fail "tests/library.symbols is not what the library exports (tools/symbols writes it):
$(cat difference)"
grep -oE '^TSR_API [^;]*' "$source/include/tessera.h" | grep -oE '\btsr_[a-z0-9_]+\(' | tr -d '(' | sort -u >declared
diff declared exported >difference || fail "the header and the library differ: $(cat difference)"

# ---- The manual page speaks of functions that there are. ----------------------------------------------------
grep -oE 'tsr_[a-z_]+ ?\(' "$source/cmake/tessera.3" | tr -d ' (' | sort -u | while read -r name; do
    grep -qx "$name" exported || fail "the manual page has $name, which the library does not"
done
if command -v man >/dev/null; then
    man --warnings -E UTF-8 -l "$source/cmake/tessera.3" 2>warnings >/dev/null || true
    [ ! -s warnings ] || fail "the manual page: $(cat warnings)"
fi

# ---- Every function is called by a test in C. --------------------------------------------------------------
while read -r name; do
    grep -rqE "\b$name\(" "$source/tests/unit" "$source/tests/faults" || complain "no test calls $name"
done <exported

# ---- The header: C17 and C++, without warnings, and nothing else is needed. ------------------------------
for file in "$source"/examples/c/*.c; do
    name=$(basename "$file" .c)
    cc -std=c17 -Wall -Wextra -Werror -I"$source/include" -o "$name" "$file" -L"$build" -ltessera -Wl,-rpath,"$build" ||
        fail "$name does not compile"
done
printf '#include <tessera.h>\nint main() { tsr_result r = tsr_result_default(); return r.size == 0; }\n' >plus.cpp
if command -v c++ >/dev/null; then
    c++ -std=c++17 -Wall -Werror -I"$source/include" -o plus plus.cpp -L"$build" -ltessera -Wl,-rpath,"$build" || fail "C++"
    ./plus || fail "C++: a default is empty"
fi

# ---- What they say. --------------------------------------------------------------------------------------
run() { timeout 300 "./$1" "${@:2}" >said 2>complaint || fail "$1: $(cat said complaint)"; }
says() { grep -Eq "$2" said || fail "$1 said: $(cat said)"; }
run 1-arrays
says 1-arrays '^\(1, 2\) is inside, \(9, 9\) is outside$'
run 2-watch folder
says 2-watch 'good enough after .* epochs: stopped after round'
says 2-watch 'and at the end: accuracy'
[ -s folder/model.safetensors ] || fail "2-watch left no model"
run 3-parameters
says 3-parameters 'conv1.weight +8 3 3 3'
says 3-parameters 'fc.bias\[3\] = 1$'
run 4-shares
says 4-shares 'round 6: the whole network.s accuracy is 0\.[3-9]'
run 5-ticket
says 5-ticket 'its ticket: accuracy 0\.[4-9]'
run 6-theory
says 6-theory 'the paper: masked-neurons'
says 6-theory 'asked for at least'
echo "library: $(wc -l <exported) names, six programs"
