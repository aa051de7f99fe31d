/* serve.c - the live page, served by libmicrohttpd in one thread with a loop of our own. */
#include "watch/serve.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/stop.h"
#include "watch/live.h"

#ifdef TESSERA_MICROHTTPD

#include "watch/serve_parts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

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

/* Called when the headers have come, and once more when the request is complete. */
static enum MHD_Result handle(void *context, struct MHD_Connection *c, const char *path,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state)
{
    static char complete;
    tsri_server *s = context;
    tsri_request r = {.method = method, .path = path};
    tsri_route route;
    tsri_guest *g = tsri_guest_of(s, c);
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
        return tsri_serve_refuse(s, c, (unsigned)route.code);
    if (!*state) {
        *state = &complete;
        return MHD_YES;
    }
    return tsri_serve_answer(s, c, &route);
}

/* %XX stay as they came: route.c decodes them, and strictly. */
static size_t leave_escapes(void *context, struct MHD_Connection *c, char *text)
{
    (void)context;
    (void)c;
    return strlen(text);
}

/* ---- The loop ------------------------------------------------------------------------------- */

static void be_silent(void *context, const char *format, va_list args)
{
    (void)context;
    (void)format;
    (void)args;
}

static tsr_status listen_on(tsri_server *s, int port, int *bound)
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
        tsri_guest_note, s, MHD_OPTION_UNESCAPE_CALLBACK, leave_escapes, NULL, MHD_OPTION_END);
    TSR_CHECK(s->daemon, TSR_RESOURCES,
              "cannot listen on 127.0.0.1:%d: %s; choose another --port, or leave it out", port,
              errno ? strerror(errno) : "the server did not start");
    const union MHD_DaemonInfo *info =
        tsri_httpd.get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);
    *bound = info && info->port ? info->port : port;
done:
    return st;
}

/* Lets the library do what it can; true when somebody came or went. At its limit it does not
 * listen, and looks only the next time for who waits at the door: who waits gives no sign then. */
static bool turn(tsri_server *s)
{
    int64_t before = s->moves;
    (void)tsri_httpd.run(s->daemon);
    return s->moves != before;
}

/* Until `until`, or a stop. */
static void serve_until(tsri_server *s, double until)
{
    bool moved = true;
    const union MHD_DaemonInfo *info =
        tsri_httpd.get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    struct pollfd on = {.fd = info ? info->epoll_fd : -1, .events = POLLIN};
    for (double left; (left = until - tsri_clock()) > 0 && !tsri_stop_asked();) {
        MHD_UNSIGNED_LONG_LONG library = 0;
        int wait = (int)fmin(1e3 * left + 1, 1e3);
        if (tsri_httpd.get_timeout(s->daemon, &library) == MHD_YES && library < (unsigned)wait)
            wait = (int)library;
        (void)poll(&on, 1, moved ? 0 : wait);
        moved = turn(s);
    }
}

static tsr_status serve_on(tsri_server *s, double every)
{
    tsr_status st = TSR_OK;
    while (!tsri_stop_asked()) {
        TSR_TRY(tsri_lookout_look(s->watch));
        tsri_serve_event(s);
        tsri_guests_cut_slow(s);
        (void)tsri_httpd.run(s->daemon);
        serve_until(s, tsri_clock() + every);
    }
done:
    return st;
}

static void close_server(tsri_server *s)
{
    if (s->daemon) {
        tsri_guests_wake(s);
        tsri_httpd.stop_daemon(s->daemon);
    }
    for (int i = 0; i < TSRI_SERVE_CONNECTIONS; i++)
        tsri_guest_forget(&s->guest[i]);
    for (int i = 0; i < TSRI_SERVE_PAGES; i++)
        tsri_served_page_drop(&s->page[i]);
    tsri_text_fini(&s->event);
    tsri_text_fini(&s->policy);
    tsri_free(s);
}

tsr_status tsri_serve(tsri_lookout *w, const tsri_serve_options *options)
{
    tsr_status st = TSR_OK;
    tsri_server *s = NULL;
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
