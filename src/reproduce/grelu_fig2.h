/* grelu_fig2.h - Figures 2b and 2c of the GReLU paper at sizes of the caller's choice: a study's
 * own, or a test's. */
#ifndef TSRI_GRELU_FIG2_H
#define TSRI_GRELU_FIG2_H

#include "reproduce/reproduce.h"

/* Whole-batch gradient descent on one output. */
typedef struct tsri_descent {
    const char *model; /* "grelu" or "relu_twin" */
    const char *data;  /* of the run file */
    int64_t n, inputs, width, layers, rounds;
    double a; /* of the rate: grelu_nets.h */
} tsri_descent;

tsr_status tsri_grelu_fig2b(tsri_study *s, const tsri_descent *sizes,
                            int64_t seeds); /* both nets */
tsr_status tsri_grelu_fig2c(tsri_study *s, const tsri_descent *sizes, int64_t seeds);

#endif
