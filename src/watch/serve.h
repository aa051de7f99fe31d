/* serve.h - the live page: runs shown to browsers on this machine, while they train.
 *
 *     tsri_serve_options o = {.port = 6100, .ready = tell};
 *     TSR_TRY(tsri_serve(w, &o));                 until tsr_request_stop()
 *
 * It listens on 127.0.0.1 alone, in one thread, and answers GET alone (route.h). What it holds is
 * bounded: connections, event streams, the size of a request, the time that one may take, the pages
 * that are kept. A page is made again when its run has news, but for at most a hundredth of the
 * time, so that a run on the same machine does not feel it.
 */
#ifndef TSRI_SERVE_H
#define TSRI_SERVE_H

#include "watch/lookout.h"

enum {
    TSRI_SERVE_CONNECTIONS = 48,
    TSRI_SERVE_STREAMS = 24,    /* of them, event streams: open pages */
    TSRI_SERVE_SPARE = 8,       /* of them, kept free of those who ask for nothing */
    TSRI_SERVE_REQUEST = 16384, /* bytes of a request line with its headers */
    TSRI_SERVE_SECONDS = 10,    /* until a request must have come */
    TSRI_SERVE_ANSWERED = 60,   /* until its answer must have been taken */
    TSRI_SERVE_PAGES = 8        /* that are kept */
};

typedef struct tsri_serve_options {
    int port;               /* 0: any that is free */
    const char *token_file; /* or NULL: a fresh token */
    double every;           /* seconds between looks at the files; 0 = 1 */
    void (*ready)(void *context, const char *address); /* it listens now */
    void *context;
} tsri_serve_options;

/* OK after a stop was asked for. USAGE when this build has no server, RESOURCES when the port is
 * taken. */
tsr_status tsri_serve(tsri_lookout *w, const tsri_serve_options *options);

#endif
