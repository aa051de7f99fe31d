/* prepare.h - what happens to every data set after it was read, in this order: split and limits,
 * missing values, inputs brought to scale, targets brought to scale. */
#ifndef TSRI_PREPARE_H
#define TSRI_PREPARE_H

#include "data/dataset.h"
#include "data/normalisation.h"

/* When there is no test part, moves a part of the training samples there (data.split), chosen by a
 * permutation from (data.seed, SPLIT); then keeps data.limit and data.test_limit samples, chosen
 * the same way, so that a limit of sorted data still sees every class, and a smaller limit is a
 * part of a larger one. The order of the file is kept. */
tsr_status tsri_split(tsr_data *data, const tsr_config *config);

/* Each of the following measures the training part and notes what it found in data->scaling. With
 * `like` it measures nothing and takes those numbers. */

/* Fills cells that are NaN: with the mean of the column, or with zero. */
tsr_status tsri_fill_missing(tsr_data *data, const char *how, const tsri_scaling *like);

/* Brings inputs to scale.
 *     none         bytes / 255; numbers as they are
 *     unit         each row (each position of a sequence) divided by its norm
 *     patch        likewise, times `length`
 *     standardize  each column: mean 0, standard deviation 1 (sequences: each coordinate)
 *     channel      each channel: mean 0, standard deviation 1
 *     minmax       each channel to 0 .. 1 */
tsr_status tsri_normalize(tsr_data *data, const tsri_normalisation *how, const tsri_scaling *like,
                          double length);

/* Brings real targets to scale: none, standardize, minmax, log. BAD_FILE when log meets a target
 * that is not positive. */
tsr_status tsri_scale_targets(tsr_data *data, const char *how, const tsri_scaling *like);

#endif
