/* masked_ground.c - samples, first weights and passes of a run of model shallow. */
#include "theory/masked_ground.h"

#include "base/alloc.h"
#include "base/pieces.h"
#include "base/simd.h"
#include "linalg/gemm.h"
#include "linalg/gemm64.h"
#include "linalg/openblas.h"
#include "scheme/team.h"
#include "theory/ntk.h"
#include "theory/ntk_shallow.h"
#include "theory/rates.h"

#include <math.h>
#include <string.h>

/* ---- What kind of run --------------------------------------------------------------------- */

bool tsri_masked_whole(const tsri_run_view *view)
{
    return tsri_team_chances(view->team).xi >= 1;
}

const float *tsri_masked_weights(const tsri_masked_ground *g)
{
    const tsri_run_view *view = g->view;
    return tsri_opened_at(&view->seen, view->seen.w, view->net->layer[0].weight);
}

/* ---- Making ------------------------------------------------------------------------------- */

static double length(const float *w, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)w[i] * (double)w[i];
    return sqrt(sum);
}

/* W_0: now, before the first round; later the seed's, if it has the length that was kept ("start"):
 * a run that began with a model keeps none. */
static tsr_status find_start(tsri_masked_ground *g, tsri_past *past)
{
    tsr_status st = TSR_OK;
    tsri_store first = {0};
    const float *w0 = NULL;
    const tsri_run_view *view = g->view;
    if (view->position->round == 0 && !view->given) {
        w0 = tsri_masked_weights(g);
        TSR_TRY(tsri_past_keep(past, "start", length(w0, g->m * g->d)));
    } else if (view->position->round > 0) {
        TSR_TRY(tsri_store_init_host(&first, view->net));
        TSR_TRY(tsri_store_fill(&first, view->settings->seed));
        w0 = tsri_store_own(&first) + view->net->param[view->net->layer[0].weight].offset;
        if (tsri_past_at(past, 0, "start") != length(w0, g->m * g->d))
            w0 = NULL;
    }
    if (w0) {
        TSR_TRY(tsri_alloc_raw(&g->w0, g->m * g->d, sizeof *g->w0));
        memcpy(g->w0, w0, (size_t)(g->m * g->d) * sizeof *g->w0);
        TSR_TRY(tsri_patterns(&g->start, g->x, g->n, g->d, g->w0, g->m, view->device.pool));
    }
done:
    tsri_store_fini(&first);
    return st;
}

static tsr_status make(tsri_masked_ground *g, const tsri_run_view *view, tsri_past *past)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = view->net;
    *g = (tsri_masked_ground){.view = view,
                              .n = view->data->train.n,
                              .d = view->data->dim,
                              .m = net->param[net->layer[0].weight].shape[0],
                              .p = view->settings->workers,
                              .tau = view->settings->local_steps,
                              .xi = tsri_team_chances(view->team).xi,
                              .y = view->data->train.target};
    g->scale = 1 / sqrt((double)g->m);
    g->whole = tsri_shallow_xi(net) * g->scale;
    TSR_TRY(tsri_alloc_raw(&g->a, g->m, sizeof *g->a));
    memcpy(g->a, tsri_opened_at(&view->seen, view->seen.w, net->layer[net->layers - 1].weight),
           (size_t)g->m * sizeof *g->a);
    TSR_TRY(tsri_openblas_start(tsri_pool_threads(view->device.pool)));
    TSR_TRY(tsri_take_samples(&g->x, view->data, &view->data->train, g->n));
    TSR_TRY(tsri_alloc_raw(&g->z, tsri_min(g->n, TSRI_MASKED_ROWS) * g->m, sizeof *g->z));
    if (g->n <= TSRI_MASKED_KERNEL) {
        TSR_TRY(tsri_alloc_raw(&g->gram, g->n * g->n, sizeof *g->gram));
        TSR_TRY(tsri_alloc_raw(&g->k, g->n * g->n, sizeof *g->k));
        TSR_TRY(tsri_alloc_raw(&g->work, g->n * g->n, sizeof *g->work));
        TSR_TRY(tsri_gram64(g->gram, g->x, g->n, g->d, view->device.pool));
    }
    TSR_TRY(find_start(g, past));
done:
    return st;
}

tsr_status tsri_masked_ground_of(tsri_masked_ground **out, const tsri_run_view *view,
                                 tsri_past *past)
{
    tsr_status st = TSR_OK;
    *out = past->state;
    if (*out)
        return TSR_OK;
    TSR_TRY(tsri_alloc(out, 1, sizeof **out));
    past->state = *out;
    TSR_TRY(make(*out, view, past));
done:
    return st;
}

void tsri_masked_ground_free(void *ground)
{
    tsri_masked_ground *g = ground;
    if (!g)
        return;
    tsri_signs_fini(&g->start);
    tsri_free(g->w0);
    tsri_free(g->a);
    tsri_free(g->x);
    tsri_free(g->z);
    tsri_free(g->gram);
    tsri_free(g->k);
    tsri_free(g->work);
    tsri_free(g);
}

/* ---- Passes ------------------------------------------------------------------------------- */

/* Rows from .. of a pass, z [rows, units] their products. */
typedef struct block {
    tsri_masked_pass *pass;
    const tsri_masked_ground *g;
    int64_t from;
    double *loss, *squares; /* [n] of single samples */
} block;

enum { LANES = 16, RUN = 64 * LANES }; /* sums of 64 floats, then doubles */

/* z becomes relu(z), at most RUN of them; unit r adds to lane r % LANES, so the bits depend on
 * nothing else. `count` is a multiple of LANES. */
TSRI_CLONES
static void add_run(float *restrict sum, float *restrict squares, float *restrict z,
                    const float *restrict a, int64_t count)
{
    for (int64_t r = 0; r < count; r++)
        z[r] = z[r] > 0 ? z[r] : 0;
    for (int64_t r = 0; r < count; r += LANES)
        for (int64_t lane = 0; lane < LANES; lane++)
            sum[lane] += z[r + lane] * a[r + lane];
    for (int64_t r = 0; r < count; r += LANES)
        for (int64_t lane = 0; lane < LANES; lane++)
            squares[lane] += z[r + lane] * z[r + lane];
}

static void add_units(double *sum, double *squares, float *z, const float *a, int64_t count)
{
    for (int64_t r = 0; r < count; r += RUN) {
        float part[LANES] = {0}, square[LANES] = {0};
        add_run(part, square, z + r, a + r, tsri_min(RUN, count - r));
        for (int64_t lane = 0; lane < LANES; lane++) {
            *sum += (double)part[lane];
            *squares += (double)square[lane];
        }
    }
}

/* sum_r a_r relu(z_r), with z made relu(z); *squares is that of its squares. */
static double weigh(double *squares, float *z, const float *a, int64_t units)
{
    float rest[LANES] = {0}, signs[LANES] = {0};
    double sum = 0;
    int64_t whole = units / LANES * LANES;
    size_t left = (size_t)(units - whole) * sizeof *z;
    *squares = 0;
    add_units(&sum, squares, z, a, whole);
    memcpy(rest, z + whole, left);
    memcpy(signs, a + whole, left);
    add_units(&sum, squares, rest, signs, LANES);
    memcpy(z + whole, rest, left);
    return sum;
}

static void output_row(void *context, int64_t i, int thread)
{
    const block *b = context;
    const tsri_masked_pass *pass = b->pass;
    float *z = b->g->z + i * pass->units;
    double again;
    (void)thread;
    if (pass->bits)
        tsri_signs_sign(pass->bits, b->from + i, 0, z, pass->units);
    double u = pass->scale * weigh(&b->squares[b->from + i], z, pass->a, pass->units);
    if (pass->b)
        pass->v[b->from + i] = pass->scale * weigh(&again, z, pass->b, pass->units);
    pass->u[b->from + i] = u;
    u -= (double)b->g->y[b->from + i];
    b->loss[b->from + i] = u * u;
}

TSRI_CLONES
static void pass_back(float *restrict z, const float *restrict a, float error, int64_t count)
{
    for (int64_t r = 0; r < count; r++)
        z[r] = z[r] > 0 ? error * a[r] : 0;
}

/* z becomes the gradient of the loss by <w_r, x_i>. */
static void gradient_row(void *context, int64_t i, int thread)
{
    const block *b = context;
    const tsri_masked_pass *pass = b->pass;
    float *z = b->g->z + i * pass->units;
    double e = pass->scale * (pass->u[b->from + i] - (double)b->g->y[b->from + i]);
    (void)thread;
    pass_back(z, pass->a, (float)e, pass->units);
}

/* to [units, d] += z^T x of the block's rows. */
static tsr_status add_product(float *to, const block *b, int64_t rows)
{
    tsri_gemm g = {.a_transposed = true,
                   .m = b->pass->units,
                   .n = b->g->d,
                   .k = rows,
                   .a = b->g->z,
                   .b = b->g->x + b->from * b->g->d,
                   .c = to,
                   .add = b->from > 0};
    return tsri_gemm_run(&g, b->g->view->device.pool);
}

static tsr_status pass_rows(const block *b, int64_t rows)
{
    tsr_status st = TSR_OK;
    tsri_pool *pool = b->g->view->device.pool;
    tsri_gemm g = {.b_transposed = true,
                   .m = rows,
                   .n = b->pass->units,
                   .k = b->g->d,
                   .a = b->g->x + b->from * b->g->d,
                   .b = b->pass->w,
                   .c = b->g->z};
    TSR_TRY(tsri_gemm_run(&g, pool));
    tsri_pool_run(pool, output_row, (void *)(uintptr_t)b, rows);
    if (b->pass->lift)
        TSR_TRY(add_product(b->pass->lift, b, rows));
    if (b->pass->gradient) {
        tsri_pool_run(pool, gradient_row, (void *)(uintptr_t)b, rows);
        TSR_TRY(add_product(b->pass->gradient, b, rows));
    }
done:
    return st;
}

/* Outputs are sums of floats, known to about 2^-21 of the root of what their squares would add up
 * to without the signs; a loss to twice that beside the root of itself. */
static double blur_of(const tsri_masked_pass *pass)
{
    double outputs = pass->scale * sqrt(pass->squares) * 0x1p-21;
    return pass->loss > 0 ? fmin(1e-6 + 2 * outputs / sqrt(pass->loss), 1) : 1;
}

/* A share without units: its outputs are 0. */
static void pass_nothing(tsri_masked_pass *pass, const tsri_masked_ground *g)
{
    for (int64_t i = 0; i < g->n; i++) {
        pass->u[i] = 0;
        if (pass->b)
            pass->v[i] = 0;
        pass->loss += (double)g->y[i] * (double)g->y[i];
    }
}

tsr_status tsri_masked_run_pass(tsri_masked_pass *pass, tsri_masked_ground *g)
{
    tsr_status st = TSR_OK;
    block b = {.pass = pass, .g = g};
    pass->loss = pass->squares = pass->blur = 0;
    if (pass->units == 0) {
        pass_nothing(pass, g);
        return TSR_OK;
    }
    TSR_TRY(tsri_alloc_raw(&b.loss, g->n, sizeof *b.loss));
    TSR_TRY(tsri_alloc_raw(&b.squares, g->n, sizeof *b.squares));
    if (pass->bits)
        TSR_TRY(tsri_signs_init(pass->bits, g->n, pass->units));
    for (; b.from < g->n; b.from += TSRI_MASKED_ROWS)
        TSR_TRY(pass_rows(&b, tsri_min(TSRI_MASKED_ROWS, g->n - b.from)));
    for (int64_t i = 0; i < g->n; i++) {
        pass->loss += b.loss[i];
        pass->squares += b.squares[i];
        if (pass->square)
            pass->square[i] = b.squares[i];
    }
    pass->blur = blur_of(pass);
done:
    tsri_free(b.loss);
    tsri_free(b.squares);
    return st;
}
