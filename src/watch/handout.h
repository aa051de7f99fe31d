/* handout.h - metrics.jsonl in the formats of other tools: CSV, and TensorBoard's event files.
 *
 * An event file is a list of records (TFRecord: length, its checksum, bytes, their checksum), each
 * a message of tensorflow.Event in the encoding of protocol buffers. A run needs five fields of
 * three messages, and no Debian package holds their schema (event.proto, summary.proto), so they
 * are written by hand here; the checksum is that of our own files (io/crc32c.h).
 */
#ifndef TSRI_HANDOUT_H
#define TSRI_HANDOUT_H

#include "watch/lookout.h"

#define TSRI_HANDOUT_FILE "events.out.tfevents.0000000000.tessera"

/* Every number of every line of the run as a scalar: its tag is its name (`test_loss`; of an event
 * `put/loss`), its step the round, its time the seconds of the run, counted back from the time of
 * the file. Writes FOLDER/events.out.tfevents...; *count = the numbers. BAD_FILE with the line when
 * one is not ours. */
tsr_status tsri_handout_tensorboard(int64_t *count, const tsri_followed *run, const char *folder);

/* Appends a table of the lines of one event, or with NULL of evaluations, of all the runs that have
 * some: a column for each name, empty where a line lacks it, and `run` before them when there are
 * several runs. *lines = how many. */
tsr_status tsri_handout_csv(tsri_text *out, int64_t *lines, const tsri_lookout *w,
                            const char *event);

/* Calls visit for each line of a run's metrics. */
tsr_status tsri_handout_each(const tsri_followed *run,
                             tsr_status (*visit)(void *context, const char *event,
                                                 const tsri_json_value *line),
                             void *context);

#endif
