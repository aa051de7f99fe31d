/* pieces.h - the arithmetic of cutting a count into pieces. */
#ifndef TSRI_PIECES_H
#define TSRI_PIECES_H

#include <stdint.h>

static inline int64_t tsri_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t tsri_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* How many pieces of size b it takes to hold a. */
static inline int64_t tsri_ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static inline int64_t tsri_round_up(int64_t a, int64_t b)
{
    return tsri_ceil_div(a, b) * b;
}

#endif
