/* ticket.h - how a public description of a ticket is read. */
#ifndef TSRI_TICKET_TICKET_H
#define TSRI_TICKET_TICKET_H

#include "ticket/prune.h"

/* USAGE when an option is out of range. */
tsr_status tsri_prune_how(tsri_prune *how, const tsr_prune_options *options);

#endif
