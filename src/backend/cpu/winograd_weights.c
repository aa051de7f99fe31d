/* winograd_weights.c - the gradient of the weights: dU[p] = V[p]^T D[p], then dw = G^T dU G.
 *
 * Threads apart: dU is summed over a fixed number of chunks of tiles, each with its own dU, and
 * then over the chunks in order. Together: each unit of (input channels, output channels) is one
 * thread's, span after span.
 */
#include "backend/cpu/winograd.h"

#include <string.h>

enum { DEPTH_T = 128 }; /* tiles of one product: both operands are read by column */

typedef struct unit {
    int64_t c0, rows, k0, cols; /* of dw */
} unit;

static unit unit_at(const tsri_wino_layout *g, int64_t i)
{
    int64_t c0 = i / g->blocks_out * TSRI_WINO_IN, k0 = i % g->blocks_out * TSRI_WINO_OUT;
    return (unit){c0, tsri_min(TSRI_WINO_IN, g->in_c - c0), k0,
                  tsri_min(TSRI_WINO_OUT, g->out_c - k0)};
}

/* dU[p] (+)= V[p]^T D[p] for one unit. */
static void multiply_weights(float *du, const tsri_wino_job *j, const tsri_wino_span *part, unit b,
                             bool add)
{
    const tsri_wino_layout *g = &j->g;
    int64_t tiles = part->last - part->first, width = g->kn->cols;
    for (int64_t p = 0; p < g->points; p++)
        for (int64_t k = 0; k < b.cols; k += width)
            for (int64_t t = 0; t < tiles; t += DEPTH_T)
                for (int64_t r = 0; r < b.rows; r += g->kn->rows)
                    g->kn->gemm_t(
                        du + p * g->du_point + r * TSRI_WINO_OUT + k, TSRI_WINO_OUT,
                        part->v + p * g->v_point + t * g->v_row + b.c0 + r, g->v_row,
                        part->d + p * g->d_point + ((b.k0 + k) / width * g->span + t) * width,
                        (int)tsri_min(g->kn->rows, b.rows - r), (int)tsri_min(width, b.cols - k),
                        tsri_min(DEPTH_T, tiles - t), add || t > 0);
}

static void write_weights(const tsri_wino_job *j, const float *du, unit b)
{
    const tsri_wino_layout *g = &j->g;
    for (int64_t r = 0; r < b.rows; r++)
        g->form->weight_adjoint(j->out + (b.c0 + r) * g->out_c + b.k0, g->in_c * g->out_c,
                                du + r * TSRI_WINO_OUT, g->du_point, b.cols);
}

static void weights_together(void *context, int64_t i, int thread)
{
    tsri_wino_job *j = context;
    bool only = j->g.span >= j->g.tiles;
    float *du = j->du + (only ? thread : i) * j->du_size;
    unit b = unit_at(&j->g, i);
    multiply_weights(du, j, &j->common, b, j->common.first > 0);
    if (j->common.last == j->g.tiles)
        write_weights(j, du, b);
}

static void weights_apart(void *context, int64_t chunk, int thread)
{
    tsri_wino_job *j = context;
    const tsri_wino_layout *g = &j->g;
    int64_t first = chunk * g->blocks / g->chunks, last = (chunk + 1) * g->blocks / g->chunks;
    for (int64_t i = first; i < last; i++) {
        tsri_wino_span part = tsri_wino_own_span(j, i, thread);
        tsri_wino_transform(j, &part, part.first, part.last);
        for (int64_t u = 0; u < g->units; u++)
            multiply_weights(j->du + (chunk * g->units + u) * j->du_size, j, &part, unit_at(g, u),
                             i > first);
    }
}

static void weights_gather(void *context, int64_t i, int thread)
{
    tsri_wino_job *j = context;
    const tsri_wino_layout *g = &j->g;
    (void)thread;
    float *sum = j->du + i * j->du_size;
    for (int64_t chunk = 1; chunk < g->chunks; chunk++) {
        const float *du = j->du + (chunk * g->units + i) * j->du_size;
        for (int64_t k = 0; k < j->du_size; k++)
            sum[k] += du[k];
    }
    write_weights(j, sum, unit_at(g, i));
}

int64_t tsri_wino_cut_weights(tsri_wino_job *j, float *work, int threads)
{
    const tsri_wino_layout *g = &j->g;
    int64_t sums = g->apart ? g->chunks * g->units : g->span >= g->tiles ? threads : g->units;
    j->v_size = g->points * g->v_point;
    j->d_size = g->points * g->d_point;
    j->du_size = g->points * g->du_point;
    int64_t used = 0;
    j->common.v = tsri_wino_slice(work, &used, (g->apart ? threads : 1) * j->v_size);
    j->common.d = tsri_wino_slice(work, &used, (g->apart ? threads : 1) * j->d_size);
    j->du = tsri_wino_slice(work, &used, sums * j->du_size);
    return used;
}

void tsri_winograd_backward_weights(float *dw, const float *x, const float *dy,
                                    const tsri_conv_shape *s, int m, tsri_fuse fuse,
                                    const tsri_conv_team *team)
{
    if (s->n == 0) { /* the sum of nothing, which no unit would write */
        memset(dw, 0, sizeof(float) * (size_t)(9 * s->c * s->k));
        return;
    }
    tsri_wino_job j = {.g = tsri_wino_lay_out(s, m, team->loops, TSRI_WINO_WEIGHTS),
                       .in = x,
                       .dy = dy,
                       .out = dw,
                       .fuse = fuse};
    tsri_wino_cut_weights(&j, team->work, tsri_pool_threads(team->pool));
    if (j.g.apart) {
        tsri_pool_run(team->pool, weights_apart, &j, j.g.chunks);
        tsri_pool_run(team->pool, weights_gather, &j, j.g.units);
    } else {
        tsri_wino_run_spans(&j, team->pool, weights_together, j.g.units, false);
    }
}
