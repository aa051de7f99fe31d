/* latency.h - how long networks take, measured side by side (turns.h): a batch of one, then one of
 * the other, and so on. Inputs are random, because times do not depend on the numbers. */
#ifndef TSRI_LATENCY_H
#define TSRI_LATENCY_H

#include "base/pool.h"
#include "model/model.h"
#include "ticket/turns.h"

/* Of one batch. */
typedef struct tsri_latency {
    tsri_duration infer; /* forward, as in evaluation */
    tsri_duration step;  /* forward, loss, backward, update */
    int64_t batch;       /* samples of it */
} tsri_latency;

/* Times models[i] into out[i], with the backend, threads and batch of the first one's run file: one
 * warm-up, then at least four repetitions, and more until `seconds` have passed. `fewer`: of large
 * networks fewer samples, so that it takes no minutes. The models stay as they are. */
tsr_status tsri_latency_measure(tsri_latency *out, const tsr_model *const *models, int64_t count,
                                double seconds, bool fewer);

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

#endif
