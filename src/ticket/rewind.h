/* rewind.h - a ticket with the weights that its units had earlier: before pretraining (W_0), or
 * after some epochs of it (W_k). Frankle and Carbin 2019; Frankle et al. 2020.
 *
 *     tsri_rewind to = {.whole = "runs/a/model.safetensors", .folder = "runs/a", .epoch = 0};
 *     TSR_TRY(tsri_ticket_rewind("ticket.safetensors", &to));
 */
#ifndef TSRI_REWIND_H
#define TSRI_REWIND_H

#include "model/model.h"
#include "run/settings.h"

typedef struct tsri_rewind {
    const char *whole;   /* the pretrained network's file */
    const char *folder;  /* of its run */
    int64_t epoch;       /* 0: the first weights, drawn or of the model that it began with */
    int64_t recalibrate; /* batches that measure the statistics of the ticket with these weights */
} tsri_rewind;

/* USAGE, with what to set, when a run with these settings would not keep the checkpoint of that
 * epoch. */
tsr_status tsri_rewind_check(const tsri_settings *s, int64_t epoch);

/* *out = the pretrained network with the weights of that epoch. The caller destroys it. */
tsr_status tsri_rewind_whole(tsr_model **out, const tsri_rewind *to);

/* Gives the ticket in that file, cut from this network once or more often, these weights. */
tsr_status tsri_ticket_rewind(const char *path, const tsri_rewind *to);

#endif
