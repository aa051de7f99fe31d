#!/usr/bin/env bash
# What the pages show works as written: their C programs are compiled with warnings as errors and run, in the order of the
# pages, from a folder with a run file; their commands name only options that the program has.
set -eu
program=$1 source=$2
. "$2/tests/cli.sh"
build=$(dirname "$program")
"$program" help --json >help.json
python "$source/tests/python/snippets.py" "$source" commands help.json
# ... and the check sees what is wrong.
mkdir -p wrong/docs && cp "$source/run" wrong/
cp "$source/CONTRIBUTING.md" wrong/
for line in 'tessera train run.yaml --outt runs/a' 'tessera trian run.yaml' './run dance' 'mpirun -n 2 tessera train run.yaml --resum'; do
    { cat "$source/README.md"; printf '```\n%s\n```\n' "$line"; } >wrong/README.md
    cp "$source"/docs/*.md wrong/docs/
    ! python "$source/tests/python/snippets.py" "$PWD/wrong" commands help.json >out 2>&1 || fail "not noticed: $line"
    grep -q "README.md:[0-9]*: " out || fail "$line: $(tail -n 1 out)"
done

mkdir programs
python "$source/tests/python/snippets.py" "$source" c programs
printf 'data: {name: glyphs, n: 100, test_n: 50}\nmodel: {hidden: [16, 12]}\nepochs: 1\nbatch: 20\nthreads: 1\n' >run.yaml
"$program" train run.yaml --out runs/a --quiet >/dev/null # the pages speak of it
plain=no
! grep -q '^TESSERA_SANITIZE:STRING=$' "$build/CMakeCache.txt" || plain=yes
for file in programs/*.c; do
    cc -std=c17 -Wall -Wextra -Wpedantic -Werror -I "$source/include" -c -o program.o "$file" || fail "$file is not compiled"
    [ $plain = yes ] || continue # a library with sanitizers in it is not linked to a plain program
    cc -o program program.o -L "$build" -Wl,-rpath,"$build" -ltessera
    ./program >out || fail "$file: $(cat out)"
    grep -qE "^loss |width 1e[0-9]" out || fail "$file said: $(cat out)"
done
[ $plain = no ] || [ -f runs/tuned/model.safetensors ] || fail "no program trained what its page says"
echo "snippets: $(find programs -name '*.c' | wc -l) C programs of the pages compiled and run"
