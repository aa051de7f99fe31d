/* packed.c - products by one matrix many times. */
#include "backend/cpu/packed.h"

#include "backend/cpu/counts.h"
#include "backend/cpu/loops.h"
#include "base/simd.h"

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

/* A panel of the product alone, by blocks of its depth: a block of b is read from the first-level
 * cache by all rows. */
static void whole_panel(const tsri_packed *p, const tsri_loops *kn, int64_t panel)
{
    const float *b = p->b + panel * kn->cols * p->k;
    float *c = p->c + panel * kn->cols;
    for (int64_t l = 0; l < p->k; l += DEPTH)
        for (int64_t r = 0; r < p->rows; r += kn->rows)
            kn->gemm(c + r * p->n, p->n, p->a + r * p->lda + l, p->lda, b + l * kn->cols,
                     (int)tsri_min(kn->rows, p->rows - r), kn->cols, tsri_min(DEPTH, p->k - l),
                     l > 0);
}

/* The last one, narrower than the loops write. */
static void narrow_panel(const tsri_packed *p, const tsri_loops *kn, int64_t panel)
{
    const float *b = p->b + panel * kn->cols * p->k;
    int64_t from = panel * kn->cols, width = p->n - from;
    float tile[MOST_ROWS * MOST_COLS];
    for (int64_t r = 0; r < p->rows; r += kn->rows) {
        int rows = (int)tsri_min(kn->rows, p->rows - r);
        kn->gemm(tile, kn->cols, p->a + r * p->lda, p->lda, b, rows, (int)width, p->k, false);
        for (int i = 0; i < rows; i++)
            memcpy(p->c + (r + i) * p->n + from, tile + i * kn->cols, (size_t)width * sizeof *tile);
    }
}

TSRI_CLONES
static void scale_row(float *c, float scale, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        c[j] *= scale;
}

static void finish(const tsri_packed *p, int64_t from, int64_t width)
{
    for (int64_t r = 0; !p->start && r < p->rows; r++)
        scale_row(p->c + r * p->n + from, p->scale, width);
    if (!p->start)
        return;
    for (int64_t r = 0; r < p->rows; r++) {
        int64_t at = r * p->n + from;
        if (!p->a)
            memset(p->c + at, 0, (size_t)width * sizeof *p->c);
        if (p->length && p->position >= p->length[r])
            memset(p->c + at, 0, (size_t)width * sizeof *p->c);
        else
            gate(p->c + at, p->start + at, p->mask ? p->mask + at : NULL, p->scale, width);
        if (p->copy)
            memcpy(p->copy + r * p->lda + from, p->c + at, (size_t)width * sizeof *p->c);
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
    for (int64_t panel = first; p->a && panel < end; panel++)
        if ((panel + 1) * j->kn->cols <= p->n)
            whole_panel(p, j->kn, panel);
        else
            narrow_panel(p, j->kn, panel);
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
