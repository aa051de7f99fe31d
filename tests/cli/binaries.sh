#!/usr/bin/env bash
# What we build loads libraries from absolute folders only (an empty element of RUNPATH is the current folder: the build
# tree's program once ran code from there), resolves its symbols at the start, and has those tables read-only then.
set -eu
program=$1
. "$2/tests/cli.sh"
command -v readelf >/dev/null || skip "there is no readelf here (Debian: binutils)"
build=$(dirname "$program")
checked=0
while IFS= read -r -d '' file; do
    head -c 4 "$file" | grep -q ELF || continue
    readelf -d "$file" >dynamic 2>/dev/null || continue
    grep -q NEEDED dynamic || continue
    checked=$((checked + 1))
    path=$(sed -nE 's/.*R(UN)?PATH.*\[(.*)\]/\2/p' dynamic)
    [ -z "$path" ] || ! grep -qE '(^|:)([^/]|$)' <<<"$path" || complain "$file: RUNPATH has an empty or relative element: $path"
    grep -q BIND_NOW dynamic || grep -qE 'FLAGS_1.*NOW' dynamic || complain "$file: symbols are bound late"
    readelf -lW "$file" | grep -q GNU_RELRO || complain "$file: no read-only relocations"
done < <(find "$build" -maxdepth 2 -type f \( -perm -u+x -o -name '*.so*' \) -print0)
[ "$checked" -ge 2 ] || fail "only $checked binaries were found in $build"
echo "$checked binaries"

# As it was found: a library of the current folder is not loaded.
mkdir evil
printf 'not a library' >evil/libyaml-0.so.2
cp evil/libyaml-0.so.2 .
"$program" --version >/dev/null || fail "the program looks for its libraries in the current folder"
