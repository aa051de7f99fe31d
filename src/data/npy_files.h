/* npy_files.h - the numpy arrays of a data set: which files they are, and their numbers.
 *
 *     tsri_npy_files f = {0};
 *     bool found;
 *     TSR_TRY(tsri_npy_files_read(&f, path, "", NULL, &found));
 *     ... tsri_npy_number(&f.x, i) for i in [0, f.x.count) ...
 *     tsri_npy_files_fini(&f);
 *
 * A folder holds x.npy and y.npy, for testing x_test.npy and y_test.npy, and for sequences of
 * different lengths length.npy and length_test.npy. A single file is a table whose last column is
 * the target (a file x.npy with a y.npy beside it stands for its folder).
 */
#ifndef TSRI_NPY_FILES_H
#define TSRI_NPY_FILES_H

#include "data/reader.h"
#include "io/npy.h"

typedef struct tsri_npy_array {
    tsri_tensor t;
    void *memory;
    char *path;         /* NULL: there is no such file */
    int64_t count, row; /* numbers, and of them in a sample */
} tsri_npy_array;

/* What a part is read from; y and length may be missing. Without y the last column of x is the
 * target, unless nobody needs one. */
typedef struct tsri_npy_files {
    tsri_npy_array x, y, length;
    bool unlabelled; /* all of x are inputs, and there are no targets */
} tsri_npy_files;

/* The files of that folder, with `suffix` ("" or "_test") in their names, or that file. *found:
 * there is an x. `like` (or NULL): the model that the data is shown to. BAD_FILE where they do not
 * fit together. Free what was read with fini, after a failure too. */
tsr_status tsri_npy_files_read(tsri_npy_files *f, const char *path, const char *suffix,
                               const tsri_like *like, bool *found);
void tsri_npy_files_fini(tsri_npy_files *f);

/* The k-th number of an array, whatever type it is stored in. */
double tsri_npy_number(const tsri_npy_array *a, int64_t k);

#endif
