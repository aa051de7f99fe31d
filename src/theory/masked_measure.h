/* masked_measure.h - what the masked-neurons paper's theorems speak of, measured on a run.
 *
 * Everything is of the training set as the network sees it and of the weights as they stand. */
#ifndef TSRI_MASKED_MEASURE_H
#define TSRI_MASKED_MEASURE_H

#include "theory/past.h"
#include "theory/spectrum.h"

#include "scheme/run.h"

typedef struct tsri_masked_measure {
    /* The data. */
    double unit_error;                /* max_i | ||x_i|| - 1 | */
    double least_angle;               /* between the lines of two points, in radians */
    int64_t first, second;            /* which two, counted from 0 */
    double largest_target;            /* max_i |y_i| */
    tsri_eigen lambda_0, lambda_most; /* of H_inf, which contains xi */

    /* The weights. NaN where the first weights are not known any more. */
    double loss;     /* L_k = ||y - u_k||^2 */
    double radius;   /* max_r ||w_r - w_0,r||, over the whole and the shares' last local weights */
    double flips;    /* max_i of units whose pattern is not the first one */
    double near;     /* max_i of units with |<w_0,r, x_i>| <= R: those that a move by R can flip */
    double masked;   /* min over shares of lambda_min(m o H) */
    int64_t kernels; /* how many were looked at */
} tsri_masked_measure;

/* `past` ends with the moment of now: what is known of earlier ones is used (lambda_0), and what
 * later ones will need is kept: loss, radius, flips, masked, lambda_0 with its error, lambda_most,
 * start (the length of W_0). `radius` is R, NaN = not known before lambda_0 is: then it is made
 * from it, kappa lambda_0 / (8n). */
tsr_status tsri_masked_look(tsri_masked_measure *m, tsri_run *run, tsri_past *past);

#endif
