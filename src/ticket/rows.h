/* rows.h - the table of tickets: a row for each network of a pipeline (pipeline.h), with its size,
 * accuracy and speed.
 *
 *     tsri_tickets t = {0};
 *     TSR_TRY(tsri_tickets_add(&row, &t, TSRI_TICKET_PRUNED, goal));     row->name is "ticket-0.5"
 *     ... row->accuracy = ...
 *     TSR_TRY(tsri_tickets_json(&json, &t));
 *     tsri_tickets_fini(&t);
 */
#ifndef TSRI_TICKET_ROWS_H
#define TSRI_TICKET_ROWS_H

#include "io/json.h"
#include "ticket/goals.h"
#include "ticket/latency.h"
#include "ticket/layers.h"

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
    int64_t samples;       /* of that; 0: not known */
    double epochs, seconds;
    int64_t traffic; /* bytes between workers */
    tsri_latency time;
    tsri_layer_changes layers; /* of a ticket, compared with the whole; else none */
} tsri_ticket_row;

typedef struct tsri_tickets {
    tsri_ticket_row *row;
    int64_t rows, capacity;
} tsri_tickets;

/* A new row of that kind; `goal` is what a ticket was asked for, {0} for whole networks.
 * "ticket-0.5" loses half of its filters, "ticket-ops-0.5" keeps half of the operations. *out is
 * valid until the next row is added. */
tsr_status tsri_tickets_add(tsri_ticket_row **out, tsri_tickets *t, tsri_ticket_kind kind,
                            tsri_goal goal);
void tsri_tickets_fini(tsri_tickets *tickets);

/* Is it the name of a folder that a row other than the first makes: "whole", "ticket-0.5"? */
bool tsri_tickets_folder(const char *name);

/* The members "rows", one flat object for each, and "best" (best.h). */
tsr_status tsri_tickets_json(tsri_json *w, const tsri_tickets *tickets);

#endif
