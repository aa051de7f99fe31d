/* gated_reach.c - how many samples the measurements of a gated net take within certify.effort, and
 * what the paper assumes of the data. */
#include "theory/gated.h"

#include "base/alloc.h"
#include "linalg/gemm64.h"
#include "net/grelu.h"

#include <math.h>

/* ---- Operations ------------------------------------------------------------------------------ */

typedef struct shape {
    double n, d, m, L, dy;
    int64_t block;
} shape;

static shape shape_of(const tsri_net *net, const tsr_data *data)
{
    const tsri_param *c = &net->param[tsri_net_param(net, "c.weight")];
    return (shape){.n = (double)data->train.n,
                   .d = (double)c->shape[1],
                   .m = (double)c->shape[0],
                   .L = (double)tsri_grelu_layers(net),
                   .dy = (double)net->outputs};
}

/* Of one sample through the net, and through it and back with all outputs. */
static double there(const shape *s)
{
    return 2 * (s->d * s->m + s->L * s->m * s->m + s->m * s->dy);
}

static double there_and_back(const shape *s)
{
    return there(s) + 2 * s->dy * s->L * s->m * s->m;
}

/* Views now and at first, made anew for each pair of blocks, the products of pairs, and |F F^T|_2
 * of each, which of several outputs is a call of LAPACK. */
static double pairs_work(const shape *s, double n)
{
    double blocks = ceil(n / (double)s->block), d2 = s->dy * s->dy;
    double norm = s->dy > 1 ? 1e4 + 10 * d2 * s->dy : 10;
    return n * (blocks + 1) * there_and_back(s) +
           n * n / 2 * (s->L + 1) * (4 * s->m * (1 + d2) + norm);
}

/* G_k, k = 0 .. L, with half of the units on: products, grams, eigenvalues (4 side^3). */
static double G_work(const shape *s, double n)
{
    double on = s->m / 2, side = fmin(on, s->d);
    return n * (s->L * 2 * on * on * s->d + (s->L + 1) * (2 * on * s->d * side + 4 * pow(side, 3)));
}

/* 40 steps there and back through a - b layers, for all 1 <= b < a <= L. */
static double chains_work(const shape *s, double n)
{
    double layers = 0;
    for (int64_t length = 1; length < (int64_t)s->L; length++)
        layers += (double)length * (s->L - (double)length);
    return n * (there(s) + 40 * 4 * s->m * s->m * layers);
}

static double gates_work(const shape *s, double n)
{
    return n * 3 * there(s);
}

static double inputs_work(const shape *s, double n)
{
    return n * n * s->d;
}

/* As many samples as `effort` has room for, but `least`. */
static tsri_gated_portion portion(const shape *s, double (*work)(const shape *, double),
                                  double effort, double least, double most)
{
    double n = fmin(s->n, most);
    while (n > least && work(s, n) > effort)
        n -= ceil(n / 16);
    return (tsri_gated_portion){(int64_t)fmin(fmax(n, least), s->n), work(s, s->n)};
}

enum { DOUBLE = 4 }; /* floats of training in the time of one such number, packing included */
enum { ROOM = 1 << 28, BLOCK = 128, KERNEL = 5792 }; /* bytes; samples; 8 KERNEL^2 is ROOM */

static int64_t block_of(const shape *s)
{
    double each = 4 * 8 * (s->L + 1) * s->m * (1 + s->dy); /* bytes of four views */
    return (int64_t)fmax(1, fmin(fmin(BLOCK, s->n), (double)ROOM / each));
}

tsri_gated_reach tsri_gated_reach_of(const tsri_net *net, const tsr_data *data, double effort)
{
    shape s = shape_of(net, data);
    s.block = block_of(&s);
    tsri_gated_reach r = {.n = data->train.n,
                          .block = s.block,
                          .pairs = portion(&s, pairs_work, effort, 2, KERNEL),
                          .G = portion(&s, G_work, effort, 1, INFINITY),
                          .chains = portion(&s, chains_work, effort, 1, INFINITY),
                          .gates = portion(&s, gates_work, effort, 1, INFINITY),
                          .inputs = portion(&s, inputs_work, effort, 2, KERNEL),
                          .loss = s.n * (there(&s) + 2 * s.L * s.m * s.m)}; /* and its gates */
    double norms = 2 * s.L * 60 * 4 * s.m * s.m, gradients = 2 * 3 * r.loss;
    double doubles = pairs_work(&s, (double)r.pairs.samples) + G_work(&s, (double)r.G.samples) +
                     chains_work(&s, (double)r.chains.samples) +
                     gates_work(&s, (double)r.gates.samples) + norms;
    r.look = DOUBLE * doubles + gradients;
    return r;
}

int64_t tsri_gated_kept(const tsri_gated_reach *r)
{
    int64_t most = r->pairs.samples;
    most = r->G.samples > most ? r->G.samples : most;
    most = r->chains.samples > most ? r->chains.samples : most;
    return r->gates.samples > most ? r->gates.samples : most;
}

/* ---- The data -------------------------------------------------------------------------------- */

static double length(const float *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

static tsr_status lengths(tsri_gated_data *d, const tsri_net *net, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    float *x = NULL;
    const tsri_part *part = &data->train;
    int64_t dy = net->outputs;
    TSR_TRY(tsri_alloc(&x, data->dim, sizeof *x));
    for (int64_t i = 0; i < part->n; i++) {
        tsri_sample(x, data, part, i);
        double off = fabs(length(x, data->dim) - 1);
        double target = part->target ? length(part->target + i * dy, dy) : 1; /* one of classes */
        if (!(off <= d->off)) {
            d->off = off;
            d->off_at = i;
        }
        if (!(target <= d->target)) {
            d->target = target;
            d->target_at = i;
        }
    }
done:
    tsri_free(x);
    return st;
}

static tsr_status products(tsri_gated_data *d, const tsr_data *data, int64_t n, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    float *x = NULL;
    double *gram = NULL;
    int64_t dim = data->dim;
    TSR_TRY(tsri_alloc_raw(&x, n * dim, sizeof *x));
    TSR_TRY(tsri_alloc_raw(&gram, n * n, sizeof *gram));
    for (int64_t i = 0; i < n; i++)
        tsri_sample(x + i * dim, data, &data->train, i);
    TSR_TRY(tsri_gram64(gram, x, n, dim, pool));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            if (!(fabs(gram[i * n + j]) <= d->delta)) {
                d->delta = fabs(gram[i * n + j]);
                d->delta_a = j;
                d->delta_b = i;
            }
done:
    tsri_free(x);
    tsri_free(gram);
    return st;
}

tsr_status tsri_gated_data_of(tsri_gated_data *d, const tsri_net *net, const tsr_data *data,
                              const tsri_gated_reach *r, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    *d = (tsri_gated_data){0};
    TSR_TRY(lengths(d, net, data));
    TSR_TRY(products(d, data, r->inputs.samples, pool));
done:
    return st;
}
