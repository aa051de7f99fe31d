#!/usr/bin/env bash
# The Debian packages (cmake/packages.cmake): which there are, what is in them, what they depend on, and that what is in
# them works when it is unpacked. Installing and removing in a fresh system is done by hand (docs/packages.md).
set -eu
program=$1 source=$2
. "$2/tests/cli.sh"
build=$(dirname "$program")
command -v dpkg-shlibdeps >/dev/null || skip "no dpkg-dev here"
if grep -qE '^TESSERA_(SANITIZE|COVERAGE):STRING=.' "$build/CMakeCache.txt"; then skip "no packages of a build with sanitizers or counters"; fi
[ -f "$build/CPackConfig.cmake" ] || skip "not on Debian"
[ -e "$build/libtessera.so" ] || skip "the shared library was not built"
cpack --config "$build/CPackConfig.cmake" -G DEB -B "$PWD" -D CPACK_OUTPUT_FILE_PREFIX="$PWD" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip >log 2>&1 ||
    fail "cpack: $(tail -n 5 log)"
version=$("$program" version | sed -n '1s/^tessera \([0-9.]*\).*/\1/p')
arch=$(dpkg --print-architecture) triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
deb() { echo "$1_${version}-1_${2:-$arch}.deb"; }
holds() { # PACKAGE PATH...
    local package=$1 path
    shift
    dpkg-deb -c "$(deb "$package")" | awk '{print $6}' >files
    for path; do grep -qx "./usr/$path" files || complain "$package lacks /usr/$path"; done
    ! grep -vE '^\./(usr/.*)?$' files || complain "$package: files outside of /usr"
    grep -qx "./usr/share/doc/$package/copyright" files || complain "$package has no licence"
}
names() { dpkg-deb -f "$(deb "$1")" Depends >depends; shift; for word; do grep -qF -- "$word" depends || complain "depends: $word is not in $(cat depends)"; done; }

# ---- What is in them: a man page for every command ------------------------------------------------------------
mapfile -t pages < <("$program" help | sed -nE '/^Commands:/,/^$/s/^  ([a-z]+) .*/share\/man\/man1\/tessera-\1.1.gz/p')
[ ${#pages[@]} -gt 20 ] || complain "no commands"
holds tessera bin/tessera share/man/man1/tessera.1.gz "${pages[@]}" share/bash-completion/completions/tessera.bash \
    share/zsh/vendor-completions/_tessera share/fish/vendor_completions.d/tessera.fish share/doc/tessera/changelog.gz
holds libtessera0 "lib/$triplet/libtessera.so.0" "lib/$triplet/libtessera.so.$version"
! grep -qE 'libtessera\.so$|\.h$' files || complain "libtessera0 has development files"
mapfile -t calls < <(sed 's|.*|share/man/man3/&.3.gz|' <(grep -v '^#' "$source/tests/library.symbols"))
holds libtessera-dev "${calls[@]}" share/man/man3/tessera.3.gz include/tessera.h "lib/$triplet/libtessera.so" "lib/$triplet/pkgconfig/tessera.pc" "lib/$triplet/cmake/tessera/tesseraConfig.cmake"
names tessera libc6 libjansson4 libyaml 'libopenblas0-pthread | libopenblas0'
names libtessera0 libc6 libarchive 'libopenblas0-pthread | libopenblas0'
names libtessera-dev "libtessera0 (= ${version}-1)"
dpkg-deb -I "$(deb libtessera0)" shlibs 2>/dev/null | grep -q 'libtessera 0 libtessera0' || complain "no shlibs: programs that link the library would not depend on it"
dpkg-deb -I "$(deb libtessera0)" triggers 2>/dev/null | grep -q ldconfig || complain "ldconfig is not triggered"
if [ -f "$build/libtessera-cuda.so" ]; then holds libtessera-cuda "lib/$triplet/libtessera-cuda.so"; fi
if [ -d "$source/python/tessera" ]; then
    dpkg-deb -c "$(deb python3-tessera all)" | awk '{print $6}' >files
    for module in "$source"/python/tessera/*.py; do
        grep -qx "./usr/lib/python3/dist-packages/tessera/${module##*/}" files || complain "python3-tessera lacks ${module##*/}"
    done
    ! grep -E '\.so|pycache' files || complain "python3-tessera has files of this machine"
    dpkg-deb -f "$(deb python3-tessera all)" Depends | grep -q 'python3-numpy.*libtessera0 (>= ' || complain "python3-tessera: dependencies"
    for script in postinst prerm; do dpkg-deb -I "$(deb python3-tessera all)" $script | sh -n || complain "python3-tessera: $script"; done
fi

# ---- It works: unpacked, not installed ------------------------------------------------------------------------
mkdir root
for package in tessera libtessera0 libtessera-dev; do dpkg-deb -x "$(deb $package)" root; done
if [ -d "$source/python/tessera" ] && /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    dpkg-deb -x "$(deb python3-tessera all)" root
    LD_LIBRARY_PATH=$PWD/root/usr/lib/$triplet PYTHONPATH=$PWD/root/usr/lib/python3/dist-packages /usr/bin/python3 -B -c '
import tessera
assert tessera.__file__.startswith("'"$PWD"'/root/"), tessera.__file__
assert tessera.model("mlp", shape=(3,), outputs=2).numbers > 0' || complain "the packaged Python module"
fi
[ "$(root/usr/bin/tessera version | head -n 1)" = "$("$program" version | head -n 1)" ] || complain "the packaged program"
for file in root/usr/bin/tessera "root/usr/lib/$triplet/libtessera.so.0"; do
    ! readelf -d "$file" | grep -E 'RPATH|RUNPATH' || complain "$file has a folder of libraries of its own"
done
[ -z "$(find root -perm /022 ! -type l)" ] || complain "others may write: $(find root -perm /022 ! -type l)"
if command -v mandoc >/dev/null; then
    for page in root/usr/share/man/man[13]/tessera*; do zcat "$page" | mandoc -Tlint -Werror >said || complain "$page: $(head -n 3 said)"; done
fi
if command -v lintian >/dev/null; then
    # A module is loaded by its path: it has no name to be linked by.
    lintian --fail-on error --suppress-tags sharedobject-in-library-directory-missing-soname -- ./*.deb >said 2>&1 || complain "lintian: $(grep '^E' said)"
fi
echo "packages: $(find . -maxdepth 1 -name '*.deb' | wc -l), a man page for each of ${#pages[@]} commands and ${#calls[@]} calls"
