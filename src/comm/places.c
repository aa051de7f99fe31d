/* places.c - on which addresses of this host the other ranks can reach it. */
#include "comm/places.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct places {
    uint32_t *address;
    int room, count;
} places;

static void add(places *p, uint32_t address)
{
    for (int i = 0; i < p->count; i++)
        if (p->address[i] == address)
            return;
    if (p->count < p->room)
        p->address[p->count++] = address;
}

/* The address that a packet to there would leave from: a datagram socket that connects sends
 * nothing. */
static void add_towards(places *p, const struct sockaddr *there, socklen_t length)
{
    struct sockaddr_in here = {0};
    socklen_t room = sizeof here;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (connect(fd, there, length) == 0 && getsockname(fd, (struct sockaddr *)&here, &room) == 0)
        add(p, here.sin_addr.s_addr);
    (void)close(fd);
}

static void add_host(places *p, const char *host)
{
    struct addrinfo want = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM}, *all = NULL;
    if (getaddrinfo(host, "9", &want, &all) != 0)
        return;
    for (const struct addrinfo *a = all; a; a = a->ai_next)
        add_towards(p, a->ai_addr, a->ai_addrlen);
    freeaddrinfo(all);
}

static void add_interfaces(places *p)
{
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) != 0)
        return;
    for (const struct ifaddrs *a = all; a; a = a->ifa_next) {
        struct sockaddr_in in;
        bool fits = a->ifa_addr && a->ifa_addr->sa_family == AF_INET && (a->ifa_flags & IFF_UP) &&
                    !(a->ifa_flags & IFF_LOOPBACK);
        if (!fits)
            continue;
        memcpy(&in, a->ifa_addr, sizeof in);
        add(p, in.sin_addr.s_addr);
    }
    freeifaddrs(all);
}

int tsri_places_find(uint32_t *address, int room, const tsri_roster *roster, int size)
{
    places p = {.address = address, .room = room};
    const char *own = tsri_roster_host(roster, 0);
    for (int r = 1; !tsri_roster_one_host(roster) && r < size; r++) {
        const char *host = tsri_roster_host(roster, r);
        if (host && (!own || strcmp(host, own) != 0))
            add_host(&p, host);
    }
    if (p.count == 0 && !tsri_roster_one_host(roster))
        add_interfaces(&p);
    if (p.count == 0)
        add(&p, htonl(INADDR_LOOPBACK));
    return p.count;
}
