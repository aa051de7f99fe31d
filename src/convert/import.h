/* import.h - another tool's weights as a model file of ours.
 *
 *     tsri_import how = {.normalize = true, .mean = {...}, .deviation = {...}};
 *     TSR_TRY(tsri_import_file("model.safetensors", "resnet18.pth", &how));
 *     TSR_TRY(tsr_model_read(&m, "model.safetensors"));          an ordinary model from here on
 *
 * The architecture follows from the tensors' names and shapes: every model whose row says what its
 * first and last layers are called is built with the width, stem and outputs that those have in the
 * file, and the one whose parameters are exactly the file's is it. Weights and running statistics
 * become ours to the bit (F64 is rounded to F32).
 */
#ifndef TSRI_IMPORT_H
#define TSRI_IMPORT_H

#include "io/safetensors.h"

enum { TSRI_IMPORT_CHANNELS = 4 }; /* of images, at most */

typedef struct tsri_import {
    const char *model; /* NULL: told from names and shapes */
    int64_t size;      /* side of the images; 0 = 224, of a net with a small stem 32 */
    int64_t classes;   /* outputs of a new last layer; 0 = the file's own */
    uint64_t seed;     /* of that layer's weights */
    const char *names; /* a file with the classes' names, a line for each; NULL: numbered from 0 */
    bool normalize;    /* the network sees (x - mean) / deviation, x in 0 .. 1; else x */
    int64_t channels;  /* numbers in these */
    double mean[TSRI_IMPORT_CHANNELS], deviation[TSRI_IMPORT_CHANNELS];
} tsri_import;

/* BAD_FILE, naming what is wrong, when `path` holds no network that is known; USAGE when `how` does
 * not fit it. */
tsr_status tsri_import_put(tsri_sink *to, const char *path, const tsri_import *how);
tsr_status tsri_import_file(const char *out, const char *path, const tsri_import *how);

#endif
