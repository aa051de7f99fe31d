/* source.h - every named data set, one row each.
 *
 * A source fills in the raw samples (data->train, data->test when it has one, shape, classes or
 * targets, names); split, limits, missing values and normalisation are the same for all and come
 * after (dataset.c). A new data set is one row in sources.c.
 */
#ifndef TSRI_SOURCE_H
#define TSRI_SOURCE_H

#include "data/dataset.h"

typedef struct tsri_source {
    const char *name; /* "fashion-mnist" */
    const char *help; /* one line */
    tsr_status (*load)(tsr_data *data, const tsr_config *config);
} tsri_source;

extern const tsri_source tsri_sources[];
extern const int64_t tsri_source_count;

#endif
