/* row_scaling.h - one sample scaled as training scaled its inputs, from what a model file says.
 *
 *     tsri_row_scaling s = tsri_row_scaling_of(&m->scaling, &m->schema, shape, sequences, length);
 *     TSR_TRY(tsri_scale_row(x, dim, &s));
 */
#ifndef TSRI_ROW_SCALING_H
#define TSRI_ROW_SCALING_H

#include "data/data_schema.h"
#include "data/scaling.h"

typedef struct tsri_row_scaling {
    const float *shift, *scale; /* number k belongs to group k / block % groups */
    int64_t groups, block;      /* 0 groups: nothing is shifted */
    const float *fill;          /* [dim] for numbers that are NaN, or NULL */
    int64_t unit;               /* numbers in a row that is divided by its norm; 0 = none is */
    double length;              /* the norm that such a row then has */
} tsri_row_scaling;

/* The shape is [positions, channels] of `sequences`, else [channels, height, width]; `length` is
 * what the model wants of a patch. Points into its arguments. */
tsri_row_scaling tsri_row_scaling_of(const tsri_scaling *s, const tsri_data_schema *schema,
                                     const int64_t shape[3], bool sequences, double length);

/* Scales x [used] in place. USAGE, naming the number, when one is not finite before or after. */
tsr_status tsri_scale_row(float *x, int64_t used, const tsri_row_scaling *s);

/* Brings a row of n numbers to that length; a row of zeros stays as it is. */
void tsri_scale_to_length(float *x, int64_t n, double length);

/* The first of n scaled inputs that is so large that sums of its products with weights may overflow
 * a float; -1 when none is. A ReLU turns the NaN that follows into 0, and the answer then looks like
 * any other. */
int64_t tsri_first_too_far(const float *x, int64_t n);

#endif
