/* arena.h - buffers with lifetimes, packed into one block.
 *
 * Each buffer is needed from time `born` to time `dies`, both included. Buffers whose times do not
 * overlap may lie on top of each other. Largest first, each at the lowest place that is free during
 * its life: a simple rule that comes close to the lower bound on networks.
 */
#ifndef TSRI_ARENA_H
#define TSRI_ARENA_H

#include "base/status.h"

typedef struct tsri_buffer {
    int64_t bytes;
    int64_t born, dies;
    int64_t offset; /* out: a multiple of 64 */
} tsri_buffer;

/* Fills in the offsets; *total = bytes of the block. */
tsr_status tsri_arena_pack(tsri_buffer *buffers, int64_t count, int64_t *total);

#endif
