/* loss.h - losses, one row each: how a loss is computed, and all that others must know about it.
 *
 * A loss is a file of backend/losses/ that ends with its row, and a line in io/names.h:
 *
 *     static double position(const tsri_position *p) { ... }
 *
 *     const tsri_loss_kind tsri_loss_mse = {.name = "mse", .help = "...", .position = position};
 *
 * `position` is the only place with its formula. Nobody compares names: code that must know whether a
 * loss is a sum, or one of margins, reads the row.
 */
#ifndef TSRI_LOSS_H
#define TSRI_LOSS_H

#include "io/names.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct tsri_loss; /* of a batch: backend.h */

/* The outputs of one sample, at one position where it is a sequence. */
typedef struct tsri_position {
    const struct tsri_loss *loss;
    const void *x; /* [k] floats; doubles where `wide` */
    void *dx;      /* [k] likewise: the gradient; NULL when only the value is wanted */
    bool wide;
    int64_t k;           /* outputs */
    int32_t label;       /* of the sample; -1 where there are targets */
    const float *target; /* [k], or NULL: the label counts */
    double scale;        /* of the gradient: 1 / (samples x positions), so that it is of the mean */
} tsri_position;

typedef struct tsri_loss_kind {
    const char *name; /* in run files */
    const char *help; /* one line */
    /* The loss of one position; writes its gradient times `scale`, of a sum without it. */
    double (*position)(const tsri_position *p);
    bool sum;      /* a batch's loss is the sum over samples and positions, and so is its gradient;
                      else the mean over samples, each the mean over its positions */
    double judged; /* of a sum: the whole network is judged by that many times it */
    bool classes;  /* needs classes: real targets are refused */
    bool softens;  /* reads label_smoothing and class_weights */
    bool squares;  /* half the sum of squared errors: the loss of theorems about least squares */

    /* (optional) l(z) of the margin z = y x of each output, y = +-1, and *slope = l'(z): finite for
     * every finite z. With one output, class 1 is y = +1 and class 0 is y = -1; with several, one
     * against the rest: y = +1 for the output of the sample's class. Targets, where there are no
     * labels, are y themselves. Its `position` is tsri_margin_position. */
    double (*margin)(double z, double *slope);

    /* Of l(z), what the deep ReLU paper's Assumptions 3.2 to 3.4 ask for. */
    double steepest;      /* largest |l'|; infinity: it has no bound */
    double curved;        /* largest |l''|; infinity: it has no bound, or l' jumps */
    bool curves_as_falls; /* l'' = -l': where |l'| was seen, so was |l''| */
    const char *kink;     /* where l' jumps, as a sentence; NULL: it does not */
    double turn, before;  /* |l'| >= before, for z < turn; turn = -infinity: nowhere */
    double after, power;  /* |l'| >= after l^power from there on */
} tsri_loss_kind;

#define X(name) extern const tsri_loss_kind tsri_loss_##name;
TSRI_LOSS_NAMES(X)
#undef X

extern const tsri_loss_kind *const tsri_loss_kinds[]; /* NULL at the end */

/* By its name in the run file; NULL when there is none ("auto"). */
const tsri_loss_kind *tsri_loss_named(const char *name);

/* l(z) of a loss of margins, and *slope = l'(z) unless it is NULL. */
double tsri_margin_loss(const tsri_loss_kind *kind, double z, double *slope);

/* sum over the outputs of l(y x). */
double tsri_margin_position(const tsri_position *p);

/* y of output o: +-1. */
double tsri_margin_sign(const tsri_position *p, int64_t o);

/* The output that is largest, the first of equal ones. */
int64_t tsri_largest_output(const tsri_position *p);

static inline double tsri_output_at(const tsri_position *p, int64_t o)
{
    return p->wide ? ((const double *)p->x)[o] : (double)((const float *)p->x)[o];
}

/* Writes the gradient of output o, where it is wanted. */
static inline void tsri_slope_put(const tsri_position *p, int64_t o, double slope)
{
    if (p->dx && p->wide)
        ((double *)p->dx)[o] = slope;
    else if (p->dx)
        ((float *)p->dx)[o] = (float)slope;
}

/* Output less target, a label one-hot. */
static inline double tsri_error_at(const tsri_position *p, int64_t o)
{
    double t = p->target ? (double)p->target[o] : (o == p->label ? 1.0 : 0.0);
    return tsri_output_at(p, o) - t;
}

#endif
