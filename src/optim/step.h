/* step.h - one step of training: forward, loss, backward, update.
 *
 * A step is made once for a plan (network, store, device, batch), an aim (which loss) and a rule
 * (which update), and run many times:
 *
 *     TSR_TRY(tsri_step_init(&step, plan, &aim, &rule));
 *     TSR_TRY(tsri_step_run(&step, batch, rate, seen));        W <- W - rate ...
 *     TSR_TRY(tsri_step_value(&loss, &step));                  L_B(W), before the update
 *
 * or in its parts, for callers that do something between them. Evaluation is its half: forward and
 * judge.
 *
 * What changes from step to step (batch, rate, number) lies where the device reads it, and the loss
 * stays there until somebody asks. So, on a device that has a tape, the whole step is recorded once
 * and replayed.
 */
#ifndef TSRI_STEP_H
#define TSRI_STEP_H

#include "data/loader.h"
#include "net/gate_table.h"
#include "optim/optimiser.h"
#include "optim/resident.h"
#include "optim/shown.h"

/* What training minimises. */
typedef struct tsri_aim {
    const tsri_loss_kind *kind;
    double smoothing;     /* of labels */
    const double *weight; /* [classes], or NULL: all the same */
} tsri_aim;

typedef struct tsri_step {
    tsri_plan *plan;
    tsri_aim aim;
    tsri_optimiser optimiser;      /* of a step with an update */
    const tsri_gate_table *gates;  /* (optional) of the samples, set by callers that have some */
    const tsri_resident *resident; /* (optional) likewise: batches are bare, rows drawn there */
    tsri_loss loss;                /* the last one */
    double weight_mean;            /* of the last batch */
    /* The batch where the device reads it, on one that cannot read the host's memory. */
    tsri_shown label, target, length, weight, mean;
    tsri_shown index, move;
    tsri_drawing drawing; /* what is drawn, of resident samples */
    tsri_resident goals;  /* their targets, as samples of their own; not to be given back */
    tsri_drawing goal;    /* and what is drawn of those; `from` NULL: nothing */
    void *tape;           /* of all of it, once it was recorded */
} tsri_step;

/* The plan must outlive the step; a new plan needs a new step. `rule` NULL: there is no
 * update. Fini also after a failure; all zeros are fine there. */
tsr_status tsri_step_init(tsri_step *step, tsri_plan *plan, const tsri_aim *aim,
                          const tsri_optim *rule);
void tsri_step_fini(tsri_step *step);

/* Of sequences: how many positions each sample from row `first` on has. Forward does it, too; this
 * is for callers of the plan's own forward. */
tsr_status tsri_step_lengths(tsri_step *step, const tsri_batch *b, int64_t first);

/* Outputs of the samples from row `first` on, as many as the plan has rows. The batch must stay as
 * it is until the step is over. */
tsr_status tsri_step_forward(tsri_step *step, const tsri_batch *b, int64_t first);

/* Their loss and, where the plan is for training, its gradient. */
tsr_status tsri_step_judge(tsri_step *step, const tsri_batch *b, int64_t first);

/* Forward, judge and backward: the gradient is in the store. */
tsr_status tsri_step_gradient(tsri_step *step, const tsri_batch *b, int64_t first);

/* The rule applied to the store's gradient. Momentum and variance have seen `seen` steps. */
tsr_status tsri_step_update(tsri_step *step, double rate, int64_t seen);

/* All of it. */
tsr_status tsri_step_run(tsri_step *step, const tsri_batch *b, double rate, int64_t seen);

/* Copies the tally of the last loss, on the device, to be read later together with others. */
tsr_status tsri_step_keep(tsri_mem *to, const tsri_step *step);

/* The tally of the last loss, and its value; both wait for the device. */
tsr_status tsri_step_tally(tsri_tally *tally, const tsri_step *step);
tsr_status tsri_step_value(double *loss, const tsri_step *step); /* tsri_loss_value of it */

#endif
