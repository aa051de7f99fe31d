#!/usr/bin/env bash
# OpenBLAS is loaded when it is needed, and with the kernels that fit: on a processor that it does not know the program
# once started itself anew, and a program that linked the library ran at a fifth of the speed. A getenv of ours tells OpenBLAS,
# and nobody else, that the processor is one of 2004, as it takes those for that it does not know.
set -eu
program=$1
build=$(dirname "$program")
. "$2/tests/cli.sh"
unset OPENBLAS_CORETYPE # what is tried is the choice that is made without it
cat >run.yaml <<'E'
data: {name: glyphs, n: 64, test_n: 16}
model: {name: mlp, hidden: [32, 32]}
batch: 32
rounds: 4
threads: 2
E

# ---- Not there, or not whole ------------------------------------------------------------------------
mkdir broken empty
printf 'not a library' >broken/libopenblas.so.0
LD_LIBRARY_PATH=$PWD/broken refused 1 "OpenBLAS cannot be loaded" train run.yaml --out none --quiet
LD_LIBRARY_PATH=$PWD/broken refused 1 "install libopenblas0-pthread, or use backend: ref" ntk run.yaml
LD_LIBRARY_PATH=$PWD/broken "$program" train run.yaml --out ref --set backend=ref --quiet >/dev/null || fail "ref needs OpenBLAS"
LD_LIBRARY_PATH=$PWD/broken "$program" version --json | grep -q '"core":"missing"' || fail "version does not say that it is missing"
command -v cc >/dev/null || skip "there is no compiler here"
cc -x c -shared -o empty/libopenblas.so.0 /dev/null
LD_LIBRARY_PATH=$PWD/empty refused 1 "has no cblas_sgemm" train run.yaml --out none --quiet

# ---- A processor that it does not know -----------------------------------------------------------------
[ "$(uname -m)" = x86_64 ] && grep -q avx2 /proc/cpuinfo || skip "no processor here that old kernels would be wrong for"
grep -q '^TESSERA_SANITIZE:STRING=$' "$build/CMakeCache.txt" || skip "a sanitizer wants to be the first to be loaded"
cat >unknown.c <<'E'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *real(const char *name)
{
    size_t n = strlen(name);
    for (char **e = environ; e && *e; e++)
        if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
            return *e + n + 1;
    return NULL;
}

char *getenv(const char *name)
{
    Dl_info who;
    char *value = real(name);
    if (!value && strcmp(name, "OPENBLAS_CORETYPE") == 0 && dladdr(__builtin_return_address(0), &who) &&
        strstr(who.dli_fname, "openblas"))
        return "Prescott";
    return value;
}

static void note(const char *word)
{
    FILE *f = fopen(real("NOTES"), "a");
    fprintf(f, "%s %d %s\n", word, (int)getpid(), real("OPENBLAS_CORETYPE") ? "set" : "unset");
    fclose(f);
}

__attribute__((constructor)) static void begin(void) { note("begin"); }
__attribute__((destructor)) static void end(void) { note("end"); }
E
cc -shared -fPIC -o unknown.so unknown.c -ldl
core_of() { sed -E 's/.*"core":"([^"]*)".*/\1/'; }
unknown() { env NOTES="$PWD/notes" LD_PRELOAD="$PWD/unknown.so" "$@"; }
core=$(unknown "$program" version --json | core_of)
[ "$core" = SkylakeX ] || [ "$core" = Haswell ] || fail "on a processor that OpenBLAS does not know it runs the kernels of $core"
[ "$(grep -c begin notes)" = 1 ] || fail "the program started itself anew: $(cat notes)"
! grep -qw set notes || fail "the environment was changed: $(cat notes)"
[ "$(OPENBLAS_CORETYPE=Nehalem unknown "$program" version --json | core_of)" = Nehalem ] || fail "the user's choice does not stand"

unknown "$program" train run.yaml --out late --quiet >/dev/null
OPENBLAS_CORETYPE=$core "$program" train run.yaml --out early --quiet >/dev/null
cmp late/model.safetensors early/model.safetensors || fail "other bits than with OPENBLAS_CORETYPE=$core"

# ---- A program that links the library --------------------------------------------------------------------
cat >linked.c <<'E'
#include <stdio.h>
#include <stdlib.h>
#include <tessera.h>

int main(void)
{
    tsr_config *config = NULL;
    tsr_needs needs = tsr_needs_default();
    if (tsr_config_read(&config, "run.yaml") != TSR_OK || tsr_check(&needs, config) != TSR_OK)
        return printf("%s\n", tsr_last_error()), 1;
    printf("%s, %s\n", needs.backend, getenv("OPENBLAS_CORETYPE") ? "set" : "unset");
    tsr_config_destroy(config);
    return 0;
}
E
cc -std=c17 -I"$2/include" -o linked linked.c -L"$build" -ltessera -Wl,-rpath,"$build"
unknown ./linked >said || fail "the linked program: $(cat said)"
grep -qw "$core" said && grep -qw unset said || fail "a program that links the library runs on $(cat said)"
echo "OpenBLAS: $core where it does not know the processor"
