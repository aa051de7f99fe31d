/* synthetic.h - data made from a seed: the same bytes on every machine.
 *
 * Each function fills data->train and data->test (data.n and data.test_n samples), shape, classes
 * or targets; rows of tsri_sources[] point here.
 */
#ifndef TSRI_SYNTHETIC_H
#define TSRI_SYNTHETIC_H

#include "data/dataset.h"

/* Ten drawn glyphs, randomly warped, thick or thin, noisy; 28x28 grey or 32x32 colour bytes. */
tsr_status tsri_make_glyphs(tsr_data *data, const tsr_config *config);

/* Unit vectors, pairwise at least data.phi apart, labels +-1 (as classes 0, 1) or real. */
tsr_status tsri_make_sphere(tsr_data *data, const tsr_config *config);

/* Unit vectors with labels drawn without looking at them. */
tsr_status tsri_make_random_labels(tsr_data *data, const tsr_config *config);

/* The target of section 6.1 of the GReLU paper. */
tsr_status tsri_make_ackley(tsr_data *data, const tsr_config *config);

/* Sequences that satisfy Assumption 2.1 of the RNN paper, random targets at every position. */
tsr_status tsri_make_sequences(tsr_data *data, const tsr_config *config);

#endif
