#!/usr/bin/env bash
# What we build names no folder of this machine (so two trees give the same bits: tools/reproducible), and the list of what it
# loads (tools/sbom) is complete. It loads libraries from absolute folders only (an empty element of RUNPATH is the current folder: the build
# tree's program once ran code from there), resolves its symbols at the start, and has those tables read-only then.
set -eu
program=$1
. "$2/tests/cli.sh"
command -v readelf >/dev/null || skip "there is no readelf here (Debian: binutils)"
build=$(dirname "$program")
checked=0
while IFS= read -r -d '' file; do
    head -c 4 "$file" | grep -q ELF || continue
    readelf -dlW "$file" >dynamic 2>/dev/null || continue
    grep -q NEEDED dynamic || continue
    checked=$((checked + 1))
    path=$(sed -nE 's/.*R(UN)?PATH.*\[(.*)\]/\2/p' dynamic)
    [ -z "$path" ] || ! grep -qE '(^|:)([^/]|$)' <<<"$path" || complain "$file: RUNPATH has an empty or relative element: $path"
    grep -q BIND_NOW dynamic || grep -qE 'FLAGS_1.*NOW' dynamic || complain "$file: symbols are bound late"
    grep -q GNU_RELRO dynamic || complain "$file: no read-only relocations"
    grep -q 'GNU_STACK.* RW ' dynamic || complain "$file: its stack may be executed"
    grep -q '^Elf file type is DYN' dynamic || complain "$file: it is always loaded at the same place"
done < <(find "$build" -name CMakeFiles -prune -o -type f \( -perm -u+x -o -name '*.so*' \) -print0)
[ "$checked" -ge 2 ] || fail "only $checked binaries were found in $build"
echo "$checked binaries"

# ---- The same bits wherever the tree lies --------------------------------------------------------
# A build that counts lines (TESSERA_COVERAGE) knows where its counts go.
for file in "$program" "$build"/libtessera.so.*; do
    ! grep -qa '\.gcda' "$file" || continue
    ! grep -qaF "$2/" "$file" || complain "$file names the folder it was built in: $(strings "$file" | grep -F "$2/" | head -1)"
done
if grep -rnE '__(DATE|TIME|TIMESTAMP)__' "$2/src" "$2/include" >dates; then complain "the time of a build is in it: $(cat dates)"; fi

# ---- The list of what it loads -------------------------------------------------------------------
command -v dpkg-query >/dev/null && [ -x /usr/bin/python3 ] || skip "no Debian packages here to look libraries up in"
"$2/tools/sbom" "$program" >spdx.json || fail "tools/sbom: exit $?"
"$2/tools/sbom" "$program" | cmp - spdx.json || complain "tools/sbom: other bytes the second time"
python - "$program" <<'P' || complain "tools/sbom: something is missing"
import json, re, subprocess, sys
spdx = json.load(open("spdx.json"))
known = {p["SPDXID"]: p for p in spdx["packages"]}
assert spdx["spdxVersion"] == "SPDX-2.3" and "SPDXRef-tessera" in known
said = subprocess.run(["readelf", "-d", sys.argv[1]], capture_output=True, text=True).stdout
needed = re.findall(r"\(NEEDED\).*\[(.*)\]", said)
ours = [r["relatedSpdxElement"] for r in spdx["relationships"] if r["spdxElementId"] == "SPDXRef-tessera"]
assert len(needed) >= 8 and all(i in known and known[i].get("versionInfo") for i in ours), ours
for library, package in (("libyaml-0.so.2", "libyaml-0-2"), ("libjansson.so.4", "libjansson4"), ("libc.so.6", "libc6")):
    assert library in needed and "SPDXRef-" + package in ours, package
assert any(i.startswith("SPDXRef-libopenblas0") for i in ours), "OpenBLAS, which is loaded later"
assert any(i.startswith("SPDXRef-libgfortran") for i in known), "what OpenBLAS itself needs"
for r in spdx["relationships"]:
    assert r["relatedSpdxElement"] in known, r
P

# As it was found: a library of the current folder is not loaded.
mkdir evil
printf 'not a library' >evil/libyaml-0.so.2
cp evil/libyaml-0.so.2 .
"$program" --version >/dev/null || fail "the program looks for its libraries in the current folder"
