/* part.h - the memory of a data set's two parts. */
#ifndef TSRI_PART_H
#define TSRI_PART_H

#include "data/dataset.h"

enum { TSRI_CLASSES_MAX = 65536 }; /* a label above is a mistake in the file, not a class */

/* Sets channels, height, width and dim. BAD_FILE when a sample would be larger than 2^30
 * numbers. */
tsr_status tsri_data_shape(tsr_data *data, int64_t channels, int64_t height, int64_t width,
                           const char *path);

void tsri_part_fini(tsri_part *part);

/* The row of the file, from 1, that sample i of the part is: a split leaves some out. */
int64_t tsri_part_row(const tsri_part *part, int64_t i);

/* *out = the samples index[0 .. n-1] of `in`, copied. The caller frees it with tsri_part_fini. */
tsr_status tsri_part_pick(tsri_part *out, const tsri_part *in, const tsr_data *data,
                          const int64_t *index, int64_t n);

/* *out = all samples of `in`, copied. */
tsr_status tsri_part_copy(tsri_part *out, const tsri_part *in, const tsr_data *data);

/* Bytes become numbers, byte for byte, for normalisations that differ from sample to sample or
 * from pixel to pixel; `keep`: the bytes stay as part->pixels. */
tsr_status tsri_part_to_numbers(tsri_part *part, const tsr_data *data, bool keep);

/* data->class_name[i] = a copy of name[i], for all classes. */
tsr_status tsri_data_name_classes(tsr_data *data, const char *const *name);

#endif
