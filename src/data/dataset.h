/* dataset.h - samples in memory, as the network will see them.
 *
 * A data set is a training part and a test part of the same shape. Images stay as bytes (a quarter
 * of the memory) and become numbers when a batch is gathered: x = (byte - shift) * scale of its
 * channel. Tables and sequences are floats, already normalised.
 *
 *     tsr_data *data = NULL;
 *     tsri_wants wants = tsri_model_wants(config); (net/models.h)
 *     TSR_TRY(tsri_data_load(&data, config, &wants));
 *     ... data->train.n, data->classes ...
 *     tsr_data_destroy(data);
 */
#ifndef TSRI_DATASET_H
#define TSRI_DATASET_H

#include "data/data_schema.h"
#include "data/scaling.h"
#include "io/config.h"

/* One part. Data for predictions may have neither label nor target. A sample has
 * channels x height x width numbers (a table row: channels x 1 x 1); a sequence has `length`
 * positions of `channels` numbers (height = longest length, width = 1, position major: x[i][l][c],
 * zero after the end). */
typedef struct tsri_part {
    int64_t n;
    uint8_t *bytes;  /* [n, C, H, W] or NULL */
    float *numbers;  /* [n, C, H, W] or NULL: exactly one of the two is set */
    uint8_t *pixels; /* [n, C, H, W] what `numbers` were, where training changes it, or NULL */
    int32_t *label;  /* [n] class of each sample, or NULL */
    float *target;   /* [n, targets] real targets, or NULL */
    int32_t *length; /* [n] of sequences, or NULL */
    char **name;     /* [n] files of pictures that a model is shown, or NULL */
    uint32_t *row; /* [n] place of each sample in its file, from 0; NULL: all are here, in order */
    bool borrowed_inputs, borrowed_targets; /* bytes or numbers, and target, are a program's own */
} tsri_part;

typedef struct tsr_data {
    char *name;                      /* "fashion-mnist", or the path */
    char *source;                    /* where it was found, for messages */
    int64_t channels, height, width; /* shape of a sample; product = dim */
    int64_t dim;
    int64_t classes; /* 0 for real targets */
    int64_t targets; /* numbers in a real target; 0 for classes */
    bool sequences;
    char **class_name; /* [classes] or NULL */
    char **column;     /* [dim] names of table columns or NULL */
    tsri_data_schema schema;
    const tsri_like *like;    /* while loading: the data of a model that will see these, or NULL */
    const char *normalize;    /* what data.normalize: auto means for its source; NULL = by kind */
    const char *target_scale; /* the same of data.target_scale */
    const char *keys;         /* of `data:` that its source or format alone reads; NULL: unknown */
    bool own_test;            /* its source has a test part: nothing was split off */
    tsr_config *asked;     /* of one read by tsr_data_read: the config that named it; else NULL */
    tsri_scaling scaling;  /* for bytes (per channel) not yet applied */
    int64_t missing;       /* cells of inputs that were missing and filled */
    int64_t missing_found; /* the same, columns that are not used included */
    uint32_t hash;         /* CRC32C of all that the network sees */
    bool of_bytes;         /* samples were bytes when they were read */
    bool keeps_pixels;     /* training changes them: of the training part they are kept */
    double patch;          /* length of an input that is normalised as a patch */
    double seconds;        /* that loading it took, of tsr_data_load */
    bool prepared;         /* by tsr_data_load: split and scaled already */
    tsri_part train, test;
} tsr_data;

/* What the model and the loss want of data that is theirs; {0}: nothing in particular. */
typedef struct tsri_wants {
    const char *normalize; /* what data.normalize: auto means; NULL: as the source says, or the kind
                              of data */
    double length;         /* of an input that is normalised as a patch */
    bool signs;            /* labels are -1 and +1 */
    bool separate;         /* no point has two labels */
} tsri_wants;

/* Loads what config's `data:` section asks for: a name, or a path and format; split, limits,
 * normalisation applied. The caller destroys *out. */
tsr_status tsri_data_load(tsr_data **out, const tsr_config *config, const tsri_wants *wants);

/* The same for a model: matched by name with the data it was trained on and scaled as those were,
 * instead of what would be measured. NULL = for no model. */
tsr_status tsri_data_load_like(tsr_data **out, const tsr_config *config, const tsri_wants *wants,
                               const tsri_like *like);

/* What the config's `data:` section names, as its source has it: neither split nor scaled. */
tsr_status tsri_data_raw(tsr_data **out, const tsr_config *config, const tsri_like *like);

/* The same for a model that is shown all of it: nothing is split off, and no limit applies. */
tsr_status tsri_data_shown(tsr_data **out, const tsr_data *raw, const tsr_config *config,
                           const tsri_wants *wants, const tsri_like *like);

/* From a data set of that kind, which stays as it is, what tsri_data_load_like would have made of
 * it. `like` may be NULL. */
tsr_status tsri_data_prepared(tsr_data **out, const tsr_data *raw, const tsr_config *config,
                              const tsri_wants *wants, const tsri_like *like);

#endif
