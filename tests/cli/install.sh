#!/usr/bin/env bash
# Installs into a scratch folder and uses the result as a stranger would: a ten-line program found by
# pkg-config and by CMake's find_package, the exported symbols, the program, its manual page and completions.
set -euo pipefail
program=$1
build=$(dirname "$program")
. "$2/tests/cli.sh"
work=$PWD
prefix=$work/prefix

cmake --install "$build" --prefix "$prefix" >/dev/null
[ -f "$prefix/include/tessera.h" ] || fail "the header is not installed"
library=$(find "$prefix" -name 'libtessera.so.0')
[ -n "$library" ] || fail "there is no libtessera.so.0"
libdir=$(dirname "$library")
readelf -d "$library" | grep -q 'SONAME.*\[libtessera\.so\.0\]' || fail "the soname is not libtessera.so.0"
[ -z "$(find "$prefix" -name '*.a')" ] || fail "a static library was installed"
[ "$("$prefix/bin/tessera" version | head -n 1)" = "$("$program" version | head -n 1)" ] || fail "the program is another one"
# It starts in an empty environment, from any folder, and finds every library that it was linked with.
(cd / && env -i "$prefix/bin/tessera" version) >/dev/null || fail "the installed program does not start"
! env -i ldd "$prefix/bin/tessera" "$library" | grep 'not found' || fail "a library is not found"
# The pages are what the program prints now, not what it printed some builds ago.
for page in "man/man1/tessera.1 --man" "bash-completion/completions/tessera.bash --completion bash" \
    "zsh/site-functions/_tessera --completion zsh" "fish/vendor_completions.d/tessera.fish --completion fish"; do
    read -ra words <<<"$page"
    "$program" help "${words[@]:1}" | cmp - "$prefix/share/${words[0]}" || fail "${words[0]}"
done

# Symbols of a sanitizer or of counters are not ours.
if ! grep -qE '^TESSERA_(SANITIZE|COVERAGE):STRING=.' "$build/CMakeCache.txt"; then
    strangers=$(nm -D --defined-only "$library" | awk '$3 !~ /^tsr_/ {print $3}')
    [ -z "$strangers" ] || fail "exported, and not tsr_: $strangers"
fi
nm -D --defined-only "$library" | grep -q ' T tsr_version$' || fail "tsr_version is not exported"

# ---- A stranger's program ----------------------------------------------------------------------
mkdir "$work/user"
cd "$work/user"
cat >main.c <<'EOT'
#include <stdio.h>
#include <string.h>
#include <tessera.h>

int main(void)
{
    tsr_config *config = NULL;
    if (tsr_config_create(&config) != TSR_OK || tsr_config_set(config, "optim.lr=0.05") != TSR_OK)
        return printf("%s\n", tsr_last_error()), 1;
    tsr_config_destroy(config);
    printf("tessera %s\n", tsr_version());
    return strcmp(tsr_version(), TSR_VERSION_STRING) != 0;
}
EOT
minor=$("$program" version | sed -nE '1s/^tessera ([0-9]+\.[0-9]+)\..*/\1/p')
cat >CMakeLists.txt <<EOT
cmake_minimum_required(VERSION 3.25)
project(stranger LANGUAGES C)
find_package(tessera ${minor:-unknown} REQUIRED)
add_executable(by_cmake main.c)
target_link_libraries(by_cmake PRIVATE tessera::tessera)
EOT

if ! grep -q '^TESSERA_SANITIZE:STRING=$' "$build/CMakeCache.txt"; then
    echo "install: the library has sanitizers in it: not linked to a plain program"
else
    export PKG_CONFIG_PATH=$libdir/pkgconfig
    mv "$prefix" "$work/moved" # an installed tree may be moved
    libdir=${libdir/"$prefix"/"$work/moved"} PKG_CONFIG_PATH=${PKG_CONFIG_PATH/"$prefix"/"$work/moved"}
    prefix=$work/moved

    read -ra flags < <(pkg-config --cflags --libs tessera)
    cc -std=c17 -Wall -Wextra -Wpedantic -Werror -o by_pkg_config main.c "${flags[@]}"
    env -i ./by_pkg_config # the flags have the library's folder in them: no ldconfig, no LD_LIBRARY_PATH

    cmake -G Ninja -S . -B build -DCMAKE_PREFIX_PATH="$prefix" >cmake.log || { cat cmake.log; fail "find_package"; }
    cmake --build build >cmake.log || { cat cmake.log; fail "the CMake program does not build"; }
    env -i build/by_cmake # CMake gives it a run path
fi
