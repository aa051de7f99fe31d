/* synthetic.h - data made from a seed: the same bytes on every machine.
 *
 * Sample i of a part is a function of (seed, part, i): the random numbers are the stream
 * (seed; DATA, generator, i, part) of base/rng.h, the arithmetic is IEEE's basic operations, square
 * root, and our own sine and logarithm. So the first k samples do not depend on how many are made,
 * and training and test samples never share a stream.
 *
 * Each generator has a core that takes plain options and a row for tsri_sources[] that reads them
 * from the `data:` section.
 *
 *     tsri_synthetic options = tsri_synthetic_default();
 *     options.n = 100;
 *     TSR_TRY(tsri_glyphs(data, &options));
 */
#ifndef TSRI_SYNTHETIC_H
#define TSRI_SYNTHETIC_H

#include "data/dataset.h"

typedef struct tsri_synthetic {
    int64_t n, test_n; /* samples of the two parts; test_n = 0: a fifth of n */
    int64_t dim;       /* inputs of a sample, of a position of a sequence */
    int64_t classes;   /* random-labels */
    int64_t length;    /* sequences: positions */
    int64_t targets;   /* sequences: real numbers wanted at each position */
    int64_t channels;  /* glyphs: 1 or 3 */
    double phi;        /* sphere, sequences: least distance between two samples of a part */
    bool regress;      /* sphere, random-labels: real targets instead of classes */
    uint64_t seed;
} tsri_synthetic;

/* The defaults of the schema, with n = 1000. */
tsri_synthetic tsri_synthetic_default(void);

/* ---- Cores: fill train, test, shape, classes or targets of an empty `data`. On failure `data`
 * holds what was made so far and its owner destroys it. USAGE when the options cannot be met. ----
 */

tsr_status tsri_glyphs(tsr_data *data, const tsri_synthetic *options);
tsr_status tsri_sphere(tsr_data *data, const tsri_synthetic *options);
tsr_status tsri_random_labels(tsr_data *data, const tsri_synthetic *options);
tsr_status tsri_ackley(tsr_data *data, const tsri_synthetic *options);
tsr_status tsri_sequences(tsr_data *data, const tsri_synthetic *options);

/* ---- The same from a run file: rows of tsri_sources[] point here ----------------------------- */

/* Ten drawn glyphs, randomly warped, thick or thin, noisy; 28x28 grey or 32x32 colour bytes.
 * 20,000 training samples when data.n is 0. */
tsr_status tsri_make_glyphs(tsr_data *data, const tsr_config *config);

/* Unit vectors, pairwise at least data.phi apart within a part. Target: y = d <u,x> <v,x> for
 * orthonormal u, v drawn from the seed; labels are its sign, -1 and +1 as classes 0 and 1. */
tsr_status tsri_make_sphere(tsr_data *data, const tsr_config *config);

/* Unit vectors with labels (or N(0,1) targets) drawn without looking at them. */
tsr_status tsri_make_random_labels(tsr_data *data, const tsr_config *config);

/* The target of section 6.1 of the GReLU paper, N(0,1) inputs. */
tsr_status tsri_make_ackley(tsr_data *data, const tsr_config *config);

/* Sequences that satisfy Assumption 2.1 of the RNN paper with delta = data.phi <= 1, all of
 * data.length positions, and N(0,1) targets at every position: target[i][l][c], so that
 * data->targets = data.length * data.targets numbers belong to a sample. */
tsr_status tsri_make_sequences(tsr_data *data, const tsr_config *config);

#endif
