/* pipeline.h - from a run file to tickets: pretrain, prune at several ratios, fine-tune each,
 * judge.
 *
 *     tsri_tickets t;
 *     TSR_TRY(tsri_tickets_run(&t, config, &options));      options.folder is where all of it lives
 *     ... t.row[0 .. t.rows) ...
 *     tsri_tickets_fini(&t);
 *
 * The folder is that of the run which the run file describes, with one more run for each other row:
 *
 *     model.safetensors, ...    pretraining
 *     whole/                    (ticket.whole) that network fine-tuned, for comparison
 *     dense/                    (ticket.dense) the whole network without shares, for comparison
 *     ticket-0.5/               ticket.safetensors, and the run that fine-tunes it
 *     ticket-ops-0.5/           (ticket.ops) the same for a ticket with half of the operations
 *     random-0.5/, reinit-0.5/  (ticket.controls) the same with units by chance, with fresh weights
 *     ticket.json               the table
 *
 * Every step is a run that can be resumed, or follows from such runs alone. So the command can be
 * stopped anywhere and continues from there.
 */
#ifndef TSRI_PIPELINE_H
#define TSRI_PIPELINE_H

#include "io/config.h"
#include "io/json.h"
#include "ticket/latency.h"
#include "ticket/layers.h"
#include "ticket/prune.h"

typedef enum tsri_ticket_kind {
    TSRI_TICKET_PRETRAINED, /* the whole network as the run file trains it */
    TSRI_TICKET_WHOLE,      /* the same, fine-tuned */
    TSRI_TICKET_DENSE,
    TSRI_TICKET_PRUNED,
    TSRI_TICKET_RANDOM,
    TSRI_TICKET_REINIT,
    TSRI_TICKET_INIT /* the filters that were largest before pretraining */
} tsri_ticket_kind;

/* The kind of that name in ticket.json, or -1. */
int tsri_ticket_kind_named(const char *name);

/* One line of the table. What is not known is NaN. */
typedef struct tsri_ticket_row {
    tsri_ticket_kind kind;
    double ratio;         /* part of the filters that was removed; 0 for whole networks */
    tsri_measure measure; /* the measure that the ticket was asked for in */
    double keep, reached; /* other measures than filters: the part that was to stay, and does */
    int64_t round_to;
    int64_t recalibrate; /* batches on which its statistics were measured before evaluation */
    char name[40];       /* its folder within the command's; "pretrained" is that folder itself */
    int64_t params, flops, file_bytes;
    double before;         /* accuracy of the ticket before fine-tuning; NaN for whole networks */
    double accuracy, loss; /* at the end, on the test set */
    double epochs, seconds;
    int64_t traffic; /* bytes between workers */
    tsri_latency time;
    tsri_layer_changes layers; /* of a ticket, compared with the whole; else none */
} tsri_ticket_row;

typedef struct tsri_tickets {
    tsri_ticket_row *row;
    int64_t rows, capacity;
} tsri_tickets;

/* Does everything, or with options->resume what is left to do, and writes ticket.json. `stage`
 * (optional) is called with the row that begins and options->context. Fails as tsr_train does. */
tsr_status tsri_tickets_run(tsri_tickets *tickets, tsr_config *config,
                            const tsr_run_options *options,
                            void (*stage)(void *context, const char *name));

/* The same with one ticket only, that of `ratio`, which must be in ticket.ratios: the others can be
 * made later, from the same pretraining. The table has the rows that were made now. */
tsr_status tsri_tickets_one(tsri_tickets *tickets, tsr_config *config,
                            const tsr_run_options *options,
                            void (*stage)(void *context, const char *name), double ratio);
void tsri_tickets_fini(tsri_tickets *tickets);

/* Is it the name of a folder that a row other than the first makes: "whole", "ticket-0.5"? */
bool tsri_tickets_folder(const char *name);

/* The members "rows", one flat object for each, and "best" (best.h). */
tsr_status tsri_tickets_json(tsri_json *w, const tsri_tickets *tickets);

#endif
