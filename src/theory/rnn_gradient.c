/* rnn_gradient.c - f(W) and its gradient in double: Fact 2.5 of the recurrent paper, and the fake
 * gradient of Definition E.1, which has fixed vectors in place of the losses. */
#include "theory/rnn_parts.h"

#include "base/alloc.h"
#include "linalg/gemm64.h"

#include <math.h>
#include <string.h>

double tsri_rnn_gradient_operations(const tsri_rnn_case *k)
{
    return 6 * k->s.n * k->s.L * k->s.m * k->s.m;
}

typedef struct descent {
    tsri_rnn_gradient *out;
    const tsri_rnn_case *k;
    const tsri_rnn_net *net;
    bool fixed;
    double *part; /* [m, m] the gradient of a block */
} descent;

/* What one block needs beside its states. */
typedef struct pass {
    tsri_rnn_states s;
    double *loss; /* [L, n, d], from the second position on */
    double *e;    /* [L, n, m] D (B^T loss + W^T e of the next position) */
} pass;

static void pass_fini(pass *p)
{
    tsri_rnn_states_fini(&p->s);
    tsri_free(p->loss);
    tsri_free(p->e);
}

static tsr_status pass_init(pass *p, const descent *t, const tsri_rnn_block *b)
{
    tsr_status st = TSR_OK;
    *p = (pass){0};
    TSR_TRY(tsri_rnn_states_init(&p->s, t->net, b->x, b->length, b->n, t->k->pool));
    TSR_TRY(tsri_alloc(&p->loss, t->net->L * b->n * t->net->d, sizeof *p->loss));
    if (t->out->gradient)
        TSR_TRY(tsri_alloc(&p->e, t->net->L * b->n * t->net->m, sizeof *p->e));
done:
    return st;
}

static tsr_status losses(pass *p, const descent *t, const tsri_rnn_block *b)
{
    tsr_status st = TSR_OK;
    int64_t L = t->net->L, d = t->net->d, m = t->net->m;
    TSR_TRY(tsri_gemm64_run(&(tsri_gemm64){.b_transposed = true,
                                           .m = L * b->n,
                                           .n = d,
                                           .k = m,
                                           .a = p->s.h,
                                           .b = t->net->B,
                                           .c = p->loss},
                            t->k->pool));
    for (int64_t l = 0; l < L; l++)
        for (int64_t i = 0; i < b->n; i++) {
            double *v = p->loss + (l * b->n + i) * d;
            const float *y = t->k->target + (b->index[i] * L + l) * d;
            bool counts = l > 0 && l < tsri_rnn_length(&p->s, i);
            for (int64_t r = 0; r < d; r++)
                v[r] = !counts ? 0 : t->fixed ? (double)y[r] : v[r] - (double)y[r];
            double size = tsri_length64(v, d);
            t->out->f += size * size / 2;
            t->out->most = fmax(t->out->most, size);
        }
done:
    return st;
}

/* e of one position, given that of the next. */
static tsr_status back(pass *p, const descent *t, int64_t l)
{
    tsr_status st = TSR_OK;
    int64_t n = p->s.n, m = p->s.m, d = t->net->d, at = tsri_rnn_row(&p->s, l, 0);
    double *e = p->e + at;
    if (l + 1 < p->s.L)
        TSR_TRY(tsri_gemm64_run(&(tsri_gemm64){.m = n,
                                               .n = m,
                                               .k = m,
                                               .a = p->e + tsri_rnn_row(&p->s, l + 1, 0),
                                               .b = t->net->W,
                                               .c = e},
                                t->k->pool));
    for (int64_t i = 0; i < n; i++)
        for (int64_t u = 0; u < m; u++) {
            double sum = l + 1 < p->s.L ? e[i * m + u] : 0;
            for (int64_t r = 0; r < d; r++)
                sum += t->net->B[r * m + u] * p->loss[(l * n + i) * d + r];
            e[i * m + u] = p->s.g[at + i * m + u] > 0 ? sum : 0;
        }
done:
    return st;
}

/* |grad f_i|_F^2 = sum over positions p, q of <e_p, e_q> <h_(p-1), h_(q-1)>. */
static double squares_of(const pass *p, int64_t i)
{
    double sum = 0;
    for (int64_t a = 1; a < p->s.L; a++)
        for (int64_t b = 1; b <= a; b++) {
            double e = tsri_dot64(p->e + tsri_rnn_row(&p->s, a, i),
                                  p->e + tsri_rnn_row(&p->s, b, i), p->s.m);
            double h = tsri_dot64(p->s.h + tsri_rnn_row(&p->s, a - 1, i),
                                  p->s.h + tsri_rnn_row(&p->s, b - 1, i), p->s.m);
            sum += (a == b ? 1 : 2) * e * h;
        }
    return sum;
}

static tsr_status add_gradient(pass *p, const descent *t)
{
    tsr_status st = TSR_OK;
    int64_t m = p->s.m, rows = (p->s.L - 1) * p->s.n;
    for (int64_t l = p->s.L - 1; l > 0; l--)
        TSR_TRY(back(p, t, l));
    TSR_TRY(tsri_gemm64_run(&(tsri_gemm64){.a_transposed = true,
                                           .m = m,
                                           .n = m,
                                           .k = rows,
                                           .a = p->e + tsri_rnn_row(&p->s, 1, 0),
                                           .b = p->s.h,
                                           .c = t->part},
                            t->k->pool));
    for (int64_t e = 0; e < m * m; e++)
        t->out->gradient[e] += t->part[e];
    for (int64_t i = 0; i < p->s.n; i++)
        t->out->most_i = fmax(t->out->most_i, squares_of(p, i));
done:
    return st;
}

static tsr_status visit(void *context, const tsri_rnn_block *b)
{
    tsr_status st = TSR_OK;
    const descent *t = context;
    pass p;
    TSR_TRY(pass_init(&p, t, b));
    TSR_TRY(losses(&p, t, b));
    if (t->out->gradient && p.s.L > 1)
        TSR_TRY(add_gradient(&p, t));
done:
    pass_fini(&p);
    return st;
}

tsr_status tsri_rnn_gradient_of(tsri_rnn_gradient *out, const tsri_rnn_case *k,
                                const tsri_rnn_net *net, bool fixed)
{
    tsr_status st = TSR_OK;
    descent t = {.out = out, .k = k, .net = net, .fixed = fixed};
    int64_t m = net->m;
    *out = (tsri_rnn_gradient){.gradient = out->gradient};
    if (out->gradient) {
        memset(out->gradient, 0, (size_t)(m * m) * sizeof *out->gradient);
        TSR_TRY(tsri_alloc(&t.part, m * m, sizeof *t.part));
    }
    TSR_TRY(tsri_rnn_each(k, k->n, visit, &t));
    for (int64_t r = 0; out->gradient && r < m; r++) {
        double row = tsri_dot64(out->gradient + r * m, out->gradient + r * m, m);
        out->squares += row;
        out->most_row = fmax(out->most_row, sqrt(row));
    }
done:
    tsri_free(t.part);
    return st;
}
