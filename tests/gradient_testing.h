/* gradient_testing.h - a gradient against central differences, the same way in every test:
 *
 *     static double loss(void *fixture) { ... forward, loss ... }
 *
 *     assert_ok(tsri_plan_backward(plan));
 *     differences d = {.value = loss, .context = &fixture};
 *     assert_gradient(&d, "mlp", store.w, store.g, net->trained, 1);
 *
 * The function must run in double. Its difference over 2h, h = 1e-6, is wrong by h^2 f'''/6, some
 * 1e-12 f''', and by the rounding of the two values, a few times 1e-16 of them over h: 1e-9 of the
 * value at most. What is left of the 1e-7 that is allowed is room for f''' of 1e4, and far below
 * any mistake: one term too many, too few or of the wrong sign is wrong by its own size.
 *
 * A ReLU or a max pooling has kinks, and across one the difference is no derivative. Without
 * `pattern` no kink may lie within h of what is tested, and a test that fails for that reason needs
 * another seed; with it such numbers are counted and left out.
 */
#ifndef TSRI_GRADIENT_TESTING_H
#define TSRI_GRADIENT_TESTING_H

#include "testing.h"

#include "net/plan.h"

#include <math.h>

typedef struct differences {
    double (*value)(void *context);
    uint64_t (*pattern)(
        void *context); /* (optional) of the last value: the same, no kink between */
    void *context;
    double unit;            /* numbers this large count as whole: 1e-7 of it is allowed (0: 1) */
    int64_t tried, checked; /* so far; the others had a kink near */
} differences;

/* The derivative of the value by *w; false when a kink is near. `smooth`: the pattern at *w. */
static inline bool difference(differences *d, double *w, uint64_t smooth, double *want)
{
    double h = 1e-6, keep = *w, side[2];
    bool same = true;
    for (int up = 0; up < 2; up++) {
        *w = up ? keep + h : keep - h;
        side[up] = d->value(d->context);
        same = same && (!d->pattern || d->pattern(d->context) == smooth);
    }
    *w = keep;
    *want = (side[1] - side[0]) / (2 * h);
    return same;
}

/* g[i] is the derivative by w[i] for every stride-th i below n. The value must not change g. */
static inline void assert_gradient(differences *d, const char *what, double *w, const double *g,
                                   int64_t n, int64_t stride)
{
    double rounding = 1e-9 * fabs(d->value(d->context));
    uint64_t smooth = d->pattern ? d->pattern(d->context) : 0;
    for (int64_t i = 0; i < n; i += stride) {
        double want, unit = d->unit > 0 ? d->unit : 1;
        d->tried++;
        if (!difference(d, w + i, smooth, &want))
            continue;
        d->checked++;
        if (!(fabs(g[i] - want) <= 1e-7 * fmax(unit, fabs(want)) + rounding)) /* NaN fails, too */
            fail_msg("%s: the gradient by number %lld is %.12g, by differences %.12g", what,
                     (long long)i, g[i], want);
    }
}

/* Most numbers had no kink near. */
static inline void assert_mostly_smooth(const differences *d, const char *what)
{
    if (d->checked * 4 < d->tried * 3)
        fail_msg("%s: only %lld of %lld numbers had no kink near", what, (long long)d->checked,
                 (long long)d->tried);
}

static inline uint64_t mix_bits(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * 0x100000001b3u;
}

/* Which ReLUs are on and which pixels the max poolings took, after a forward of a plan for training
 * (where both outlive it): as long as it stays the same, the network is a smooth function. */
static inline uint64_t plan_pattern(const tsri_plan *plan)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int64_t k = 0; k < tsri_plan_ops(plan); k++) {
        const tsri_op *op = tsri_plan_op(plan, k, NULL);
        const double *y = op->y;
        const int64_t *taken = op->saved;
        for (int64_t i = 0; i < op->n * tsri_shape_count(op->out); i++) {
            if (op->relu || op->kind == TSRI_RELU)
                hash = mix_bits(hash, y[i] > 0);
            else if (op->kind == TSRI_MAXPOOL)
                hash = mix_bits(hash, (uint64_t)taken[i]);
        }
    }
    return hash;
}

#endif
