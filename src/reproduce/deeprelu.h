/* deeprelu.h - the studies of deep ReLU networks: the rows of deeprelu.c's list. */
#ifndef TSRI_REPRODUCE_DEEPRELU_H
#define TSRI_REPRODUCE_DEEPRELU_H

#include "reproduce/reproduce.h"

tsr_status tsri_deeprelu_losses(tsri_study *study);
tsr_status tsri_deeprelu_width(tsri_study *study);

#endif
