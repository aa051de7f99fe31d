/* sequences.c - sequences as Allen-Zhu, Li and Song's theory of recurrent networks asks for them
 * (section 2.1 and Assumption 2.1):
 *
 *     |x_{i,1}| = 1 with last coordinate 1/sqrt 2,   |x_{i,l}| <= 1,   |x_{i,1} - x_{j,1}| >= delta
 *
 * The first d-1 coordinates of x_{i,1} are a point on the sphere of radius 1/sqrt 2; the points of
 * a part keep the distance delta. Later positions have a uniform direction and a norm uniform in
 * (0,1). Targets y*_{i,l} are N(0,1), at every position, though the paper's loss starts at the
 * second. All sequences have the same length, as in the paper.
 */
#include "data/make.h"

#include "base/alloc.h"
#include "base/narrow.h"

#include <string.h>

/* A little inside the ball, so that |x| <= 1 still holds after rounding to float. */
static const double INSIDE = 1.0 - 1e-6;

static const double HALF_ROOT = 0.70710678118654752440; /* 1/sqrt 2 */

/* x_{i,1} from the point p of one dimension less. */
static void first_position(float *x, const float *p, int64_t dim)
{
    memcpy(x, p, (size_t)(dim - 1) * sizeof *x);
    x[dim - 1] = (float)HALF_ROOT;
}

static void later_position(float *x, int64_t dim, tsri_rng *rng)
{
    double norm = tsri_rng_uniform53(rng) * INSIDE;
    tsri_make_unit(x, dim, rng);
    for (int64_t j = 0; j < dim; j++)
        x[j] = (float)((double)x[j] * norm);
}

static tsr_status fill(tsri_part *part, int64_t which, const tsri_synthetic *options)
{
    tsr_status st = TSR_OK;
    float *p = NULL; /* [n][dim-1] */
    int64_t dim = options->dim, length = options->length, targets = options->targets;
    TSR_TRY(tsri_alloc_raw(&p, part->n * (dim - 1), sizeof *p));
    TSR_TRY(tsri_alloc_raw(&part->length, part->n, sizeof *part->length));
    tsri_apart want = {part->n,       dim - 1,        HALF_ROOT, options->phi,
                       options->seed, TSRI_SEQUENCES, which,     "sequences"};
    TSR_TRY(tsri_make_apart(p, &want));
    for (int64_t i = 0; i < part->n; i++) {
        tsri_rng rng = tsri_rng_stream(options->seed, TSRI_FOR_DATA, TSRI_SEQUENCE_REST, i, which);
        float *x = part->numbers + i * length * dim; /* [length][dim] */
        float *y = part->target + i * length * targets;
        first_position(x, p + i * (dim - 1), dim);
        for (int64_t l = 0; l < length; l++) {
            if (l > 0)
                later_position(x + l * dim, dim, &rng);
            for (int64_t c = 0; c < targets; c++)
                y[l * targets + c] = (float)tsri_rng_normal(&rng);
        }
        part->length[i] = (int32_t)length;
    }
done:
    tsri_free(p);
    return st;
}

tsr_status tsri_sequences(tsr_data *data, const tsri_synthetic *options)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(
        options->dim >= 2, TSR_USAGE,
        "sequences: data.dim is %lld; the last coordinate of a first position is fixed, so at "
        "least 2 are needed",
        (long long)options->dim);
    TSR_CHECK(options->phi >= 0.0 && options->phi <= 1.0, TSR_USAGE,
              "sequences: data.phi is %g; Assumption 2.1 wants a delta between 0 and 1",
              options->phi);
    TSR_CHECK(options->length >= 1 && options->length <= INT32_MAX && options->targets >= 1,
              TSR_USAGE, "sequences: data.length and data.targets must be at least 1");
    data->sequences = true;
    TSR_TRY(
        tsri_multiply(&data->targets, options->length, options->targets, "targets of a sequence"));
    TSR_TRY(tsri_make_parts(data, options, options->dim, options->length, 1, false));
    TSR_TRY(fill(&data->train, TSRI_TRAIN, options));
    TSR_TRY(fill(&data->test, TSRI_TEST, options));
done:
    return st;
}
