/* twins.c - equal rows, by a hash of each. */
#include "data/twins.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

typedef struct place {
    uint64_t hash;
    int64_t row;
} place;

static void read_row(float *x, const tsri_row_twins *t, int64_t i)
{
    t->row(x, t->context, i);
    for (int64_t k = 0; k < t->dim; k++)
        x[k] += 0.0f; /* minus zero becomes zero */
}

static uint64_t hash_of(const float *x, int64_t n)
{
    uint64_t hash = 0;
    for (int64_t k = 0; k < n; k++) {
        uint32_t bits;
        memcpy(&bits, &x[k], sizeof bits);
        hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

static int by_hash(const void *a, const void *b)
{
    const place *p = a, *q = b;
    if (p->hash != q->hash)
        return p->hash < q->hash ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

tsr_status tsri_row_twins_find(const tsri_row_twins *t)
{
    tsr_status st = TSR_OK;
    place *at = NULL;
    float *x = NULL, *y = NULL;
    bool enough = false;
    TSR_TRY(tsri_alloc_raw(&at, t->n, sizeof *at));
    TSR_TRY(tsri_alloc_raw(&x, t->dim, sizeof *x));
    TSR_TRY(tsri_alloc_raw(&y, t->dim, sizeof *y));
    for (int64_t i = 0; i < t->n; i++) {
        read_row(x, t, i);
        at[i] = (place){hash_of(x, t->dim), i};
    }
    qsort(at, (size_t)t->n, sizeof *at, by_hash);
    for (int64_t k = 1; k < t->n && !enough; k++) {
        if (at[k].hash != at[k - 1].hash)
            continue;
        read_row(x, t, at[k - 1].row);
        read_row(y, t, at[k].row);
        if (memcmp(x, y, (size_t)t->dim * sizeof *x) == 0)
            TSR_TRY(t->twin(t->context, at[k - 1].row, at[k].row, &enough));
    }
done:
    tsri_free(at);
    tsri_free(x);
    tsri_free(y);
    return st;
}
