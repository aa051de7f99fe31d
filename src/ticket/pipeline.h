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
#include "ticket/rows.h"

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

#endif
