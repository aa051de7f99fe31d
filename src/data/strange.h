/* strange.h - warnings about numbers far away from all that a model was trained on. */
#ifndef TSRI_STRANGE_H
#define TSRI_STRANGE_H

#include "data/dataset.h"

/* Columns have names but numbers have no units: metres where the model learned centimetres, or
 * pixels of 0 .. 1 where it learned bytes, look like any other number. Warns, after data was scaled
 * as in a model's training,
 *     of columns of a table or an array, and coordinates of sequences, most of whose values lie more
 *     than ten deviations (ten times the range with minmax) away from those of the training;
 *     of images of which that is true, or all of whose values lie within a tenth of a deviation (a
 *     fiftieth of the range with minmax and none);
 *     of bytes for a model that learned from real images as they were. */
void tsri_warn_of_strange(const tsr_data *data, const tsri_like *like);

/* The same of real targets, once they are scaled. */
void tsri_warn_of_strange_targets(const tsr_data *data);

#endif
