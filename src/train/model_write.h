/* model_write.h - the finished model of a run, written. */
#ifndef TSRI_MODEL_WRITE_H
#define TSRI_MODEL_WRITE_H

#include "run/run.h"

/* PyTorch's names and layouts; the resolved run file and the normalisation inside as text. */
tsr_status tsri_model_write(const tsri_run *run, const char *path);

/* The same, to a file or into memory. */
tsr_status tsri_run_put(tsri_sink *to, const tsri_run *run);

#endif
