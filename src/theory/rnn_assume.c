/* rnn_assume.c - what the theorems of the recurrent paper assume of a run, and whether its model,
 * loss and sequences are so: section 2.1 and Assumption 2.1.
 *
 * Assumption 2.1 asks that first inputs be delta apart; Lemma B.9, which uses it, that they be
 * delta-separable (Definition B.8), with delta <= 1 / (10^6 L^2 log^3 m). Section 2.1 says that one
 * can decrease delta, so the paper's delta is the lesser of the two, everywhere.
 */
#include "theory/rnn_parts.h"

#include <math.h>

static const double ROUNDED = 1e-6; /* a length of 1 in floats */
/* Two float inputs of length 1 that differ, differ by more; the same one twice, by less. */
static const double APART = 1e-9;

/* ---- Theorems and what they assume ---------------------------------------------------------- */

static int theorem(tsri_certificate *c, const char *where, const char *chance, unsigned assumes)
{
    return tsri_certify_theorem(
        c,
        &(tsri_theorem){.where = where, .chance = chance, .probability = NAN, .assumes = assumes});
}

/* Weights as drawn, sequences as in section 2.1; then, of a moved W, that nothing else moved. */
enum {
    START = TSRI_DRAWN_START | TSRI_UNIT_ROWS | TSRI_EQUAL_LENGTHS | TSRI_PAPER_MODEL,
    MOVED = START | TSRI_PAPER_PARAMETERS,
    DESCENT = MOVED | TSRI_PAPER_LOSS | TSRI_DISTINCT_ROWS | TSRI_CONSTANT_RATE | TSRI_NO_MOMENTUM |
              TSRI_NO_DECAY | TSRI_SINGLE_PRECISION | TSRI_WHOLE_NETWORK | TSRI_COMMON_DATA |
              TSRI_FIXED_SAMPLES
};

static void start_theorems(tsri_certificate *c, tsri_rnn_theorems *t)
{
    static const char wide[] = "1 - exp(-Omega(m/L^2))", root[] = "1 - exp(-Omega(sqrt m))",
                      sparse[] = "1 - exp(-Omega(m^(2/3) log^2 m))",
                      rho[] = "1 - exp(-Omega(rho^2))";
    t->start[TSRI_RNN_B3] = theorem(c, "(4.1), Lemma B.3", wide, START);
    t->start[TSRI_RNN_B6] = theorem(c, "(4.2), Lemma B.6", root, START);
    t->start[TSRI_RNN_B9] = theorem(c, "(4.3), Lemma B.9", root, START | TSRI_DISTINCT_ROWS);
    t->start[TSRI_RNN_B11] = theorem(c, "(4.4), Lemma B.11", wide, START);
    t->start[TSRI_RNN_B15] = theorem(c, "(4.5), Corollary B.15", sparse, START);
    t->start[TSRI_RNN_B16] = theorem(c, "(4.5), Corollary B.16", rho, START);
    t->start[TSRI_RNN_B18] = theorem(c, "(4.6), Corollary B.18", sparse, START);
    t->start[TSRI_RNN_B19] = theorem(c, "(4.6), Corollary B.19", rho, START);
    t->drift[TSRI_RNN_C10] = theorem(c, "(5.4), Lemma C.10", rho, START);
    t->drift[TSRI_RNN_C11] = theorem(c, "(5.5), Lemma C.11", rho, START);
    t->units[TSRI_RNN_D2] = theorem(c, "(6.3), Lemma D.2", "1 - exp(-Omega(beta_- |N_1| / L))",
                                    START | TSRI_DISTINCT_ROWS | TSRI_LARGE_SETS);
    t->units[TSRI_RNN_D7] = theorem(c, "(6.2), Lemma D.7", rho, START | TSRI_LARGE_SETS);
    t->fixed[TSRI_RNN_E2] = theorem(c, "Lemma E.2", wide, START);
    t->fixed[TSRI_RNN_T5] = theorem(c, "Theorem 5", rho, START | TSRI_DISTINCT_ROWS);
}

static void theorems(tsri_certificate *c, tsri_rnn_case *k)
{
    static const char rho[] = "1 - exp(-Omega(rho^2))",
                      moved[] = "1 - exp(-Omega(L^6 tau_0^(4/3) m^(1/3)))";
    tsri_rnn_theorems *t = &k->of;
    unsigned batches = k->s.sgd ? TSRI_INDEPENDENT_BATCHES : TSRI_FULL_BATCHES;
    unsigned steps =
        k->view->settings->workers > 1 ? TSRI_ONE_LOCAL_STEP : 0; /* one worker's are steps */
    t->main = theorem(c, k->s.sgd ? "Theorem 2" : "Theorem 1", rho, DESCENT | batches | steps);
    t->three = theorem(c, "Theorem 3", rho, MOVED | TSRI_PAPER_LOSS | TSRI_DISTINCT_ROWS);
    t->four = theorem(c, "Theorem 4", rho, MOVED | TSRI_PAPER_LOSS);
    t->g2 = theorem(c, "(7.1), Claim G.2", moved, MOVED);
    if (k->view->position->round == 0) {
        start_theorems(c, t);
        return;
    }
    t->drift[TSRI_RNN_C2] = theorem(c, "(5.1), Lemma C.2", moved, MOVED);
    t->drift[TSRI_RNN_C7] = theorem(c, "(5.2), Lemma C.7", moved, MOVED);
    t->drift[TSRI_RNN_C9] = theorem(c, "(5.3), Lemma C.9", moved, MOVED);
}

static void breaches(tsri_certificate *c, const tsri_rnn_case *k)
{
    const tsri_run_view *view = k->view;
    if (k->s.m < 2)
        tsri_certify_breach(c, TSRI_PAPER_MODEL, "log m of one unit is 0, and so is rho");
    if (!k->target)
        tsri_certify_breach(c, TSRI_PAPER_LOSS,
                            "the loss is not half the squares at every position");
    else if (view->net->first != 1)
        tsri_certify_breach(c, TSRI_PAPER_LOSS, "the loss begins at position %lld, not at 2",
                            (long long)view->net->first + 1);
    if (tsri_config_is(view->settings->config, "model.train", "all"))
        tsri_certify_breach(c, TSRI_PAPER_PARAMETERS, "A and B are trained, too");
    for (int64_t i = 0; k->length && i < k->n; i++)
        if (k->length[i] < k->then->L) {
            tsri_certify_breach(c, TSRI_EQUAL_LENGTHS, "sequence %lld has %d of %lld positions",
                                (long long)i + 1, (int)k->length[i], (long long)k->then->L);
            break;
        }
}

/* ---- Section 2.1 ---------------------------------------------------------------------------- */

static double length_of(const float *x, int64_t n)
{
    double sum = 0;
    for (int64_t j = 0; j < n; j++)
        sum += (double)x[j] * (double)x[j];
    return sqrt(sum);
}

/* |(I - y y^T / |y|^2) x|, Definition B.8, one way round. */
static double beside(const float *x, const float *y, int64_t n)
{
    double xy = 0, yy = 0, sum = 0;
    for (int64_t j = 0; j < n; j++) {
        xy += (double)x[j] * (double)y[j];
        yy += (double)y[j] * (double)y[j];
    }
    for (int64_t j = 0; j < n; j++) {
        double r = (double)x[j] - (yy > 0 ? xy / yy : 0) * (double)y[j];
        sum += r * r;
    }
    return sqrt(sum);
}

typedef struct nearest {
    double separable;
    int64_t i, j, looked; /* the pair; sequences compared with all others */
} nearest;

static nearest nearest_pair(tsri_certificate *c, const tsri_rnn_case *k)
{
    nearest best = {.separable = INFINITY, .looked = k->n};
    int64_t dx = k->then->dx, row = k->then->L * dx;
    double each = 10 * k->s.n * (double)dx;
    if (each * k->s.n / 2 > k->effort) {
        tsri_certify_long(c, "Assumption 2.1, all pairs of sequences", each * k->s.n / 2);
        best.looked = (int64_t)fmax(1, k->effort / each);
    }
    /* a request to stop is noticed when this has ended */
    for (int64_t i = 0; i < best.looked && tsri_hear_stop(k->view) == TSR_OK; i++)
        for (int64_t j = i + 1; j < k->n; j++) {
            const float *x = k->x + i * row, *y = k->x + j * row;
            double apart = fmin(beside(x, y, dx), beside(y, x, dx));
            if (apart < best.separable) {
                best.separable = apart;
                best.i = i;
                best.j = j;
            }
        }
    return best;
}

static void input_row(tsri_certificate *c, double measured, double required, const char *quantity)
{
    tsri_certify(c,
                 &(tsri_condition){.where = "section 2.1",
                                   .sense = TSRI_AT_MOST,
                                   .measured = measured,
                                   .required = required,
                                   .seen = TSRI_SEEN_ALL},
                 "%s", quantity);
}

static void inputs(tsri_certificate *c, const tsri_rnn_case *k)
{
    double first = 0, longest = 0, last = 0;
    int64_t dx = k->then->dx;
    for (int64_t i = 0; i < k->n; i++) {
        const float *x = k->x + i * k->then->L * dx;
        first = fmax(first, fabs(length_of(x, dx) - 1));
        last = fmax(last, fabs((double)x[dx - 1] - sqrt(0.5)));
        for (int64_t l = 0; l < (k->length ? k->length[i] : k->then->L); l++)
            longest = fmax(longest, length_of(x + l * dx, dx));
    }
    input_row(c, first, ROUNDED, "largest | |x_(i,1)| - 1 |");
    input_row(c, last, ROUNDED, "largest distance of x_(i,1)'s last coordinate from 1/sqrt 2");
    input_row(c, longest, 1 + ROUNDED, "largest |x_(i,l)|");
    if (first > ROUNDED || last > ROUNDED || longest > 1 + ROUNDED)
        tsri_certify_breach(c, TSRI_UNIT_ROWS,
                            "inputs are not those of section 2.1: | |x_1| - 1 | up to %.3g, last "
                            "coordinate off by %.3g, |x| up to %.3g",
                            first, last, longest);
}

static void separation(tsri_certificate *c, tsri_rnn_case *k)
{
    nearest near = nearest_pair(c, k);
    double most = tsri_rnn_delta_most(k->s.L, k->s.m);
    k->s.delta = fmin(near.separable, most);
    tsri_certify(c,
                 &(tsri_condition){.where = "Assumption 2.1",
                                   .sense = TSRI_AT_LEAST,
                                   .measured = near.separable,
                                   .required = APART,
                                   .seen = tsri_saw(near.looked, k->n, "sequences"),
                                   .by_construction = k->n < 2 ? "having one sequence" : NULL},
                 "least separability of two x_(i,1), %lld and %lld: above 0", (long long)near.i + 1,
                 (long long)near.j + 1);
    tsri_certify_number(c, 0, k->s.delta,
                        "delta: that, and at most 1 / (10^6 L^2 log^3 m) (Lemma B.9)");
    if (near.separable < APART)
        tsri_certify_breach(c, TSRI_DISTINCT_ROWS, "sequences %lld and %lld begin alike",
                            (long long)near.i + 1, (long long)near.j + 1);
}

void tsri_rnn_assume(tsri_certificate *c, tsri_rnn_case *k)
{
    theorems(c, k);
    breaches(c, k);
    inputs(c, k);
    separation(c, k);
}
