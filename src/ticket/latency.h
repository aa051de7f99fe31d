/* latency.h - how long networks take, measured side by side.
 *
 * A batch of one network, then one of the other, and so on: whatever else the machine does disturbs
 * both alike, and the least of many repetitions has the least noise. The noise that is left is
 * measured, too: repetitions go in turn to four groups, and each group's least is a measurement of
 * its own. Inputs are random, because times do not depend on the numbers.
 */
#ifndef TSRI_LATENCY_H
#define TSRI_LATENCY_H

#include "base/pool.h"
#include "model/model.h"

/* Milliseconds of one batch. */
typedef struct tsri_duration {
    double least; /* of all repetitions */
    double worst; /* the largest of the four groups' least times */
} tsri_duration;

typedef struct tsri_latency {
    tsri_duration infer; /* forward, as in evaluation */
    tsri_duration step;  /* forward, loss, backward, update */
} tsri_latency;

/* Times models[i] into out[i], with the backend, threads and batch of the first one's run file: one
 * warm-up, then at least four repetitions, and more until `seconds` have passed. The models stay as
 * they are. */
tsr_status tsri_latency_measure(tsri_latency *out, const tsr_model *const *models, int64_t count,
                                double seconds);

/* Where networks are timed: the run file's backend, threads and batch. Call fini even when init
 * failed. */
typedef struct tsri_stage {
    tsri_device device;
    int64_t batch;
} tsri_stage;

tsr_status tsri_stage_init(tsri_stage *stage, const tsr_config *config);
void tsri_stage_fini(tsri_stage *stage);

/* The same for networks in memory, in the backend's layout; those without gradients (store.h) are
 * timed in inference only. */
tsr_status tsri_stage_time(tsri_latency *out, tsri_store *const *stores, int64_t count,
                           const tsri_stage *stage, double seconds);

typedef enum tsri_speedup {
    TSRI_NOT_FASTER,     /* a gain below 2 % does not count */
    TSRI_PERHAPS_FASTER, /* the least fell, but not in every group: may be noise */
    TSRI_FASTER          /* each group's time after is below every group's time before */
} tsri_speedup;

/* Is it significant? Two equal networks come out as faster at most once in 70 times. */
tsri_speedup tsri_faster(tsri_duration before, tsri_duration after);

#endif
