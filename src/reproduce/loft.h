/* loft.h - what the reproductions of the LoFT paper share: how the networks are pretrained.
 *
 * They use PreActResNet-18 on CIFAR-10 (the paper's Figure 1 uses WideResNet-18 on ImageNet, its
 * Figure 5 CIFAR-100). The baseline is the whole network trained at once: GPipe's weights are those
 * of dense training to the bit (docs/schemes.md), so one run stands for both.
 */
#ifndef TSRI_REPRODUCE_LOFT_H
#define TSRI_REPRODUCE_LOFT_H

#include "reproduce/cells.h"
#include "reproduce/repeats.h"

typedef struct tsri_loft_sizes {
    int width, images, test_images, epochs, batch, workers, local_steps;
    double rate;
    const char *data; /* of the run file; NULL = cifar10 */
} tsri_loft_sizes;

/* Quick: minutes on two cores; else the paper's 20 epochs of all of CIFAR-10, which take hours;
 * with --paper at its width, too. */
tsri_loft_sizes tsri_loft_sizes_of(const tsri_study *s);

/* What the paper says about how it made a figure; `loft`: LoFT is trained for it, too. */
typedef struct tsri_loft_paper {
    const char *network, *data, *images, *test_images, *epochs;
    bool loft;
} tsri_loft_paper;

/* Adds our settings beside the paper's. */
tsr_status tsri_loft_settings(tsri_study *s, const tsri_loft_sizes *z,
                              const tsri_loft_paper *paper);

enum { TSRI_LOFT_YAML = 1000 };

/* The run file of pretraining by `scheme` ("dense" or "loft"): after every epoch a checkpoint that
 * is kept and a sample of the ranking of the filters. */
void tsri_loft_yaml(char yaml[TSRI_LOFT_YAML], const tsri_loft_sizes *z, const char *scheme);

/* The distances between the epochs of a run (FOLDER/distance.json). */
typedef struct tsri_rankings {
    int64_t epochs, layers;
    double *epoch;    /* [epochs] */
    char **name;      /* [layers] */
    double *distance; /* [layers, epochs, epochs]; the first epoch is the reference */
    double *reversed; /* [layers] distance of a reversed ranking: the unit for comparing layers */
} tsri_rankings;

/* The same as the numbers of a cell, and from them. */
void tsri_rankings_put(tsri_study_cell *to, const tsri_rankings *r);
tsr_status tsri_rankings_take(tsri_rankings *r, const tsri_study_cell *from);

tsr_status tsri_rankings_read(tsri_rankings *r, const char *folder);
void tsri_rankings_fini(tsri_rankings *r);
double tsri_rankings_at(const tsri_rankings *r, int64_t layer, int64_t from, int64_t to);

tsr_status tsri_loft_table1(tsri_study *s);
tsr_status tsri_loft_fig1(tsri_study *s, const tsri_loft_sizes *z);
tsr_status tsri_loft_fig4(tsri_study *s, const tsri_loft_sizes *z);
tsr_status tsri_loft_fig5(tsri_study *s, const tsri_loft_sizes *z);

/* Judge each figure from its numbers alone. maps: distances between at least 4 epochs, for every
 * seed. settling: distances to the last epoch; the first one is from before training. tickets:
 * accuracies in percent of the tickets of some epochs. */
void tsri_loft_judge_maps(tsri_study *s, const tsri_rankings *r, int64_t seeds);
void tsri_loft_judge_settling(tsri_study *s, const tsri_repeats *loft, const tsri_repeats *base);
void tsri_loft_judge_tickets(tsri_study *s, const tsri_repeats *loft, const tsri_repeats *base);

enum { TSRI_LOFT_SEEDS = 16 }; /* the most that a figure uses */

#endif
