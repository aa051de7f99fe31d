/* curves.h - metrics.jsonl read back: the columns of a run, ready to be drawn.
 *
 *     tsri_curves c = {0};
 *     TSR_TRY(tsri_curves_read(&c, "runs/a/metrics.jsonl", NULL));     evaluations
 *     const double *loss = tsri_curves_get(&c, "test_loss");           [c.n] or NULL
 *     tsri_curves_fini(&c);
 *
 * A column is a member of the lines; it is NaN where a line lacks it, or where it is null. A list
 * of numbers (bytes of each worker) counts as its sum. The file may still be growing: an incomplete
 * last line is left out.
 */
#ifndef TSRI_CURVES_H
#define TSRI_CURVES_H

#include "io/json.h"

typedef struct tsri_curve {
    char *name;
    double *value; /* [n] */
    int64_t capacity;
} tsri_curve;

typedef struct tsri_curves {
    int64_t n; /* lines */
    tsri_curve *curve;
    int64_t count, capacity;
} tsri_curves;

/* Reads the lines of one event ("put") or, with NULL, of evaluations. BAD_FILE with path and
 * line when a line is not a JSON object. A missing file is BAD_FILE, an empty one has no lines. */
tsr_status tsri_curves_read(tsri_curves *c, const char *path, const char *event);

/* Calls visit(context, line) for each of these lines until it fails; the same errors. */
tsr_status tsri_lines_each(const char *path, const char *event,
                           tsr_status (*visit)(void *context, const tsri_json_value *line),
                           void *context);

/* A new column "seconds" that goes on across resumptions, where a run counts from 0 again. */
tsr_status tsri_curves_seconds(double **out, const tsri_curves *c);

const double *tsri_curves_get(const tsri_curves *c, const char *name); /* or NULL */
void tsri_curves_fini(tsri_curves *c);

#endif
