/* plan_testing.h - what a plan computed, looked at where it lies. */
#ifndef TSRI_PLAN_TESTING_H
#define TSRI_PLAN_TESTING_H

#include "net/plan_parts.h"
#include "testing.h"

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
