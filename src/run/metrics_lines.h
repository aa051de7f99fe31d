/* metrics_lines.h - the lines that a run writes to metrics.jsonl. */
#ifndef TSRI_METRICS_LINES_H
#define TSRI_METRICS_LINES_H

#include "io/json.h"
#include "run/run.h"

/* The line of an evaluation. */
tsr_status tsri_metrics_tell(tsri_run *run);

/* A line of metrics within a round: what has just happened ("draw", "step", "put"), before which
 * local step (-1 = none), the loss, and with "put" the bytes of each worker in each direction. */
tsr_status tsri_event(tsri_run *run, const char *event, int64_t step, double loss,
                      const int64_t *down, const int64_t *up);

/* Which backend `auto` became, and why, before the first round. */
tsr_status tsri_event_backend(tsri_run *run);

/* Any line, a JSON object without a line end. A full disk does not end the run: metrics.h. */
tsr_status tsri_event_line(tsri_run *run, const char *line);

/* Any other line about what happened. Between the two calls come its members; the caller frees w,
 * which may be used again before:
 *
 *     tsri_event_open(&w, "converted");
 *     tsri_json_put_int(&w, "round", run->position.round);
 *     TSR_TRY(tsri_event_write(run, &w));
 */
void tsri_event_open(tsri_json *w, const char *event);
tsr_status tsri_event_write(tsri_run *run, tsri_json *w);

/* The same for a share that was lost. */
void tsri_event_lost(tsri_run *run, int64_t worker, int rank, const char *why);

/* The last line of a run that did not finish: how it ended, and the error message. tsr_last_error
 * is unchanged afterwards. A resumed run continues before this line. */
void tsri_event_ended(tsri_run *run, tsr_status status, const char *why);

/* With other processes: a line of metrics that says where each rank's time went since the last such
 * line, in seconds. */
tsr_status tsri_event_times(tsri_run *run);

#endif
