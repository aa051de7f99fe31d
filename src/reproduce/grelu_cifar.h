/* grelu_cifar.h - Table 2 and Figure 3 of the GReLU paper, at sizes that the caller chooses: those
 * of a study, or those of a test. */
#ifndef TSRI_GRELU_CIFAR_H
#define TSRI_GRELU_CIFAR_H

#include "reproduce/grelu_nets.h"

enum { TSRI_TABLE2_ROWS = 3 };

/* Depth and width of each row of Table 2; the rates are the paper's (grelu_nets.h). */
typedef struct tsri_table2_sizes {
    tsri_twins twins;
    int64_t layers[TSRI_TABLE2_ROWS], width[TSRI_TABLE2_ROWS];
} tsri_table2_sizes;

tsr_status tsri_grelu_table2(tsri_study *s, const tsri_table2_sizes *z);
tsr_status tsri_grelu_fig3a(tsri_study *s, const tsri_table2_sizes *z);

enum { TSRI_CROWDS_MOST = 4 };

/* Figures 3b and 3c: the gated net becomes a ReLU net after half of the epochs. */
typedef struct tsri_switch_sizes {
    tsri_twins twins; /* data with a test set */
    int64_t width, layers, test_n;
    bool augment; /* RandAugment on the training images */
    double a;     /* of the rate: grelu_nets.h */
    /* other widths, at which only the conversion is shown */
    int64_t crowds, crowd[TSRI_CROWDS_MOST];
} tsri_switch_sizes;

tsr_status tsri_grelu_fig3bc(tsri_study *s, const tsri_switch_sizes *sizes);

/* Functions of the study list (reproductions.h). */
tsr_status tsri_reproduce_grelu_table2(tsri_study *s);
tsr_status tsri_reproduce_grelu_fig3(tsri_study *s);

#endif
