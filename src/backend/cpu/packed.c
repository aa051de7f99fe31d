/* packed.c - products by one matrix many times. */
#include "backend/cpu/packed.h"

#include "backend/cpu/counts.h"
#include "backend/cpu/loops.h"
#include "backend/cpu/simd.h"

#include <string.h>

enum {
    DEPTH = 256,    /* of a panel's block: 256 x 16 floats are half of a first-level cache */
    MOST_COLS = 32, /* of any table of loops.h */
    MOST_ROWS = 12
};

int64_t tsri_packed_size(int64_t k, int64_t n)
{
    return tsri_round_up(n, tsri_loops_best()->cols) * k;
}

/* ---- Packing ------------------------------------------------------------------------------ */

typedef struct packing {
    float *b;
    const float *w;
    int64_t k, n, cols;
    bool transposed;
} packing;

static void pack_panel(void *context, int64_t i, int thread)
{
    (void)thread;
    const packing *p = context;
    float *to = p->b + i * p->cols * p->k;
    int64_t from = i * p->cols, width = tsri_min(p->cols, p->n - from);
    for (int64_t j = 0; p->transposed && j < p->cols; j++) {
        const float *row = p->w + (from + j) * p->k;
        for (int64_t l = 0; l < p->k; l++)
            to[l * p->cols + j] = j < width ? row[l] : 0;
    }
    for (int64_t l = 0; !p->transposed && l < p->k; l++) {
        memcpy(to + l * p->cols, p->w + l * p->n + from, (size_t)width * sizeof *to);
        memset(to + l * p->cols + width, 0, (size_t)(p->cols - width) * sizeof *to);
    }
}

void tsri_pack(float *b, const float *w, int64_t k, int64_t n, bool transposed, tsri_pool *pool)
{
    packing p = {b, w, k, n, tsri_loops_best()->cols, transposed};
    tsri_pool_run(pool, pack_panel, &p, tsri_ceil_div(n, p.cols));
}

/* ---- Products ----------------------------------------------------------------------------- */

/* c = start + scale c where the mask is above 0, else 0. */
TSRI_CLONES
static void gate(float *c, const float *start, const float *mask, float scale, int64_t n)
{
    if (mask)
        for (int64_t j = 0; j < n; j++) {
            float v = start[j] + scale * c[j];
            c[j] = mask[j] > 0 ? v : 0;
        }
    else
        for (int64_t j = 0; j < n; j++) {
            float v = start[j] + scale * c[j];
            c[j] = v > 0 ? v : 0;
        }
}

/* A tile of the product alone; the last panel may be narrower than the loops'. */
static void tile(const tsri_packed *p, const tsri_loops *kn, int64_t panel, int64_t row, int rows)
{
    int64_t from = panel * kn->cols, width = tsri_min(kn->cols, p->n - from);
    const float *b = p->b + panel * kn->cols * p->k;
    float narrow[MOST_ROWS * MOST_COLS];
    bool whole = width == kn->cols;
    float *c = whole ? p->c + row * p->n + from : narrow;
    int64_t ldc = whole ? p->n : kn->cols;
    for (int64_t l = 0; l < p->k; l += DEPTH)
        kn->gemm(c, ldc, p->a + row * p->k + l, p->k, b + l * kn->cols, rows,
                 tsri_min(DEPTH, p->k - l), l > 0);
    for (int r = 0; !whole && r < rows; r++)
        memcpy(p->c + (row + r) * p->n + from, narrow + r * kn->cols,
               (size_t)width * sizeof *narrow);
}

static void finish(const tsri_packed *p, int64_t from, int64_t width)
{
    for (int64_t r = 0; r < p->rows; r++) {
        int64_t at = r * p->n + from;
        if (!p->a)
            memset(p->c + at, 0, (size_t)width * sizeof *p->c);
        if (p->length && p->position >= p->length[r])
            memset(p->c + at, 0, (size_t)width * sizeof *p->c);
        else
            gate(p->c + at, p->start + at, p->mask ? p->mask + at : NULL, p->scale, width);
    }
}

typedef struct job {
    const tsri_packed *p;
    const tsri_loops *kn;
    int64_t panels, group;
} job;

static void run_group(void *context, int64_t i, int thread)
{
    (void)thread;
    const job *j = context;
    const tsri_packed *p = j->p;
    int64_t first = i * j->group, end = tsri_min(first + j->group, j->panels);
    for (int64_t panel = first; panel < end; panel++)
        for (int64_t r = 0; p->a && r < p->rows; r += j->kn->rows)
            tile(p, j->kn, panel, r, (int)tsri_min(j->kn->rows, p->rows - r));
    int64_t from = first * j->kn->cols;
    finish(p, from, tsri_min(p->n, end * j->kn->cols) - from);
}

void tsri_packed_run(const tsri_packed *p, tsri_pool *pool)
{
    const tsri_loops *kn = tsri_loops_best();
    job j = {p, kn, tsri_ceil_div(p->n, kn->cols), 0};
    j.group =
        tsri_ceil_div(64, kn->cols); /* whole lines of c, enough work for a turn of the pool */
    tsri_pool_run(pool, run_group, &j, tsri_ceil_div(j.panels, j.group));
}
