/* lifeline.c - a connection to rank 0 that carries nothing: when one end dies, the other hears it.
 *
 * Rank 0 never waits for one connection: each new one has a place in a small table and a time limit,
 * and only bytes that have arrived are read. When the table is full the oldest goes: a rank, which
 * knows the secret, answers at once and has left the table by then. */
#include "comm/lifeline.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "comm/handshake.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { STRANGERS = 32, ACCEPTS = 64, CONNECT_MS = 1000, ANSWER_MS = 5000 };
static const double STRANGER_SECONDS = 5;

typedef struct place {
    uint32_t address, port; /* IPv4, network order; port in ours */
} place;

typedef struct invitation {
    uint8_t secret[TSRI_SECRET];
    uint32_t places;
    place place[TSRI_LIFELINE_ADDRESSES];
} invitation;

typedef struct stranger {
    int fd;
    double since;
    tsri_challenge said;
    tsri_answer heard;
    size_t bytes; /* of the answer, so far */
} stranger;

enum { NONE = -1, HUNG_UP = -2 };

struct tsri_lifeline {
    int size;
    invitation invitation;
    int listener[TSRI_LIFELINE_ADDRESSES]; /* rank 0; -1 where there is none */
    stranger stranger[STRANGERS];
    int strangers;
    atomic_int *peer;     /* [size] connection of each rank; NONE yet, HUNG_UP */
    struct pollfd *heard; /* [1 + addresses + strangers + size]; a descriptor < 0 is passed over */
};

/* ---- Making and unmaking -------------------------------------------------------------------- */

static void drop_stranger(tsri_lifeline *line, int i)
{
    if (line->stranger[i].fd >= 0)
        (void)close(line->stranger[i].fd);
    line->strangers--;
    memmove(&line->stranger[i], &line->stranger[i + 1],
            (size_t)(line->strangers - i) * sizeof *line->stranger); /* the oldest stays first */
}

void tsri_lifeline_shut(tsri_lifeline *line)
{
    for (int i = 0; i < TSRI_LIFELINE_ADDRESSES; i++) {
        if (line->listener[i] >= 0)
            (void)close(line->listener[i]);
        line->listener[i] = NONE;
    }
    while (line->strangers > 0)
        drop_stranger(line, line->strangers - 1);
}

void tsri_lifeline_close(tsri_lifeline *line)
{
    if (!line)
        return;
    tsri_lifeline_shut(line);
    for (int i = 0; line->peer && i < line->size; i++)
        if (line->peer[i] >= 0)
            (void)close(line->peer[i]);
    tsri_free(line->heard);
    tsri_free(line->peer);
    tsri_free(line);
}

static tsr_status make(tsri_lifeline **out, int size)
{
    tsr_status st = TSR_OK;
    tsri_lifeline *line = NULL;
    TSR_TRY(tsri_alloc(&line, 1, sizeof *line));
    line->size = size;
    for (int i = 0; i < TSRI_LIFELINE_ADDRESSES; i++)
        line->listener[i] = NONE;
    TSR_TRY(tsri_alloc(&line->peer, size, sizeof *line->peer));
    for (int i = 0; i < size; i++)
        atomic_init(&line->peer[i], NONE);
    TSR_TRY(tsri_alloc(&line->heard, 1 + TSRI_LIFELINE_ADDRESSES + STRANGERS + size,
                       sizeof *line->heard));
    *out = line;
    line = NULL;
done:
    tsri_lifeline_close(line);
    return st;
}

/* A host that loses power sends nothing more: its connection ends after three minutes of
 * silence. */
static void keep_alive(int fd)
{
    static const struct {
        int level, name, value;
    } option[] = {{SOL_SOCKET, SO_KEEPALIVE, 1},
                  {IPPROTO_TCP, TCP_KEEPIDLE, 60},
                  {IPPROTO_TCP, TCP_KEEPINTVL, 15},
                  {IPPROTO_TCP, TCP_KEEPCNT, 8}};
    for (size_t i = 0; i < sizeof option / sizeof *option; i++)
        (void)setsockopt(fd, option[i].level, option[i].name, &option[i].value,
                         sizeof option[i].value);
}

/* ---- Rank 0 ------------------------------------------------------------------------------- */

static tsr_status listen_at(tsri_lifeline *line, int i, uint32_t address, uint16_t port)
{
    tsr_status st = TSR_OK;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {address}};
    socklen_t length = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
    line->listener[i] = fd;
    TSR_CHECK(fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                  bind(fd, (struct sockaddr *)&at, sizeof at) == 0 &&
                  listen(fd, line->size + STRANGERS) == 0 &&
                  getsockname(fd, (struct sockaddr *)&at, &length) == 0,
              TSR_RESOURCES, "no port to listen on for the workers (cluster.port: %d): %s",
              (int)port, strerror(errno));
    line->invitation.place[line->invitation.places++] = (place){address, ntohs(at.sin_port)};
done:
    return st;
}

tsr_status tsri_lifeline_listen(tsri_lifeline **out, int size, const uint32_t *address,
                                int addresses, uint16_t port)
{
    tsr_status st = TSR_OK;
    tsri_lifeline *line = NULL;
    TSR_TRY(make(&line, size));
    TSR_TRY(tsri_handshake_random(line->invitation.secret, TSRI_SECRET));
    for (int i = 0; i < addresses && i < TSRI_LIFELINE_ADDRESSES; i++)
        TSR_TRY(listen_at(line, i, address[i], port));
    *out = line;
    line = NULL;
done:
    tsri_lifeline_close(line);
    return st;
}

tsr_status tsri_lifeline_invite(const tsri_lifeline *line, void *bytes, int64_t room, int64_t *used)
{
    tsr_status st = TSR_OK;
    TSR_CHECK((int64_t)sizeof line->invitation <= room, TSR_FAILURE,
              "an invitation of %zu bytes does not fit", sizeof line->invitation);
    memcpy(bytes, &line->invitation, sizeof line->invitation);
    *used = (int64_t)sizeof line->invitation;
done:
    return st;
}

static bool say(int fd, const void *bytes, size_t n)
{
    return send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)n;
}

static void take_strangers(tsri_lifeline *line, int listener)
{
    for (int i = 0; i < ACCEPTS; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            return;
        stranger s = {.fd = fd, .since = tsri_clock()};
        if (tsri_handshake_challenge(&s.said) != TSR_OK || !say(fd, &s.said, sizeof s.said)) {
            (void)close(fd);
            continue;
        }
        if (line->strangers == STRANGERS)
            drop_stranger(line, 0);
        line->stranger[line->strangers++] = s;
    }
}

/* The answer is whole: is it right, and of a rank that is still awaited? */
static bool is_ours(const tsri_lifeline *line, const stranger *s)
{
    const tsri_answer *a = &s->heard;
    const uint8_t *secret = line->invitation.secret;
    uint8_t proof[TSRI_MAC];
    return tsri_handshake_answered(a, secret, &s->said) && a->rank > 0 &&
           a->rank < (uint32_t)line->size && line->peer[a->rank] == NONE &&
           tsri_handshake_proof(proof, secret, &s->said, a) == TSR_OK &&
           say(s->fd, proof, sizeof proof);
}

/* Reads what has come. false: this one is no longer in the table. */
static bool hear_stranger(tsri_lifeline *line, int i)
{
    stranger *s = &line->stranger[i];
    ssize_t n = recv(s->fd, (char *)&s->heard + s->bytes, sizeof s->heard - s->bytes, MSG_DONTWAIT);
    bool later = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    s->bytes += n > 0 ? (size_t)n : 0;
    if (later || (n > 0 && s->bytes < sizeof s->heard))
        return true;
    if (n > 0 && is_ours(line, s)) {
        keep_alive(s->fd);
        atomic_store(&line->peer[s->heard.rank], s->fd);
        s->fd = NONE; /* it stays open */
    }
    drop_stranger(line, i);
    return false;
}

static void drop_late(tsri_lifeline *line)
{
    double now = tsri_clock();
    while (line->strangers > 0 && now - line->stranger[0].since > STRANGER_SECONDS)
        drop_stranger(line, 0);
}

/* ---- The others --------------------------------------------------------------------------- */

/* Reads n bytes that are due within so long. */
static bool hear(int fd, void *bytes, size_t n, double until)
{
    size_t got = 0;
    while (got < n) {
        double left = until - tsri_clock();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = left > 0 ? poll(&p, 1, (int)(left * 1000) + 1) : 0;
        ssize_t k = ready == 1 ? recv(fd, (char *)bytes + got, n - got, MSG_DONTWAIT) : -1;
        bool again = (ready < 0 || (ready == 1 && k < 0)) && (errno == EINTR || errno == EAGAIN);
        if (k <= 0 && !again)
            return false;
        got += k > 0 ? (size_t)k : 0;
    }
    return true;
}

static bool shake_hands(int fd, const invitation *v, int rank)
{
    double until = tsri_clock() + ANSWER_MS * 1e-3;
    uint8_t proof[TSRI_MAC];
    tsri_challenge c;
    tsri_answer a;
    return hear(fd, &c, sizeof c, until) &&
           tsri_handshake_answer(&a, v->secret, &c, (uint32_t)rank) == TSR_OK &&
           say(fd, &a, sizeof a) && hear(fd, proof, sizeof proof, until) &&
           tsri_handshake_proven(proof, v->secret, &c, &a);
}

static int try_place(const invitation *v, place where, int rank)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)where.port),
                             .sin_addr = {where.address}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return NONE;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    bool made = connect(fd, (struct sockaddr *)&at, sizeof at) == 0 ||
                (errno == EINPROGRESS && poll(&p, 1, CONNECT_MS) == 1 && (p.revents & POLLOUT) &&
                 !(p.revents & (POLLERR | POLLHUP)));
    if (made && shake_hands(fd, v, rank)) {
        keep_alive(fd);
        return fd;
    }
    (void)close(fd);
    return NONE;
}

tsr_status tsri_lifeline_connect(tsri_lifeline **out, const void *bytes, int64_t n, int rank)
{
    enum { TRIES = 3 }; /* strangers may have pushed this one out of the table */
    tsr_status st = TSR_OK;
    invitation v;
    tsri_lifeline *line = NULL;
    int fd = NONE;
    TSR_CHECK(n == (int64_t)sizeof v, TSR_FAILURE, "an invitation of %lld bytes is not ours",
              (long long)n);
    memcpy(&v, bytes, sizeof v);
    TSR_CHECK(v.places <= TSRI_LIFELINE_ADDRESSES, TSR_FAILURE,
              "an invitation with %u addresses is not ours", v.places);
    TSR_TRY(make(&line, 1));
    for (int t = 0; t < TRIES && fd == NONE; t++)
        for (uint32_t i = 0; i < v.places && fd == NONE; i++)
            fd = try_place(&v, v.place[i], rank);
    if (fd == NONE)
        goto done;
    atomic_store(&line->peer[0], fd);
    *out = line;
    line = NULL;
done:
    tsri_lifeline_close(line);
    return st;
}

/* ---- Both --------------------------------------------------------------------------------- */

/* Nothing is ever sent on a lifeline: if it becomes readable, it has ended. */
static void hear_peer(tsri_lifeline *line, int rank)
{
    char byte;
    int fd = line->peer[rank];
    ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);
    if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)))
        return;
    atomic_store(&line->peer[rank], HUNG_UP);
    (void)close(fd);
}

/* All that can be heard is waited for at once; then each is read without waiting. */
void tsri_lifeline_look(tsri_lifeline *line, int milliseconds, int wake)
{
    nfds_t n = 0;
    line->heard[n++] = (struct pollfd){.fd = wake, .events = POLLIN};
    for (int i = 0; i < TSRI_LIFELINE_ADDRESSES; i++)
        line->heard[n++] = (struct pollfd){.fd = line->listener[i], .events = POLLIN};
    for (int i = 0; i < line->strangers; i++)
        line->heard[n++] = (struct pollfd){.fd = line->stranger[i].fd, .events = POLLIN};
    for (int r = 0; r < line->size; r++)
        line->heard[n++] = (struct pollfd){.fd = line->peer[r], .events = POLLIN};
    (void)poll(line->heard, n, milliseconds);
    for (int r = 0; r < line->size; r++)
        if (line->peer[r] >= 0)
            hear_peer(line, r);
    for (int i = 0; i < line->strangers;)
        i += hear_stranger(line, i);
    drop_late(line);
    for (int i = 0; i < TSRI_LIFELINE_ADDRESSES; i++)
        if (line->listener[i] >= 0)
            take_strangers(line, line->listener[i]);
}

bool tsri_lifeline_cut(const tsri_lifeline *line, int rank)
{
    return line && rank < line->size && atomic_load(&line->peer[rank]) == HUNG_UP;
}

bool tsri_lifeline_held(const tsri_lifeline *line, int rank)
{
    return line && rank < line->size && atomic_load(&line->peer[rank]) >= 0;
}
