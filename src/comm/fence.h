/* fence.h - lets only the hosts of the run connect to the ports that MPI opens.
 *
 * Between hosts MPI listens on all interfaces, and a stranger that connects there and says nothing
 * halts the run. No setting of MPI prevents that. The kernel can: a socket may have a filter
 * (SO_ATTACH_FILTER, which does not need root) that drops packets from all addresses but those given.
 * Connections made through it inherit it. Open MPI itself accepts only ranks from these addresses, but
 * only after it has waited for what they say.
 *
 *     n = tsri_fence_own(own, TSRI_FENCE_OWN);     told to the other ranks, and theirs heard
 *     count = tsri_fence_ports(before, ROOM);
 *     MPI_Init_thread(...);
 *     ok = tsri_fence_close(all, n, before, count);
 */
#ifndef TSRI_FENCE_H
#define TSRI_FENCE_H

#include <stdbool.h>
#include <stdint.h>

/* IPv4 in the last four bytes of an IPv6 address, as ::ffff:1.2.3.4. */
typedef struct tsri_address {
    uint8_t byte[16];
} tsri_address;

enum { TSRI_FENCE_OWN = 16 };

/* The addresses of this host's interfaces: not the loopback's, nor those that lead only to the next
 * wire. At most `room`; how many. */
int tsri_fence_own(tsri_address *address, int room);

/* The descriptors of this process on which it listens for TCP; at most `room`; how many. */
int tsri_fence_ports(int *port, int room);

/* From now on only these addresses reach the ports of this process, but for those in `before`: they
 * are not MPI's. False: there are too many addresses, or the system refuses. */
bool tsri_fence_close(const tsri_address *address, int64_t count, const int *before, int befores);

#endif
