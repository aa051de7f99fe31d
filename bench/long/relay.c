/* relay.c - a wire between two network namespaces that takes its time: what netem's delay would do,
 * where the kernel has none.
 *
 *     relay NETNS-A NETNS-B DEVICE MILLISECONDS
 *
 * makes a TUN device of that name in both namespaces and carries every packet from one to the
 * other, each as long after it was read as the delay says. Bandwidth is not its business: put a tbf
 * on the devices. Runs until it is killed; prints "ready".
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 4096, LARGEST = 65535 };

typedef struct packet {
    double due;
    long bytes;
    char *data;
} packet;

typedef struct way { /* from one end to the other: first in, first out */
    int from, to;
    packet slot[SLOTS];
    long first, count, lost;
} way;

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

static int open_end(const char *netns, const char *device)
{
    char path[300];
    struct ifreq want = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    snprintf(path, sizeof path, "/run/netns/%s", netns);
    snprintf(want.ifr_name, IFNAMSIZ, "%s", device);
    int space = open(path, O_RDONLY);
    if (space < 0 || setns(space, CLONE_NEWNET) != 0)
        die(path);
    close(space);
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &want) != 0)
        die("/dev/net/tun");
    return fd;
}

static void take_in(way *w, double delay)
{
    for (;;) {
        char spill[LARGEST];
        packet *p = &w->slot[(w->first + w->count) % SLOTS];
        bool full = w->count == SLOTS;
        long n = read(w->from, full ? spill : p->data, LARGEST);
        if (n <= 0)
            return;
        if (full) {
            w->lost++;
            continue;
        }
        p->bytes = n;
        p->due = now() + delay;
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
        w->first = (w->first + 1) % SLOTS;
        w->count--;
    }
    return 1;
}

int main(int argc, char **argv)
{
    static way there, back;
    if (argc != 5) {
        fprintf(stderr, "relay NETNS-A NETNS-B DEVICE MILLISECONDS\n");
        return 2;
    }
    double delay = atof(argv[4]) / 1e3;
    there.from = back.to = open_end(argv[1], argv[3]);
    back.from = there.to = open_end(argv[2], argv[3]);
    for (int i = 0; i < SLOTS; i++)
        if (!(there.slot[i].data = malloc(LARGEST)) || !(back.slot[i].data = malloc(LARGEST)))
            die("memory");
    puts("ready");
    fflush(stdout);
    for (;;) {
        struct pollfd end[2] = {{.fd = there.from, .events = POLLIN},
                                {.fd = back.from, .events = POLLIN}};
        double a = let_out(&there), b = let_out(&back), wait = a < b ? a : b;
        struct timespec t = {(time_t)wait, (long)((wait - (double)(time_t)wait) * 1e9)};
        if (ppoll(end, 2, &t, NULL) < 0)
            die("ppoll");
        take_in(&there, delay);
        take_in(&back, delay);
    }
}
