/* normalisation.h - the ways to normalise inputs (data.normalize), one row each.
 *
 * The row says what a way does; nobody compares names. data.normalize: auto becomes one of them
 * (dataset.c) before anything is measured.
 */
#ifndef TSRI_NORMALISATION_H
#define TSRI_NORMALISATION_H

#include <stdbool.h>

/* Which numbers of the samples have a shift and a scale in common (groups.h). */
typedef enum tsri_grouping {
    TSRI_NO_GROUPS,
    TSRI_BY_COLUMN, /* each number of a sample; of sequences each coordinate of a position */
    TSRI_BY_CHANNEL /* each channel of an image; of tables and sequences as by column */
} tsri_grouping;

typedef struct tsri_normalisation {
    const char *name;       /* in run files and model files */
    tsri_grouping grouping; /* the groups that are shifted and scaled */
    bool range;             /* to 0 .. 1 from least to most; else to mean 0 and deviation 1 */
    bool each_row;          /* each row is divided by its own norm */
    bool wanted_length;     /* ... and multiplied by the length that the model wants */
} tsri_normalisation;

/* The row of that name; that of "none" where `name` is NULL (an older model file). */
const tsri_normalisation *tsri_normalisation_named(const char *name);

/* Does it leave the inputs as they are (bytes are divided by 255 all the same)? */
bool tsri_normalises_nothing(const tsri_normalisation *how);

#endif
