/* make.h - what the generators of synthetic data share. */
#ifndef TSRI_MAKE_H
#define TSRI_MAKE_H

#include "base/rng.h"
#include "data/synthetic.h"

/* The `layer` of a generator's streams. Part of what a seed means: append only. */
typedef enum tsri_generator {
    TSRI_GLYPHS = 0,
    TSRI_SPHERE = 1,
    TSRI_RANDOM_LABELS = 2,
    TSRI_ACKLEY = 3,
    TSRI_SEQUENCES = 4,
    TSRI_SPHERE_TEACHER = 5,
    TSRI_SEQUENCE_REST = 6 /* all of a sequence after its first position */
} tsri_generator;

enum { TSRI_TRAIN = 0, TSRI_TEST = 1 }; /* the `worker` of a part's streams */

/* Sets the shape and allocates both parts, not zeroed: bytes or numbers [n, dim], label or target
 * [n, data->targets]. data->classes or data->targets must be set. */
tsr_status tsri_make_parts(tsr_data *data, const tsri_synthetic *options, int64_t channels,
                           int64_t height, int64_t width, bool bytes);

/* x[dim] = a uniform point of the unit sphere, rounded to float. */
void tsri_make_unit(float *x, int64_t dim, tsri_rng *rng);

/* Points that keep a distance. */
typedef struct tsri_apart {
    int64_t n, dim;
    double radius; /* of the sphere on which they lie; at most 1 */
    double phi;    /* no two are closer */
    uint64_t seed; /* point i is of the stream (seed; DATA, generator, i, part) */
    tsri_generator generator;
    int64_t part;
    const char *who; /* opens the sentence of a refusal */
} tsri_apart;

/* x[n][dim] = such points. USAGE, with the reason, when they do not fit. */
tsr_status tsri_make_apart(float *x, const tsri_apart *want);

#endif
