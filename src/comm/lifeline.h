/* lifeline.h - a connection to rank 0 that carries nothing: when one end dies, the other hears it.
 *
 * MPI does not report a dead rank. The operating system does: it closes a dead process's sockets,
 * and the other end reads the end of the stream at once, on the same machine and across a network.
 * So every worker holds one TCP connection to the coordinator. Where none can be made (a firewall
 * between hosts), deadlines are what remains.
 *
 * The port is open only until all ranks have joined, and only on the addresses given. A connection has
 * a few seconds to prove that it was invited (handshake.h); no call waits for it.
 *
 *     coordinator                                          a worker
 *     TSR_TRY(tsri_lifeline_listen(&line, size, at, 1, 0));
 *     TSR_TRY(tsri_lifeline_invite(line, v, room, &n));    TSR_TRY(tsri_lifeline_connect(
 *                                                                  &line, v, n, rank));
 *     again and again:                                     again and again:
 *         tsri_lifeline_look(line, 100, -1);                   tsri_lifeline_look(line, 100, -1);
 *         if (tsri_lifeline_cut(line, 3)) ...                  if (tsri_lifeline_cut(line, 0)) ...
 */
#ifndef TSRI_LIFELINE_H
#define TSRI_LIFELINE_H

#include "base/status.h"

typedef struct tsri_lifeline tsri_lifeline;

enum { TSRI_LIFELINE_ADDRESSES = 8 };

/* Rank 0 listens on these IPv4 addresses (network order), at `port`, or at one of the system's
 * choice when it is 0. */
tsr_status tsri_lifeline_listen(tsri_lifeline **out, int size, const uint32_t *address,
                                int addresses, uint16_t port);

/* How to reach it: addresses, port and a secret, in at most `room` bytes. */
tsr_status tsri_lifeline_invite(const tsri_lifeline *line, void *bytes, int64_t room,
                                int64_t *used);

/* The other ranks: connects to the first address that proves the secret, within some seconds for
 * each. *out stays NULL when there is none. */
tsr_status tsri_lifeline_connect(tsri_lifeline **out, const void *bytes, int64_t n, int rank);

void tsri_lifeline_close(tsri_lifeline *line); /* NULL is fine */

/* Takes connections, answers, notices ends; waits for the first of these at most this many
 * milliseconds, or until `wake` (a descriptor, -1 for none) can be read. For one thread. */
void tsri_lifeline_look(tsri_lifeline *line, int milliseconds, int wake);

/* Rank 0: closes the port; connections stay open. */
void tsri_lifeline_shut(tsri_lifeline *line);

/* Has that rank hung up? Is it connected? For any thread; of NULL neither is known. */
bool tsri_lifeline_cut(const tsri_lifeline *line, int rank);
bool tsri_lifeline_held(const tsri_lifeline *line, int rank);

#endif
