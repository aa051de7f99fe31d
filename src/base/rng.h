/* rng.h - random numbers without a generator's state.
 *
 * Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11):
 * a keyed bijection of a counter. The key is the run's seed; the counter says what the number is
 * for:
 *
 *     key      seed
 *     counter  | block | purpose << 24 + layer | round | worker |      4 x 32 bits
 *
 * So masks, data order, initial weights and augmentation are pure functions of (seed; purpose,
 * layer, round, worker, index): every worker knows its own part without a message and a resumed run
 * is the same run. There is no state to save.
 *
 *     tsri_rng rng = tsri_rng_stream(seed, TSRI_FOR_INIT, layer, 0, 0);
 *     for (int64_t i = 0; i < n; i++)
 *         w[i] = sigma * (float)tsri_rng_normal(&rng);
 */
#ifndef TSRI_RNG_H
#define TSRI_RNG_H

#include "base/status.h"

/* What a stream of numbers is for. The values are part of the file format of a run: append only. */
typedef enum tsri_purpose {
    TSRI_FOR_INIT = 1,    /* initial weights */
    TSRI_FOR_ORDER = 2,   /* order of the training samples */
    TSRI_FOR_AUGMENT = 3, /* crops and flips */
    TSRI_FOR_SHARE = 4,   /* which neurons belong to which share */
    TSRI_FOR_DATA = 5,    /* synthetic data */
    TSRI_FOR_SPLIT = 6,   /* which rows are training and which test */
    TSRI_FOR_TEST = 7,    /* property tests */
    TSRI_FOR_TICKET = 8,  /* random tickets */
    TSRI_FOR_THEORY = 9   /* starts of iterations, trial vectors of certificates */
} tsri_purpose;

typedef struct tsri_rng {
    uint32_t key[2];
    uint32_t counter[4];
    uint32_t out[4]; /* the current block */
    int used;        /* how many words of it are gone */
} tsri_rng;

/* out = Philox4x32-10(counter; key). */
void tsri_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);

/* The stream for (seed; purpose, layer, round, worker), at its first number. layer < 2^24; round
 * and worker < 2^32. */
tsri_rng tsri_rng_stream(uint64_t seed, tsri_purpose purpose, int64_t layer, int64_t round,
                         int64_t worker);

/* Goes to block `block` (four 32-bit words each), so that number i of a stream needs no others. */
void tsri_rng_seek(tsri_rng *rng, uint32_t block);

uint32_t tsri_rng_u32(tsri_rng *rng);
float tsri_rng_uniform(tsri_rng *rng);    /* [0,1), 24 bits */
double tsri_rng_uniform53(tsri_rng *rng); /* (0,1), 53 bits, never 0 or 1 */
double tsri_rng_normal(tsri_rng *rng);    /* N(0,1); the same bits on every machine */

/* Uniform in 0 .. bound-1 without bias (Lemire, "Fast random integer generation in an interval",
 * 2019). bound >= 1. */
uint32_t tsri_rng_below(tsri_rng *rng, uint32_t bound);

/* perm = a uniform permutation of 0 .. n-1 (Fisher-Yates). n < 2^32. */
void tsri_rng_permutation(tsri_rng *rng, int64_t *perm, int64_t n);

/* The normal quantile and the natural logarithm from IEEE operations only: no libm, so no
 * difference between machines. 0 < p < 1; x > 0 and normal. */
double tsri_normal_quantile(double p);
double tsri_log(double x);

#endif
