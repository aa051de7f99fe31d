/* row_scaling.c - one sample scaled as training scaled its inputs. */
#include "data/row_scaling.h"

#include "data/groups.h"
#include "data/normalisation.h"

tsri_row_scaling tsri_row_scaling_of(const tsri_scaling *s, const tsri_data_schema *schema,
                                     const int64_t shape[3], bool sequences, double length)
{
    const tsri_normalisation *how = tsri_normalisation_named(schema->normalize);
    int64_t dim = shape[0] * shape[1] * shape[2], row = sequences ? shape[0] : dim;
    return (tsri_row_scaling){.shift = s->shift,
                              .scale = s->scale,
                              .groups = how->each_row ? 0 : s->groups,
                              .block = sequences || s->groups == dim ? 1 : shape[1] * shape[2],
                              .fill = s->columns == dim ? s->fill : NULL,
                              .unit = how->each_row ? row : 0,
                              .length = how->each_row && !how->wanted_length ? 1 : length};
}

void tsri_scale_to_length(float *x, int64_t n, double length)
{
    double squares = 0.0;
    for (int64_t k = 0; k < n; k++)
        squares += (double)x[k] * (double)x[k];
    for (int64_t k = 0; squares > 0.0 && k < n; k++)
        x[k] = (float)((double)x[k] / sqrt(squares) * length);
}

static tsr_status refuse_number(int64_t k, float before)
{
    return tsri_fail(TSR_USAGE, "number %lld is %g%s", (long long)k, (double)before,
                     isfinite(before) ? ", beyond single precision once it is scaled as in training"
                                      : "");
}

/* A block at a time: all of it has one shift and one scale. */
static tsr_status shift_row(float *x, int64_t used, const tsri_row_scaling *s)
{
    for (int64_t k = 0, c = 0; k < used; c = c + 1 < s->groups ? c + 1 : 0) {
        int64_t end = k + s->block < used ? k + s->block : used;
        for (; k < end; k++) {
            float y = tsri_scaled(x[k], s->shift[c], s->scale[c]);
            if (!isfinite(y))
                return refuse_number(k, x[k]);
            x[k] = y;
        }
    }
    return TSR_OK;
}

tsr_status tsri_scale_row(float *x, int64_t used, const tsri_row_scaling *s)
{
    for (int64_t k = 0; k < used; k++) {
        if (s->fill && isnan(x[k]))
            x[k] = s->fill[k];
        if (!isfinite(x[k]))
            return refuse_number(k, x[k]);
    }
    for (int64_t k = 0; s->unit > 0 && k < used; k += s->unit)
        tsri_scale_to_length(x + k, s->unit, s->length);
    return s->groups > 0 ? shift_row(x, used, s) : TSR_OK;
}

int64_t tsri_first_too_far(const float *x, int64_t n)
{
    static const float most = 1e30f; /* the largest float is 3.4e38 */
    for (int64_t k = 0; k < n; k++)
        if (fabsf(x[k]) > most)
            return k;
    return -1;
}
