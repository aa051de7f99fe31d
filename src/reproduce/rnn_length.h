/* rnn_length.h - norms along a long sequence: a row of rnn.c's list. */
#ifndef TSRI_RNN_LENGTH_H
#define TSRI_RNN_LENGTH_H

#include "reproduce/reproduce.h"

tsr_status tsri_rnn_length_study(tsri_study *study);

#endif
