/* rnn_rank1.c - (5.4) and (5.5) of the recurrent paper, Lemmas C.10 and C.11: W(0) + y z^T with
 * |z| = 1 and N entries of y of tau_0 / sqrt(m).
 *
 * The lemmas speak of all such y and z. A bad pair is made: z along the first state of the sequence
 * that has the longest one, so that all of y arrives at its second position; there the unit k is
 * chosen whose N largest weights from units that are on weigh most, and y sits on these, with their
 * signs. N = m^(1/3), tau_0 = 1. B is not looked at, as Lemma C.11 asks. No constants are given:
 * the rows say which would do.
 */
#include "theory/rnn_parts.h"

#include "base/alloc.h"
#include "linalg/gemm64.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TAU = 1;

typedef struct attack {
    const tsri_rnn_case *k;
    tsri_rnn_net bent; /* W = W(0) + y z^T; A and B are those of k->then */
    int64_t N;
    double *y, *z, *work;           /* [m] */
    double *M[3], *spare;           /* [d, m] */
    double moved, swapped, changed; /* Lemma C.10, C.11 (a), C.11 (b) */
} attack;

static void attack_fini(attack *t)
{
    tsri_free(t->bent.W);
    tsri_free(t->y);
    tsri_free(t->z);
    tsri_free(t->work);
    for (int i = 0; i < 3; i++)
        tsri_free(t->M[i]);
    tsri_free(t->spare);
}

static tsr_status attack_init(attack *t, const tsri_rnn_case *k)
{
    tsr_status st = TSR_OK;
    int64_t m = k->then->m, d = k->then->d;
    *t = (attack){.k = k, .bent = *k->then, .N = (int64_t)fmax(1, floor(cbrt(k->s.m) + 1e-9))};
    t->bent.W = NULL;
    TSR_TRY(tsri_alloc(&t->bent.W, m * m, sizeof *t->bent.W));
    TSR_TRY(tsri_alloc(&t->y, m, sizeof *t->y));
    TSR_TRY(tsri_alloc(&t->z, m, sizeof *t->z));
    TSR_TRY(tsri_alloc(&t->work, m, sizeof *t->work));
    for (int i = 0; i < 3; i++)
        TSR_TRY(tsri_alloc(&t->M[i], d * m, sizeof **t->M));
    TSR_TRY(tsri_alloc(&t->spare, d * m, sizeof *t->spare));
done:
    return st;
}

/* ---- A bad pair ----------------------------------------------------------------------------- */

static int falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* The sum of the N largest |W_(k,j)| over units j that are on; *least = the smallest of them. */
static double largest_weights(double *least, attack *t, const double *g, int64_t k)
{
    int64_t m = t->k->then->m;
    double sum = 0;
    for (int64_t j = 0; j < m; j++)
        t->work[j] = g[j] > 0 ? fabs(t->k->then->W[k * m + j]) : 0;
    qsort(t->work, (size_t)m, sizeof *t->work, falling);
    for (int64_t j = 0; j < t->N; j++)
        sum += t->work[j];
    *least = t->work[t->N - 1];
    return sum;
}

/* y on the units that weigh most for the worst unit, given the patterns g of the second
 * position. */
static void choose_y(attack *t, const double *g)
{
    int64_t m = t->k->then->m, worst = 0, placed = 0;
    double most = -1, least = 0, size = TAU / sqrt(t->k->s.m);
    for (int64_t k = 0; k < m; k++) {
        double low, sum = largest_weights(&low, t, g, k);
        if (sum > most) {
            most = sum;
            least = low;
            worst = k;
        }
    }
    const double *w = t->k->then->W + worst * m;
    memset(t->y, 0, (size_t)m * sizeof *t->y);
    for (int64_t j = 0; j < m && placed < t->N; j++)
        if (g[j] > 0 && fabs(w[j]) >= least) {
            t->y[j] = w[j] > 0 ? size : -size;
            placed++;
        }
}

/* The sequence whose first state is longest. */
static tsr_status longest_first(int64_t *best, const attack *t)
{
    tsr_status st = TSR_OK;
    const tsri_rnn_case *k = t->k;
    double *g = NULL, most = -1;
    TSR_TRY(tsri_alloc(&g, k->then->m, sizeof *g));
    for (int64_t i = 0; i < k->n; i++) {
        TSR_TRY(
            tsri_rnn_advance(g, k->then, NULL, k->x + i * k->then->L * k->then->dx, 0, 1, k->pool));
        for (int64_t j = 0; j < k->then->m; j++)
            g[j] = g[j] > 0 ? g[j] : 0;
        double size = tsri_length64(g, k->then->m);
        if (size > most) {
            most = size;
            *best = i;
        }
    }
done:
    tsri_free(g);
    return st;
}

static tsr_status choose(attack *t)
{
    tsr_status st = TSR_OK;
    const tsri_rnn_case *k = t->k;
    tsri_rnn_states s = {0};
    int64_t m = k->then->m, i = 0;
    TSR_TRY(longest_first(&i, t));
    TSR_TRY(tsri_rnn_states_init(&s, k->then, k->x + i * k->then->L * k->then->dx,
                                 k->length ? k->length + i : NULL, 1, k->pool));
    double size = tsri_length64(s.h, m);
    for (int64_t j = 0; j < m; j++)
        t->z[j] = size > 0 ? s.h[j] / size : j == 0; /* no unit is on: all z do nothing then */
    choose_y(t, s.g + tsri_rnn_row(&s, 1, 0));
    for (int64_t r = 0; r < m; r++)
        for (int64_t j = 0; j < m; j++)
            t->bent.W[r * m + j] = k->then->W[r * m + j] + t->y[r] * t->z[j];
done:
    tsri_rnn_states_fini(&s);
    return st;
}

/* ---- What it does --------------------------------------------------------------------------- */

/* Lemma C.10: the largest |((W(0) + W') h')_k|. h' takes the place of the states. */
static tsr_status forward(attack *t, tsri_rnn_states *bent, const tsri_rnn_states *then)
{
    tsr_status st = TSR_OK;
    int64_t rows = bent->L * bent->n, m = bent->m;
    for (int64_t e = 0; e < rows * m; e++)
        bent->h[e] -= then->h[e];
    TSR_TRY(tsri_gemm64_run(&(tsri_gemm64){.b_transposed = true,
                                           .m = rows,
                                           .n = m,
                                           .k = m,
                                           .a = bent->h,
                                           .b = t->bent.W,
                                           .c = then->h},
                            t->k->pool));
    for (int64_t e = 0; e < rows * m; e++)
        t->moved = fmax(t->moved, fabs(then->h[e]));
done:
    return st;
}

static double largest_column(const double *a, const double *b, int64_t d, int64_t m)
{
    double most = 0;
    for (int64_t j = 0; j < m; j++) {
        double squares = 0;
        for (int64_t r = 0; r < d; r++)
            squares += (a[r * m + j] - b[r * m + j]) * (a[r * m + j] - b[r * m + j]);
        most = fmax(most, sqrt(squares));
    }
    return most;
}

/* Lemma C.11: spans of a sequence that end at `to`. */
static tsr_status backward(attack *t, const tsri_rnn_states *bent, const tsri_rnn_states *then,
                           int64_t i, int64_t to)
{
    tsr_status st = TSR_OK;
    int64_t d = t->k->then->d, m = t->k->then->m;
    for (int c = 0; c < 3; c++)
        memcpy(t->M[c], t->k->then->B, (size_t)(d * m) * sizeof **t->M);
    TSR_TRY(tsri_hear_stop(t->k->view));
    for (int64_t l = to; l >= 0; l--) {
        for (int c = 0; c < 3; c++) { /* both of then; D of now; both of now */
            const tsri_rnn_states *s = c == 0 ? then : bent;
            TSR_TRY(tsri_rnn_back(t->spare, t->M[c], s->g + tsri_rnn_row(s, l, i),
                                  c == 2 ? t->bent.W : t->k->then->W, d, m, t->k->pool));
            double *swap = t->M[c];
            t->M[c] = t->spare;
            t->spare = swap;
        }
        t->swapped = fmax(t->swapped, largest_column(t->M[1], t->M[0], d, m));
        t->changed = fmax(t->changed, largest_column(t->M[2], t->M[1], d, m));
    }
done:
    return st;
}

static tsr_status visit(void *context, const tsri_rnn_block *b)
{
    tsr_status st = TSR_OK;
    attack *t = context;
    tsri_rnn_states bent = {0}, then = {0};
    TSR_TRY(tsri_rnn_states_init(&bent, &t->bent, b->x, b->length, b->n, t->k->pool));
    TSR_TRY(tsri_rnn_states_init(&then, t->k->then, b->x, b->length, b->n, t->k->pool));
    for (int64_t i = 0; i < b->n; i++)
        for (int64_t to = 0; to < tsri_rnn_length(&then, i); to++)
            TSR_TRY(backward(t, &bent, &then, i, to));
    TSR_TRY(forward(t, &bent, &then));
done:
    tsri_rnn_states_fini(&bent);
    tsri_rnn_states_fini(&then);
    return st;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static tsr_status note(const attack *t)
{
    tsr_status st = TSR_OK;
    tsri_tensor v = {.dtype = TSRI_F64, .dims = 1, .shape = {t->k->then->m}, .data = t->y};
    TSR_TRY(tsri_note(t->k->view, &v, "C.10.y"));
    v.data = t->z;
    TSR_TRY(tsri_note(t->k->view, &v, "C.10.z"));
done:
    return st;
}

static void row(tsri_certificate *c, const attack *t, int of, const char *where, int64_t count,
                double value, const char *what)
{
    tsri_certify(c,
                 &(tsri_condition){.of = of,
                                   .where = where,
                                   .sense = TSRI_MEASURED,
                                   .measured = count > 0 ? value : (double)NAN,
                                   .seen = tsri_saw(count, t->k->n, "sequences")},
                 "%s for a bad y z^T, N = %lld, tau_0 = 1: a constant that O must exceed", what,
                 (long long)t->N);
}

tsr_status tsri_rnn_certify_rank1(tsri_certificate *c, const tsri_rnn_case *k)
{
    tsr_status st = TSR_OK;
    attack t;
    double m = k->s.m, L = k->s.L, d = k->s.d;
    double each = 6 * L * m * m + 3 * L * (L + 1) * d * m * m;
    int64_t count = tsri_rnn_fitting(c, k, each, "(5.4), (5.5), perturbations of rank one");
    TSR_TRY(attack_init(&t, k));
    TSR_TRY(choose(&t));
    TSR_TRY(tsri_rnn_each(k, count, visit, &t));
    double N = (double)t.N;
    row(c, &t, k->of.drift[TSRI_RNN_C10], "(5.4), Lemma C.10", count,
        t.moved / tsri_rnn_c10_form(&k->s, N, TAU),
        "largest |((W + W') h')_k| over rho^8 N^(2/3) tau_0^(5/6) / m^(2/3)");
    row(c, &t, k->of.drift[TSRI_RNN_C11], "(5.5), Lemma C.11 (a)", count,
        t.swapped / tsri_rnn_c11a_form(&k->s, N, TAU),
        "largest column of B D W(0) ... - the same with its D over rho^3 tau_0^(1/3) (N/m)^(1/6)");
    row(c, &t, k->of.drift[TSRI_RNN_C11], "(5.5), Lemma C.11 (b)", count,
        t.changed / tsri_rnn_c11b_form(&k->s, N, TAU),
        "largest column of B D W(0) ... - the same with W over rho^12 N^(5/6) tau_0^(5/3) / "
        "m^(1/3)");
    TSR_TRY(note(&t));
done:
    attack_fini(&t);
    return st;
}
