/* httpd.c - libmicrohttpd, loaded when a page is first served. */
#ifdef TESSERA_MICROHTTPD

#include "watch/httpd.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LIBRARY "libmicrohttpd.so.12"

tsri_httpd_table tsri_httpd;

/* As linalg/openblas_load.c has it: for makers of packages, and tools/sbom. */
#define NOTE                                                                                       \
    "[{\"soname\":[\"" LIBRARY "\"],\"feature\":\"serve\",\"description\":\"the live page of "     \
    "tessera watch --serve\",\"priority\":\"suggested\"}]"

__attribute__((used, section(".note.dlopen"), aligned(4))) static const struct {
    uint32_t name_size, text_size, type;
    char name[4];
    char text[(sizeof NOTE + 3) / 4 * 4];
} note = {4, sizeof NOTE, 0x407c0c0a, "FDO", NOTE};

static const struct {
    const char *name;
    size_t at;
} calls[] = {
#define X(name) {"MHD_" #name, offsetof(tsri_httpd_table, name)},
    TSRI_HTTPD_LIST(X)
#undef X
};

tsr_status tsri_httpd_load(void)
{
    tsr_status st = TSR_OK;
    if (tsri_httpd.run)
        return TSR_OK;
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    TSR_CHECK(library, TSR_USAGE,
              "pages cannot be served, libmicrohttpd is not there (%s): install libmicrohttpd12; "
              "`tessera watch` without --serve needs nothing",
              dlerror());
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *function = dlsym(library, calls[i].name);
        TSR_CHECK(function, TSR_USAGE,
                  "the " LIBRARY " that was found has no %s: install libmicrohttpd12",
                  calls[i].name);
        memcpy((char *)&tsri_httpd + calls[i].at, &function, sizeof function);
    }
done:
    return st;
}

#else

/* Built without its header: serve.c says so. */
typedef int tsri_httpd_none;

#endif
