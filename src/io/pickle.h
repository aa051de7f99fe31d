/* pickle.h - the tensors of a PyTorch state dict, read from its pickle without executing anything.
 *
 * A pickle is a program for a small stack machine. Python's own machine can import and call
 * whatever the program names; this one knows the opcodes that dictionaries of tensors need, a dozen
 * names (collections.OrderedDict, torch._utils._rebuild_tensor_v2, torch.FloatStorage, ...) that
 * stand for shapes of data and never for code, and refuses everything else by name.
 *
 *     tsri_pickle p;
 *     TSR_TRY(tsri_pickle_read(&p, bytes, n, path));
 *     ... p.tensor[i].name, .shape, .stride, .storage ...
 *     tsri_pickle_fini(&p);
 *
 * Memory: at most TSRI_PICKLE_VALUES small values, and never more than some 50 times the pickle's
 * own bytes, whatever it claims. Nothing recurses.
 */
#ifndef TSRI_PICKLE_H
#define TSRI_PICKLE_H

#include "io/safetensors.h"

enum {
    TSRI_PICKLE_BYTES = 1 << 24, /* of a pickle: a tensor takes some 150 */
    TSRI_PICKLE_VALUES = 1000000 /* values, and places in containers */
};

/* A piece of the pickle's own bytes, not followed by a NUL. */
typedef struct tsri_pickle_text {
    const char *bytes;
    int64_t n;
} tsri_pickle_text;

typedef struct tsri_pickle_tensor {
    tsri_pickle_text name;
    tsri_pickle_text storage; /* the key of its storage: member data/<key> of the archive */
    tsri_dtype dtype;
    int64_t storage_count; /* elements that the storage is said to have */
    int64_t offset;        /* of its first element there */
    int dims;
    int64_t shape[TSRI_DIMS_MAX], stride[TSRI_DIMS_MAX]; /* in elements */
} tsri_pickle_tensor;

typedef struct tsri_pickle {
    tsri_pickle_tensor *tensor;
    int64_t count;
} tsri_pickle;

/* The tensors of the dictionary that the pickle makes, or of the one that it holds as state_dict,
 * model_state_dict or model; in its order. Names are those of the file: one may appear twice.
 * Shapes and strides are within the claimed storage; whether that is there, the caller checks. The
 * spans point into `bytes`. BAD_FILE, naming `path` and the byte, for anything else. */
tsr_status tsri_pickle_read(tsri_pickle *out, const char *bytes, int64_t n, const char *path);
void tsri_pickle_fini(tsri_pickle *p);

#endif
