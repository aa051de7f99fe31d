/* finetune.h - the run that trains a ticket on: its model's own run file, made dense. */
#ifndef TSRI_FINETUNE_H
#define TSRI_FINETUNE_H

#include "io/config.h"

/* Turns the run file inside a model into that of fine-tuning: scheme dense, one worker, this many
 * epochs and this learning rate; 0 = unchanged. */
tsr_status tsri_finetune_config(tsr_config *config, int64_t epochs, double lr);

#endif
