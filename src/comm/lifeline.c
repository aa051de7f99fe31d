/* lifeline.c - a connection to rank 0 that carries nothing: when one end dies, the other hears it.
 */
#include "comm/lifeline.h"

#include "base/alloc.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

/* The coordinator must not stand still for a stranger; it answers when it comes round to it. */
enum { ADDRESSES = 32, STRANGER_MS = 200, CONNECT_MS = 1000, ANSWER_MS = 20000 };

typedef struct invitation {
    uint64_t secret;
    uint32_t port;
    uint32_t count;
    uint32_t address[ADDRESSES]; /* IPv4, network order; the loopback first */
} invitation;

/* What each end says first, so that nobody else's connection is taken for ours. */
typedef struct greeting {
    uint64_t secret;
    int64_t rank;
} greeting;

struct tsri_lifeline {
    int listener; /* rank 0; -1 elsewhere */
    int size;
    invitation invitation;
    int *peer; /* [size] connection of each rank; -1 = none yet, -2 = hung up */
};

enum { NONE = -1, HUNG_UP = -2 };

void tsri_lifeline_close(tsri_lifeline *line)
{
    if (!line)
        return;
    for (int i = 0; line->peer && i < line->size; i++)
        if (line->peer[i] >= 0)
            (void)close(line->peer[i]);
    if (line->listener >= 0)
        (void)close(line->listener);
    tsri_free(line->peer);
    tsri_free(line);
}

static tsr_status make(tsri_lifeline **out, int size)
{
    tsr_status st = TSR_OK;
    tsri_lifeline *line = NULL;
    TSR_TRY(tsri_alloc(&line, 1, sizeof *line));
    *line = (tsri_lifeline){.listener = -1, .size = size};
    TSR_TRY(tsri_alloc(&line->peer, size, sizeof *line->peer));
    for (int i = 0; i < size; i++)
        line->peer[i] = NONE;
    *out = line;
    line = NULL;
done:
    tsri_lifeline_close(line);
    return st;
}

/* ---- Rank 0 ------------------------------------------------------------------------------- */

static void find_addresses(invitation *v)
{
    struct ifaddrs *all = NULL;
    v->address[v->count++] = htonl(INADDR_LOOPBACK);
    if (getifaddrs(&all) != 0)
        return;
    for (struct ifaddrs *a = all; a && v->count < ADDRESSES; a = a->ifa_next) {
        if (!a->ifa_addr || a->ifa_addr->sa_family != AF_INET || (a->ifa_flags & IFF_LOOPBACK))
            continue;
        struct sockaddr_in in;
        memcpy(&in, a->ifa_addr, sizeof in);
        v->address[v->count++] = in.sin_addr.s_addr;
    }
    freeifaddrs(all);
}

tsr_status tsri_lifeline_listen(tsri_lifeline **out, int size)
{
    tsr_status st = TSR_OK;
    tsri_lifeline *line = NULL;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_ANY)}};
    socklen_t length = sizeof at;
    TSR_TRY(make(&line, size));
    line->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    TSR_CHECK(line->listener >= 0 && bind(line->listener, (struct sockaddr *)&at, sizeof at) == 0 &&
                  listen(line->listener, size) == 0 &&
                  getsockname(line->listener, (struct sockaddr *)&at, &length) == 0,
              TSR_RESOURCES, "no port to listen on for the workers: %s", strerror(errno));
    line->invitation.port = ntohs(at.sin_port);
    /* A secret must not follow from the seed, as all numbers of a run do. */
    TSR_CHECK(getrandom(&line->invitation.secret, sizeof line->invitation.secret, 0) ==
                  (ssize_t)sizeof line->invitation.secret,
              TSR_RESOURCES, "the system has no random bytes: %s", strerror(errno));
    find_addresses(&line->invitation);
    *out = line;
    line = NULL;
done:
    tsri_lifeline_close(line);
    return st;
}

tsr_status tsri_lifeline_invite(tsri_lifeline *line, void *bytes, int64_t room, int64_t *used)
{
    tsr_status st = TSR_OK;
    TSR_CHECK((int64_t)sizeof line->invitation <= room, TSR_FAILURE,
              "an invitation of %zu bytes does not fit", sizeof line->invitation);
    memcpy(bytes, &line->invitation, sizeof line->invitation);
    *used = (int64_t)sizeof line->invitation;
done:
    return st;
}

/* Reads a greeting that is due within so long; false when it does not come or is not ours. */
static bool hear(int fd, uint64_t secret, greeting *g, int milliseconds)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, milliseconds) == 1 && recv(fd, g, sizeof *g, MSG_WAITALL) == sizeof *g &&
           g->secret == secret;
}

static bool greet(int fd, uint64_t secret, int rank)
{
    greeting g = {secret, rank};
    return send(fd, &g, sizeof g, MSG_NOSIGNAL) == sizeof g;
}

static void take_connections(tsri_lifeline *line)
{
    int fd;
    while ((fd = accept4(line->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        greeting g;
        if (hear(fd, line->invitation.secret, &g, STRANGER_MS) && g.rank > 0 &&
            g.rank < line->size && line->peer[g.rank] == NONE &&
            greet(fd, line->invitation.secret, 0))
            line->peer[g.rank] = fd;
        else
            (void)close(fd);
    }
}

/* ---- The others --------------------------------------------------------------------------- */

static int try_address(const invitation *v, uint32_t address, int rank)
{
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)v->port), .sin_addr = {address}};
    greeting g;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return NONE;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    bool made = connect(fd, (struct sockaddr *)&at, sizeof at) == 0 ||
                (errno == EINPROGRESS && poll(&p, 1, CONNECT_MS) == 1 && (p.revents & POLLOUT) &&
                 !(p.revents & (POLLERR | POLLHUP)));
    if (made)
        (void)fcntl(fd, F_SETFL, 0);
    if (made && greet(fd, v->secret, rank) && hear(fd, v->secret, &g, ANSWER_MS))
        return fd;
    (void)close(fd);
    return NONE;
}

tsr_status tsri_lifeline_connect(tsri_lifeline **out, const void *bytes, int64_t n, int rank)
{
    tsr_status st = TSR_OK;
    invitation v;
    tsri_lifeline *line = NULL;
    TSR_CHECK(n == (int64_t)sizeof v, TSR_FAILURE, "an invitation of %lld bytes is not ours",
              (long long)n);
    memcpy(&v, bytes, sizeof v);
    TSR_CHECK(v.count <= ADDRESSES && v.port <= UINT16_MAX, TSR_FAILURE,
              "an invitation with %u addresses is not ours", v.count);
    TSR_TRY(make(&line, 1));
    for (uint32_t i = 0; i < v.count && line->peer[0] == NONE; i++)
        line->peer[0] = try_address(&v, v.address[i], rank);
    if (line->peer[0] == NONE)
        goto done;
    *out = line;
    line = NULL;
done:
    tsri_lifeline_close(line);
    return st;
}

/* ---- Both --------------------------------------------------------------------------------- */

bool tsri_lifeline_cut(tsri_lifeline *line, int rank)
{
    char byte;
    if (!line || rank >= line->size)
        return false;
    if (line->listener >= 0)
        take_connections(line);
    if (line->peer[rank] >= 0) {
        ssize_t n = recv(line->peer[rank], &byte, 1, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
            (void)close(line->peer[rank]);
            line->peer[rank] = HUNG_UP;
        }
    }
    return line->peer[rank] == HUNG_UP;
}
