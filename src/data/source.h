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
    const char *name; /* "fashion-mnist"; "" = whatever is at data.path */
    const char *help; /* one line */
    tsr_status (*load)(tsr_data *data, const tsr_config *config);
    const char *normalize;    /* what data.normalize: auto means here; NULL = by kind of data */
    const char *target_scale; /* the same of data.target_scale */
    const char *get;          /* how to get it, for messages; NULL = it is made from a seed */
    const char *keys; /* of `data:` that its generator alone looks at; NULL: those of its format */
} tsri_source;

#define TSRI_ARRAYS "arrays" /* data.name of a data set that a program gave */

extern const tsri_source tsri_sources[];
extern const int64_t tsri_source_count;

/* The i-th name, NULL after the last; and the row of a name, or NULL. */
const char *tsri_source_name(int64_t i);
const tsri_source *tsri_source_find(const char *name);

/* The row that config asks for: data.name; else data.path; else fashion-mnist, and when that is not
 * on this machine glyphs, with a warning. USAGE with the nearest name when there is none. */
tsr_status tsri_source_choose(const tsri_source **out, const tsr_config *config);

/* Where a named set is: data.path, $TESSERA_DATA, ${XDG_DATA_HOME:-~/.local/share}/tessera, and
 * where Debian's package puts it, in this order. *path is NULL when it is nowhere; then `tried`
 * (may be NULL) lists the places that were tried. The caller frees *path. */
tsr_status tsri_source_locate(char **path, tsri_text *tried, const char *name,
                              const tsr_config *config);

/* The same in one folder, which is the set's own or holds it. *path is NULL when it is not
 * there. */
tsr_status tsri_source_look(char **path, const char *name, const char *folder);

/* ${XDG_DATA_HOME:-~/.local/share}/tessera/NAME, where `data get` puts a set. */
tsr_status tsri_source_home(char **path, const char *name);

#endif
