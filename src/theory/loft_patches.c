/* loft_patches.c - what the filters of a cnn1 give on every patch of the training set. */
#include "theory/loft_patches.h"

#include "base/alloc.h"
#include "data/loader.h"
#include "linalg/gemm.h"
#include "linalg/openblas.h"
#include "net/order.h"
#include "theory/ntk.h"

#include <math.h>
#include <string.h>

enum { PRODUCTS = 1 << 18, SUMS = 1 << 19 }; /* floats and doubles held at once, at the least */

/* What one image has: the pass takes extremes and sums over images in their order. */
struct tsri_image_result {
    double u, most_square, all_squares, energy;
    int64_t flips, near;
};

static int64_t at_most(int64_t value, int64_t most)
{
    return value < 1 ? 1 : value > most ? most : value;
}

/* The image, a tile of patches, and their products with w and with `before`. */
static int64_t scratch_each(const tsri_patches *all)
{
    return all->data->dim + all->rows * (all->d + 2 * all->m);
}

tsr_status tsri_patches_filters(float *w, const tsri_store *store)
{
    tsr_status st = TSR_OK;
    int64_t conv = store->net->layer[0].weight;
    tsri_opened host;
    TSR_TRY(tsri_store_open(&host, store, TSRI_OPEN_WEIGHTS));
    tsri_order_to_file(w, tsri_opened_at(&host, host.w, conv), &store->net->param[conv]);
done:
    tsri_store_close(&host);
    return st;
}

/* a lies [filter][pixel] in the linear layer. */
static tsr_status take_signs(tsri_patches *all)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = all->store->net;
    tsri_opened host;
    TSR_TRY(tsri_store_open(&host, all->store, TSRI_OPEN_WEIGHTS));
    const float *a = tsri_opened_at(&host, host.w, net->layer[net->layers - 1].weight);
    for (int64_t r = 0; r < all->m; r++)
        for (int64_t j = 0; j < all->p; j++)
            all->a[j * all->m + r] = a[r * all->p + j];
done:
    tsri_store_close(&host);
    return st;
}

tsr_status tsri_patches_init(tsri_patches *all, const tsri_store *store, const tsr_data *data,
                             tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = store->net;
    const tsri_layer *conv = &net->layer[0];
    int threads = tsri_pool_threads(pool);
    *all = (tsri_patches){.store = store,
                          .data = data,
                          .pool = pool,
                          .n = data->train.n,
                          .p = net->input.h * net->input.w,
                          .d = net->input.c * conv->size * conv->size,
                          .m = net->value[conv->out].shape.c};
    all->rows = at_most(PRODUCTS / all->m, all->p);
    all->group = at_most(SUMS / all->m, all->n);
    TSR_TRY(tsri_openblas_start(threads));
    TSR_TRY(tsri_alloc_raw(&all->a, all->p * all->m, sizeof *all->a));
    TSR_TRY(tsri_alloc_raw(&all->scratch, threads * scratch_each(all), sizeof *all->scratch));
    TSR_TRY(tsri_alloc_raw(&all->sum, all->group * all->m, sizeof *all->sum));
    TSR_TRY(tsri_alloc(&all->result, all->group, sizeof *all->result));
    TSR_TRY(take_signs(all));
done:
    return st;
}

void tsri_patches_fini(tsri_patches *all)
{
    tsri_free(all->a);
    tsri_free(all->scratch);
    tsri_free(all->sum);
    tsri_free(all->result);
    *all = (tsri_patches){0};
}

double tsri_patches_operations(const tsri_net *net, const tsr_data *data, int products)
{
    const tsri_layer *conv = &net->layer[0];
    double d = (double)(net->input.c * conv->size * conv->size);
    double each = (double)(net->input.h * net->input.w * net->value[conv->out].shape.c);
    return (double)data->train.n * each * (2 * d * products + 4);
}

/* ---- One image ------------------------------------------------------------------------------ */

typedef struct job {
    tsri_patches *all;
    const tsri_pass *pass;
    int64_t first; /* image of the group */
} job;

static int64_t count_flips(const float *z, const float *z0, int64_t m)
{
    int64_t flips = 0;
    for (int64_t r = 0; r < m; r++)
        flips += (z[r] >= 0) != (z0[r] >= 0);
    return flips;
}

/* Which patterns can a move by R change (event A of appendix B.1)? One that is on when <w, x> is
 * below R |x|, one that is off also when it is just that far away. */
static int64_t count_near(const float *z, int64_t m, double reach)
{
    int64_t near = 0;
    for (int64_t r = 0; r < m && reach > 0; r++)
        near += z[r] >= 0 ? (double)z[r] < reach : -(double)z[r] <= reach;
    return near;
}

static double sum_squares(const float *z, int64_t m)
{
    double sum = 0;
    for (int64_t r = 0; r < m; r++)
        sum += (double)z[r] * (double)z[r];
    return sum;
}

static void add_outputs(double *sum, const float *a, const float *z, int64_t m)
{
    for (int64_t r = 0; r < m; r++)
        sum[r] += z[r] > 0 ? (double)a[r] * (double)z[r] : 0;
}

/* Products of one patch: z of the filters, z0 of those before, `length` of the patch. */
static void one_patch(struct tsri_image_result *to, double *sum, const job *b, const float *z,
                      const float *z0, const float *a, double length)
{
    const tsri_pass *pass = b->pass;
    int64_t m = b->all->m;
    if (pass->u || pass->square)
        add_outputs(sum, a, z, m);
    if (pass->before) {
        int64_t flips = count_flips(z, z0, m);
        to->flips = flips > to->flips ? flips : to->flips;
    }
    if (pass->start) {
        int64_t near = count_near(z, m, pass->radius * length);
        double square = sum_squares(z, m);
        to->near = near > to->near ? near : to->near;
        to->most_square = fmax(to->most_square, square);
        to->all_squares += square;
        to->energy += length * length;
    }
}

static void one_image(void *context, int64_t g, int thread)
{
    const job *b = context;
    tsri_patches *all = b->all;
    int64_t m = all->m, d = all->d, side = all->store->net->layer[0].size;
    float *x = all->scratch + thread * scratch_each(all), *patch = x + all->data->dim;
    float *z = patch + all->rows * d, *z0 = z + all->rows * m;
    double *sum = all->sum + g * m;
    struct tsri_image_result result = {0};
    memset(sum, 0, (size_t)m * sizeof *sum);
    tsri_sample(x, all->data, &all->data->train, b->first + g);
    for (int64_t low = 0; low < all->p; low += all->rows) {
        int64_t rows = all->p - low < all->rows ? all->p - low : all->rows;
        for (int64_t j = 0; j < rows; j++)
            tsri_patch_of(patch + j * d, x, all->store->net->input, low + j, side);
        tsri_gemm_tile(z, m, patch, d, b->pass->w, d, rows, m, d, false);
        if (b->pass->before)
            tsri_gemm_tile(z0, m, patch, d, b->pass->before, d, rows, m, d, false);
        for (int64_t j = 0; j < rows; j++)
            one_patch(&result, sum, b, z + j * m, z0 + j * m, all->a + (low + j) * m,
                      sqrt(sum_squares(patch + j * d, d)));
    }
    for (int64_t r = 0; r < m; r++)
        result.u += sum[r];
    all->result[g] = result;
}

/* ---- All of them ---------------------------------------------------------------------------- */

static void merge(tsri_pass *pass, const tsri_patches *all, int64_t first, int64_t count)
{
    for (int64_t g = 0; g < count; g++) {
        const struct tsri_image_result *r = &all->result[g];
        if (pass->u)
            pass->u[first + g] = r->u;
        for (int64_t k = 0; pass->square && k < all->m; k++)
            pass->square[k] += all->sum[g * all->m + k] * all->sum[g * all->m + k];
        pass->flips = fmax(pass->flips, (double)r->flips);
        pass->near = fmax(pass->near, (double)r->near);
        pass->most_square = fmax(pass->most_square, r->most_square);
        pass->all_squares += r->all_squares;
        pass->energy += r->energy;
    }
}

void tsri_patches_pass(tsri_patches *all, tsri_pass *pass)
{
    pass->flips = pass->near = pass->most_square = pass->all_squares = pass->energy = 0;
    if (pass->square)
        memset(pass->square, 0, (size_t)all->m * sizeof *pass->square);
    for (int64_t first = 0; first < all->n; first += all->group) {
        int64_t count = all->n - first < all->group ? all->n - first : all->group;
        job b = {all, pass, first};
        tsri_pool_run(all->pool, one_image, &b, count);
        merge(pass, all, first, count);
    }
}
