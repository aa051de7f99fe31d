/* prepare.h - what happens to every data set after it was read: split, limits, missing values,
 * normalisation. */
#ifndef TSRI_PREPARE_H
#define TSRI_PREPARE_H

#include "data/dataset.h"

/* When there is no test part, moves a part of the training samples there (data.split), chosen by a
 * permutation from (data.seed, SPLIT); then keeps data.limit and data.test_limit samples, chosen
 * the same way, so that a limit of sorted data still sees every class, and a smaller limit is a
 * part of a larger one. The order of the file is kept. */
tsr_status tsri_split(tsr_data *data, const tsr_config *config);

/* Each of the following measures the training part and notes what it found in data->scaling, unless
 * `like` says what to take instead (NULL = measure). */

/* Fills cells that are NaN: with the mean of the column, or with zero. */
tsr_status tsri_fill_missing(tsr_data *data, const char *how, const tsri_scaling *like);

/* Brings inputs into the form asked for.
 *     none         bytes / 255; numbers as they are
 *     unit         each row (each position of a sequence) divided by its norm
 *     patch        likewise, times `length`
 *     standardize  each column: mean 0, standard deviation 1 (sequences: each coordinate)
 *     channel      each channel: mean 0, standard deviation 1
 *     minmax       each channel to 0 .. 1 */
tsr_status tsri_normalize(tsr_data *data, const char *how, const tsri_scaling *like, double length);

/* The same for one sample that a model is shown, from what its file says; `unit` rows are divided by
 * their norm. */
typedef struct tsri_row_scaling {
    const float *shift, *scale; /* number k belongs to group k / block % groups */
    int64_t groups, block;      /* 0 groups: nothing is shifted */
    const float *fill;          /* [dim] for numbers that are NaN, or NULL */
    int64_t unit;               /* numbers in a row that is divided by its norm; 0 = none is */
    double length;              /* the norm that such a row then has */
} tsri_row_scaling;

/* `sequences` [positions, channels]; else [channels, height, width]. Points into its arguments. */
tsri_row_scaling tsri_row_scaling_of(const tsri_scaling *s, const tsri_data_schema *schema,
                                     const int64_t shape[3], bool sequences, double length);

/* x [used] in place. USAGE, naming the number, when one is not finite, before or after. */
tsr_status tsri_scale_row(float *x, int64_t used, const tsri_row_scaling *s);

/* The first of n scaled inputs, or -1, that is so large that sums of its products with weights may be
 * beyond single precision. A ReLU makes 0 of what is no number any more, and the answer then looks
 * like any other. */
int64_t tsri_first_too_far(const float *x, int64_t n);

/* Brings real targets into the form asked for: none, standardize, minmax, log. BAD_FILE when log
 * meets a target that is not positive. */
tsr_status tsri_scale_targets(tsr_data *data, const char *how, const tsri_scaling *like);

#endif
