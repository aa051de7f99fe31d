/* grelu_fig2.h - Figure 2 of the GReLU paper, at sizes that the caller chooses: those of a study,
 * or those of a test. In 2a and 2b steps are on all samples (batch = n), so a round is an epoch. */
#ifndef TSRI_GRELU_FIG2_H
#define TSRI_GRELU_FIG2_H

#include "reproduce/grelu_nets.h"

enum { TSRI_WIDTHS_MOST = 4 };

/* 2a: several widths; the last is the theory's. */
typedef struct tsri_widths_sizes {
    tsri_twins twins;
    int64_t layers, widths, width[TSRI_WIDTHS_MOST];
    double a; /* of the rate: grelu_nets.h */
} tsri_widths_sizes;

tsr_status tsri_grelu_fig2a(tsri_study *s, const tsri_widths_sizes *z);

/* 2b, 2c: one shape that is looked at after every epoch. */
typedef struct tsri_watch_sizes {
    tsri_twins twins;
    int64_t width, layers;
    double a;
} tsri_watch_sizes;

tsr_status tsri_grelu_fig2b(tsri_study *s, const tsri_watch_sizes *z);     /* both nets */
tsr_status tsri_grelu_fig2c(tsri_study *s, const tsri_watch_sizes *sizes); /* ReLU */

/* Judges 2b and 2c from their curves alone. */
void tsri_grelu_judge_gradients(tsri_study *s, const tsri_bundle b[TSRI_TWINS]);
void tsri_grelu_judge_patterns(tsri_study *s, const tsri_bundle *b, int64_t batch);

/* Functions of the study list (reproductions.h). */
tsr_status tsri_reproduce_grelu_fig2a(tsri_study *s);
tsr_status tsri_reproduce_grelu_fig2b(tsri_study *s);
tsr_status tsri_reproduce_grelu_fig2c(tsri_study *s);

#endif
