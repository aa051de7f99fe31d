/* masked_ground.h - what looks at a run of model shallow need: its samples, its first weights, and
 * a pass of the samples through some of its units.
 *
 * It is made at the first look and lives as long as the run (past->state): samples and products
 * <x_i, x_j> do not change. A resumed run makes it again.
 */
#ifndef TSRI_MASKED_GROUND_H
#define TSRI_MASKED_GROUND_H

#include "theory/run_view.h"
#include "theory/past.h"
#include "theory/signs.h"

typedef struct tsri_masked_ground {
    const tsri_run_view *view;
    int64_t n, d, m;  /* samples, inputs, hidden units */
    int64_t p, tau;   /* shares, local steps */
    double xi, scale; /* chance of a unit; 1/sqrt(m), the factor of a share */
    double whole;     /* the factor of the whole: xi scale; with scheme.scale: none, scale */
    float *x;         /* [n, d] */
    const float *y;   /* [n] targets */
    float *a;         /* [m] signs of the output */
    double *gram;     /* [n, n] <x_i, x_j>; NULL when n is too large for kernels */
    double *k, *work; /* [n, n] scratch for kernels, or NULL likewise */
    float *z;         /* [TSRI_MASKED_ROWS, m] scratch for passes */
    float *w0;        /* [m, d] the first weights, or NULL: no longer known */
    tsri_signs start; /* their patterns, when they are known */
} tsri_masked_ground;

enum {
    TSRI_MASKED_ROWS = 256,    /* samples of a pass at a time */
    TSRI_MASKED_KERNEL = 10000 /* samples above which three kernels take more than 2.4 GB */
};

/* This run's, made at the first call. past->state is this paper's. */
tsr_status tsri_masked_ground_of(tsri_masked_ground **out, const tsri_run_view *view,
                                 tsri_past *past);
void tsri_masked_ground_free(void *ground);

/* The current weights w [m, d] of the hidden units. */
const float *tsri_masked_weights(const tsri_masked_ground *g);

/* Are all rounds alike: no masks, or masks of everything? */
bool tsri_masked_whole(const tsri_run_view *view);

/* One pass through `units` units w [units, d] with output signs a [units]:
 *
 *     u_i = scale sum_r a_r relu(<w_r, x_i>)
 */
typedef struct tsri_masked_pass {
    const float *w, *a;
    int64_t units;
    double scale;
    double *u;      /* [n] out */
    double loss;    /* out: ||y - u||^2 */
    double squares; /* out: sum over samples and units of relu(<w_r, x_i>)^2 */
    double blur;    /* out: relative rounding error of the loss */
    double *square; /* [n] out, or NULL: the same of each sample */
    const float *b; /* [units], or NULL: with v [n] out, v_i = scale sum_r b_r relu(<w_r, x_i>) */
    double *v;
    tsri_signs *bits; /* out, or NULL: 1[<w_r, x_i> >= 0]; the caller calls fini */
    float
        *gradient; /* [units, d] out, or NULL: scale sum_i a_r (u_i - y_i) x_i 1[<w_r, x_i> > 0] */
    float *lift;   /* [units, d] out, or NULL: sum_i x_i relu(<w_r, x_i>) */
} tsri_masked_pass;

tsr_status tsri_masked_run_pass(tsri_masked_pass *pass, tsri_masked_ground *g);

#endif
