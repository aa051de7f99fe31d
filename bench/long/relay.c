/* relay.c - a wire between two network namespaces, with a rate and a delay: what tc's tbf and netem
 * would do, also where the machine has neither them nor `ip`.
 *
 *     relay PID-A PID-B DEVICE MILLISECONDS MBIT MTU
 *
 * makes a TUN device of that name in the network namespaces of both processes (10.77.0.1 in A's,
 * 10.77.0.2 in B's, and wakes the loopback device) and carries every packet from one to the other.
 * Like a wire with a router before it: a packet begins to leave when the one before it has left,
 * takes its bytes divided by MBIT (0: no time), and arrives MILLISECONDS after its last bit left.
 * Packets that would wait longer than QUEUE in front of the wire are dropped, as a router drops
 * them. Runs until SIGTERM; prints "ready", and at the end what passed.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 8192, LARGEST = 65535 };
static const double QUEUE =
    0.1; /* seconds: five times what is on the way at 20 ms there and back */

typedef struct packet {
    double due;
    long bytes;
    char *data;
} packet;

typedef struct way { /* from one end to the other: first in, first out */
    int from, to;
    packet slot[SLOTS];
    double free_at; /* when the wire has sent all that was given to it */
    long first, count, lost, packets;
    long long bytes;
} way;

static volatile sig_atomic_t asked_to_end;

static void end(int signal)
{
    (void)signal;
    asked_to_end = 1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- Its two ends --------------------------------------------------------------------------- */

static void set_address(int s, const char *device, unsigned long what, const char *address)
{
    struct ifreq r = {0};
    struct sockaddr_in a = {.sin_family = AF_INET};
    snprintf(r.ifr_name, IFNAMSIZ, "%s", device);
    inet_pton(AF_INET, address, &a.sin_addr);
    memcpy(&r.ifr_addr, &a, sizeof a);
    if (ioctl(s, what, &r) != 0)
        die(address);
}

static void wake(int s, const char *device)
{
    struct ifreq r = {0};
    snprintf(r.ifr_name, IFNAMSIZ, "%s", device);
    if (ioctl(s, SIOCGIFFLAGS, &r) != 0)
        die(device);
    r.ifr_flags |= IFF_UP | IFF_RUNNING;
    if (ioctl(s, SIOCSIFFLAGS, &r) != 0)
        die(device);
}

static void set_up(const char *device, const char *address, int mtu)
{
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    struct ifreq r = {.ifr_mtu = mtu}, q = {.ifr_qlen = 2000};
    snprintf(r.ifr_name, IFNAMSIZ, "%s", device);
    snprintf(q.ifr_name, IFNAMSIZ, "%s", device);
    if (s < 0 || ioctl(s, SIOCSIFMTU, &r) != 0 || ioctl(s, SIOCSIFTXQLEN, &q) != 0)
        die("the device's sizes");
    wake(s, "lo");
    set_address(s, device, SIOCSIFADDR, address);
    set_address(s, device, SIOCSIFNETMASK, "255.255.255.252");
    wake(s, device);
    close(s);
}

static int open_end(const char *pid, const char *device, const char *address, int mtu)
{
    char path[300];
    struct ifreq want = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    snprintf(path, sizeof path, "/proc/%s/ns/net", pid);
    snprintf(want.ifr_name, IFNAMSIZ, "%s", device);
    int space = open(path, O_RDONLY);
    if (space < 0 || setns(space, CLONE_NEWNET) != 0)
        die(path);
    close(space);
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &want) != 0)
        die("/dev/net/tun");
    set_up(device, address, mtu);
    return fd;
}

/* ---- The wire ------------------------------------------------------------------------------- */

static void take_in(way *w, double delay, double second_per_byte)
{
    char spill[LARGEST];
    for (;;) {
        packet *p = &w->slot[(w->first + w->count) % SLOTS];
        double t = now();
        bool full = w->count == SLOTS || w->free_at - t > QUEUE;
        long n = read(w->from, full ? spill : p->data, LARGEST);
        if (n <= 0)
            return;
        if (full) {
            w->lost++;
            continue;
        }
        w->free_at = (w->free_at > t ? w->free_at : t) + (double)n * second_per_byte;
        p->bytes = n;
        p->due = w->free_at + delay;
        w->count++;
    }
}

/* Seconds until the next one is due; a long time when there is none. */
static double let_out(way *w)
{
    while (w->count > 0) {
        packet *p = &w->slot[w->first];
        double wait = p->due - now();
        if (wait > 0)
            return wait;
        if (write(w->to, p->data, (size_t)p->bytes) != p->bytes)
            w->lost++;
        w->packets++;
        w->bytes += p->bytes;
        w->first = (w->first + 1) % SLOTS;
        w->count--;
    }
    return 1;
}

static void carry(way *there, way *back, double delay, double second_per_byte)
{
    while (!asked_to_end) {
        struct pollfd end[2] = {{.fd = there->from, .events = POLLIN},
                                {.fd = back->from, .events = POLLIN}};
        double a = let_out(there), b = let_out(back), wait = a < b ? a : b;
        struct timespec t = {(time_t)wait, (long)((wait - (double)(time_t)wait) * 1e9)};
        if (ppoll(end, 2, &t, NULL) < 0 && !asked_to_end)
            die("ppoll");
        take_in(there, delay, second_per_byte);
        take_in(back, delay, second_per_byte);
    }
}

int main(int argc, char **argv)
{
    static way there, back;
    if (argc != 7) {
        fprintf(stderr, "relay PID-A PID-B DEVICE MILLISECONDS MBIT MTU\n");
        return 2;
    }
    struct sigaction act = {.sa_handler = end};
    sigaction(SIGTERM, &act, NULL);
    prctl(PR_SET_TIMERSLACK, 1000UL);
    double delay = atof(argv[4]) / 1e3, mbit = atof(argv[5]);
    int mtu = atoi(argv[6]);
    there.from = back.to = open_end(argv[1], argv[3], "10.77.0.1", mtu);
    back.from = there.to = open_end(argv[2], argv[3], "10.77.0.2", mtu);
    for (int i = 0; i < SLOTS; i++)
        if (!(there.slot[i].data = malloc(LARGEST)) || !(back.slot[i].data = malloc(LARGEST)))
            die("memory");
    puts("ready");
    fflush(stdout);
    carry(&there, &back, delay, mbit > 0 ? 8e-6 / mbit : 0);
    printf("there: %ld packets, %lld bytes, %ld lost; back: %ld packets, %lld bytes, %ld lost\n",
           there.packets, there.bytes, there.lost, back.packets, back.bytes, back.lost);
    return 0;
}
