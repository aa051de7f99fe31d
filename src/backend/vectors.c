/* vectors.c - vectors of parameters on this machine's processors: clipped, averaged, added up. */
#include "backend/vectors.h"

#include "base/pieces.h"

#include <math.h>

/* ---- Clipping ------------------------------------------------------------------------------ */

enum { PARTS = 256 }; /* of a gradient, whatever the threads: the order of its sum */

typedef struct lengths {
    float *g;
    int64_t n;
    float factor;
    double square[PARTS];
} lengths;

static void square_part(void *context, int64_t i, int thread)
{
    (void)thread;
    lengths *l = context;
    double sum = 0;
    for (int64_t j = i * l->n / PARTS; j < (i + 1) * l->n / PARTS; j++)
        sum += (double)l->g[j] * (double)l->g[j];
    l->square[i] = sum;
}

static void shorten_part(void *context, int64_t i, int thread)
{
    (void)thread;
    const lengths *l = context;
    for (int64_t j = i * l->n / PARTS; j < (i + 1) * l->n / PARTS; j++)
        l->g[j] *= l->factor;
}

static tsr_status clip(tsri_mem *g, int64_t count, double longest, tsri_device device)
{
    lengths l = {.g = (void *)g, .n = count};
    double sum = 0;
    tsri_pool_run(device.pool, square_part, &l, PARTS);
    for (int i = 0; i < PARTS; i++)
        sum += l.square[i];
    double factor = longest / (sqrt(sum) + 1e-6);
    if (!isfinite(sum) || factor >= 1)
        return TSR_OK;
    l.factor = (float)factor;
    tsri_pool_run(device.pool, shorten_part, &l, PARTS);
    return TSR_OK;
}

/* ---- Averages ------------------------------------------------------------------------------ */

enum { PIECE = 16384 };

typedef struct blending {
    float *a;
    const float *w;
    int64_t count;
    double part;
} blending;

static void blend_piece(void *context, int64_t i, int thread)
{
    (void)thread;
    const blending *b = context;
    int64_t end = tsri_min((i + 1) * PIECE, b->count);
    for (int64_t j = i * PIECE; j < end; j++) {
        double a = (double)b->a[j];
        b->a[j] = b->part == 1 ? b->w[j] : (float)(a + b->part * ((double)b->w[j] - a));
    }
}

static tsr_status blend(tsri_mem *a, const tsri_mem *w, int64_t count, double part,
                        tsri_device device)
{
    blending b = {(void *)a, (const void *)w, count, part};
    tsri_pool_run(device.pool, blend_piece, &b, tsri_ceil_div(count, PIECE));
    return TSR_OK;
}

/* ---- Sums over micro-batches --------------------------------------------------------------- */

static tsr_status gather(tsri_mem *sum_of, tsri_mem *gradient, int64_t count, bool first, bool last,
                         float scale, tsri_device device)
{
    float *sum = (void *)sum_of, *g = (void *)gradient;
    (void)device;
    for (int64_t i = 0; i < count; i++) {
        sum[i] = first ? g[i] : sum[i] + g[i];
        if (last)
            g[i] = sum[i] * scale;
    }
    return TSR_OK;
}

const tsri_vector_ops tsri_vectors_here = {.clip = clip, .blend = blend, .gather = gather};
