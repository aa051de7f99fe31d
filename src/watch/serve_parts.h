/* serve_parts.h - the live page's server, whose files share it; private to serve*.c.
 *
 *     serve.c           listening, requests, the loop
 *     serve_guests.c    connections: who may stay, and for how long
 *     serve_answers.c   what is answered: pages, streams of events, texts
 */
#ifndef TSRI_SERVE_PARTS_H
#define TSRI_SERVE_PARTS_H

#include "base/text.h"
#include "watch/httpd.h"
#include "watch/lookout.h"
#include "watch/route.h"
#include "watch/serve.h"

/* A connection, from its beginning; the index of its stream, if it has become one. */
typedef struct tsri_guest {
    struct MHD_Connection *connection; /* NULL: the place is free */
    int socket;
    double since;    /* when it began, or its request had come */
    bool answered;   /* its request has come, and may have an answer */
    bool streaming;  /* it gets events, for as long as it likes */
    bool asleep;     /* suspended until there is news */
    int64_t seen;    /* the number of the last event that it was sent */
    tsri_text event; /* what is being sent */
    int64_t sent;    /* bytes of it */
} tsri_guest;

typedef struct tsri_served_page {
    char *name;
    struct MHD_Response *response; /* NULL: the place is free */
    int64_t version;
    double made, took;
} tsri_served_page;

typedef struct tsri_server {
    tsri_lookout *watch;
    struct MHD_Daemon *daemon;
    char token[TSRI_TOKEN + 1];
    tsri_text policy;
    tsri_text event; /* the newest */
    int64_t news;    /* its number */
    double beat;     /* when the last was made */
    int64_t version; /* of the watch, when it was made */
    tsri_guest guest[TSRI_SERVE_CONNECTIONS];
    int64_t moves; /* connections that came or went */
    tsri_served_page page[TSRI_SERVE_PAGES];
} tsri_server;

/* ---- serve_guests.c ---------------------------------------------------------------------------- */

/* The place of that connection; of NULL, a free one. NULL: there is none. */
tsri_guest *tsri_guest_of(tsri_server *s, struct MHD_Connection *c);
void tsri_guest_forget(tsri_guest *g);

/* A connection has begun or ended; `context` is a tsri_server. */
void tsri_guest_note(void *context, struct MHD_Connection *c, void **unused,
                     enum MHD_ConnectionNotificationCode what);

/* Cuts off clients that send too slowly, byte by byte: the library's own limit is on silence
 * only. */
void tsri_guests_cut_slow(tsri_server *s);

/* Goes on with the streams that were suspended. */
void tsri_guests_wake(tsri_server *s);

/* ---- serve_answers.c --------------------------------------------------------------------------- */

/* Answers with that code of HTTP and nothing else. */
enum MHD_Result tsri_serve_refuse(const tsri_server *s, struct MHD_Connection *c, unsigned code);
enum MHD_Result tsri_serve_answer(tsri_server *s, struct MHD_Connection *c,
                                  const tsri_route *route);

/* Makes a new event when something has changed, and every ten seconds: then connections that are
 * gone are noticed, and times go on. */
void tsri_serve_event(tsri_server *s);
void tsri_served_page_drop(tsri_served_page *p);

#endif
