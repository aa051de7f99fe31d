/* serve_answers.c - what the live page's server answers: pages, streams of events, texts. */
#ifdef TESSERA_MICROHTTPD

#include "watch/serve_parts.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "watch/live.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Answers -------------------------------------------------------------------------------- */

static void dress(struct MHD_Response *r, const char *type, const tsri_server *s)
{
    static const char *const header[][2] = {
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Connection", "close"},
    };
    (void)tsri_httpd.add_response_header(r, "Content-Type", type);
    (void)tsri_httpd.add_response_header(r, "Content-Security-Policy",
                                         s->policy.data ? s->policy.data : "default-src 'none'");
    for (size_t i = 0; i < sizeof header / sizeof *header; i++)
        (void)tsri_httpd.add_response_header(r, header[i][0], header[i][1]);
}

static struct MHD_Response *response_of(const tsri_server *s, const char *text, int64_t n,
                                        const char *type)
{
    struct MHD_Response *r =
        tsri_httpd.create_response_from_buffer((size_t)n, (void *)text, MHD_RESPMEM_MUST_COPY);
    if (r)
        dress(r, type, s);
    return r;
}

static enum MHD_Result queue(struct MHD_Connection *c, unsigned code, struct MHD_Response *r)
{
    if (!r)
        return MHD_NO;
    enum MHD_Result result = tsri_httpd.queue_response(c, code, r);
    tsri_httpd.destroy_response(r);
    return result;
}

enum MHD_Result tsri_serve_refuse(const tsri_server *s, struct MHD_Connection *c, unsigned code)
{
    static const char text[] = "refused\n";
    struct MHD_Response *r = response_of(s, text, sizeof text - 1, "text/plain; charset=utf-8");
    if (r && code == 405)
        (void)tsri_httpd.add_response_header(r, "Allow", "GET");
    return queue(c, code, r);
}

static enum MHD_Result answer_text(const tsri_server *s, struct MHD_Connection *c, tsr_status st,
                                   const tsri_text *text, const char *type)
{
    if (st != TSR_OK || !text->data)
        return tsri_serve_refuse(s, c, 500);
    return queue(c, 200, response_of(s, text->data, text->length, type));
}

/* ---- Pages ---------------------------------------------------------------------------------- */

void tsri_served_page_drop(tsri_served_page *p)
{
    if (p->response)
        tsri_httpd.destroy_response(p->response);
    tsri_free(p->name);
    *p = (tsri_served_page){0};
}

/* The page of that name, else the one that was made longest ago. */
static tsri_served_page *place_of(tsri_server *s, const char *name)
{
    tsri_served_page *oldest = &s->page[0];
    for (int i = 0; i < TSRI_SERVE_PAGES; i++) {
        tsri_served_page *p = &s->page[i];
        if (p->response && strcmp(p->name, name) == 0)
            return p;
        if (!p->response || (oldest->response && p->made < oldest->made))
            oldest = p;
    }
    tsri_served_page_drop(oldest);
    return oldest;
}

static tsr_status make_page(tsri_server *s, tsri_served_page *p, const tsri_followed *run)
{
    tsr_status st = TSR_OK;
    tsri_text text = {0};
    char number[24];
    double begin = tsri_clock();
    tsri_served_page_drop(p);
    TSR_TRY(tsri_live_run(&text, run, s->token));
    TSR_TRY(tsri_strdup(&p->name, run->name));
    p->response = response_of(s, text.data, text.length, "text/html; charset=utf-8");
    TSR_CHECK(p->response, TSR_RESOURCES, "no memory for a page");
    (void)snprintf(number, sizeof number, "%lld", (long long)run->version);
    (void)tsri_httpd.add_response_header(p->response, "X-Tessera-Version", number);
    p->version = run->version;
    p->made = tsri_clock();
    p->took = p->made - begin;
done:
    tsri_text_fini(&text);
    if (st != TSR_OK)
        tsri_served_page_drop(p);
    return st;
}

/* A page that cannot be made (a damaged file) says why; only people with the token see it. */
static enum MHD_Result explain(const tsri_server *s, struct MHD_Connection *c)
{
    tsri_text text = {0};
    tsr_status st = tsri_text_add(&text, "This page cannot be made: %s\n", tsr_last_error());
    enum MHD_Result result = MHD_NO;
    if (st == TSR_OK)
        result = queue(c, 503, response_of(s, text.data, text.length, "text/plain; charset=utf-8"));
    tsri_text_fini(&text);
    return result;
}

static enum MHD_Result answer_run(tsri_server *s, struct MHD_Connection *c, const char *name)
{
    static const double pause = 2, rest = 100;
    int64_t i = tsri_lookout_find(s->watch, name);
    if (i < 0)
        return tsri_serve_refuse(s, c, 404);
    const tsri_followed *run = s->watch->run[i];
    tsri_served_page *p = place_of(s, name);
    bool rests = p->response && tsri_clock() - p->made < fmax(pause, rest * p->took);
    if (!p->response || (p->version != run->version && !rests))
        if (make_page(s, p, run) != TSR_OK)
            return explain(s, c);
    return tsri_httpd.queue_response(c, 200, p->response);
}

/* ---- Events --------------------------------------------------------------------------------- */

typedef struct stream {
    tsri_server *server;
    int index;
} stream;

/* The next bytes for one stream. A slow reader gets the newest event next, not all
 * that it missed. */
static ssize_t next_bytes(void *context, uint64_t position, char *buffer, size_t room)
{
    stream *at = context;
    tsri_server *s = at->server;
    tsri_guest *g = &s->guest[at->index];
    (void)position;
    if (g->sent == g->event.length && g->seen != s->news) {
        g->event.length = g->sent = 0;
        if (tsri_text_add_bytes(&g->event, s->event.data, (size_t)s->event.length) != TSR_OK)
            return MHD_CONTENT_READER_END_WITH_ERROR;
        g->seen = s->news;
    }
    int64_t left = g->event.length - g->sent, n = left < (int64_t)room ? left : (int64_t)room;
    if (n == 0) {
        g->asleep = true;
        tsri_httpd.suspend_connection(g->connection);
        return 0;
    }
    memcpy(buffer, g->event.data + g->sent, (size_t)n);
    g->sent += n;
    return (ssize_t)n;
}

static void end_stream(void *context)
{
    tsri_free(context);
}

static int streams(const tsri_server *s)
{
    int n = 0;
    for (int i = 0; i < TSRI_SERVE_CONNECTIONS; i++)
        n += s->guest[i].connection && s->guest[i].streaming;
    return n;
}

static enum MHD_Result answer_events(tsri_server *s, struct MHD_Connection *c)
{
    enum { BLOCK = 8192 };
    tsri_guest *g = tsri_guest_of(s, c);
    stream *at = NULL;
    if (!g || streams(s) >= TSRI_SERVE_STREAMS || tsri_alloc(&at, 1, sizeof *at) != TSR_OK)
        return tsri_serve_refuse(s, c, 503);
    *at = (stream){s, (int)(g - s->guest)};
    struct MHD_Response *r = tsri_httpd.create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK,
                                                                      next_bytes, at, end_stream);
    if (!r) {
        tsri_free(at);
        return MHD_NO;
    }
    dress(r, "text/event-stream", s);
    g->streaming = true;
    g->seen = 0;
    (void)tsri_httpd.set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT,
                                           (unsigned)TSRI_SERVE_ANSWERED);
    return queue(c, 200, r);
}

void tsri_serve_event(tsri_server *s)
{
    static const double beat = 10;
    tsri_text text = {0};
    double now = tsri_clock();
    if (s->news > 0 && s->version == s->watch->version && now - s->beat < beat)
        return;
    if (tsri_live_event(&text, s->watch) != TSR_OK) { /* no memory: the old one stands */
        tsri_text_fini(&text);
        return;
    }
    tsri_text_fini(&s->event);
    s->event = text;
    s->version = s->watch->version;
    s->beat = now;
    s->news++;
    tsri_guests_wake(s);
}

/* ---- By address ----------------------------------------------------------------------------- */

enum MHD_Result tsri_serve_answer(tsri_server *s, struct MHD_Connection *c, const tsri_route *route)
{
    enum MHD_Result result = MHD_NO;
    tsri_text text = {0};
    switch (route->show) {
    case TSRI_SHOW_LIST:
        result = answer_text(s, c, tsri_live_list(&text, s->watch, s->token), &text,
                             "text/html; charset=utf-8");
        break;
    case TSRI_SHOW_RUN:
        result = answer_run(s, c, route->run);
        break;
    case TSRI_SHOW_EVENTS:
        result = answer_events(s, c);
        break;
    case TSRI_SHOW_STATE:
        result = answer_text(s, c, tsri_lookout_json(&text, s->watch), &text, "application/json");
        break;
    case TSRI_SHOW_METRICS:
        result = answer_text(s, c, tsri_lookout_openmetrics(&text, s->watch), &text,
                             "application/openmetrics-text; version=1.0.0; charset=utf-8");
        break;
    case TSRI_SHOW_SCRIPT:
        result =
            answer_text(s, c, tsri_live_script(&text), &text, "text/javascript; charset=utf-8");
        break;
    case TSRI_SHOW_NOTHING:
        result = tsri_serve_refuse(s, c, 404);
        break;
    }
    tsri_text_fini(&text);
    return result;
}

#else

/* Built without libmicrohttpd: serve.c says so. */
typedef int tsri_serve_answers_none;

#endif
