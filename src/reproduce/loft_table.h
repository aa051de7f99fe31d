/* loft_table.h - Table 1 of the LoFT paper at its own size: what its cells are, and what they hold.
 *
 * A cell is a network, a way to pretrain it, a ratio and a seed: 20 epochs of pretraining on all of
 * CIFAR-10, the ticket, 90 epochs of fine-tuning. The dense cell is the whole network for all 110.
 * GPipe's weights are those of dense training to the bit (docs/schemes.md), for any number of
 * workers: dense pretraining stands for GPipe-2 and GPipe-4. */
#ifndef TSRI_LOFT_TABLE_H
#define TSRI_LOFT_TABLE_H

#include "reproduce/cells.h"

enum { TSRI_TABLE1_RATIOS = 3, TSRI_TABLE1_METHODS = 5, TSRI_TABLE1_NETWORKS = 3 };

typedef struct tsri_table1_method {
    const char *name;   /* in a cell's name: "loft-4" */
    const char *title;  /* "LoFT-4" */
    const char *scheme; /* of the run file */
    int workers;
} tsri_table1_method;

/* As printed, in percent and gigabytes; NaN: not there. */
typedef struct tsri_table1_network {
    const char *name, *title; /* of the run file, and in the paper */
    double dense;
    double accuracy[TSRI_TABLE1_METHODS][TSRI_TABLE1_RATIOS];
    double traffic[TSRI_TABLE1_METHODS];
} tsri_table1_network;

extern const double tsri_table1_ratio[TSRI_TABLE1_RATIOS];
extern const tsri_table1_method tsri_table1_methods[TSRI_TABLE1_METHODS];
extern const tsri_table1_network tsri_table1_networks[TSRI_TABLE1_NETWORKS];

/* Which cell it is. */
typedef struct tsri_table1_cell {
    int network;
    int method; /* -1: dense */
    int ratio;
    int64_t seed; /* from 0 */
} tsri_table1_cell;

/* What the cells of all seeds hold; NaN where a cell was not made. Seeds are the last index. */
typedef struct tsri_table1 {
    int64_t seeds, made;
    double dense[TSRI_TABLE1_NETWORKS][TSRI_SEEDS_MOST];
    double accuracy[TSRI_TABLE1_NETWORKS][TSRI_TABLE1_METHODS][TSRI_TABLE1_RATIOS][TSRI_SEEDS_MOST];
    double seconds[TSRI_TABLE1_NETWORKS][TSRI_TABLE1_METHODS][TSRI_TABLE1_RATIOS][TSRI_SEEDS_MOST];
    double traffic[TSRI_TABLE1_NETWORKS][TSRI_TABLE1_METHODS][TSRI_SEEDS_MOST]; /* gigabytes */
} tsri_table1;

/* For the list of reproductions. */
tsr_status tsri_loft_table1_paper(tsri_study *s);

/* Judges, draws and tabulates what is there. */
void tsri_table1_show(tsri_study *s, const tsri_table1 *t);

#endif
