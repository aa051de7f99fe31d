/* sphere.c - unit points with labels: `sphere` (apart, labels to be learned) and `random-labels`
 * (labels to be memorised).
 *
 * The sphere's target is y = d <u,x> <v,x> with u, v orthonormal, drawn from the seed. It has mean
 * 0 and variance d/(d+2), its sign is +1 for exactly half of the sphere, no linear model does
 * better than chance on it, and a small network learns it: so both training and test error mean
 * something.
 */
#include "data/make.h"

#include "base/alloc.h"
#include "data/part.h"

#include <math.h>

/* ---- sphere ------------------------------------------------------------------------------- */

/* u, v = two orthonormal directions of the seed. */
static void draw_teacher(double *u, double *v, int64_t dim, uint64_t seed)
{
    tsri_rng rng = tsri_rng_stream(seed, TSRI_FOR_DATA, TSRI_SPHERE_TEACHER, 0, 0);
    double uu = 0.0, uv = 0.0, vv = 0.0;
    for (int64_t j = 0; j < dim; j++) {
        u[j] = tsri_rng_normal(&rng);
        v[j] = tsri_rng_normal(&rng);
        uu += u[j] * u[j];
        uv += u[j] * v[j];
    }
    for (int64_t j = 0; j < dim; j++) {
        v[j] -= uv / uu * u[j];
        vv += v[j] * v[j];
    }
    for (int64_t j = 0; j < dim; j++) {
        u[j] /= sqrt(uu);
        v[j] /= sqrt(vv);
    }
}

static double teach(const float *x, const double *u, const double *v, int64_t dim)
{
    double ux = 0.0, vx = 0.0;
    for (int64_t j = 0; j < dim; j++) {
        ux += u[j] * (double)x[j];
        vx += v[j] * (double)x[j];
    }
    return (double)dim * ux * vx;
}

static tsr_status fill_sphere(tsri_part *part, int64_t which, const tsri_synthetic *options,
                              const double *u, const double *v)
{
    tsr_status st = TSR_OK;
    int64_t dim = options->dim;
    tsri_apart want = {part->n,       dim,         1.0,   options->phi,
                       options->seed, TSRI_SPHERE, which, "sphere"};
    TSR_TRY(tsri_make_apart(part->numbers, &want));
    for (int64_t i = 0; i < part->n; i++) {
        double y = teach(part->numbers + i * dim, u, v, dim);
        if (part->label)
            part->label[i] = y >= 0.0;
        else
            part->target[i] = (float)y;
    }
done:
    return st;
}

tsr_status tsri_sphere(tsr_data *data, const tsri_synthetic *options)
{
    static const char *const sign[] = {"-1", "+1"};
    tsr_status st = TSR_OK;
    double *u = NULL, *v = NULL;
    int64_t dim = options->dim;
    TSR_CHECK(dim >= 2, TSR_USAGE, "sphere: data.dim is %lld; at least 2 dimensions are needed",
              (long long)dim);
    TSR_CHECK(options->phi >= 0.0 && options->phi <= 2.0, TSR_USAGE,
              "sphere: data.phi is %g; unit points are between 0 and 2 apart", options->phi);
    data->classes = options->regress ? 0 : 2;
    data->targets = options->regress ? 1 : 0;
    TSR_TRY(tsri_make_parts(data, options, dim, 1, 1, false));
    if (!options->regress)
        TSR_TRY(tsri_data_name_classes(data, sign));
    TSR_TRY(tsri_alloc(&u, dim, sizeof *u));
    TSR_TRY(tsri_alloc(&v, dim, sizeof *v));
    draw_teacher(u, v, dim, options->seed);
    TSR_TRY(fill_sphere(&data->train, TSRI_TRAIN, options, u, v));
    TSR_TRY(fill_sphere(&data->test, TSRI_TEST, options, u, v));
done:
    tsri_free(u);
    tsri_free(v);
    return st;
}

/* ---- random-labels ------------------------------------------------------------------------ */

static void fill_random(tsri_part *part, int64_t which, const tsri_synthetic *options)
{
    for (int64_t i = 0; i < part->n; i++) {
        tsri_rng rng = tsri_rng_stream(options->seed, TSRI_FOR_DATA, TSRI_RANDOM_LABELS, i, which);
        if (part->label) /* the label first: it cannot look */
            part->label[i] = (int32_t)tsri_rng_below(&rng, (uint32_t)options->classes);
        else
            part->target[i] = (float)tsri_rng_normal(&rng);
        tsri_make_unit(part->numbers + i * options->dim, options->dim, &rng);
    }
}

tsr_status tsri_random_labels(tsr_data *data, const tsri_synthetic *options)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(options->dim >= 1, TSR_USAGE, "random-labels: data.dim is %lld; at least 1 is needed",
              (long long)options->dim);
    TSR_CHECK(options->regress || (options->classes >= 2 && options->classes <= INT32_MAX),
              TSR_USAGE, "random-labels: data.classes is %lld; at least 2 are needed to differ",
              (long long)options->classes);
    data->classes = options->regress ? 0 : options->classes;
    data->targets = options->regress ? 1 : 0;
    TSR_TRY(tsri_make_parts(data, options, options->dim, 1, 1, false));
    fill_random(&data->train, TSRI_TRAIN, options);
    fill_random(&data->test, TSRI_TEST, options);
done:
    return st;
}
