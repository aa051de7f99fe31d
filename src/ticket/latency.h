/* latency.h - how long networks take, measured side by side.
 *
 * A batch of one network, then one of the other, and again: whatever else the machine does meets
 * both alike, and the least of many repetitions is what remains of the noise. How much of it does
 * remain is measured, too: repetitions are dealt in turn to four hands, and each hand's least is a
 * measurement of its own. Inputs are random: no kernel looks at the numbers.
 */
#ifndef TSRI_LATENCY_H
#define TSRI_LATENCY_H

#include "base/pool.h"
#include "scheme/model.h"

/* Milliseconds of one batch. */
typedef struct tsri_duration {
    double least;  /* of all repetitions */
    double surely; /* the largest of the four hands' least: every hand saw this or less */
} tsri_duration;

typedef struct tsri_latency {
    tsri_duration infer; /* forward, as in evaluation */
    tsri_duration step;  /* forward, loss, backward, update */
} tsri_latency;

/* out[i] of models[i] on the backend and threads of the first one's run file, its batch; once
 * to warm up, then at least four repetitions, and more until `seconds` have passed. The models stay
 * as they are. */
tsr_status tsri_latency_measure(tsri_latency *out, const tsr_model *const *models, int64_t count,
                                double seconds);

/* Where networks run: what a run file says of backend, threads and batch. Call fini also when init
 * failed. */
typedef struct tsri_stage {
    const tsri_backend *backend;
    tsri_pool *pool;
    int64_t batch;
} tsri_stage;

tsr_status tsri_stage_init(tsri_stage *stage, const tsr_config *config);
void tsri_stage_fini(tsri_stage *stage);

/* The same for networks in memory, as the backend keeps them; those without gradients (store.h) are
 * timed in inference alone. */
tsr_status tsri_stage_time(tsri_latency *out, tsri_store *const *stores, int64_t count,
                           const tsri_stage *stage, double seconds);

typedef enum tsri_speedup {
    TSRI_NOT_FASTER,     /* less than two parts in a hundred are nothing */
    TSRI_PERHAPS_FASTER, /* the least fell, but not in every hand: may be the machine's other work
                          */
    TSRI_FASTER          /* each hand's time after is below every hand's time before */
} tsri_speedup;

/* Did time really fall? Two equal networks come out faster once in 70 times at most. */
tsri_speedup tsri_faster(tsri_duration before, tsri_duration after);

#endif
