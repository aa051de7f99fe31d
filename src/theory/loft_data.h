/* loft_data.h - Assumption 1 of LoFT, about images and targets, measured on all of them. */
#ifndef TSRI_LOFT_DATA_H
#define TSRI_LOFT_DATA_H

#include "data/dataset.h"
#include "net/net.h"

typedef struct tsri_loft_data {
    double norm_error;          /* largest | ||x_i|| sqrt(q) - 1 | */
    int64_t worst;              /* the image that has it */
    double largest_target;      /* C */
    double squares;             /* sum of y_i^2 */
    int64_t equal, twin, image; /* how many images equal another one; the first such pair */
} tsri_loft_data;

/* For a run of model cnn1 with real targets. */
tsr_status tsri_loft_look_at_data(tsri_loft_data *facts, const tsr_data *data, const tsri_net *net);

#endif
