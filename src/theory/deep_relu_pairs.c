/* deep_relu_pairs.c - the least distance of two samples, and of two states of every layer.
 *
 * All pairs: blocks against blocks. A product in single precision gives |x|^2 + |y|^2 - 2 <x, y> to
 * within e = 2 (k + 2) 2^-24 |x| |y| for k numbers, whatever the order of its sums; a pair that
 * could be nearer than the nearest so far is computed again from its differences in double. So the
 * result is exact, and the same for any number of threads.
 *
 * Where there is no time for all pairs, samples that are one point are found all the same
 * (data/twins.h).
 */
#include "theory/deep_relu.h"

#include "base/alloc.h"
#include "base/pieces.h"
#include "data/twins.h"
#include "linalg/gemm.h"

#include <math.h>

enum { COLUMNS = 256 }; /* of the other block at once */

/* The nearest of one row, and which column it is. */
typedef struct nearest {
    double squares;
    int64_t column; /* -1: none is nearer than what was known */
} nearest;

typedef struct pairs {
    const tsri_deep_net *net;
    tsri_deep_block a, b;
    double *length_a, *length_b; /* [room] squares, in double */
    float *product;              /* [room, COLUMNS] */
    nearest *row;                /* [room] */
} pairs;

/* One tile: all rows of a against some of b. */
typedef struct tile {
    const pairs *p;
    const float *x, *y;             /* [.., k] */
    int64_t k, columns, from, skip; /* skip: column c of row r counts when from + c > r + skip */
    double least;                   /* squares */
} tile;

static double squares_of(const float *x, int64_t k)
{
    double sum = 0;
    for (int64_t i = 0; i < k; i++)
        sum += (double)x[i] * (double)x[i];
    return sum;
}

/* |x - y|^2, or something above `enough` when it is no less than that. */
static double apart(const float *x, const float *y, int64_t k, double enough)
{
    double sum = 0;
    for (int64_t i = 0; i < k && sum < enough; i++) {
        double far = (double)x[i] - (double)y[i];
        sum += far * far;
    }
    return sum;
}

static void look_along(void *context, int64_t r, int thread)
{
    (void)thread;
    const tile *t = context;
    const pairs *p = t->p;
    nearest best = {t->least, -1};
    for (int64_t c = 0; c < t->columns; c++) {
        double sum = p->length_a[r] + p->length_b[t->from + c];
        double error =
            2 * (double)(t->k + 2) * 0x1p-24 * sqrt(p->length_a[r] * p->length_b[t->from + c]);
        double about = sum - 2 * (double)p->product[r * t->columns + c];
        if (t->from + c <= r + t->skip || about - error >= best.squares)
            continue;
        double exact = apart(t->x + r * t->k, t->y + (t->from + c) * t->k, t->k, best.squares);
        if (exact < best.squares)
            best = (nearest){exact, t->from + c};
    }
    p->row[r] = best;
}

/* Level l of the two blocks; `same`: they are one block. *least are squares. */
static tsr_status level(double *least, int64_t pair[2], pairs *p, int64_t l, bool same,
                        tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    int64_t k = l == 0 ? p->net->d : p->net->layer[l - 1].m;
    const tsri_deep_block *b = same ? &p->a : &p->b;
    for (int64_t i = 0; i < p->a.n; i++)
        p->length_a[i] = squares_of(p->a.x[l] + i * k, k);
    for (int64_t j = 0; j < b->n; j++)
        p->length_b[j] = squares_of(b->x[l] + j * k, k);
    for (int64_t from = 0; from < b->n; from += COLUMNS) {
        tile t = {p,
                  p->a.x[l],
                  b->x[l],
                  k,
                  tsri_min(COLUMNS, b->n - from),
                  from,
                  same ? 0 : -p->a.n - 1,
                  *least};
        tsri_gemm g = {.b_transposed = true,
                       .m = p->a.n,
                       .n = t.columns,
                       .k = k,
                       .a = t.x,
                       .b = t.y + from * k,
                       .c = p->product};
        TSR_TRY(tsri_gemm_run(&g, pool));
        tsri_pool_run(pool, look_along, &t, p->a.n);
        for (int64_t r = 0; r < p->a.n; r++)
            if (p->row[r].column >= 0 && p->row[r].squares < *least) {
                *least = p->row[r].squares;
                pair[0] = r;
                pair[1] = p->row[r].column;
            }
    }
done:
    return st;
}

static tsr_status pairs_init(pairs *p, const tsri_deep_net *net, int64_t count)
{
    tsr_status st = TSR_OK;
    int64_t room = tsri_deep_rows(net, count);
    *p = (pairs){.net = net};
    TSR_TRY(tsri_deep_block_init(&p->a, net, room));
    TSR_TRY(tsri_deep_block_init(&p->b, net, room));
    TSR_TRY(tsri_alloc(&p->length_a, room, sizeof(double)));
    TSR_TRY(tsri_alloc(&p->length_b, room, sizeof(double)));
    TSR_TRY(tsri_alloc(&p->product, room * COLUMNS, sizeof(float)));
    TSR_TRY(tsri_alloc(&p->row, room, sizeof *p->row));
done:
    return st;
}

static void pairs_fini(pairs *p)
{
    tsri_deep_block_fini(&p->a);
    tsri_deep_block_fini(&p->b);
    tsri_free(p->length_a);
    tsri_free(p->length_b);
    tsri_free(p->product);
    tsri_free(p->row);
}

/* Two blocks that begin at samples i and j of the part. */
static tsr_status meet(tsri_deep_apart *out, pairs *p, int64_t i, int64_t j, int64_t step,
                       tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    for (int64_t l = 0; l <= p->net->L; l++) {
        int64_t pair[2] = {-1, -1};
        TSR_TRY(level(&out->least[l], pair, p, l, i == j, pool));
        if (l == 0 && pair[0] >= 0) {
            out->pair[0] = (i + pair[0]) * step;
            out->pair[1] = (j + pair[1]) * step;
        }
    }
done:
    return st;
}

tsr_status tsri_deep_least(tsri_deep_apart *out, const tsri_run_view *view,
                           const tsri_deep_net *net, int64_t step, int64_t count)
{
    tsr_status st = TSR_OK;
    pairs p;
    out->pair[0] = out->pair[1] = -1;
    for (int64_t l = 0; l <= net->L; l++)
        out->least[l] = INFINITY;
    TSR_TRY(pairs_init(&p, net, count));
    for (int64_t i = 0; i < count; i += p.a.n) {
        TSR_TRY(tsri_deep_load(&p.a, view, net, i * step, step, count - i));
        TSR_TRY(meet(out, &p, i, i, step, view->device.pool));
        for (int64_t j = i + p.a.n; j < count; j += p.b.n) {
            TSR_TRY(tsri_deep_load(&p.b, view, net, j * step, step, count - j));
            TSR_TRY(meet(out, &p, i, j, step, view->device.pool));
        }
    }
    for (int64_t l = 0; l <= net->L; l++)
        out->least[l] = sqrt(out->least[l]);
done:
    pairs_fini(&p);
    return st;
}

/* Products of all pairs, and the states of every block for every other. */
double tsri_deep_least_operations(const tsri_deep_net *net, int64_t count)
{
    double n = (double)count, numbers = (double)net->d;
    for (int64_t l = 0; l < net->L; l++)
        numbers += (double)net->layer[l].m;
    double all = n * n * numbers + n * n / (double)tsri_deep_rows(net, count) * net->weights;
    return all / TSRI_DEEP_PRODUCTS;
}

/* ---- Samples that are one point -------------------------------------------------------------- */

typedef struct twins {
    const tsri_run_view *view;
    bool *found;
    int64_t *pair;
} twins;

static void sample_of(float *x, const void *context, int64_t i)
{
    const tsri_run_view *view = ((const twins *)context)->view;
    tsri_sample(x, view->data, &view->data->train, i);
}

static tsr_status first_twin(void *context, int64_t i, int64_t j, bool *enough)
{
    const twins *t = context;
    *t->found = *enough = true;
    t->pair[0] = i;
    t->pair[1] = j;
    return TSR_OK;
}

tsr_status tsri_deep_same(bool *found, int64_t pair[2], const tsri_run_view *view)
{
    *found = false;
    return tsri_row_twins_find(&(tsri_row_twins){.n = view->data->train.n,
                                                 .dim = view->data->dim,
                                                 .row = sample_of,
                                                 .twin = first_twin,
                                                 .context = &(twins){view, found, pair}});
}
