/* grelu_sgemm.h - Figures 4 and 5 of the GReLU paper, at sizes that the caller chooses: those of a
 * study, or those of a test. */
#ifndef TSRI_GRELU_SGEMM_H
#define TSRI_GRELU_SGEMM_H

#include "reproduce/grelu_nets.h"

enum { TSRI_RATES_MOST = 6, TSRI_SHAPES_MOST = 4, TSRI_TITLE = 160 };

/* "WHAT, SGEMM", or the name of --data. */
const char *tsri_sgemm_title(char text[TSRI_TITLE], const tsri_study *s, const char *what);

/* Adds the setting that says which target of SGEMM is learned, beside the paper's. */
void tsri_sgemm_target(tsri_study *s);

/* One shape at several rates. */
typedef struct tsri_rates_sizes {
    tsri_twins twins;
    int64_t width, layers, rates;
    double a[TSRI_RATES_MOST]; /* ascending; see grelu_nets.h */
} tsri_rates_sizes;

tsr_status tsri_grelu_fig4ab(tsri_study *s, const tsri_rates_sizes *z);
tsr_status tsri_grelu_fig5(tsri_study *s, const tsri_rates_sizes *z);

/* Several shapes at the rate that is a for the largest of them. */
typedef struct tsri_shapes_sizes {
    tsri_twins twins;
    int64_t widths, depths;
    int64_t width[TSRI_SHAPES_MOST], layers[TSRI_SHAPES_MOST]; /* ascending */
    double a;
} tsri_shapes_sizes;

tsr_status tsri_grelu_fig4c(tsri_study *s, const tsri_shapes_sizes *z);

/* Functions of the study list (reproductions.h). */
tsr_status tsri_reproduce_grelu_fig4(tsri_study *s);
tsr_status tsri_reproduce_grelu_fig5(tsri_study *s);

#endif
