/* points.h - what a model's theory asks of the samples before they are split.
 *
 * Losses of margins want labels -1 and +1; the deep ReLU paper's separation (Assumption 3.6) cannot
 * hold where one point has two labels. Both are checked in the order of the data, so that a message
 * can name the samples by their places in the file.
 */
#ifndef TSRI_POINTS_H
#define TSRI_POINTS_H

#include "data/dataset.h"

/* BAD_FILE naming samples: a label other than -1 and +1 where signs are wanted; two samples that
 * are the same point (`unit`: up to their norm) with different labels where points are to be
 * separate. Before the split; labels and targets as they were read. */
tsr_status tsri_check_points(const tsr_data *data, const tsri_wants *wants, bool unit);

/* The least distance between two of the rows x [n, dim], and which two they are: Assumption 3.6's
 * phi. Infinity when there are fewer than two. */
double tsri_least_distance(const float *x, int64_t n, int64_t dim, int64_t *first, int64_t *second);

#endif
