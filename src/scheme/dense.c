/* dense.c - plain training of the whole network: the baseline of everything else.
 *
 * A round is one step,  W <- W - eta v,  v <- mu v + grad L_B(W) + lambda W  (Nesterov optional; or
 * a step of Adam), on a mini-batch B (SGD) or on the whole training set (GD). With
 * scheme.micro_batches the gradient is added up over parts of B, in less memory (micro.h).
 */
#include "scheme/schemes.h"

#include "base/alloc.h"
#include "net/gate_table.h"
#include "run/rate.h"
#include "run/recipe.h"
#include "run/trace.h"
#include "scheme/cost.h"
#include "scheme/micro.h"

typedef struct dense {
    tsri_resident resident; /* the training set, on a device that draws batches itself */
    tsri_loader *loader;
    tsri_plan *plan;
    tsri_step step;
    tsri_micro micro;
    bool fixed_gates;       /* samples never change: their gates are computed once, */
    tsri_gate_table *gates; /* in the first round, after a checkpoint was loaded */
    double *loss;           /* [micro.count] */
} dense;

bool tsri_dense_knows_gates(const tsri_settings *s, const tsri_net *net)
{
    return tsri_net_gated(net) && !tsri_run_changes_samples(s);
}

static tsr_status setup(tsri_run *run)
{
    tsr_status st = TSR_OK;
    dense *d = NULL;
    tsri_loader_options o = tsri_run_loader(&run->settings, 0);
    TSR_TRY(tsri_alloc(&d, 1, sizeof *d));
    run->scheme_state = d;
    o.bare = tsri_run_draws_there(&run->settings, run->device.backend);
    if (o.bare)
        TSR_TRY(
            tsri_resident_init(&d->resident, run->data, &run->data->train, run->device.backend));
    TSR_TRY(tsri_loader_create(&d->loader, run->data, &run->data->train, &o));
    TSR_TRY(tsri_micro_init(&d->micro, &run->settings, &run->store, 1));
    TSR_TRY(tsri_alloc(&d->loss, d->micro.count, sizeof *d->loss));
    st = tsri_plan_create(&d->plan, &run->store, run->device, d->micro.size, true);
    if (st == TSR_USAGE)
        tsri_fail_prefix("%s: ", tsri_config_place(run->settings.config, "batch"));
    TSR_TRY(st);
    tsri_aim aim = tsri_run_aim(&run->settings);
    TSR_TRY(tsri_step_init(&d->step, d->plan, &aim, &run->settings.optim));
    d->step.resident = o.bare ? &d->resident : NULL;
    d->fixed_gates = tsri_dense_knows_gates(&run->settings, run->net);
done:
    return st;
}

static void teardown(tsri_run *run)
{
    dense *d = run->scheme_state;
    if (!d)
        return;
    tsri_loader_destroy(d->loader);
    tsri_resident_fini(&d->resident);
    tsri_step_fini(&d->step);
    tsri_plan_destroy(d->plan);
    tsri_micro_fini(&d->micro);
    tsri_gate_table_destroy(d->gates);
    tsri_free(d->loss);
    tsri_free(d);
}

/* W <- W - eta v, and the losses of the micro-batches. */
static tsr_status one_step(dense *d, tsri_run *run, const tsri_batch *b)
{
    tsr_status st = TSR_OK;
    double rate = tsri_run_rate(&run->settings, &run->position, run->position.round);
    int64_t seen = tsri_run_steps(&run->settings, &run->position);
    if (d->micro.count == 1) {
        TSR_TRY(tsri_step_run(&d->step, b, rate, seen));
        TSR_TRY(tsri_step_value(&d->loss[0], &d->step));
        return TSR_OK;
    }
    for (int64_t m = 0; m < d->micro.count; m++) {
        TSR_TRY(tsri_step_gradient(&d->step, b, m * d->micro.size));
        TSR_TRY(tsri_micro_add(&d->micro, &run->store, run->device, m, 0, run->net->trained));
        TSR_TRY(tsri_step_value(&d->loss[m], &d->step));
    }
    TSR_TRY(tsri_step_update(&d->step, rate, seen));
done:
    return st;
}

static tsr_status one_round(tsri_run *run)
{
    tsr_status st = TSR_OK;
    dense *d = run->scheme_state;
    const tsri_batch *b = NULL;
    TSR_TRY(tsri_trace_begin(run, 1, 1));
    if (d->fixed_gates && !d->gates)
        TSR_TRY(tsri_gate_table_create(&d->gates, &run->store, run->device, run->data,
                                       &run->data->train));
    d->step.gates = d->gates;
    TSR_TRY(tsri_loader_get(d->loader, &b, run->position.round)); /* B */
    TSR_TRY(one_step(d, run, b));
    double value = tsri_micro_value(&d->micro, d->loss);
    tsri_run_add_losses(run, &value, 1);
    tsri_trace_batch(run, 0, 0, d->loader, b, run->position.round);
    TSR_TRY(tsri_trace_round(run, &(tsri_traced){.loss = &value},
                             tsri_optim_remembers(&run->settings.optim)));
done:
    return st;
}

const tsri_scheme tsri_scheme_dense = {
    .name = "dense",
    .help = "the whole network, plain SGD or GD",
    .keys = "micro_batches",
    .plain = true,
    .cost = tsri_dense_cost,
    .setup = setup,
    .round = one_round,
    .teardown = teardown,
};
