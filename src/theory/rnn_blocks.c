/* rnn_blocks.c - sequences in blocks of bounded memory, and spectral norms in double. */
#include "theory/rnn_parts.h"

#include "base/alloc.h"
#include "base/pieces.h"
#include "base/rng.h"
#include "linalg/gemm64.h"
#include "linalg/lapack.h"

#include <math.h>
#include <string.h>

enum { STEPS = 100, ROWS = 32, COLUMNS = 256 };

static const double BLOCK_BYTES = 1 << 25; /* of one net's states; a visit has up to four */

/* ---- Blocks --------------------------------------------------------------------------------- */

static void block_fini(tsri_rnn_block *b)
{
    tsri_free(b->index);
    tsri_free(b->x);
    tsri_free(b->length);
}

static tsr_status block_init(tsri_rnn_block *b, const tsri_rnn_case *k, int64_t most)
{
    tsr_status st = TSR_OK;
    *b = (tsri_rnn_block){0};
    TSR_TRY(tsri_alloc(&b->index, most, sizeof *b->index));
    TSR_TRY(tsri_alloc(&b->x, most * k->now.L * k->now.dx, sizeof *b->x));
    if (k->length)
        TSR_TRY(tsri_alloc(&b->length, most, sizeof *b->length));
done:
    return st;
}

/* Sequence number j of `count` that are spread evenly over all n. */
static int64_t spread(int64_t j, int64_t count, int64_t n)
{
    return (int64_t)((double)j * (double)n / (double)count);
}

static void block_fill(tsri_rnn_block *b, const tsri_rnn_case *k, int64_t first, int64_t size,
                       int64_t count)
{
    int64_t row = k->now.L * k->now.dx;
    b->first = first;
    b->n = tsri_min(size, count - first);
    for (int64_t j = 0; j < b->n; j++) {
        b->index[j] = spread(first + j, count, k->n);
        memcpy(b->x + j * row, k->x + b->index[j] * row, (size_t)row * sizeof *b->x);
        if (b->length)
            b->length[j] = k->length[b->index[j]];
    }
}

tsr_status tsri_rnn_each(const tsri_rnn_case *k, int64_t count, tsri_rnn_visit visit, void *context)
{
    tsr_status st = TSR_OK;
    tsri_rnn_block b;
    double each = 16.0 * (double)k->now.L * (double)k->now.m;
    int64_t size = tsri_max(1, tsri_min(count, (int64_t)(BLOCK_BYTES / each)));
    TSR_TRY(block_init(&b, k, size));
    for (int64_t first = 0; first < count; first += size) {
        TSR_TRY(tsri_hear_stop(k->view));
        block_fill(&b, k, first, size, count);
        TSR_TRY(visit(context, &b));
    }
done:
    block_fini(&b);
    return st;
}

int64_t tsri_rnn_fitting(tsri_certificate *c, const tsri_rnn_case *k, double operations,
                         const char *what)
{
    double all = operations * (double)k->n;
    if (all <= k->effort)
        return k->n;
    if (c)
        tsri_certify_long(c, what, all);
    return (int64_t)(k->effort / operations);
}

/* ---- Matrix and vector ---------------------------------------------------------------------- */

typedef struct product {
    double *y;
    const double *a, *x;
    int64_t rows, cols;
} product;

static void rows_of(void *context, int64_t i, int thread)
{
    (void)thread;
    const product *p = context;
    for (int64_t r = i * ROWS; r < tsri_min((i + 1) * ROWS, p->rows); r++)
        p->y[r] = tsri_dot64(p->a + r * p->cols, p->x, p->cols);
}

static void columns_of(void *context, int64_t i, int thread)
{
    (void)thread;
    const product *p = context;
    int64_t from = i * COLUMNS, end = tsri_min(from + COLUMNS, p->cols);
    memset(p->y + from, 0, (size_t)(end - from) * sizeof *p->y);
    for (int64_t r = 0; r < p->rows; r++) {
        double x = p->x[r];
        for (int64_t j = from; x != 0 && j < end; j++)
            p->y[j] += x * p->a[r * p->cols + j];
    }
}

void tsri_rnn_times(double *y, const double *a, const double *x, int64_t rows, int64_t cols,
                    bool transposed, tsri_pool *pool)
{
    product p = {y, a, x, rows, cols};
    if (transposed)
        tsri_pool_run(pool, columns_of, &p, tsri_ceil_div(cols, COLUMNS));
    else
        tsri_pool_run(pool, rows_of, &p, tsri_ceil_div(rows, ROWS));
}

tsr_status tsri_rnn_back(double *to, double *from, const double *g, const double *W, int64_t d,
                         int64_t m, tsri_pool *pool)
{
    for (int64_t r = 0; r < d; r++)
        for (int64_t j = 0; j < m; j++)
            from[r * m + j] = g[j] > 0 ? from[r * m + j] : 0;
    return tsri_gemm64_run(&(tsri_gemm64){.m = d, .n = m, .k = m, .a = from, .b = W, .c = to},
                           pool);
}

/* ---- Norms ---------------------------------------------------------------------------------- */

/* The largest |entry|; infinite when one is not finite. */
static double largest_entry(const double *a, int64_t count)
{
    double most = 0;
    for (int64_t e = 0; e < count; e++)
        most = fmax(most, isnan(a[e]) ? (double)INFINITY : fabs(a[e]));
    return most;
}

/* Of a over its largest entry: products of weights that diverge have squares beyond a double. */
tsr_status tsri_rnn_norm_wide(double *norm, const double *a, int64_t rows, int64_t cols,
                              tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    double *gram = NULL, *value = NULL, *unit = NULL, scale = largest_entry(a, rows * cols);
    *norm = scale;
    if (scale == 0 || isinf(scale))
        return TSR_OK;
    TSR_TRY(tsri_alloc(&gram, rows * rows, sizeof *gram));
    TSR_TRY(tsri_alloc(&value, rows, sizeof *value));
    TSR_TRY(tsri_alloc(&unit, rows * cols, sizeof *unit));
    for (int64_t e = 0; e < rows * cols; e++)
        unit[e] = a[e] / scale;
    TSR_TRY(tsri_gemm64_run(
        &(tsri_gemm64){
            .b_transposed = true, .m = rows, .n = rows, .k = cols, .a = unit, .b = unit, .c = gram},
        pool));
    TSR_TRY(tsri_eigenvalues(value, gram, rows));
    *norm = scale * sqrt(fmax(0, value[rows - 1]));
done:
    tsri_free(gram);
    tsri_free(value);
    tsri_free(unit);
    return st;
}

static bool scale_to_one(double *x, int64_t n)
{
    double size = tsri_length64(x, n);
    for (int64_t i = 0; size > 0 && i < n; i++)
        x[i] /= size;
    return size > 0;
}

/* The upper end is that of Kuczynski and Wozniakowski (1992), Theorem 4.1, as in chain.h. */
tsr_status tsri_rnn_norm_square(double *value, double *high, double *x, const double *a, int64_t m,
                                uint64_t seed, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    double *own = NULL, *y = NULL;
    *value = 0;
    TSR_TRY(tsri_alloc(&y, m, sizeof *y));
    TSR_TRY(tsri_alloc(&own, m, sizeof *own));
    tsri_rng rng = tsri_rng_stream(seed, TSRI_FOR_THEORY, 4, 0, 0);
    for (int64_t i = 0; i < m; i++)
        own[i] = tsri_rng_normal(&rng);
    for (int64_t s = 0; s < STEPS && scale_to_one(own, m); s++) {
        if (x)
            memcpy(x, own, (size_t)m * sizeof *x);
        tsri_rnn_times(y, a, own, m, m, false, pool);
        *value = tsri_length64(y, m);
        (void)scale_to_one(y, m); /* its square may be beyond a double */
        tsri_rnn_times(own, a, y, m, m, true, pool);
    }
    *value = isnan(*value) ? (double)INFINITY : *value;
    double miss = pow((1 - TSRI_RNN_LEVEL) / (0.824 * sqrt((double)m)), 1 / ((double)STEPS - 0.5));
    *high = *value / sqrt(miss);
done:
    tsri_free(own);
    tsri_free(y);
    return st;
}
