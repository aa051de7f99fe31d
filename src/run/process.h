/* process.h - what belongs to a run in this process only: other ranks, open files, what was reported.
 *
 * Checkpoints hold none of it, and no number of the run depends on it.
 */
#ifndef TSRI_RUN_PROCESS_H
#define TSRI_RUN_PROCESS_H

#include "comm/crew.h"
#include "io/metrics.h"
#include "io/safetensors.h"
#include "net/parcel.h"
#include "run/position.h"

enum { TSRI_OBSERVERS_MOST = 2, TSRI_INIT_TEXT = 9 };

/* How fast it trains on a chip of its own (pace.h). */
typedef struct tsri_pace {
    const char *chip; /* NULL: there is none */
    double since;     /* clock, and ... */
    int64_t from;     /* ... rounds done, when it began to be measured */
    double samples;   /* a second, between the last two evaluations */
    double step;      /* seconds of a local step of all workers */
    int64_t memory;   /* bytes of the chip's that are taken */
} tsri_pace;

typedef struct tsri_process {
    double started;     /* clock */
    double told;        /* clock of the last progress */
    int64_t judged;     /* rounds done at the last evaluation; 0: there was none */
    double judged_loss; /* mean of the training loss before it */
    bool entered;       /* what comes before the first round was done; again after a rollback */
    int64_t sound;      /* rounds done before the one that is being done */
    int lock;           /* of the folder; -1 = none */
    bool owns_data;     /* the run's, else the ground's */
    tsri_tensors *init; /* the model to start from, until its numbers are read */
    char given[TSRI_INIT_TEXT]; /* its checksum; "" = none was given */
    double round_loss;          /* mean over the steps of the last round, before each */
    tsri_mean begun;            /* its workers' losses before their first steps */
    int64_t saved_round;        /* of the newest checkpoint saved or loaded; -1 = none */

    tsri_crew *crew;         /* workers in other processes; NULL = all is done here */
    int64_t bytes_collected; /* of stages in other processes: their numbers, out and back */
    int64_t promised;        /* the round that they will reach in any case: a stop waits for it */
    int64_t timed_from;      /* rounds done when the times of ranks were last told */

    tsri_pace pace;
    tsri_metrics *metrics;
    int64_t forced_written;     /* bytes of run->forced that the metrics have */
    int64_t rollbacks_written;  /* of the position's rollbacks those that the metrics have */
    char *trace;                /* folder, or NULL */
    struct tsri_tracer *tracer; /* what is kept for its files until they are written (trace.c) */
    tsri_parcel notes;          /* of observers, likewise */
    void *observer_state[TSRI_OBSERVERS_MOST];
} tsri_process;

#endif
