/* train.h - what training refuses before it begins. */
#ifndef TSRI_TRAIN_H
#define TSRI_TRAIN_H

#include "run/run.h"

/* All that training refuses, before a folder is touched, so that the same command works once the
 * mistake is fixed. For tsr_train and tsr_check. */
tsr_status tsri_train_prepare(tsri_run *run);

#endif
