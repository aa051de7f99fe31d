/* torch_file.h - PyTorch's .pth and .pt files, as named tensors like those of safetensors.
 *
 *     NAME/data.pkl     a pickle: which tensor is which part of which storage (pickle.h)
 *     NAME/data/0       the bytes of storage 0, and so on
 *     NAME/byteorder    "little", if present; NAME/version and others are ignored
 *
 * That is the zip archive of torch.save since version 1.6. The format before it is refused with the
 * line that saves the file again.
 *
 * Memory: the storages and the tensors, each at most as large as the file; no claim of the file
 * takes more.
 */
#ifndef TSRI_TORCH_FILE_H
#define TSRI_TORCH_FILE_H

#include "io/safetensors.h"

/* Named tensors from a PyTorch file or from safetensors, recognised by the first bytes. Tensors are
 * dense and in the order of the file. The caller destroys *out (tsri_tensors_destroy). BAD_FILE
 * with path and reason. */
tsr_status tsri_weights_read(tsri_tensors **out, const char *path);

#endif
