/* ackley.c - the synthetic regression target of section 6.1 of the GReLU paper (Noy, Xu, Aflalo,
 * Zelnik-Manor, Jin), "a complex version of the Ackley function":
 *
 *     y = sum_{d'=1}^{d} x_{d-d'} ( log|x_{d'}| (cos x_{d'} + x^3 sin x_{d'}) + sqrt|x_{d'}| )
 *
 * What the paper leaves open, and what is chosen here:
 * - d - d' runs from d-1 down to 0, but coordinates are numbered 1 to d and x_0 does not exist. We
 *   read it as the mirror image of d', x_{d+1-d'}: the only reading in which every coordinate is
 *   used once in each role. (Counting from 0 in the first factor alone gives the same.)
 * - x^3 has no index: it is x_{d'}^3, like its neighbours.
 * - "random vectors": independent N(0,1) coordinates.
 * The paper's size is data.n = 100, data.dim = 200. The sum is over the inputs as stored, in double
 * precision, from d' = 1 on.
 */
#include "data/make.h"

#include "base/sine.h"

#include <math.h>

static double ackley(const float *x, int64_t d)
{
    double y = 0.0;
    for (int64_t k = 0; k < d; k++) {
        double t = (double)x[k], size = t < 0 ? -t : t;
        double wave = tsri_cos(t) + t * t * t * tsri_sin(t);
        y += (double)x[d - 1 - k] * (tsri_log(size) * wave + sqrt(size));
    }
    return y;
}

static void fill(tsri_part *part, int64_t which, const tsri_synthetic *options)
{
    int64_t dim = options->dim;
    for (int64_t i = 0; i < part->n; i++) {
        tsri_rng rng = tsri_rng_stream(options->seed, TSRI_FOR_DATA, TSRI_ACKLEY, i, which);
        float *x = part->numbers + i * dim;
        for (int64_t j = 0; j < dim; j++)
            x[j] = (float)tsri_rng_normal(&rng); /* never 0, so the logarithm is finite */
        part->target[i] = (float)ackley(x, dim);
    }
}

tsr_status tsri_ackley(tsr_data *data, const tsri_synthetic *options)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(options->dim >= 1, TSR_USAGE, "ackley: data.dim is %lld; at least 1 is needed",
              (long long)options->dim);
    data->targets = 1;
    TSR_TRY(tsri_make_parts(data, options, options->dim, 1, 1, false));
    fill(&data->train, TSRI_TRAIN, options);
    fill(&data->test, TSRI_TEST, options);
done:
    return st;
}
