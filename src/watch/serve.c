/* serve.c - the live page, served by libmicrohttpd in one thread with a loop of our own. */
#include "watch/serve.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/stop.h"
#include "watch/live.h"

#include <string.h>

#ifdef TESSERA_MICROHTTPD

#include "watch/httpd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

/* A connection, from its beginning; the index of its stream, if it has become one. */
typedef struct guest {
    struct MHD_Connection *connection; /* NULL: the place is free */
    int socket;
    double since;    /* when it began, or its request had come */
    bool answered;   /* its request has come, and may have an answer */
    bool streaming;  /* it gets events, for as long as it likes */
    bool asleep;     /* suspended until there is news */
    int64_t seen;    /* the number of the last event that it was sent */
    tsri_text event; /* what is being sent */
    int64_t sent;    /* bytes of it */
} guest;

typedef struct page {
    char *name;
    struct MHD_Response *response; /* NULL: the place is free */
    int64_t version;
    double made, took;
} page;

typedef struct server {
    tsri_lookout *watch;
    struct MHD_Daemon *daemon;
    char token[TSRI_TOKEN + 1];
    tsri_text policy;
    tsri_text event; /* the newest */
    int64_t news;    /* its number */
    double beat;     /* when the last was made */
    int64_t version; /* of the watch, when it was made */
    guest guest[TSRI_SERVE_CONNECTIONS];
    page page[TSRI_SERVE_PAGES];
} server;

/* ---- Answers -------------------------------------------------------------------------------- */

static void dress(struct MHD_Response *r, const char *type, const server *s)
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

static struct MHD_Response *response_of(const server *s, const char *text, int64_t n,
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

/* Says no more than the number does. */
static enum MHD_Result refuse(const server *s, struct MHD_Connection *c, unsigned code)
{
    static const char text[] = "refused\n";
    struct MHD_Response *r = response_of(s, text, sizeof text - 1, "text/plain; charset=utf-8");
    if (r && code == 405)
        (void)tsri_httpd.add_response_header(r, "Allow", "GET");
    return queue(c, code, r);
}

static enum MHD_Result answer_text(const server *s, struct MHD_Connection *c, tsr_status st,
                                   const tsri_text *text, const char *type)
{
    if (st != TSR_OK || !text->data)
        return refuse(s, c, 500);
    return queue(c, 200, response_of(s, text->data, text->length, type));
}

/* ---- Pages ---------------------------------------------------------------------------------- */

static void drop_page(page *p)
{
    if (p->response)
        tsri_httpd.destroy_response(p->response);
    tsri_free(p->name);
    *p = (page){0};
}

/* The page of that name, else the one that was made longest ago. */
static page *place_of(server *s, const char *name)
{
    page *oldest = &s->page[0];
    for (int i = 0; i < TSRI_SERVE_PAGES; i++) {
        page *p = &s->page[i];
        if (p->response && strcmp(p->name, name) == 0)
            return p;
        if (!p->response || (oldest->response && p->made < oldest->made))
            oldest = p;
    }
    drop_page(oldest);
    return oldest;
}

static tsr_status make_page(server *s, page *p, const tsri_followed *run)
{
    tsr_status st = TSR_OK;
    tsri_text text = {0};
    char number[24];
    double begin = tsri_clock();
    drop_page(p);
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
        drop_page(p);
    return st;
}

/* A page that cannot be made (a damaged file) says why, to whoever has the token. */
static enum MHD_Result explain(const server *s, struct MHD_Connection *c)
{
    tsri_text text = {0};
    tsr_status st = tsri_text_add(&text, "This page cannot be made: %s\n", tsr_last_error());
    enum MHD_Result result = MHD_NO;
    if (st == TSR_OK)
        result = queue(c, 503, response_of(s, text.data, text.length, "text/plain; charset=utf-8"));
    tsri_text_fini(&text);
    return result;
}

static enum MHD_Result answer_run(server *s, struct MHD_Connection *c, const char *name)
{
    static const double pause = 2, rest = 100;
    int64_t i = tsri_lookout_find(s->watch, name);
    if (i < 0)
        return refuse(s, c, 404);
    const tsri_followed *run = s->watch->run[i];
    page *p = place_of(s, name);
    bool rests = p->response && tsri_clock() - p->made < fmax(pause, rest * p->took);
    if (!p->response || (p->version != run->version && !rests))
        if (make_page(s, p, run) != TSR_OK)
            return explain(s, c);
    return tsri_httpd.queue_response(c, 200, p->response);
}

/* ---- Events --------------------------------------------------------------------------------- */

static guest *guest_of(server *s, struct MHD_Connection *c)
{
    for (int i = 0; i < TSRI_SERVE_CONNECTIONS; i++)
        if (s->guest[i].connection == c)
            return &s->guest[i];
    return NULL;
}

typedef struct stream {
    server *server;
    int index;
} stream;

/* The next bytes for one stream. Who is slow gets the newest event next, not all that were missed.
 */
static ssize_t next_bytes(void *context, uint64_t position, char *buffer, size_t room)
{
    stream *at = context;
    server *s = at->server;
    guest *g = &s->guest[at->index];
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

static int streams(const server *s)
{
    int n = 0;
    for (int i = 0; i < TSRI_SERVE_CONNECTIONS; i++)
        n += s->guest[i].connection && s->guest[i].streaming;
    return n;
}

static enum MHD_Result answer_events(server *s, struct MHD_Connection *c)
{
    enum { BLOCK = 8192 };
    guest *g = guest_of(s, c);
    stream *at = NULL;
    if (!g || streams(s) >= TSRI_SERVE_STREAMS || tsri_alloc(&at, 1, sizeof *at) != TSR_OK)
        return refuse(s, c, 503);
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

/* A new event when something has changed, and every ten seconds: who has gone is noticed so, and
 * times go on. */
static void make_event(server *s)
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
    for (int i = 0; i < TSRI_SERVE_CONNECTIONS; i++)
        if (s->guest[i].connection && s->guest[i].asleep) {
            s->guest[i].asleep = false;
            tsri_httpd.resume_connection(s->guest[i].connection);
        }
}

/* ---- Requests ------------------------------------------------------------------------------- */

static enum MHD_Result note_header(void *context, enum MHD_ValueKind kind, const char *key,
                                   const char *value)
{
    tsri_request *r = context;
    (void)kind;
    if (strcasecmp(key, "Host") == 0) {
        r->host = value ? value : "";
        r->hosts++;
    } else if (strcasecmp(key, "Origin") == 0) {
        r->origin = value ? value : "";
        r->origins++;
    } else if (strcasecmp(key, "Content-Length") == 0) {
        r->body = r->body || !value || strcmp(value, "0") != 0;
    } else if (strcasecmp(key, "Transfer-Encoding") == 0 || strcasecmp(key, "Upgrade") == 0) {
        r->body = true;
    }
    return MHD_YES;
}

static enum MHD_Result answer(server *s, struct MHD_Connection *c, const tsri_route *route)
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
        result = refuse(s, c, 404);
        break;
    }
    tsri_text_fini(&text);
    return result;
}

/* Called when the headers have come, and once more when the request is complete. */
static enum MHD_Result handle(void *context, struct MHD_Connection *c, const char *path,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state)
{
    static char complete;
    server *s = context;
    tsri_request r = {.method = method, .path = path};
    tsri_route route;
    guest *g = guest_of(s, c);
    (void)version;
    (void)upload;
    if (*upload_size > 0) /* nothing is taken, whatever was announced */
        return MHD_NO;
    (void)tsri_httpd.get_connection_values(c, MHD_HEADER_KIND, note_header, &r);
    tsri_route_find(&route, &r, s->token);
    if (g) {
        g->answered = route.code == 200;
        g->since = tsri_clock();
    }
    if (route.code != 200)
        return refuse(s, c, (unsigned)route.code);
    if (!*state) {
        *state = &complete;
        return MHD_YES;
    }
    return answer(s, c, &route);
}

/* %XX stay as they came: route.c decodes them, and strictly. */
static size_t leave_escapes(void *context, struct MHD_Connection *c, char *text)
{
    (void)context;
    (void)c;
    return strlen(text);
}

static void forget_guest(guest *g)
{
    tsri_text_fini(&g->event);
    *g = (guest){0};
}

/* Places are kept free for friends: whoever has asked for nothing that it may have, and came first,
 * goes. A friend asks at once. */
static void make_room(server *s)
{
    guest *oldest = NULL;
    int taken = 0;
    for (int i = 0; i < TSRI_SERVE_CONNECTIONS; i++) {
        guest *g = &s->guest[i];
        taken += g->connection != NULL;
        if (g->connection && !g->answered && g->socket >= 0 &&
            (!oldest || g->since < oldest->since))
            oldest = g;
    }
    if (taken <= TSRI_SERVE_CONNECTIONS - TSRI_SERVE_SPARE || !oldest)
        return;
    (void)shutdown(oldest->socket, SHUT_RDWR);
    oldest->socket = -1;
}

static void note_guest(void *context, struct MHD_Connection *c, void **unused,
                       enum MHD_ConnectionNotificationCode what)
{
    server *s = context;
    (void)unused;
    guest *g = guest_of(s, what == MHD_CONNECTION_NOTIFY_STARTED ? NULL : c);
    if (!g)
        return;
    forget_guest(g);
    if (what != MHD_CONNECTION_NOTIFY_STARTED)
        return;
    const union MHD_ConnectionInfo *info =
        tsri_httpd.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    *g = (guest){.connection = c, .socket = info ? info->connect_fd : -1, .since = tsri_clock()};
    make_room(s);
}

/* Whoever takes too long, byte by byte, is cut off. The library's own limit is one of silence. */
static void cut_slow(server *s)
{
    double now = tsri_clock();
    for (int i = 0; i < TSRI_SERVE_CONNECTIONS; i++) {
        guest *g = &s->guest[i];
        double most = g->answered ? TSRI_SERVE_ANSWERED : TSRI_SERVE_SECONDS;
        if (g->connection && !g->streaming && g->socket >= 0 && now - g->since > most)
            (void)shutdown(g->socket, SHUT_RDWR);
    }
}

/* ---- The loop ------------------------------------------------------------------------------- */

static void be_silent(void *context, const char *format, va_list args)
{
    (void)context;
    (void)format;
    (void)args;
}

static tsr_status listen_on(server *s, int port, int *bound)
{
    tsr_status st = TSR_OK;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    errno = 0;
    s->daemon = tsri_httpd.start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, (uint16_t)port, NULL, NULL,
        handle, s, MHD_OPTION_EXTERNAL_LOGGER, be_silent, NULL, MHD_OPTION_SOCK_ADDR,
        (struct sockaddr *)&at, MHD_OPTION_CONNECTION_LIMIT, (unsigned)TSRI_SERVE_CONNECTIONS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)TSRI_SERVE_REQUEST,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TSRI_SERVE_SECONDS, MHD_OPTION_NOTIFY_CONNECTION,
        note_guest, s, MHD_OPTION_UNESCAPE_CALLBACK, leave_escapes, NULL, MHD_OPTION_END);
    TSR_CHECK(s->daemon, TSR_RESOURCES,
              "cannot listen on 127.0.0.1:%d: %s; choose another --port, or leave it out", port,
              errno ? strerror(errno) : "the server did not start");
    const union MHD_DaemonInfo *info =
        tsri_httpd.get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);
    *bound = info && info->port ? info->port : port;
done:
    return st;
}

/* Until `until`, or a stop. */
static void serve_until(server *s, double until)
{
    const union MHD_DaemonInfo *info =
        tsri_httpd.get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    struct pollfd on = {.fd = info ? info->epoll_fd : -1, .events = POLLIN};
    for (double left; (left = until - tsri_clock()) > 0 && !tsri_stop_asked();) {
        MHD_UNSIGNED_LONG_LONG library = 0;
        int wait = (int)fmin(1e3 * left + 1, 1e3);
        if (tsri_httpd.get_timeout(s->daemon, &library) == MHD_YES && library < (unsigned)wait)
            wait = (int)library;
        (void)poll(&on, 1, wait);
        (void)tsri_httpd.run(s->daemon);
    }
}

static tsr_status serve_on(server *s, double every)
{
    tsr_status st = TSR_OK;
    while (!tsri_stop_asked()) {
        TSR_TRY(tsri_lookout_look(s->watch));
        make_event(s);
        cut_slow(s);
        (void)tsri_httpd.run(s->daemon);
        serve_until(s, tsri_clock() + every);
    }
done:
    return st;
}

static void close_server(server *s)
{
    for (int i = 0; s->daemon && i < TSRI_SERVE_CONNECTIONS; i++)
        if (s->guest[i].connection && s->guest[i].asleep) {
            s->guest[i].asleep = false;
            tsri_httpd.resume_connection(s->guest[i].connection);
        }
    if (s->daemon)
        tsri_httpd.stop_daemon(s->daemon);
    for (int i = 0; i < TSRI_SERVE_CONNECTIONS; i++)
        forget_guest(&s->guest[i]);
    for (int i = 0; i < TSRI_SERVE_PAGES; i++)
        drop_page(&s->page[i]);
    tsri_text_fini(&s->event);
    tsri_text_fini(&s->policy);
    tsri_free(s);
}

tsr_status tsri_serve(tsri_lookout *w, const tsri_serve_options *options)
{
    tsr_status st = TSR_OK;
    server *s = NULL;
    char address[96];
    int port = options->port;
    TSR_TRY(tsri_alloc(&s, 1, sizeof *s));
    s->watch = w;
    TSR_TRY(tsri_httpd_load());
    TSR_TRY(tsri_token_make(s->token, options->token_file));
    TSR_TRY(tsri_live_policy(&s->policy));
    TSR_TRY(listen_on(s, port, &port));
    (void)snprintf(address, sizeof address, "http://127.0.0.1:%d/%s/", port, s->token);
    if (options->ready)
        options->ready(options->context, address);
    TSR_TRY(serve_on(s, options->every > 0 ? options->every : 1));
done:
    if (s)
        close_server(s);
    tsri_stop_clear();
    return st;
}

#else

tsr_status tsri_serve(tsri_lookout *w, const tsri_serve_options *options)
{
    (void)w;
    (void)options;
    return tsri_fail(TSR_USAGE, "this tessera was built without libmicrohttpd and cannot serve "
                                "pages: install libmicrohttpd-dev and build it again; `tessera "
                                "watch` without --serve, and `tessera report`, need nothing");
}

#endif
