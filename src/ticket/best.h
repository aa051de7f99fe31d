/* best.h - which ticket to recommend: decided once, for the terminal, for JSON and for the report.
 *
 *     tsri_best b = tsri_tickets_best(&tickets);
 *     TSR_TRY(tsri_best_sentence(&text, &b));       "ticket-0.5 is as accurate as the whole ..."
 *
 * Tickets are compared with the whole network: the fine-tuned one where there is such a row
 * (ticket.whole), else the pretrained one. The best ticket is the smallest
 * that is as accurate as the whole; where none is, the most accurate, of equals the smallest. Equal
 * means equal in the digits that the tables show: a hundredth of a per cent, or, for targets that
 * are numbers, a ten-thousandth of the loss.
 */
#ifndef TSRI_BEST_H
#define TSRI_BEST_H

#include "base/text.h"
#include "ticket/rows.h"

typedef struct tsri_best {
    const tsri_ticket_row *whole;  /* what tickets are compared with; NULL = no rows */
    const tsri_ticket_row *ticket; /* NULL = no tickets */
    bool as_accurate;              /* as the whole */
    tsri_speedup speed;            /* is it really faster? */
    double times;                  /* the whole's time of a batch over the ticket's */
} tsri_best;

/* Points into `tickets`. */
tsri_best tsri_tickets_best(const tsri_tickets *tickets);

/* Appends one sentence: accuracy, size and speed beside the whole's. Nothing without a ticket. */
tsr_status tsri_best_sentence(tsri_text *to, const tsri_best *best);

/* The member "best": an object, or null without a ticket. */
tsr_status tsri_best_json(tsri_json *w, const tsri_best *best);

#endif
