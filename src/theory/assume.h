/* assume.h - what theorems assume about a run, and whether the run fulfils it.
 *
 * A theorem lists its assumptions as bits (tsri_theorem.assumes). Assumptions about the way of
 * training are checked here, once, for all papers; those about data, loss and model are checked by
 * the paper that makes them, with tsri_certify_breach. Sizes (width, step, iterations) are not
 * assumptions in this sense. They are rows with a factor, because the question is how far a run is
 * from them.
 */
#ifndef TSRI_ASSUME_H
#define TSRI_ASSUME_H

#include "theory/certificate.h"

/* X(name, words): the words follow "assumes". */
#define TSRI_ASSUMPTION_LIST(X)                                                                    \
    /* the way of training: tsri_assume_run */                                                     \
    X(CONSTANT_RATE, "a constant rate")                                                            \
    X(NO_MOMENTUM, "no momentum")                                                                  \
    X(NO_DECAY, "no weight decay")                                                                 \
    X(FULL_BATCHES, "steps on all samples")                                                        \
    X(INDEPENDENT_BATCHES, "batches drawn independently")                                          \
    X(WHOLE_NETWORK, "the whole network trained in one place")                                     \
    X(ONE_LOCAL_STEP, "one local step a round")                                                    \
    X(BERNOULLI_MASKS, "masks thrown unit by unit")                                                \
    X(CATEGORICAL_MASKS, "every unit given to one share, by chance")                               \
    X(INDEPENDENT_UNITS, "units thrown independently of each other")                               \
    X(EQUAL_SHARES, "the same chance of a unit in every share")                                    \
    X(COMMON_DATA, "the same samples for every worker")                                            \
    X(FIXED_SAMPLES, "samples that do not change")                                                 \
    X(DRAWN_START, "weights that begin as drawn")                                                  \
    X(SINGLE_PRECISION, "no rounding below single precision")                                      \
    /* data, loss and model: the papers */                                                         \
    X(UNIT_ROWS, "inputs of the paper's length")                                                   \
    X(DISTINCT_ROWS, "inputs that differ")                                                         \
    X(SEPARATED_ROWS, "inputs as far apart as the paper asks")                                     \
    X(BOUNDED_TARGETS, "targets within the paper's bound")                                         \
    X(PAPER_LOSS, "the paper's loss")                                                              \
    X(LIPSCHITZ_LOSS, "a loss with bounded slope")                                                 \
    X(SMOOTH_LOSS, "a loss with bounded curvature")                                                \
    X(PAPER_MODEL, "the paper's network")                                                          \
    X(PAPER_PARAMETERS, "only the paper's weights trained")                                        \
    X(FIXED_GATES, "gates that do not change")                                                     \
    X(EQUAL_LENGTHS, "sequences of one length")                                                    \
    X(LARGE_SETS, "sets of units as large as the lemma asks")                                      \
    X(LIKE_WIDTHS, "layers of like widths")                                                        \
    X(PROVEN_START, "a start with the properties that the paper proves of it")

typedef enum tsri_assumption_index {
#define X(name, words) TSRI_INDEX_##name,
    TSRI_ASSUMPTION_LIST(X)
#undef X
        TSRI_ASSUMPTIONS
} tsri_assumption_index;

typedef enum tsri_assumption {
#define X(name, words) TSRI_##name = 1 << TSRI_INDEX_##name,
    TSRI_ASSUMPTION_LIST(X)
#undef X
} tsri_assumption;

/* The words of the first of these bits. */
const char *tsri_assumption_words(unsigned bits);

#endif
