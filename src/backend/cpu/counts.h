/* counts.h - the arithmetic of cutting work and memory into pieces. */
#ifndef TSRI_CPU_COUNTS_H
#define TSRI_CPU_COUNTS_H

#include <stddef.h>
#include <stdint.h>

enum { TSRI_LINE = 16 }; /* floats of a cache line */

static inline int64_t tsri_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t tsri_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Pieces of b that hold a. */
static inline int64_t tsri_ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static inline int64_t tsri_round_up(int64_t a, int64_t b)
{
    return tsri_ceil_div(a, b) * b;
}

/* The part of a piece of memory that begins so many bytes behind its start; NULL has none. */
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
