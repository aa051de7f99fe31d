/* plan_testing.h - what plans and backends computed, looked at where it lies; a step of each. */
#ifndef TSRI_PLAN_TESTING_H
#define TSRI_PLAN_TESTING_H

#include "net/plan_parts.h"
#include "optim/optimiser.h"
#include "testing.h"

/* A backend of this machine's processors, on one thread. */
static inline tsri_device alone_on(const tsri_backend *backend)
{
    return (tsri_device){.backend = backend};
}

/* What a loss comes to, computed by the backend itself. */
static inline tsri_tally tally_on(const tsri_backend *backend, tsri_loss *loss)
{
    tsri_tally tally = {0};
    loss->tally = as_mem(&tally);
    assert_ok(backend->loss(loss, alone_on(backend)));
    loss->tally = NULL;
    return tally;
}

/* What the last loss of a plan came to. */
static inline tsri_tally plan_tally(const tsri_plan *plan)
{
    tsri_tally tally = {0};
    assert_ok(tsri_plan_tally(&tally, plan));
    return tally;
}

/* One step with the store's gradient. */
static inline void update_once(const tsri_optim *rule, tsri_store *store, tsri_device device,
                               double rate)
{
    tsri_optimiser o = {0};
    assert_ok(tsri_optimiser_init(&o, rule, store, device));
    assert_ok(tsri_optimiser_set(&o, rate, 0));
    assert_ok(tsri_optimiser_step(&o));
    tsri_optimiser_fini(&o);
}

/* [batch, outputs] of the last forward, in the backend's type. */
static inline void *plan_outputs(const tsri_plan *plan)
{
    return touch(plan->output);
}

/* Where the gradient of these is written before a backward without a loss. */
static inline void *plan_output_gradient(const tsri_plan *plan)
{
    return touch(plan->output_grad);
}

#endif
