/* dense.c - plain training of the whole network: the baseline of everything else.
 *
 * A round is one step,  W <- W - eta v,  v <- mu v + grad L_B(W) + lambda W  (Nesterov optional),
 * on a mini-batch B (SGD) or on the whole training set (GD).
 */
#include "scheme/schemes.h"

#include "base/alloc.h"

#include <string.h>

typedef struct dense {
    tsri_loader *loader;
    tsri_plan *plan;
    float *before; /* for the trace */
} dense;

tsr_status tsri_dense_setup(tsri_run *run)
{
    tsr_status st = TSR_OK;
    dense *d = NULL;
    tsri_loader_options o = tsri_run_loader(run, 0);
    TSR_TRY(tsri_alloc(&d, 1, sizeof *d));
    run->scheme_state = d;
    TSR_TRY(tsri_loader_create(&d->loader, run->data, &run->data->train, &o));
    TSR_TRY(tsri_run_plan(&d->plan, run));
    if (run->trace)
        TSR_TRY(tsri_alloc(&d->before, run->net->total, sizeof(float)));
done:
    return st;
}

void tsri_dense_teardown(tsri_run *run)
{
    dense *d = run->scheme_state;
    if (!d)
        return;
    tsri_loader_destroy(d->loader);
    tsri_plan_destroy(d->plan);
    tsri_free(d->before);
    tsri_free(d);
}

tsr_status tsri_dense_round(tsri_run *run)
{
    tsr_status st = TSR_OK;
    dense *d = run->scheme_state;
    const tsri_batch *b = NULL;
    if (run->trace)
        memcpy(d->before, run->store.w, (size_t)run->net->total * sizeof(float));
    TSR_TRY(tsri_loader_get(d->loader, &b, run->round)); /* B            */
    tsri_loss loss = {.kind = run->loss, .valid = b->n, .label = b->label, .target = b->target};
    TSR_TRY(tsri_plan_forward(d->plan, b->x)); /* f(W; B)      */
    TSR_TRY(tsri_plan_loss(d->plan, &loss));   /* L_B(W)       */
    TSR_TRY(tsri_plan_backward(d->plan));      /* grad L_B(W)  */
    tsri_update u = {.count = run->net->trained,
                     .w = run->store.w,
                     .v = run->store.v,
                     .dw = run->store.g,
                     .rate = tsri_schedule_rate(&run->schedule, run->round, run->rounds),
                     .momentum = run->momentum,
                     .decay = run->decay,
                     .nesterov = run->nesterov};
    TSR_TRY(run->backend->update(&u, run->pool)); /* W <- W - eta v */
    run->recent.sum += tsri_loss_value(&loss);
    run->recent.count++;
    if (run->trace) {
        tsri_trace t = {.before = d->before, .batch = b->index, .workers = 1, .steps = 1};
        TSR_TRY(tsri_trace_round(run, &t));
    }
done:
    return st;
}
