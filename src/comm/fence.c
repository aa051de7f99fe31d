/* fence.c - lets only the hosts of the run connect to the ports that MPI opens.
 *
 * The filter is a classic BPF program. It sees the packet from its IP header on: the version, then
 * the source's address, compared with each that may come in. */
#include "comm/fence.h"

#include "base/alloc.h"
#include "base/number.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <linux/filter.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/* ---- Addresses ------------------------------------------------------------------------------ */

static const uint8_t MAPPED[12] = {[10] = 0xff, [11] = 0xff};

static bool is_v4(const tsri_address *a)
{
    return memcmp(a->byte, MAPPED, sizeof MAPPED) == 0;
}

static uint32_t word(const tsri_address *a, int i)
{
    uint32_t w;
    memcpy(&w, a->byte + 4 * (size_t)i, sizeof w);
    return ntohl(w);
}

static bool address_of(tsri_address *out, const struct sockaddr *at)
{
    if (at && at->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, at, sizeof v4);
        memcpy(out->byte, MAPPED, sizeof MAPPED);
        memcpy(out->byte + sizeof MAPPED, &v4.sin_addr, 4);
        return true;
    }
    if (at && at->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, at, sizeof v6);
        memcpy(out->byte, &v6.sin6_addr, 16);
        return !IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr);
    }
    return false;
}

int tsri_fence_own(tsri_address *address, int room)
{
    struct ifaddrs *all = NULL;
    int n = 0;
    if (getifaddrs(&all) != 0)
        return 0;
    for (const struct ifaddrs *a = all; a && n < room; a = a->ifa_next)
        n += (a->ifa_flags & IFF_UP) && !(a->ifa_flags & IFF_LOOPBACK) &&
             address_of(&address[n], a->ifa_addr);
    freeifaddrs(all);
    return n;
}

/* ---- Ports ---------------------------------------------------------------------------------- */

static bool listens(int fd)
{
    int yes = 0, family = 0;
    socklen_t n = sizeof yes, m = sizeof family;
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &n) == 0 && yes &&
           getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &m) == 0 &&
           (family == AF_INET || family == AF_INET6);
}

int tsri_fence_ports(int *port, int room)
{
    DIR *all = opendir("/proc/self/fd");
    int n = 0;
    for (const struct dirent *e = all ? readdir(all) : NULL; e && n < room; e = readdir(all)) {
        int64_t fd = -1; /* . and .. are no numbers */
        if (tsri_number_int(&fd, e->d_name) == TSRI_NUMBER_OK && listens((int)fd))
            port[n++] = (int)fd;
    }
    if (all)
        (void)closedir(all);
    return n;
}

/* ---- The filter ----------------------------------------------------------------------------- */

enum { V4 = 2, V6 = 9, AROUND = 6 }; /* steps for an address, and those around them */

typedef struct program {
    struct sock_filter *step;
    int64_t count;
} program;

static void add(program *p, uint16_t code, uint32_t k, uint8_t if_so, uint8_t if_not)
{
    p->step[p->count++] = (struct sock_filter){code, if_so, if_not, k};
}

static void load(program *p, uint32_t at)
{
    add(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)SKF_NET_OFF + at, 0, 0);
}

static void let_in(program *p)
{
    add(p, BPF_RET | BPF_K, UINT32_MAX, 0, 0);
}

static void let_in_v6(program *p, const tsri_address *a)
{
    for (int i = 0; i < 4; i++) { /* the source is at byte 8; else go on after let_in */
        load(p, 8 + 4 * (uint32_t)i);
        add(p, BPF_JMP | BPF_JEQ | BPF_K, word(a, i), 0, (uint8_t)(V6 - 2 - 2 * i));
    }
    let_in(p);
}

static void fill(program *p, const tsri_address *address, int64_t count, int64_t v4s)
{
    add(p, BPF_LD | BPF_B | BPF_ABS, (uint32_t)SKF_NET_OFF, 0, 0);
    add(p, BPF_ALU | BPF_RSH | BPF_K, 4, 0, 0);
    add(p, BPF_JMP | BPF_JEQ | BPF_K, 4, 1, 0); /* IPv4: pass over the next */
    add(p, BPF_JMP | BPF_JA, (uint32_t)(1 + V4 * v4s + 1), 0, 0);
    load(p, 12);
    for (int64_t i = 0; i < count; i++)
        if (is_v4(&address[i])) {
            add(p, BPF_JMP | BPF_JEQ | BPF_K, word(&address[i], 3), 0, 1);
            let_in(p);
        }
    add(p, BPF_RET | BPF_K, 0, 0, 0);
    for (int64_t i = 0; i < count; i++)
        if (!is_v4(&address[i]))
            let_in_v6(p, &address[i]);
    add(p, BPF_RET | BPF_K, 0, 0, 0);
}

static bool attach(const program *p, const int *before, int befores)
{
    enum { ROOM = 64 };
    struct sock_fprog whole = {.len = (unsigned short)p->count, .filter = p->step};
    int port[ROOM], n = tsri_fence_ports(port, ROOM);
    bool all = true;
    for (int i = 0; i < n; i++) {
        bool ours = true;
        for (int k = 0; k < befores; k++)
            ours = ours && port[i] != before[k];
        all = all && (!ours ||
                      setsockopt(port[i], SOL_SOCKET, SO_ATTACH_FILTER, &whole, sizeof whole) == 0);
    }
    return all;
}

bool tsri_fence_close(const tsri_address *address, int64_t count, const int *before, int befores)
{
    program p = {0};
    int64_t v4s = 0;
    for (int64_t i = 0; i < count; i++)
        v4s += is_v4(&address[i]);
    int64_t steps = AROUND + 1 + V4 * v4s + V6 * (count - v4s);
    if (steps > BPF_MAXINSNS || tsri_alloc(&p.step, steps, sizeof *p.step) != TSR_OK)
        return false;
    fill(&p, address, count, v4s);
    bool closed = attach(&p, before, befores);
    tsri_free(p.step);
    return closed;
}
