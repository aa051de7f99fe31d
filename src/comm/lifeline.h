/* lifeline.h - a connection to rank 0 that carries nothing: when one end dies, the other hears it.
 *
 * MPI does not tell of a dead rank. The operating system does: it closes a dead process's sockets,
 * and the other end reads the end of the stream at once, on the same machine and across a network.
 * So every worker holds one TCP connection to the coordinator. Where none can be made (a firewall
 * between hosts), deadlines are what remains.
 */
#ifndef TSRI_LIFELINE_H
#define TSRI_LIFELINE_H

#include "base/status.h"

typedef struct tsri_lifeline tsri_lifeline;

/* Rank 0 listens on a port of the system's choice. */
tsr_status tsri_lifeline_listen(tsri_lifeline **out, int size);

/* How to reach it: its addresses, port and a secret, in at most `room` bytes. */
tsr_status tsri_lifeline_invite(tsri_lifeline *line, void *bytes, int64_t room, int64_t *used);

/* The other ranks: connects to the first address that answers with the right secret. *out stays
 * NULL when none does. */
tsr_status tsri_lifeline_connect(tsri_lifeline **out, const void *bytes, int64_t n, int rank);

void tsri_lifeline_close(tsri_lifeline *line); /* NULL is fine */

/* Has that rank hung up? Takes new connections on the way. Never waits. NULL is fine. */
bool tsri_lifeline_cut(tsri_lifeline *line, int rank);

#endif
