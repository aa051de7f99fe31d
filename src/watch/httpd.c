/* httpd.c - libmicrohttpd, loaded when a page is first served. */
#ifdef TESSERA_MICROHTTPD

#include "base/late.h"
#include "watch/httpd.h"

#define LIBRARY "libmicrohttpd.so.12"

tsri_httpd_table tsri_httpd;

TSRI_LATE_NOTE(LIBRARY, "serve", "the live page of tessera watch --serve", "suggested");

static const tsri_late_call calls[] = {
#define X(name) {"MHD_" #name, offsetof(tsri_httpd_table, name)},
    TSRI_HTTPD_LIST(X)
#undef X
};

tsr_status tsri_httpd_load(void)
{
    static const tsri_late httpd = {
        .file = LIBRARY,
        .name = "libmicrohttpd, which serves pages,",
        .remedy = "install libmicrohttpd12; `tessera watch` without --serve needs nothing",
        .status = TSR_USAGE,
        .call = calls,
        .calls = sizeof calls / sizeof *calls,
    };
    void *library;
    return tsri_httpd.run ? TSR_OK : tsri_late_open(&library, &tsri_httpd, &httpd);
}

#else

/* Built without its header: serve.c says so. */
typedef int tsri_httpd_none;

#endif
