/* past.h - what earlier certificates of a run kept for later ones.
 *
 * A certificate may keep numbers under names (the loss of its round, the worst radius so far). They
 * stand in its line of metrics.jsonl, "kept": {"loss": 1.25, ...}, so that a resumed run, whose
 * metrics are cut back to its checkpoint, finds what an uninterrupted one would have.
 *
 *     TSR_TRY(tsri_past_read(&past, "runs/a/metrics.jsonl", "masked-neurons"));
 *     for (int64_t i = 0; i < past.count; i++)
 *         ... past.at[i].round, tsri_past_real(&past, i, "loss") ...
 *     tsri_past_fini(&past);
 */
#ifndef TSRI_PAST_H
#define TSRI_PAST_H

#include "io/json.h"

enum { TSRI_KEPT_NAME = 24 };

typedef struct tsri_kept {
    char name[TSRI_KEPT_NAME];
    double value;
} tsri_kept;

typedef struct tsri_moment {
    int64_t round;
    tsri_kept *kept;
    int64_t count, room;
} tsri_moment;

/* What is too much for a line of metrics. The weights before a certificate's round are copied then
 * (or when a run is resumed there); patterns go with checkpoints (observe.c). */
typedef struct tsri_memory {
    float *before; /* [before_count] trained numbers before the last round, or NULL */
    int64_t before_count, before_round;
    int64_t before_converted; /* run->converted then: of another net they mean nothing */
    uint64_t *pattern;        /* [words] of the last certificate, as the paper lays them out */
    int64_t words, pattern_round;
} tsri_memory;

typedef struct tsri_past {
    tsri_moment *at; /* [count] by round */
    int64_t count, room;
    tsri_memory *memory; /* not its own; NULL before a run */
} tsri_past;

/* The certificates of `paper` in a file of metrics; none when there is no file. Other lines are
 * passed over. */
tsr_status tsri_past_read(tsri_past *past, const char *path, const char *paper);
void tsri_past_fini(tsri_past *past);

/* A new moment at the end; the numbers that follow are its own. */
tsr_status tsri_past_begin(tsri_past *past, int64_t round);
tsr_status tsri_past_keep(tsri_past *past, const char *name, double value);

/* NaN when moment i has no such number. */
double tsri_past_real(const tsri_past *past, int64_t i, const char *name);

/* Of all moments: the smallest and the largest of a number; NaN when none has it. */
double tsri_past_least(const tsri_past *past, const char *name);
double tsri_past_most(const tsri_past *past, const char *name);

/* The last moment's numbers as one object. */
void tsri_past_json(tsri_json *w, const tsri_past *past);

#endif
