/* masked.h - what the panels of Figure 2 of the masked-neurons paper have in common. */
#ifndef TSRI_REPRODUCE_MASKED_H
#define TSRI_REPRODUCE_MASKED_H

#include "reproduce/reproduce.h"

typedef struct tsri_masked_sizes {
    int64_t width, rounds, seeds;
} tsri_masked_sizes;

/* The paper's, or smaller ones with --quick. */
tsri_masked_sizes tsri_masked_sizes_of(const tsri_study *study);

/* The run file of all panels; `scheme` is the content of that section. */
void tsri_masked_run_file(char *yaml, size_t room, const tsri_study *study, double kappa,
                          const char *scheme);

/* Adds the settings data, width, rounds, seeds, kappa and step beside the paper's. */
void tsri_masked_settings(tsri_study *study, const char *kappa);

enum { TSRI_MASKED_TAU = 5, TSRI_MASKED_MOMENTS = TSRI_MASKED_TAU + 2 };

/* Judges Figure 2a from error[seeds][rounds][moments] alone. The moments of a round: after drawing,
 * after each local step, after shares are put together. `part` names the setting. */
void tsri_masked_judge_rounds(tsri_study *s, const char *part, const double *error, int64_t rounds,
                              int64_t seeds);

/* The panels: masked_rounds.c, masked_maps.c. */
tsr_status tsri_masked_fig2a(tsri_study *study);
tsr_status tsri_masked_fig2b(tsri_study *study);
tsr_status tsri_masked_fig2c(tsri_study *study);

#endif
