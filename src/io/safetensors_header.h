/* safetensors_header.h - between the two halves of the safetensors reader. */
#ifndef TSRI_SAFETENSORS_HEADER_H
#define TSRI_SAFETENSORS_HEADER_H

#include "io/safetensors.h"

/* Fills tensor, metadata and by_name from the n bytes of f->header, which is changed in place.
 * data_size = what follows the header in the file. Afterwards the tensors are in the order of their
 * data and lie end to end; their `data` is not set to memory yet. */
tsr_status tsri_tensors_header(tsri_tensors *f, int64_t n, int64_t data_size, const char *path);

/* Fills by_name from the tensors' names. BAD_FILE when one appears twice. */
tsr_status tsri_tensors_sort_names(tsri_tensors *f, const char *path);

#endif
