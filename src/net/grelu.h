/* grelu.h - what gated nets can do beyond other nets; grelu.c explains them. */
#ifndef TSRI_GRELU_H
#define TSRI_GRELU_H

#include "net/store.h"

/* L: the hidden layers w.1 .. w.L of a grelu or relu_twin; 0 of another net. */
int64_t tsri_grelu_layers(const tsri_net *net);

/* C, B and W from the file of a trained relu_twin, and Psi_k = W_k: the gates of that net, so that
 * both compute the same at first (section 4.4, Remark 4). BAD_FILE when it does not fit. */
tsr_status tsri_grelu_from_relu(tsri_store *store, const char *path);

/* The same from a file that was read; `path` is for messages. */
tsr_status tsri_grelu_from_tensors(tsri_store *store, const tsri_tensors *file, const char *path);

#endif
