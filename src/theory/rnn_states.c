/* rnn_states.c - a recurrent network in double, position by position. */
#include "theory/rnn_states.h"

#include "base/alloc.h"
#include "linalg/gemm64.h"

#include <math.h>

/* Four sums side by side, in an order that does not depend on the processor. */
double tsri_dot64(const double *a, const double *b, int64_t n)
{
    double lane[4] = {0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            lane[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        lane[0] += a[i] * b[i];
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

double tsri_length64(const double *a, int64_t n)
{
    return sqrt(tsri_dot64(a, a, n));
}

/* ---- Weights -------------------------------------------------------------------------------- */

static tsr_status widen(double **out, const float *from, int64_t n)
{
    tsr_status st = tsri_alloc(out, n, sizeof **out);
    for (int64_t i = 0; st == TSR_OK && i < n; i++)
        (*out)[i] = (double)from[i];
    return st;
}

tsr_status tsri_rnn_net_init(tsri_rnn_net *net, const float *W, const float *A, const float *B)
{
    tsr_status st = TSR_OK;
    net->W = net->A = net->B = NULL;
    TSR_TRY(widen(&net->W, W, net->m * net->m));
    TSR_TRY(widen(&net->A, A, net->m * net->dx));
    TSR_TRY(widen(&net->B, B, net->d * net->m));
done:
    if (st != TSR_OK)
        tsri_rnn_net_fini(net);
    return st;
}

void tsri_rnn_net_fini(tsri_rnn_net *net)
{
    tsri_free(net->W);
    tsri_free(net->A);
    tsri_free(net->B);
    net->W = net->A = net->B = NULL;
}

/* ---- States --------------------------------------------------------------------------------- */

typedef struct inputs {
    double *g;
    const tsri_rnn_net *net;
    const float *x;
    int64_t stride;
    bool add;
} inputs;

/* g_i += A x_i, or = where there is nothing before. */
static void add_input(void *context, int64_t i, int thread)
{
    (void)thread;
    const inputs *in = context;
    const float *x = in->x + i * in->stride;
    double *g = in->g + i * in->net->m;
    for (int64_t k = 0; k < in->net->m; k++) {
        double sum = in->add ? g[k] : 0;
        for (int64_t j = 0; j < in->net->dx; j++)
            sum += in->net->A[k * in->net->dx + j] * (double)x[j];
        g[k] = sum;
    }
}

tsr_status tsri_rnn_advance(double *g, const tsri_rnn_net *net, const double *h, const float *x,
                            int64_t stride, int64_t n, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    if (h)
        TSR_TRY(tsri_gemm64_run(&(tsri_gemm64){.b_transposed = true,
                                               .m = n,
                                               .n = net->m,
                                               .k = net->m,
                                               .a = h,
                                               .b = net->W,
                                               .c = g},
                                pool));
    inputs in = {g, net, x, stride, h != NULL};
    tsri_pool_run(pool, add_input, &in, n);
done:
    return st;
}

void tsri_rnn_states_fini(tsri_rnn_states *s)
{
    tsri_free(s->g);
    tsri_free(s->h);
    s->g = s->h = NULL;
}

/* The ReLU; nothing after the end of a sequence. */
static void end_position(tsri_rnn_states *s, bool linear, int64_t l)
{
    for (int64_t i = 0; i < s->n; i++) {
        double *g = s->g + tsri_rnn_row(s, l, i), *h = s->h + tsri_rnn_row(s, l, i);
        bool lasts = l < tsri_rnn_length(s, i);
        for (int64_t k = 0; k < s->m; k++) {
            g[k] = lasts ? g[k] : 0;
            h[k] = linear || g[k] > 0 ? g[k] : 0;
        }
    }
}

tsr_status tsri_rnn_states_init(tsri_rnn_states *s, const tsri_rnn_net *net, const float *x,
                                const int32_t *length, int64_t n, tsri_pool *pool)
{
    tsr_status st = TSR_OK;
    *s = (tsri_rnn_states){.n = n, .L = net->L, .m = net->m, .length = length};
    TSR_TRY(tsri_alloc(&s->g, net->L * n * net->m, sizeof *s->g));
    TSR_TRY(tsri_alloc(&s->h, net->L * n * net->m, sizeof *s->h));
    for (int64_t l = 0; l < net->L; l++) {
        const double *before = l > 0 ? s->h + tsri_rnn_row(s, l - 1, 0) : NULL;
        TSR_TRY(tsri_rnn_advance(s->g + tsri_rnn_row(s, l, 0), net, before, x + l * net->dx,
                                 net->L * net->dx, n, pool));
        end_position(s, net->linear, l);
    }
done:
    if (st != TSR_OK)
        tsri_rnn_states_fini(s);
    return st;
}
