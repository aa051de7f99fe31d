#!/usr/bin/env bash
# `./run demo` builds the program alone, on a machine that may have no MPI yet; `./run test` then installs MPI and turns the
# tests on. No file that both builds have may be compiled otherwise for it, or everything would be compiled twice (it was:
# 378 files). Two configurations are compared by the commands that they would run; nothing is built.
set -eu
source=$2
. "$2/tests/cli.sh"
unset CMAKE_C_COMPILER_LAUNCHER
# commands NAME SETTING...: one line per file of src/, with the folder of the build taken out.
commands() {
    cmake -G Ninja -S "$source" -B "$1" -DCMAKE_BUILD_TYPE=Release -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "${@:2}" >"$1.log" 2>&1 ||
        { cat "$1.log"; fail "$1 is not configured"; }
    sed -n 's/^ *"command": //p' "$1/compile_commands.json" | grep -F " $source/src/" | grep -v ' -o tests/' | sort >"$1.txt" # a test may have its own main.c
}
commands build -DTESSERA_TESTS=OFF -DTESSERA_MPI=OFF && mv build.txt demo.txt
commands build -DTESSERA_TESTS=ON -DTESSERA_MPI=ON && mv build.txt test.txt # in the same folder, as ./run does
[ "$(wc -l <demo.txt)" -gt 300 ] || fail "only $(wc -l <demo.txt) commands were read"
comm -13 demo.txt test.txt >new.txt
sed 's/.* -c \([^"]*\)".*/ \1"/' demo.txt >built.txt # what the demo has compiled already
grep -Ff built.txt new.txt >again.txt || true
[ ! -s again.txt ] || fail "$(wc -l <again.txt) files would be compiled again for the tests, the first: $(head -n 1 again.txt)"
echo "configure: $(wc -l <test.txt) files, $(wc -l <new.txt) of them only there with MPI"
