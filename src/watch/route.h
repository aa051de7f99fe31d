/* route.h - what a request to the live page gets: decided from its text alone.
 *
 *     tsri_request r = {.method = "GET", .path = "/TOKEN/run/a/", .host = "127.0.0.1:6100", ...};
 *     tsri_route answer;
 *     tsri_route_find(&answer, &r, token);
 *     answer.code, answer.show, answer.run
 *
 * People who may see the page know the token, which is the first part of every path. The other checks
 * keep out what a stranger's page can make a browser ask: a name that was bound to 127.0.0.1 later
 * (Host), a script from elsewhere (Origin), a form (GET only, no body). No part of a request is ever
 * used as the path of a file: the name of a run is looked up in a list.
 */
#ifndef TSRI_ROUTE_H
#define TSRI_ROUTE_H

#include "base/status.h"

enum {
    TSRI_TOKEN = 32,        /* hexadecimal digits: 128 bits */
    TSRI_ROUTE_PATH = 4096, /* bytes of a path */
    TSRI_ROUTE_NAME = 1024  /* bytes of the name of a run */
};

typedef enum tsri_show {
    TSRI_SHOW_NOTHING,
    TSRI_SHOW_LIST,
    TSRI_SHOW_RUN,     /* the page of a run */
    TSRI_SHOW_EVENTS,  /* the stream of what is new */
    TSRI_SHOW_STATE,   /* the same, once */
    TSRI_SHOW_METRICS, /* OpenMetrics */
    TSRI_SHOW_SCRIPT   /* live.js */
} tsri_show;

typedef struct tsri_request {
    const char *method, *path; /* the path as it came, with %XX */
    const char *host, *origin; /* NULL: none */
    int hosts, origins;        /* how many such headers there were */
    bool body;                 /* it announces one */
} tsri_request;

typedef struct tsri_route {
    int code; /* of HTTP: 200, or why not */
    tsri_show show;
    char run[TSRI_ROUTE_NAME]; /* decoded */
} tsri_route;

void tsri_route_find(tsri_route *out, const tsri_request *r, const char token[TSRI_TOKEN + 1]);

/* A fresh token; or the one that the file has, made if there is none. USAGE when others than the
 * owner may read the file, or it holds something else. */
tsr_status tsri_token_make(char token[TSRI_TOKEN + 1], const char *file);

#endif
