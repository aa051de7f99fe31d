/* latency.h - how long two networks take, measured side by side.
 *
 * A batch of one network, then one of the other, and again: whatever else the machine does meets
 * both alike, and the least of many repetitions is what remains of the noise. Inputs are random: no
 * kernel looks at the numbers.
 */
#ifndef TSRI_LATENCY_H
#define TSRI_LATENCY_H

#include "scheme/model.h"

/* Milliseconds of one batch, the least of all repetitions. */
typedef struct tsri_latency {
    double infer; /* forward, as in evaluation */
    double step;  /* forward, loss, backward, update */
} tsri_latency;

/* out[i] of models[i] on the backend and threads of the first one's run file, its batch; at least
 * three repetitions, and more until `seconds` have passed. The models stay as they are. */
tsr_status tsri_latency_measure(tsri_latency *out, const tsr_model *const *models, int64_t count,
                                double seconds);

/* Did time really fall? Less than two parts in a hundred is noise. */
bool tsri_faster(double before, double after);

#endif
