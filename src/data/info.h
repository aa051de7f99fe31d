/* info.h - facts about a data set that are worth knowing before training on it. */
#ifndef TSRI_INFO_H
#define TSRI_INFO_H

#include "data/dataset.h"

typedef struct tsri_column_info {
    double mean, deviation, least, most;
} tsri_column_info;

/* All of the training part. `phi` is the least distance of two rows of a sample, each row brought
 * to norm 1 as the theories ask; a row of zeros takes no part. */
typedef struct tsri_data_info {
    tsri_column_info *channel; /* [channels] of tables: columns; of bytes: as 0 .. 255 */
    int64_t *count;            /* [classes] samples of each class, or NULL */
    int64_t *test_count;       /* [classes] the same of the test part */
    tsri_column_info target;   /* of all real targets together */
    int64_t duplicates;        /* samples equal to an earlier one */
    int64_t conflicts;         /* of them, with another label or target */
    int64_t conflict[2];       /* such a pair, from 0 */
    double phi;                /* -1 when there are not two rows */
    int64_t phi_rows;          /* rows in the sample */
    int64_t phi_pair[2];       /* the nearest two */
    int64_t shortest, longest; /* of sequences */
} tsri_data_info;

/* Best on data loaded with data.normalize: none. Finish with tsri_data_info_fini. */
tsr_status tsri_data_info_of(tsri_data_info *info, const tsr_data *data);
void tsri_data_info_fini(tsri_data_info *info);

/* Writes a PNG of sixteen training samples, class after class, in a square of four by four. Images
 * are shown as they are; a table's row as a square of its numbers, a sequence with its positions
 * from left to right, each from dark (least of the column) to bright. */
tsr_status tsri_sheet_write(const char *path, const tsr_data *data);

/* Writes x.npy, y.npy, x_test.npy, y_test.npy (and length.npy, length_test.npy of sequences) into
 * a folder, as read_npy.c reads them. */
tsr_status tsri_data_export(const tsr_data *data, const char *folder);

#endif
