/* groups.h - numbers of samples in groups, measured together and scaled together.
 *
 * A group is a column of a table, a channel of an image, a coordinate of a sequence, or all targets.
 * It has a shift and a scale, measured on the training part, and x becomes (x - shift) * scale.
 * Sums run in double precision in the order of the data, so the result is the same everywhere.
 *
 *     tsri_groups shape = tsri_groups_of(how->grouping, data);
 *     TSR_TRY(tsri_measure_inputs(&g, shape, data));
 *     TSR_TRY(tsri_affine_of(&shift[c], &scale[c], &g[c], &goal, data));
 */
#ifndef TSRI_GROUPS_H
#define TSRI_GROUPS_H

#include "data/dataset.h"
#include "data/normalisation.h"

#include <math.h>

/* Number k of a sample (k = 0 .. dim-1) belongs to group k / block % count. */
typedef struct tsri_groups {
    int64_t count, block;
} tsri_groups;

tsri_groups tsri_groups_of(tsri_grouping by, const tsr_data *data);

/* What was measured of a group; NaN, a missing cell, does not count. */
typedef struct tsri_group {
    double sum, squares, least, most; /* squares: of the distances from the mean */
    int64_t n;
} tsri_group;

/* *out = [shape.count] the groups of the training inputs; the caller frees it. */
tsr_status tsri_measure_inputs(tsri_group **out, tsri_groups shape, const tsr_data *data);

/* g [count] = the training targets: all of them together (count 1), or each (data->targets). */
void tsri_measure_targets(tsri_group *g, int64_t count, const tsr_data *data);

/* What a group is brought to, and what it is called when that cannot be done. */
typedef struct tsri_affine_goal {
    bool range;       /* to 0 .. 1 from least to most; else to mean 0 and deviation 1 */
    bool comes_back;  /* answers are scaled back by it */
    const char *what; /* "input 3 (age)" */
    const char *key;  /* of the run file, that switches scaling off */
} tsri_affine_goal;

/* Shift and scale of a group; one without spread is only shifted. BAD_FILE when no float can be
 * its scale. */
tsr_status tsri_affine_of(float *shift, float *scale, const tsri_group *g,
                          const tsri_affine_goal *goal, const tsr_data *data);

/* (x - shift) * scale. The difference of two huge numbers may overflow a float although the result
 * does not. */
static inline float tsri_scaled(float x, float shift, float scale)
{
    float y = (x - shift) * scale;
    return isfinite(y) ? y : (float)(((double)x - (double)shift) * (double)scale);
}

/* BAD_FILE: once it is scaled, this number of a sample of the part is beyond a float. */
tsr_status tsri_scaled_too_far(const tsr_data *data, const tsri_part *part, int64_t sample,
                               const char *what, float value);

/* How many numbers sample i of the part has: a sequence may end before the longest one. */
int64_t tsri_part_used(const tsr_data *data, const tsri_part *part, int64_t i);

#endif
