/* pipeline_parts.h - what the files of the pipeline share; private to pipeline*.c.
 *
 *     pipeline.c          the rows in their order, and what comes before and after them
 *     pipeline_run.c      the run of one row, and what the row says of it
 *     pipeline_ticket.c   one ticket: how it is pruned, cut and fine-tuned
 */
#ifndef TSRI_PIPELINE_PARTS_H
#define TSRI_PIPELINE_PARTS_H

#include "io/config.h"
#include "ticket/pipeline.h"
#include "ticket/prune.h"

/* What the rows have in common. */
typedef struct tsri_pipeline {
    tsri_tickets *tickets;
    tsr_config *config;
    const tsr_run_options *options;
    void (*stage)(void *context, const char *name);
    char *whole;     /* the pretrained model's file */
    tsri_goal *goal; /* [goals] */
    int64_t goals;
} tsri_pipeline;

/* ---- pipeline_run.c ---------------------------------------------------------------------------- */

/* The folder of a row, or with `file` a file in it. The caller frees it. */
tsr_status tsri_pipeline_place(char **out, const tsri_pipeline *l, const tsri_ticket_row *row,
                               const char *file);

/* A run in that folder, from its start, from where it stands, or just its result; `init` as in
 * tsr_run_options. */
tsr_status tsri_pipeline_run(tsr_result *r, const tsri_pipeline *l, const char *folder,
                             tsr_config *config, const char *init);

/* The same for a row, in the row's folder. It then says how accurate, how large and how long that
 * was. */
tsr_status tsri_pipeline_train(tsri_ticket_row *row, const tsri_pipeline *l, tsr_config *config,
                               const char *init);

/* ---- pipeline_ticket.c ------------------------------------------------------------------------- */

/* How a ticket of that kind and goal is pruned, as the run file says. */
tsr_status tsri_pipeline_prune(tsri_prune *how, const tsr_config *c, tsri_ticket_kind kind,
                               tsri_goal goal);

/* Adds a row: prunes, judges, fine-tunes. A control has the ratio that row `of`, its ticket, has;
 * -1: it is no control. */
tsr_status tsri_pipeline_ticket(tsri_pipeline *l, tsri_ticket_kind kind, tsri_goal goal,
                                int64_t of);

#endif
