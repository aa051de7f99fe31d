/* deep_relu_start.c - Theorem 5.1 (i)-(vii) at W(0), and what the theorems assume of the samples:
 * measured once, before the first round, and kept.
 *
 * All samples and all pairs of layers, unless that takes more than certify.effort: then of samples
 * spread evenly, as many as there is time for, and the series say how many. The supremum of (vi) is
 * measured with every look (deep_relu_look.c), (vii) is deep_relu_nodes.c.
 */
#include "theory/deep_relu.h"

#include "base/alloc.h"
#include "base/pieces.h"
#include "base/rng.h"
#include "linalg/gemm.h"

#include <math.h>

enum { STEPS = 20 }; /* of power iteration: the norms of (v) are found from below */

/* ---- Every sample -------------------------------------------------------------------------- */

typedef struct passed {
    double off;     /* largest | |x_i| - 1 | */
    int64_t off_at; /* the sample that has it */
    double state;   /* (i): largest |x_(l,i)| */
    double output;  /* (iii): largest |y_i| */
    double
        near; /* (iv): largest count of |z| <= beta, over m_l^(3/2) beta, beta = 0.1 m_l^(-1/2) */
} passed;

static void pass_layer(passed *p, const tsri_deep_block *b, int64_t l, int64_t m)
{
    double beta = 0.1 / sqrt((double)m), units = pow((double)m, 1.5) * beta;
    for (int64_t i = 0; i < b->n; i++) {
        int64_t count = 0;
        for (int64_t j = 0; j < m; j++)
            count += fabs((double)b->z[l][i * m + j]) <= beta;
        p->near = fmax(p->near, (double)count / units);
        p->state = fmax(p->state, tsri_length(b->x[l] + i * m, m));
    }
}

static tsr_status pass(passed *p, const tsri_run_view *view, const tsri_deep_net *net)
{
    tsr_status st = TSR_OK;
    tsri_deep_block b;
    int64_t n = view->data->train.n;
    *p = (passed){.off = -1};
    TSR_TRY(tsri_deep_block_init(&b, net, tsri_deep_rows(net, n)));
    for (int64_t at = 0; at < n; at += b.n) {
        TSR_TRY(tsri_deep_load(&b, view, net, at, 1, n - at));
        for (int64_t i = 0; i < b.n; i++) {
            double off = fabs(tsri_length(b.x[0] + i * net->d, net->d) - 1);
            p->off_at = off > p->off ? at + i : p->off_at;
            p->off = fmax(p->off, off);
            p->output = fmax(p->output, fabs(b.y[i]));
        }
        for (int64_t l = 1; l <= net->L; l++)
            pass_layer(p, &b, l, net->layer[l - 1].m);
    }
done:
    tsri_deep_block_fini(&b);
    return st;
}

/* ---- (v): chains of every sample and every pair of layers ---------------------------------- */

/* Rows of `u` to length 1; returns the largest length they had. */
static double shorten(float *u, int64_t n, int64_t width)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) {
        double length = tsri_length(u + i * width, width);
        most = fmax(most, length);
        for (int64_t j = 0; length > 0 && j < width; j++)
            u[i * width + j] = (float)((double)u[i * width + j] / length);
    }
    return most;
}

/* to [n, m_l] = from W_l, gated unless it is the chain's last factor. */
static tsr_status forth(float *to, const float *from, const tsri_deep_block *b,
                        const tsri_deep_net *net, int64_t l, bool gated, tsri_pool *pool)
{
    const tsri_deep_layer *at = &net->layer[l - 1];
    tsri_gemm g = {.b_transposed = true,
                   .m = b->n,
                   .n = at->m,
                   .k = at->inputs,
                   .a = from,
                   .b = at->w,
                   .c = to};
    tsr_status st = tsri_gemm_run(&g, pool);
    if (st == TSR_OK && gated)
        tsri_deep_gate(to, b, net, l);
    return st;
}

/* W_l2^T Sigma W^T ... Sigma W_l1^T of all samples of a block at once: the power iteration of each
 * is a row of `u`, which has room for the widest layer, as `v` has. */
static tsr_status chains(double *most, float *u, float *v, const tsri_deep_block *b,
                         const tsri_deep_net *net, int64_t l1, int64_t l2,
                         const tsri_run_view *view)
{
    tsr_status st = TSR_OK;
    int64_t in = net->layer[l1 - 1].inputs, out = net->layer[l2 - 1].m;
    tsri_rng rng = tsri_rng_stream(view->settings->seed, TSRI_FOR_THEORY, 3, l1, l2);
    for (int64_t i = 0; i < b->n * in; i++)
        u[i] = (float)tsri_rng_normal(&rng);
    (void)shorten(u, b->n, in);
    TSR_TRY(tsri_hear_stop(view));
    for (int64_t k = 0; k < STEPS; k++) {
        float *from = u, *to = v, *swap;
        for (int64_t l = l1; l <= l2; l++, swap = from, from = to, to = swap)
            TSR_TRY(forth(to, from, b, net, l, l < l2, view->device.pool));
        *most = fmax(*most, shorten(from, b->n, out));
        for (int64_t l = l2; l >= l1; l--, swap = from, from = to, to = swap) {
            TSR_TRY(tsri_deep_back(to, from, b, net, l, view->device.pool));
            if (l > l1)
                tsri_deep_gate(to, b, net, l - 1);
        }
        (void)shorten(from, b->n, in); /* an even number of products: from is u again */
    }
done:
    return st;
}

double tsri_deep_chain_operations(const tsri_deep_net *net, int64_t count)
{
    double numbers = 0;
    for (int64_t l1 = 1; l1 <= net->L; l1++)
        for (int64_t l2 = l1 + 1; l2 <= net->L; l2++)
            for (int64_t l = l1; l <= l2; l++)
                numbers += (double)(net->layer[l - 1].m * net->layer[l - 1].inputs);
    return 4 * STEPS * numbers * (double)count / TSRI_DEEP_PRODUCTS;
}

static tsr_status longest_chain(double *most, const tsri_run_view *view, const tsri_deep_net *net,
                                int64_t step, int64_t count)
{
    tsr_status st = TSR_OK;
    tsri_deep_block b;
    float *u = NULL, *v = NULL;
    int64_t wide = tsri_max(net->widest, net->d);
    *most = 0;
    TSR_TRY(tsri_deep_block_init(&b, net, tsri_deep_rows(net, count)));
    TSR_TRY(tsri_alloc(&u, b.room * wide, sizeof *u));
    TSR_TRY(tsri_alloc(&v, b.room * wide, sizeof *v));
    for (int64_t at = 0; at < count; at += b.n) {
        TSR_TRY(tsri_deep_load(&b, view, net, at * step, step, count - at));
        for (int64_t l1 = 1; l1 <= net->L; l1++)
            for (int64_t l2 = l1 + 1; l2 <= net->L; l2++)
                TSR_TRY(chains(most, u, v, &b, net, l1, l2, view));
    }
done:
    tsri_deep_block_fini(&b);
    tsri_free(u);
    tsri_free(v);
    return st;
}

/* ---- How many samples there is time for ----------------------------------------------------- */

/* The largest of n, n/2, n/3, ... samples that `operations` of allow; *step apart. */
static int64_t part_of(int64_t *step, const tsri_run_view *view, const tsri_deep_net *net,
                       double (*operations)(const tsri_deep_net *, int64_t))
{
    int64_t n = view->data->train.n;
    for (*step = 1; *step < n; ++*step)
        if (operations(net, n / *step) <= tsri_effort(view->settings))
            break;
    return *step < n ? n / *step : 1;
}

/* ---- All of it ---------------------------------------------------------------------------- */

/* Assumption 3.6 and (ii). */
static tsr_status keep_apart(tsri_past *past, int64_t pair[2], double *phi,
                             const tsri_run_view *view, const tsri_deep_net *net)
{
    tsr_status st = TSR_OK;
    int64_t step, count = part_of(&step, view, net, tsri_deep_least_operations);
    tsri_deep_apart apart = {0};
    double states = INFINITY;
    bool same = false;
    TSR_TRY(tsri_alloc(&apart.least, net->L + 1, sizeof *apart.least));
    TSR_TRY(tsri_deep_least(&apart, view, net, step, count));
    for (int64_t l = 1; l <= net->L; l++)
        states = fmin(states, apart.least[l]);
    *phi = apart.least[0];
    if (count < view->data->train.n)
        TSR_TRY(tsri_deep_same(&same, apart.pair, view));
    if (same)
        *phi = 0;
    pair[0] = apart.pair[0];
    pair[1] = apart.pair[1];
    TSR_TRY(tsri_past_keep(past, "phi", *phi));
    TSR_TRY(tsri_past_keep(past, "phi.first", (double)pair[0]));
    TSR_TRY(tsri_past_keep(past, "phi.second", (double)pair[1]));
    TSR_TRY(tsri_past_keep(past, "phi.samples", (double)count));
    TSR_TRY(tsri_past_keep(past, "start.apart", states));
done:
    tsri_free(apart.least);
    return st;
}

static tsr_status keep_chains(tsri_past *past, const tsri_run_view *view, const tsri_deep_net *net)
{
    tsr_status st = TSR_OK;
    int64_t step, count = part_of(&step, view, net, tsri_deep_chain_operations);
    double most = NAN;
    /* Pairs of hundreds of layers take minutes for one sample: then they are not measured, and a
     * note says what it takes. What takes a second or less is always measured. */
    if (tsri_deep_chain_operations(net, 1) > fmax(tsri_effort(view->settings), 1e9))
        count = 0;
    else
        TSR_TRY(longest_chain(&most, view, net, step, count));
    TSR_TRY(tsri_past_keep(past, "start.chain", most));
    TSR_TRY(tsri_past_keep(past, "start.chain.samples", (double)count));
done:
    return st;
}

static tsr_status keep_nodes(tsri_past *past, const tsri_run_view *view, const tsri_deep_net *net,
                             double phi, const int64_t pair[2])
{
    tsr_status st = TSR_OK;
    tsri_deep_nodes found = {0};
    TSR_TRY(tsri_deep_search(&found, view, net, phi, pair));
    TSR_TRY(tsri_past_keep(past, "start.nodes", found.nodes));
    TSR_TRY(tsri_past_keep(past, "start.form", found.form));
    TSR_TRY(tsri_past_keep(past, "start.nodes.samples", (double)found.samples));
done:
    return st;
}

tsr_status tsri_deep_start(const tsri_run_view *view, tsri_past *past, const tsri_deep_net *net)
{
    tsr_status st = TSR_OK;
    passed p;
    double phi = NAN;
    int64_t pair[2];
    TSR_TRY(pass(&p, view, net));
    TSR_TRY(tsri_past_keep(past, "length.off", p.off));
    TSR_TRY(tsri_past_keep(past, "length.sample", (double)p.off_at));
    TSR_TRY(tsri_past_keep(past, "start.state", p.state));
    TSR_TRY(tsri_past_keep(past, "start.output", p.output));
    TSR_TRY(tsri_past_keep(past, "start.near", p.near));
    TSR_TRY(keep_apart(past, pair, &phi, view, net));
    if (net->L > 1)
        TSR_TRY(keep_chains(past, view, net));
    TSR_TRY(keep_nodes(past, view, net, phi, pair));
done:
    return st;
}
