/* counts.h - the arithmetic of cutting work and memory into pieces: base/pieces.h and what caches
 * ask for. */
#ifndef TSRI_CPU_COUNTS_H
#define TSRI_CPU_COUNTS_H

#include "base/pieces.h"

#include <stddef.h>

enum { TSRI_LINE = 16 }; /* floats of a cache line */

/* The address that many bytes after the start of a piece of memory; NULL stays NULL. */
static inline void *tsri_behind(void *start, int64_t bytes)
{
    return start ? (char *)start + bytes : NULL;
}

/* Rows whose length is a power of two land in few sets of a cache: an odd number of lines spreads
 * them. */
static inline int64_t tsri_spread(int64_t floats)
{
    floats = tsri_round_up(floats, TSRI_LINE);
    return floats / TSRI_LINE % 2 == 0 ? floats + TSRI_LINE : floats;
}

#endif
