/* past.h - what was measured round by round: series that certificates judge.
 *
 * A paper looks at a run before the first round and after every one (tsri_paper.look), however
 * often certificates are made, and keeps numbers under names. Each name is a series over all
 * rounds, NaN where nobody looked. So "the largest so far" is over rounds, not over certificates,
 * and a row can say how many rounds it is based on. Series are saved in checkpoints: a resumed run
 * has what an uninterrupted one would have.
 *
 *     tsri_past_begin(&past, view->position->round);
 *     TSR_TRY(tsri_past_keep(&past, "radius", radius));
 *     ...
 *     claim.measured = tsri_past_most(&past, "radius");
 *     claim.seen = tsri_past_seen(&past, "radius");          e.g. 12 of 101 rounds
 */
#ifndef TSRI_PAST_H
#define TSRI_PAST_H

#include "io/json.h"
#include "net/parcel.h"
#include "theory/certificate.h"

enum { TSRI_KEPT_NAME = 24 };

typedef struct tsri_kept {
    char name[TSRI_KEPT_NAME];
    double *value; /* [count] by round, NaN where nobody looked */
    int64_t count, room;
} tsri_kept;

/* What is too large for a series: the weights before the last round, copied at that moment (or when
 * a run is resumed there). */
typedef struct tsri_memory {
    float *before; /* [before_count] trained numbers before the last round, or NULL */
    int64_t before_count, before_round;
    int64_t before_converted; /* the position's `converted` then: the weights are useless for
                                 another net */
} tsri_memory;

typedef struct tsri_past {
    tsri_kept *series;
    int64_t count, room;
    int64_t round;       /* the one that is looked at */
    tsri_memory *memory; /* borrowed; NULL before a run */
    void *state;         /* the paper's own, kept between looks, freed by `forget` (papers.h) */
} tsri_past;

void tsri_past_fini(tsri_past *past); /* all but memory and state */

/* Numbers kept from now on belong to `round`. */
void tsri_past_begin(tsri_past *past, int64_t round);
tsr_status tsri_past_keep(tsri_past *past, const char *name, double value);

/* Keeps the mean of n values as `name` and, if n >= 2, its 95 % interval as name_low and
 * name_high. */
tsr_status tsri_past_keep_mean(tsri_past *past, const char *name, const double *value, int64_t n);

/* NaN when nobody looked then. */
double tsri_past_at(const tsri_past *past, int64_t round, const char *name);
double tsri_past_now(const tsri_past *past, const char *name);

/* Over the rounds that were looked at, including this one; NaN when there are none. A number that
 * is not finite (a diverged loss) counts as the largest. */
double tsri_past_least(const tsri_past *past, const char *name);
double tsri_past_most(const tsri_past *past, const char *name);
double tsri_past_sum(const tsri_past *past, const char *name);

/* For how many of the rounds 0 .. now the series has a number. */
tsri_seen tsri_past_seen(const tsri_past *past, const char *name);

/* This round's numbers as one object. */
void tsri_past_json(tsri_json *w, const tsri_past *past);

/* In checkpoints: "certificate.series.<name>", F64 [rounds + 1]. Loading replaces the series; after
 * a file without any (from an older version) all rounds so far count as unseen. */
tsr_status tsri_past_save(const tsri_past *past, tsri_parcel *parcel);
tsr_status tsri_past_load(tsri_past *past, const tsri_tensors *file, const char *path);

#endif
