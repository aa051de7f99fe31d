/* serve_guests.c - the connections of the live page: who may stay, and for how long. */
#ifdef TESSERA_MICROHTTPD

#include "watch/serve_parts.h"

#include "base/clock.h"

#include <sys/socket.h>

tsri_guest *tsri_guest_of(tsri_server *s, struct MHD_Connection *c)
{
    for (int i = 0; i < TSRI_SERVE_CONNECTIONS; i++)
        if (s->guest[i].connection == c)
            return &s->guest[i];
    return NULL;
}

void tsri_guest_forget(tsri_guest *g)
{
    tsri_text_fini(&g->event);
    *g = (tsri_guest){0};
}

/* Places are kept free for friends: whoever has asked for nothing that it may have, and came first,
 * goes. A friend asks at once. */
static void make_room(tsri_server *s)
{
    tsri_guest *oldest = NULL;
    int taken = 0;
    for (int i = 0; i < TSRI_SERVE_CONNECTIONS; i++) {
        tsri_guest *g = &s->guest[i];
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

void tsri_guest_note(void *context, struct MHD_Connection *c, void **unused,
                     enum MHD_ConnectionNotificationCode what)
{
    tsri_server *s = context;
    (void)unused;
    s->moves++;
    tsri_guest *g = tsri_guest_of(s, what == MHD_CONNECTION_NOTIFY_STARTED ? NULL : c);
    if (!g)
        return;
    tsri_guest_forget(g);
    if (what != MHD_CONNECTION_NOTIFY_STARTED)
        return;
    const union MHD_ConnectionInfo *info =
        tsri_httpd.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    *g = (tsri_guest){
        .connection = c, .socket = info ? info->connect_fd : -1, .since = tsri_clock()};
    make_room(s);
}

void tsri_guests_cut_slow(tsri_server *s)
{
    double now = tsri_clock();
    for (int i = 0; i < TSRI_SERVE_CONNECTIONS; i++) {
        tsri_guest *g = &s->guest[i];
        double most = g->answered ? TSRI_SERVE_ANSWERED : TSRI_SERVE_SECONDS;
        if (g->connection && !g->streaming && g->socket >= 0 && now - g->since > most)
            (void)shutdown(g->socket, SHUT_RDWR);
    }
}

void tsri_guests_wake(tsri_server *s)
{
    for (int i = 0; i < TSRI_SERVE_CONNECTIONS; i++)
        if (s->guest[i].connection && s->guest[i].asleep) {
            s->guest[i].asleep = false;
            tsri_httpd.resume_connection(s->guest[i].connection);
        }
}

#else

/* Built without libmicrohttpd: serve.c says so. */
typedef int tsri_serve_guests_none;

#endif
