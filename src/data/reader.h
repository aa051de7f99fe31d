/* reader.h - every file format, one row each.
 *
 * A reader fills `data` from files: train, test when the files have one, shape, classes or targets,
 * names. It trusts nothing: sizes are checked against the file before memory is taken for them, and
 * every refusal names the file, the place in it and a remedy. A new format is one file and one row
 * in formats.c.
 */
#ifndef TSRI_READER_H
#define TSRI_READER_H

#include "data/dataset.h"

/* What the run file asks of a reader. Texts are borrowed; those that were not given are NULL. */
typedef struct tsri_read {
    const char *path;      /* file or folder */
    const char *test_path; /* file or folder with the test part */
    const char *target;    /* csv: columns, "name", "15" or "15-18"; NULL = the last one */
    const char *ignore;    /* csv: columns left out, "1-5,name" */
    const char *header;    /* csv: auto, yes, no */
    const char *missing;   /* csv: mean, zero, refuse */
    const char *words;   /* csv: columns whose cells are words even where they look like numbers */
    const char *decimal; /* csv: auto, point, comma */
    const char *dates;   /* csv: refuse, days */
    const char *unknown; /* csv: words that a model never saw: refuse, missing */
    const char *task;    /* auto, classify, regress */
    int64_t size;        /* images: side; 0 = as the first image */
    const tsri_like *like; /* the data of the model that will be shown these, or NULL */
} tsri_read;

/* The options of config's `data:` section; `like` may be NULL. */
tsri_read tsri_read_of(const tsr_config *config, const tsri_like *like);

typedef struct tsri_format {
    const char *name;                                    /* as in data.format */
    tsr_status (*recognise)(bool *is, const char *path); /* for data.format: auto */
    tsr_status (*read)(tsr_data *data, const tsri_read *want);
    const char *keys; /* of `data:` that this reader alone looks at, "task size" */
} tsri_format;

extern const tsri_format tsri_formats[];
extern const int64_t tsri_format_count;

/* The row of a format, or for "auto" the first one that recognises the path. BAD_FILE when the path
 * is not there or nothing recognises it. */
tsr_status tsri_format_choose(const tsri_format **out, const char *format, const char *path);

/* How many positions sequences of that length are kept with: as many as a model that is shown them
 * takes, where its positions have as many numbers. */
int64_t tsri_positions(const tsri_like *like, int64_t length, int64_t numbers);

/* What the row of this reader says of its keys. */
const char *tsri_format_keys(tsr_status (*read)(tsr_data *data, const tsri_read *want));

/* The readers and what they recognise. */
tsr_status tsri_is_idx(bool *is, const char *path);
tsr_status tsri_is_cifar10(bool *is, const char *path);
tsr_status tsri_is_cifar100(bool *is, const char *path);
tsr_status tsri_is_csv(bool *is, const char *path);
tsr_status tsri_is_npy(bool *is, const char *path);
tsr_status tsri_is_images(bool *is, const char *path);
tsr_status tsri_is_sequences(bool *is, const char *path);
tsr_status tsri_read_idx(tsr_data *data, const tsri_read *want);
tsr_status tsri_read_cifar10(tsr_data *data, const tsri_read *want);
tsr_status tsri_read_cifar100(tsr_data *data, const tsri_read *want);
tsr_status tsri_read_csv(tsr_data *data, const tsri_read *want);
tsr_status tsri_read_npy(tsr_data *data, const tsri_read *want);
tsr_status tsri_read_images(tsr_data *data, const tsri_read *want);
tsr_status tsri_read_sequences(tsr_data *data, const tsri_read *want);

/* ---- What readers share -------------------------------------------------------------------- */

bool tsri_is_stdin(const char *path); /* "-": a table on standard input */
bool tsri_is_folder(const char *path);
bool tsri_is_file(const char *path);                    /* a regular file */
bool tsri_ends_with(const char *text, const char *end); /* without regard to case */

/* *out = folder/name when such a file is there (or folder/name.gz or .xz), else NULL. */
tsr_status tsri_find_in(char **out, const char *folder, const char *name);

/* The whole file, decompressed. Expanding to more than 64 MB and 100 times its size is taken for a
 * bomb. */
tsr_status tsri_read_whole(char **bytes, int64_t *n, const char *path);

/* The most that a compressed file of this size may expand to. */
int64_t tsri_read_most(const char *path);

/* Classes and targets as the model has them (data->like), for data without their own. */
tsr_status tsri_take_classes(tsr_data *data);

/* Sets labels and data->classes of both parts from whole numbers. For a model (data->like) they are
 * its classes of these names or numbers; one that it does not know is refused. Else, when the
 * smallest is 0 and `compact` is false they are the classes 0 .. max; else the different values, in
 * order, are the classes and their names. `test` may be NULL. */
tsr_status tsri_labels_from(tsr_data *data, const int64_t *train, const int64_t *test, bool compact,
                            const char *path);

#endif
