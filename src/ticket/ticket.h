/* ticket.h - from the public options of a ticket to those of this room. */
#ifndef TSRI_TICKET_TICKET_H
#define TSRI_TICKET_TICKET_H

#include "ticket/prune.h"

/* USAGE when an option is out of range. */
tsr_status tsri_prune_how(tsri_prune *how, const tsr_prune_options *options);

#endif
