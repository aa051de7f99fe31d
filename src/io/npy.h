/* npy.h - numpy's array file. Reads versions 1 to 3, row- or column-major, the plain number types;
 * object arrays (pickles) are refused. Writes version 1.0, row-major. */
#ifndef TSRI_NPY_H
#define TSRI_NPY_H

#include "io/safetensors.h"

/* *out->data belongs to *memory, which the caller frees. Column-major files come out row-major. */
tsr_status tsri_npy_read(tsri_tensor *out, void **memory, const char *path);
tsr_status tsri_npy_parse(tsri_tensor *out, void **memory, const char *bytes, int64_t n,
                          const char *name);
tsr_status tsri_npy_write(const char *path, const tsri_tensor *tensor);

#endif
