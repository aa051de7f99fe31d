/* loft_paths.c - LoFT and gradient descent side by side from the same start. */
#include "theory/loft_paths.h"

#include "base/alloc.h"
#include "scheme/team.h"
#include "theory/ntk.h"
#include "theory/rates.h"

#include <string.h>

tsr_status tsri_descent_init(tsri_descent *d, tsri_run *run, const float *start)
{
    tsr_status st = TSR_OK;
    int64_t n = run->data->train.n;
    *d = (tsri_descent){.run = run};
    TSR_TRY(tsri_store_init(&d->store, run->net, run->backend->real_bytes, true));
    memcpy(d->store.w, start, (size_t)run->net->total * sizeof *start);
    TSR_TRY(tsri_plan_create(&d->plan, &d->store, run->backend, run->pool, n, true));
    TSR_TRY(tsri_take_samples(&d->x, run->data, &run->data->train, n));
done:
    if (st != TSR_OK)
        tsri_descent_fini(d);
    return st;
}

void tsri_descent_fini(tsri_descent *d)
{
    tsri_plan_destroy(d->plan);
    tsri_store_fini(&d->store);
    tsri_free(d->x);
    *d = (tsri_descent){0};
}

tsr_status tsri_descent_step(tsri_descent *d)
{
    tsr_status st = TSR_OK;
    const tsri_part *part = &d->run->data->train;
    tsri_chances chances = tsri_team_chances(d->run);
    tsri_loss loss = {.kind = d->run->loss, .valid = part->n, .target = part->target};
    TSR_TRY(tsri_plan_forward(d->plan, d->x));
    TSR_TRY(tsri_plan_loss(d->plan, &loss));
    TSR_TRY(tsri_plan_backward(d->plan));
    tsri_update u = {.count = d->run->net->trained,
                     .w = d->store.w,
                     .v = d->store.v,
                     .dw = d->store.g,
                     .rate = tsri_rate_of(d->run, d->round) * chances.theta / chances.xi};
    TSR_TRY(d->run->backend->update(&u, d->run->pool));
    d->round++;
done:
    return st;
}

static double squares(const float *a, const float *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double difference = (double)a[i] - (double)b[i];
        sum += difference * difference;
    }
    return sum;
}

double tsri_descent_weights(const tsri_descent *d, const tsri_store *other)
{
    return squares(d->store.w, other->w, d->run->net->trained);
}

tsr_status tsri_descent_outputs(double *sum, tsri_descent *d, tsri_store *other)
{
    tsr_status st = TSR_OK;
    const tsri_run *run = d->run;
    float *mine = NULL, *theirs = NULL;
    const tsri_part *part = &run->data->train;
    TSR_TRY(tsri_outputs(&mine, &d->store, run->backend, run->pool, run->data, part));
    TSR_TRY(tsri_outputs(&theirs, other, run->backend, run->pool, run->data, part));
    *sum = squares(mine, theirs, part->n * run->net->outputs);
done:
    tsri_free(mine);
    tsri_free(theirs);
    return st;
}

tsr_status tsri_loft_paths(double *weights, double *outputs, tsr_config *config, int64_t masks)
{
    tsr_status st = TSR_OK;
    tsri_run run = {.lock = -1};
    tsri_descent gd = {0};
    tsr_run_options options = tsr_run_options_default();
    double difference;
    TSR_TRY(tsri_run_init(&run, config, &options));
    TSR_TRY(run.scheme->setup(&run));
    TSR_TRY(tsri_descent_init(&gd, &run, run.store.w));
    run.seed += (uint64_t)masks * 1000003; /* the weights are drawn already */
    *outputs = 0;
    for (; run.round < run.rounds; run.round++) {
        TSR_TRY(tsri_descent_outputs(&difference, &gd, &run.store));
        *outputs += tsri_rate_of(&run, run.round) * difference;
        TSR_TRY(run.scheme->round(&run));
        TSR_TRY(tsri_descent_step(&gd));
    }
    *weights = tsri_descent_weights(&gd, &run.store);
done:
    tsri_descent_fini(&gd);
    tsri_run_fini(&run);
    return st;
}
