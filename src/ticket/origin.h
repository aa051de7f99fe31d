/* origin.h - which units of the whole network a ticket has.
 *
 * A ticket's file carries them as JSON beside the numbers (tessera.ticket), counted in the network
 * that was pruned first: pruning twice, fine-tuning and resuming keep them right. So a ticket can
 * be compared, filter by filter, with the network it came from or with another ticket.
 *
 *     {"criterion": "l2", "ratio": 0.5, ..., "kept": {"layer2.1.inner": [0, 3, 7], ...}}
 */
#ifndef TSRI_ORIGIN_H
#define TSRI_ORIGIN_H

#include "io/json.h"
#include "subnet/share.h"

typedef struct tsri_origin {
    int64_t **unit; /* [axes][size] the number in the whole of each unit, ascending */
    int64_t axes;
    int64_t *memory;
} tsri_origin;

/* `ticket` is the JSON or NULL: then every axis is whole. BAD_FILE, naming `path`, when it does not
 * fit the network. */
tsr_status tsri_origin_read(tsri_origin *origin, const tsri_net *net, const char *ticket,
                            const char *path);
void tsri_origin_fini(tsri_origin *origin);

/* The object "kept" of what a share of that network has, counted in the whole. */
void tsri_origin_write(tsri_json *w, const tsri_origin *origin, const tsri_share *share);

#endif
