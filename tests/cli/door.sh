#!/usr/bin/env bash
# The front door with the system under it replaced: a scratch copy of ./run, and a PATH on which
# apt-get, dpkg-query, sudo, id and cmake are stand-ins that write down what they were asked. So the
# paths that a developer's machine never takes (nothing installed, offline, not root, another
# system) are walked on every test run.
set -euo pipefail
source=$2
unset "${!TESSERA_@}" # the door reads them; a caller's are not ours
. "$2/tests/cli.sh"
work=$PWD
fail() { complain "$*"; sed 's/^/  | /' out >&2; exit 1; }

# stand_in NAME: a command whose body is read from stdin.
stand_in() { { echo '#!/bin/bash'; cat; } >"$work/bin/$1" && chmod +x "$work/bin/$1"; }

# A machine where nothing is installed, we are root, and apt works; each test changes one thing.
new_machine() {
    rm -rf bin tree asked installed
    mkdir bin tree
    cp "$source/run" "$work/tree/"
    touch asked installed
    for tool in bash env dirname readlink cat grep sed head tail mkdir; do
        ln -s "$(command -v $tool)" "$work/bin/$tool"
    done
    printf 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian 12"\n' >os-release
    stand_in id <<<'echo 0'
    stand_in dpkg-query <<<"sed 's/\$/=installed/' $work/installed"
    stand_in cmake <<<"echo cmake \"\$@\" >>$work/asked"
    stand_in apt-get <<EOT
words=("\$@")
for first in "\${words[@]}"; do case \$first in install|update) break ;; esac; done
echo "apt-get \$first" >>$work/asked
[ "\$first" = install ] || exit 0
[ ! -e $work/stale ] || { grep -q update $work/asked || exit 100; }
for package in "\${words[@]}"; do
    grep -qsx "\$package" $work/cannot && exit 100
done
for package in "\${words[@]}"; do echo "\$package" >>$work/installed; done
EOT
    rm -f stale cannot
}

door() { (cd / && PATH=$work/bin TESSERA_OS_RELEASE=$work/os-release "$work/tree/run" "$@") >out 2>&1 </dev/null; }
# run CODE ARGUMENT...: calls the door and expects its exit code.
run() {
    local expected=$1 code=0
    shift
    door "$@" || code=$?
    [ "$code" = "$expected" ] || fail "./run $* exited $code, expected $expected"
}
says() { grep -qF -- "$1" out || fail "did not say: $1"; }
asked() { [ "$(grep -c "$1" asked)" = "$2" ] || fail "asked for '$1' not $2 times: $(cat asked)"; }

new_machine
run 0 help
for command in demo test build bench check help; do says "  $command "; done
run 1 dance
says "there is no command 'dance'"

# The line for whoever sets a machine up has every package that a command would install itself, and no other.
for command in demo test build threads check bench package; do
    new_machine
    ln -sf "$(command -v tr)" bin/tr
    run 0 packages $command
    sed 's/^apt-get install --no-install-recommends //' out | tr ' ' '\n' | sort >line
    door $command || true # whatever becomes of the job: the packages come first
    grep -vxE 'install|-.*|.*=.*' installed | sort | cmp -s - line || fail "packages $command: $(diff line installed)"
done

# Nothing there: what is missing is named, installed without an update, and built. What is needed
# and what is only wanted are asked for apart: the one must not fail for the other.
new_machine
run 0 build
says "installing gcc libc6-dev cmake ninja-build"
says "installing librsvg2-dev"
says "installing libmicrohttpd-dev"
says "installing libopenmpi-dev openmpi-bin"
asked 'apt-get install' 5
asked 'apt-get update' 0
asked 'cmake --preset release -DTESSERA_TESTS=OFF' 1
asked 'cmake --build --preset release' 1

# The second call asks apt for nothing, and configures nothing once there is a build.
mkdir -p "$work/tree/build/release"
touch "$work/tree/build/release/build.ninja"
printf '%s\n' "CMAKE_HOME_DIRECTORY:INTERNAL=$work/tree" TESSERA_GUARD:BOOL=OFF >"$work/tree/build/release/CMakeCache.txt"
run 0 build
asked 'apt-get' 5
asked 'cmake --preset' 1
asked 'cmake --build' 2

# A build folder that came from elsewhere is configured anew.
echo "CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere" >"$work/tree/build/release/CMakeCache.txt"
run 0 build
asked 'cmake --preset release --fresh' 1

# Old package lists: fetched once, then tried again.
new_machine
touch stale
run 0 build
asked 'apt-get install' 6
asked 'apt-get update' 1

# What cannot be installed and is needed stops; what is only wanted does not.
new_machine
echo libyaml-dev >cannot
run 1 build
says "apt-get could not install gcc"
new_machine
echo librsvg2-dev >cannot
run 0 build
says "going on without librsvg2-dev libcairo2-dev: pictures are written as SVG only, not as PNG"
new_machine
echo dataset-fashion-mnist >cannot
mkdir -p "$work/tree/build/release"
stand_in cmake <<<"printf '#!/bin/bash\necho tessera \"\$@\" >>$work/asked\n' >$work/tree/build/release/tessera
chmod +x $work/tree/build/release/tessera"
ln -s "$(command -v chmod)" "$work/bin/chmod"
run 0 demo
says "going on without dataset-fashion-mnist: the demo trains on drawn glyphs instead"
asked 'tessera ticket' 1
says "the results lie in runs/demo"
mkdir -p "$work/tree/runs/demo" "$work/tree/runs/demo-2"
run 0 demo
says "the results lie in runs/demo-3"

# The tiers of the suite, and a filter: what ctest is asked for.
new_machine
stand_in ctest <<<"echo ctest \"\$@\" long=\$TESSERA_LONG >>$work/asked"
run 0 test
run 0 test quick
run 0 test long
run 0 test rng
asked 'ctest .*-L ^quick\$ long=$' 1
asked 'ctest .*-L long --verbose long=1$' 1
asked 'ctest .*-R rng long=$' 1
asked 'ctest .*tests.xml long=$' 1

# Neither root nor sudo: the one sentence an administrator needs.
new_machine
stand_in id <<<'echo 1000'
run 1 build
says "neither root nor have sudo"
says "apt-get install --no-install-recommends gcc libc6-dev"
asked 'apt-get' 0
# ... which is the whole of it: what is needed first is not all that the job will ask for (it was once).
ln -s "$(command -v tr)" bin/tr
run 0 packages test
line=$(cat out)
run 1 test
says "$line"
# With sudo: through it.
stand_in sudo <<<"echo sudo >>$work/asked; exec \"\$@\""
run 0 build
asked 'sudo' 5

# A system it does not know, and one too old: the lists, and nothing else happens.
for system in 'ID=fedora\nVERSION_ID=41\nPRETTY_NAME="Fedora Linux 41"\n' 'ID=debian\nVERSION_ID="11"\n' ''; do
    new_machine
    printf %b "$system" >os-release
    run 1 test
    says "is not known to this script"
    says "libopenblas-pthread-dev"
    says "cmake --preset release && cmake --build --preset release"
    [ ! -s asked ] || fail "something was done on an unknown system: $(cat asked)"
done
# ... unless the user says that everything is there.
stand_in cmake <<<"echo cmake \"\$@\" >>$work/asked"
TESSERA_INSTALL=no run 0 build
asked 'cmake --build' 1
asked 'apt-get' 0

# Told to install nothing, it says by name what is missing, and what that costs; then it goes on.
new_machine
printf '%s\n' gcc libc6-dev cmake ninja-build pkg-config libopenblas-pthread-dev libjansson-dev libarchive-dev \
    zlib1g-dev libssl-dev libpng-dev libjpeg-dev librsvg2-dev libmicrohttpd-dev protobuf-c-compiler libprotobuf-c-dev \
    libonnx-dev libopenmpi-dev openmpi-bin >installed
TESSERA_INSTALL=no run 0 build
says "not there, and needed: libyaml-dev"
says "not there: libcairo2-dev: pictures are written as SVG only, not as PNG"
says "to have all of them: apt-get install --no-install-recommends libyaml-dev libcairo2-dev"
! grep -q mpirun out || fail "it complains of what is there"
asked 'cmake --build' 1
asked 'apt-get' 0
printf '%s\n' libyaml-dev libcairo2-dev >>installed
TESSERA_INSTALL=no run 0 build
! grep -q 'not there' out || fail "nothing was missing"
# On a fresh machine bash said "cmake: command not found", twice.
mv bin/cmake cmake.away
TESSERA_INSTALL=no run 1 build
says "there is no cmake here, so nothing can be built; './run packages build' prints what is needed"
! grep -q 'command not found' out || fail "it goes on without cmake"
mv cmake.away bin/cmake
rm bin/dpkg-query
TESSERA_INSTALL=no run 0 build
says "what is missing cannot be told by name"
echo "door: every way in"
