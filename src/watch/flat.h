/* flat.h - a line of metrics.jsonl as a list of names and values, whatever it holds.
 *
 *     {"event": "times", "round": 5, "ranks": [{"rank": 0, "wait": 0.25}]}
 *     ->  round 5,  ranks.0.rank 0,  ranks.0.wait 0.25
 *
 * Only nulls are left out. `event` itself is not among them.
 */
#ifndef TSRI_FLAT_H
#define TSRI_FLAT_H

#include "io/json.h"

typedef struct tsri_flat {
    void *context;
    /* `text` is NULL for a number; true and false are 1 and 0. */
    tsr_status (*value)(void *context, const char *name, double number, const char *text);
} tsri_flat;

/* Calls `value` for each until it fails. `separator` stands between the parts of a name. BAD_FILE
 * for names beyond 500 bytes, or lists in lists beyond 8. */
tsr_status tsri_flat_line(const tsri_flat *to, const tsri_json_value *line, char separator);

#endif
