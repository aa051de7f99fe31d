/* space.h - a shallow network trained in the space of its samples.
 *
 * Instead of the weights w [m, d] the state of a run is z [m, n], every unit's pre-activation on
 * every training sample, and alpha [m, n], how far each unit has moved along each sample: w = w(0)
 * + alpha x (backend/samples.h). Both are per unit, so shares are drawn, taken and put back by the
 * same mechanism as weights: z and alpha are the parameters of a network whose hidden axis is that
 * of the model. The mean over owners of w is, line by line, the mean of z and of alpha.
 *
 * A unit that is off for every sample is asleep: it has no gradient, so it stays as it is, and off,
 * for ever. Shares leave such units out. At rates near the edge of stability, where the paper's
 * figures are made, that is most of them; nothing changes by it, not a bit.
 *
 * In exact arithmetic it is the same training. In floats the last bits differ from training on
 * weights; among themselves runs in this space have the same identities to the bit (one whole share
 * = plain gradient descent). It is for runs of which only the outcome counts: sweeps and
 * reproductions. `train`, which keeps checkpoints and traces of weights, does not use it.
 *
 * A team (team.h) whose run asks for it hands its round over to these functions.
 */
#ifndef TSRI_SPACE_H
#define TSRI_SPACE_H

#include "run/run.h"
#include "subnet/draw.h"

typedef struct tsri_space tsri_space;

/* Can this run be trained so, and is that faster? It must be model shallow with one output, in f32,
 * on a backend that has samples.h, with full batches that all workers share, without momentum,
 * decay, or anything that looks at the weights in between (optim.keep, stop). With more than 512
 * samples, or more than four times as many as inputs, training on weights is faster. */
bool tsri_space_fits(const tsri_run *run);

/* The same whatever the backend: could it be trained so on this machine's processors? */
bool tsri_space_suits(const tsri_run *run);

/* Local. `draw` must outlive the space. */
tsr_status tsri_space_create(tsri_space **out, tsri_run *run, const tsri_draw *draw);
void tsri_space_destroy(tsri_space *space); /* NULL is fine */

/* The three parts of a round, as in team.h. */
tsr_status tsri_space_draw(tsri_space *space);
tsr_status tsri_space_train(tsri_space *space);
tsr_status tsri_space_put(tsri_space *space);

/* The whole network's loss on the training set, as tsri_evaluate would give it. */
tsr_status tsri_space_loss(double *loss, tsri_space *space);

/* Brings the weights of the run's store up to date. */
tsr_status tsri_space_weights(tsri_space *space);

#endif
