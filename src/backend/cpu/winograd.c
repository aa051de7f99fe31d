/* winograd.c - 3x3 convolutions of stride 1 by Winograd's minimal filtering.
 *
 * Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", arXiv 1509.09308. An output
 * tile of m x m pixels needs n x n input pixels, n = m + 2. Both are carried into a space of P =
 * n*n points where the convolution is P independent matrix products:
 *
 *     M[p] = V[p] U[p]         V[p]: tiles x C,  U[p]: C x K,  M[p]: tiles x K         (forward)
 *     dU[p] = V[p]^T D[p]      D[p]: tiles x K, the transformed gradient of y          (weights)
 *
 * The gradient of the input is the forward pass on dy with the filters turned and transposed.
 * F(4x4) does 36 multiplications where the direct sum does 144.
 *
 * What makes it fast is that transformed data hardly sees main memory. With many tiles the threads
 * work apart: a thread takes a block of tiles, transforms it into its own V, multiplies with all of
 * U and carries the products back to pixels. With few tiles (small images, many channels) U is the
 * larger operand, and they work together on one span of tiles after another:
 *
 *     1. all threads: transform the span's tiles into the common V (and D)
 *     2. all threads: units of (block of tiles, block of output channels) into M and back to
 *        pixels; for weights (winograd_weights.c), units of (input channels, output channels)
 *        whose dU stays in a core's cache
 */
#include "backend/cpu/winograd.h"

static void filters_body(void *context, int64_t i, int thread)
{
    tsri_wino_job *j = context;
    (void)thread;
    tsri_wino_filters(j->u + i * j->g.u_panel, j->g.u_point, j, i, 0, j->g.in_c);
}

/* ---- Products and back to pixels ----------------------------------------------------------- */

/* M[p] (+)= V[p] U[p] for one block of tiles, `cols` columns of a panel and `depth` input
 * channels. */
static void multiply_panel(float *m, const float *v, const float *u, int64_t u_point,
                           const tsri_wino_layout *g, int64_t tiles, int64_t cols, int64_t depth,
                           bool add)
{
    for (int64_t p = 0; p < g->points; p++)
        for (int64_t t = 0; t < tiles; t += g->kn->rows)
            g->kn->gemm(m + p * g->m_point + t * TSRI_WINO_OUT, TSRI_WINO_OUT,
                        v + p * g->v_point + t * g->v_row, g->v_row, u + p * u_point,
                        (int)tsri_min(g->kn->rows, tiles - t), (int)cols, depth, add);
}

/* One panel of M, in slices of input channels whose U stays in a core's cache. */
static void multiply_slices(float *m, const float *v, float *mine, const tsri_wino_job *j,
                            int64_t panel, int64_t tiles)
{
    const tsri_wino_layout *g = &j->g;
    int64_t cols = tsri_min(g->kn->cols, g->out_c - panel * g->kn->cols);
    for (int64_t l = 0; l < g->in_c; l += TSRI_WINO_DEPTH) {
        int64_t depth = tsri_min(TSRI_WINO_DEPTH, g->in_c - l);
        int64_t point = g->once ? g->once_point : g->u_point;
        const float *u = mine;
        if (g->once)
            tsri_wino_filters(mine, point, j, panel, l, depth);
        else
            u = j->u + panel * g->u_panel + l * g->kn->cols;
        multiply_panel(m, v + l, u, point, g, tiles, cols, depth, l > 0);
    }
}

static void output_tile(const tsri_wino_job *j, const float *m, int64_t tile, int64_t k0)
{
    const tsri_wino_layout *g = &j->g;
    tsri_wino_place at = tsri_wino_tile_place(g, tile);
    int64_t offset = ((at.image * g->out_h + at.row) * g->out_w + at.col) * g->out_c + k0;
    g->form->output(j->out + offset, g->out_w * g->out_c, g->out_c,
                    tsri_wino_clip(at.row, at.col, g->form->m, g->out_h, g->out_w),
                    j->fuse.add ? j->fuse.add + offset : NULL, m, g->m_point,
                    tsri_min(TSRI_WINO_OUT, g->out_c - k0));
}

/* One block of tiles of a span, one block of output channels. */
static void output_unit(const tsri_wino_job *j, const tsri_wino_span *part, int64_t first,
                        int64_t k0, int thread)
{
    const tsri_wino_layout *g = &j->g;
    int64_t k1 = tsri_min(k0 + TSRI_WINO_OUT, g->out_c);
    int64_t tiles = tsri_min(g->block, part->last - first);
    float *m = j->m + thread * j->m_size, *mine = j->u + thread * j->u_size;
    for (int64_t k = k0; k < k1; k += g->kn->cols)
        multiply_slices(m + (k - k0), part->v + (first - part->first) * g->v_row, mine, j,
                        k / g->kn->cols, tiles);
    for (int64_t t = 0; t < tiles; t++)
        output_tile(j, m + t * TSRI_WINO_OUT, first + t, k0);
}

static void output_together(void *context, int64_t i, int thread)
{
    tsri_wino_job *j = context;
    int64_t first = j->common.first + i / j->g.blocks_out * j->g.block;
    output_unit(j, &j->common, first, i % j->g.blocks_out * TSRI_WINO_OUT, thread);
}

static void output_apart(void *context, int64_t i, int thread)
{
    tsri_wino_job *j = context;
    tsri_wino_span part = tsri_wino_own_span(j, i, thread);
    tsri_wino_transform(j, &part, part.first, part.last);
    for (int64_t k0 = 0; k0 < j->g.out_c; k0 += TSRI_WINO_OUT)
        output_unit(j, &part, part.first, k0, thread);
}

/* ---- Passes -------------------------------------------------------------------------------- */

/* Cuts the scratch memory; returns how many floats that takes. */
static int64_t cut_convolve(tsri_wino_job *j, float *work, int threads)
{
    const tsri_wino_layout *g = &j->g;
    j->v_size = g->points * g->v_point;
    j->m_size = g->points * g->m_point;
    j->u_size = g->once ? g->points * g->once_point : 0;
    int64_t used = 0;
    j->common.v = tsri_wino_slice(work, &used, (g->apart ? threads : 1) * j->v_size);
    j->m = tsri_wino_slice(work, &used, threads * j->m_size);
    j->u = tsri_wino_slice(work, &used, g->once ? threads * j->u_size : g->panels * g->u_panel);
    return used;
}

static void convolve(tsri_wino_job *j, const tsri_conv_team *team)
{
    const tsri_wino_layout *g = &j->g;
    cut_convolve(j, team->work, tsri_pool_threads(team->pool));
    if (!g->once)
        tsri_pool_run(team->pool, filters_body, j, g->panels);
    if (g->apart)
        tsri_pool_run(team->pool, output_apart, j, g->blocks);
    else
        tsri_wino_run_spans(j, team->pool, output_together, g->blocks_out, true);
}

void tsri_winograd_forward(float *y, const float *x, const float *w, const tsri_conv_shape *s,
                           int m, tsri_fuse fuse, const tsri_conv_team *team)
{
    tsri_wino_job j = {.g = tsri_wino_lay_out(s, m, team->loops, TSRI_WINO_FORWARD),
                       .in = x,
                       .w = w,
                       .out = y,
                       .fuse = fuse};
    convolve(&j, team);
}

void tsri_winograd_backward_data(float *dx, const float *dy, const float *w,
                                 const tsri_conv_shape *s, int m, const float *add,
                                 const tsri_conv_team *team)
{
    tsri_wino_job j = {.g = tsri_wino_lay_out(s, m, team->loops, TSRI_WINO_DATA),
                       .in = dy,
                       .w = w,
                       .out = dx,
                       .fuse.add = add,
                       .turned = true};
    convolve(&j, team);
}

/* ---- Memory -------------------------------------------------------------------------------- */

int64_t tsri_winograd_work(const tsri_conv_shape *s, int m, const tsri_loops *kn, int threads)
{
    tsri_wino_job forward = {.g = tsri_wino_lay_out(s, m, kn, TSRI_WINO_FORWARD)};
    tsri_wino_job data = {.g = tsri_wino_lay_out(s, m, kn, TSRI_WINO_DATA)};
    tsri_wino_job weights = {.g = tsri_wino_lay_out(s, m, kn, TSRI_WINO_WEIGHTS)};
    int64_t most =
        tsri_max(cut_convolve(&forward, NULL, threads), cut_convolve(&data, NULL, threads));
    return tsri_max(most, tsri_wino_cut_weights(&weights, NULL, threads));
}
