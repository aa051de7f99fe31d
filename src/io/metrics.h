/* metrics.h - metrics.jsonl: one JSON object per line, readable while the run goes on.
 *
 * A line goes out in one write, so a reader that follows the file (tail -f, tessera report) sees
 * whole lines. A checkpoint stores the offset; a resumed run opens the file there and so drops the
 * lines that came after the checkpoint: they will be computed, and written, again.
 *
 * A line that cannot be written (a full disk) is kept and goes out with the next one that can be.
 * Until then the file cannot be brought to the disk, so no checkpoint says that the line is there:
 * whatever happens, a resumed run ends with the lines of an undisturbed one.
 *
 *     tsri_metrics *m = NULL;
 *     TSR_TRY(tsri_metrics_open(&m, path, checkpoint_offset));
 *     TSR_TRY(tsri_metrics_line(m, "{\"step\":1,\"loss\":2.3}"));
 *     offset = tsri_metrics_offset(m);
 *     tsri_metrics_close(m);
 */
#ifndef TSRI_METRICS_H
#define TSRI_METRICS_H

#include "base/status.h"

#define TSRI_METRICS_END (-1) /* an offset: after the last whole line */

typedef struct tsri_metrics tsri_metrics;

/* Opens or creates the file and cuts it at `offset` (0 = start over). A line that a crash tore is
 * cut off too. When the file is shorter than `offset` (lost in a power cut) what is there is kept,
 * with a warning. A new file is on the disk, with its entry in the folder, before the first line.
 * RESOURCES or FAILURE when it cannot be opened or cut, USAGE when it is a symbolic link. */
tsr_status tsri_metrics_open(tsri_metrics **out, const char *path, int64_t offset);

/* Takes back all lines after `offset`, the end of an earlier one. */
tsr_status tsri_metrics_cut(tsri_metrics *m, int64_t offset);

/* Adds a line; `text` is a JSON object without a line end. The first line of a file gets "format"
 * (json.h) as its first field: a reader of one line knows the version of all, and one that does not
 * care finds nothing changed. A line that cannot be written is kept, with a warning for the first;
 * RESOURCES when too many are. */
tsr_status tsri_metrics_line(tsri_metrics *m, const char *text);

/* Writes the lines that are kept. RESOURCES or FAILURE when that is still not possible: nothing of
 * them is left in the file. */
tsr_status tsri_metrics_flush(tsri_metrics *m);

/* Bytes up to the end of the last line, kept ones included. */
int64_t tsri_metrics_offset(const tsri_metrics *m);

/* Brings all lines to the disk: before a checkpoint that stores the offset. */
tsr_status tsri_metrics_sync(tsri_metrics *m);

/* Did the disk once fail to take what was written? Then its content is not known, every later sync
 * fails, and the run has to go back to its last checkpoint. */
bool tsri_metrics_broken(const tsri_metrics *m);

void tsri_metrics_close(tsri_metrics *m); /* NULL is fine */

#endif
