/* gpipe.c - GPipe (Huang et al. 2019): the network cut by depth, micro-batches streamed through.
 *
 * Worker s has the layers of stage s and their parameters. A batch is M micro-batches; they go
 * forward through the stages and then backward, each stage working on another one:
 *
 *     tick        0   1   2   3   4          0   1   2   3   4
 *     stage 0     F0  F1  F2                         B0  B1  B2
 *     stage 1         F0  F1  F2                 B0  B1  B2
 *     stage 2             F0  F1  F2 loss    B0  B1  B2
 *
 * Then one synchronous update. What crosses a cut is one tensor (net/depth.h): the activation
 * forward, its gradient back. Those are all the bytes that travel.
 *
 * The result is, to the bit, that of `dense` with the same micro-batches: the stages run the same
 * kernels on the same numbers, and gradients are added in the order of the micro-batches. So where
 * the cuts lie changes time, memory and bytes, and nothing else.
 *
 * The stages may be processes (gpipe_crew.c): the same kernels, the same bits.
 *
 * Departures: activations of all micro-batches are kept, none is computed twice (the paper offers
 * that to save memory); backward takes the micro-batches in the order of forward.
 */
#include "scheme/schemes.h"

#include "base/alloc.h"
#include "net/depth.h"
#include "run/rate.h"
#include "run/recipe.h"
#include "run/trace.h"
#include "scheme/cost.h"
#include "scheme/gpipe_parts.h"
#include "scheme/stages.h"

#include <stdio.h>

typedef tsri_pipe pipe;
typedef tsri_pipe_stage stage;

/* ---- Making and unmaking ------------------------------------------------------------------ */

static tsr_status make_stage(pipe *p, stage *s, tsri_pool *pool, int64_t from, int64_t to)
{
    tsr_status st = TSR_OK;
    tsri_run *run = p->run;
    int64_t own = tsri_pool_threads(run->device.pool) / run->settings.workers;
    tsri_aim aim = tsri_run_aim(&run->settings);
    TSR_TRY(tsri_net_part(&s->net, run->net, from, to));
    s->store = run->store;
    s->store.net = s->net;
    tsri_depth_trained(s->net, &s->low, &s->high);
    s->device = tsri_device_on(run->device.backend, pool);
    if (!pool) {
        TSR_TRY(tsri_pool_create(&s->device.pool, own > 1 ? (int)own : 1));
        s->owns_pool = true;
    }
    TSR_TRY(tsri_alloc(&s->plan, p->micro.count, sizeof(tsri_plan *)));
    TSR_TRY(tsri_alloc(&s->step, p->micro.count, sizeof *s->step));
    for (int64_t m = 0; m < p->micro.count; m++) {
        st = tsri_plan_create(&s->plan[m], &s->store, s->device, p->micro.size, true);
        if (st == TSR_USAGE)
            tsri_fail_prefix("%s: ",
                             tsri_config_place(run->settings.config, "scheme.micro_batches"));
        TSR_TRY(st);
        TSR_TRY(tsri_step_init(&s->step[m], s->plan[m], &aim, NULL));
    }
done:
    return st;
}

tsr_status tsri_pipe_add(pipe *p, tsri_pool *pool, int64_t from, int64_t to)
{
    return make_stage(p, &p->stage[p->stages++], pool, from, to);
}

static tsr_status make_all_stages(pipe *p)
{
    tsr_status st = TSR_OK;
    int64_t stages = p->run->settings.workers;
    for (int64_t s = 0; s < stages; s++)
        TSR_TRY(tsri_pipe_add(p, stages > 1 ? NULL : p->run->device.pool, p->begin[s],
                              p->begin[s + 1]));
done:
    return st;
}

tsr_status tsri_pipe_load(pipe *p)
{
    tsri_loader_options o = tsri_run_loader(&p->run->settings, 0);
    return p->loader ? TSR_OK
                     : tsri_loader_create(&p->loader, p->run->data, &p->run->data->train, &o);
}

tsr_status tsri_gpipe_allowed(const tsri_settings *s)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(
        tsri_config_is(s->config, "scheme.wire", "f32"), TSR_USAGE,
        "scheme.wire: bf16 is for schemes with shares: gpipe would have other bits with every "
        "number of ranks if it rounded what goes from one to the next");
done:
    return st;
}

/* With a crew the stages are made where they are needed. */
static tsr_status setup(tsri_run *run)
{
    tsr_status st = TSR_OK;
    pipe *p = NULL;
    TSR_TRY(tsri_gpipe_allowed(&run->settings));
    TSR_TRY(tsri_alloc(&p, 1, sizeof *p));
    run->scheme_state = p;
    p->run = run;
    TSR_TRY(tsri_micro_init(&p->micro, &run->settings, &run->store, run->settings.workers));
    TSR_TRY(tsri_optimiser_init(&p->optimiser, &run->settings.optim, &run->store, run->device));
    TSR_TRY(tsri_alloc(&p->begin, run->settings.workers + 1, sizeof *p->begin));
    if (!run->process.crew || run->process.crew->comm->rank == 0)
        TSR_TRY(tsri_stages_choose(p->begin, &run->settings, run->net, run->device, p->micro.size));
    TSR_TRY(tsri_alloc(&p->loss, p->micro.count, sizeof *p->loss));
    TSR_TRY(tsri_alloc(&p->stage, run->settings.workers, sizeof *p->stage));
    if (!run->process.crew) {
        TSR_TRY(make_all_stages(p));
        TSR_TRY(tsri_pipe_load(p));
    }
done:
    return st;
}

static void unmake_stage(const pipe *p, stage *s)
{
    for (int64_t m = 0; s->step && m < p->micro.count; m++)
        tsri_step_fini(&s->step[m]);
    for (int64_t m = 0; s->plan && m < p->micro.count; m++)
        tsri_plan_destroy(s->plan[m]);
    tsri_free(s->step);
    tsri_free(s->plan);
    if (s->owns_pool)
        tsri_pool_destroy(s->device.pool);
    tsri_net_destroy(s->net);
}

void tsri_pipe_clear(pipe *p)
{
    while (p->stages > 0) {
        stage *s = &p->stage[--p->stages];
        unmake_stage(p, s);
        *s = (stage){0};
    }
}

static void teardown(tsri_run *run)
{
    pipe *p = run->scheme_state;
    if (!p)
        return;
    tsri_pipe_clear(p);
    tsri_line_destroy(p->line);
    tsri_loader_destroy(p->loader);
    tsri_micro_fini(&p->micro);
    tsri_optimiser_fini(&p->optimiser);
    tsri_free(p->begin);
    tsri_free(p->stage);
    tsri_free(p->loss);
    tsri_free(p);
}

/* ---- One stage, one micro-batch ----------------------------------------------------------- */

static tsr_status forward(pipe *p, int64_t s, int64_t m)
{
    tsr_status st = TSR_OK;
    stage *here = &p->stage[s];
    int64_t first = m * p->micro.size;
    if (s == 0) {
        TSR_TRY(tsri_step_forward(&here->step[m], p->batch, first));
    } else {
        TSR_TRY(tsri_step_lengths(&here->step[m], p->batch, first));
        TSR_TRY(tsri_plan_forward_from(here->plan[m], here[-1].plan[m]));
    }
    if (s < p->run->settings.workers - 1) {
        here->sent += tsri_plan_output_bytes(here->plan[m]);
    } else {
        TSR_TRY(tsri_step_judge(&here->step[m], p->batch, first));
        TSR_TRY(tsri_step_value(&p->loss[m], &here->step[m]));
    }
done:
    return st;
}

static tsr_status backward(pipe *p, int64_t s, int64_t m)
{
    tsr_status st = TSR_OK;
    stage *here = &p->stage[s];
    if (s < p->run->settings.workers - 1)
        TSR_TRY(tsri_plan_gradient_from(here->plan[m], here[1].plan[m]));
    TSR_TRY(tsri_plan_backward(here->plan[m]));
    TSR_TRY(tsri_micro_add(&p->micro, &p->run->store, p->run->device, m, here->low, here->high));
    if (s > 0)
        here->sent += tsri_plan_entry_bytes(here->plan[m]);
done:
    return st;
}

/* ---- All stages at once ------------------------------------------------------------------- */

typedef tsr_status (*duty)(pipe *p, int64_t s, int64_t m);

/* Stage s of this tick has micro-batch `tick - late`, if there is one, `late` being its distance
 * from the stage where the stream begins. */
static void do_duty(pipe *p, int64_t s, int64_t late, duty d)
{
    int64_t m = p->tick - late;
    stage *here = &p->stage[s];
    if (m < 0 || m >= p->micro.count || here->st != TSR_OK)
        return;
    here->st = d(p, s, m);
    if (here->st != TSR_OK)
        (void)snprintf(here->error, sizeof here->error, "%s", tsr_last_error());
}

static void forward_duty(void *context, int64_t s, int thread)
{
    (void)thread;
    do_duty(context, s, s, forward);
}

static void backward_duty(void *context, int64_t s, int thread)
{
    pipe *p = context;
    (void)thread;
    do_duty(p, s, p->run->settings.workers - 1 - s, backward);
}

static tsr_status stream(pipe *p, tsri_pool_body body)
{
    tsri_run *run = p->run;
    int64_t stages = run->settings.workers;
    for (p->tick = 0; p->tick < p->micro.count + stages - 1; p->tick++) {
        if (stages == 1) /* it has the run's own pool, which runs one loop at a time */
            body(p, 0, 0);
        else
            tsri_pool_run(run->device.pool, body, p, stages);
        for (int64_t s = 0; s < stages; s++)
            if (p->stage[s].st != TSR_OK)
                return tsri_fail(p->stage[s].st, "%s", p->stage[s].error);
    }
    return TSR_OK;
}

tsr_status tsri_pipe_step(pipe *p)
{
    tsr_status st = TSR_OK;
    tsri_run *run = p->run;
    if (p->stages == 0)
        TSR_TRY(make_all_stages(p));
    TSR_TRY(tsri_pipe_load(p));
    TSR_TRY(tsri_loader_get(p->loader, &p->batch, run->position.round));
    for (int64_t s = 0; s < run->settings.workers; s++)
        p->stage[s].sent = 0;
    TSR_TRY(stream(p, forward_duty));
    TSR_TRY(stream(p, backward_duty));
    TSR_TRY(tsri_optimiser_set(&p->optimiser,
                               tsri_run_rate(&run->settings, &run->position, run->position.round),
                               tsri_run_steps(&run->settings, &run->position)));
    TSR_TRY(tsri_optimiser_step(&p->optimiser));
    for (int64_t s = 0; s < run->settings.workers; s++)
        run->position.bytes_total += p->stage[s].sent;
done:
    return st;
}

/* The stages together are one worker, who has the whole. */
static tsr_status write_trace(pipe *p, double loss)
{
    tsr_status st = TSR_OK;
    tsri_run *run = p->run;
    TSR_TRY(tsri_pipe_load(p));
    TSR_TRY(tsri_loader_get(p->loader, &p->batch, run->position.round));
    tsri_trace_batch(run, 0, 0, p->loader, p->batch, run->position.round);
    TSR_TRY(tsri_trace_round(run, &(tsri_traced){.loss = &loss},
                             tsri_optim_remembers(&run->settings.optim)));
done:
    return st;
}

static tsr_status one_round(tsri_run *run)
{
    tsr_status st = TSR_OK;
    pipe *p = run->scheme_state;
    TSR_TRY(tsri_trace_begin(run, 1, 1));
    TSR_TRY(run->process.crew ? tsri_line_step(p) : tsri_pipe_step(p));
    double value = tsri_micro_value(&p->micro, p->loss);
    tsri_run_add_losses(run, &value, 1);
    if (run->process.trace)
        TSR_TRY(write_trace(p, value));
done:
    return st;
}

const tsri_scheme tsri_scheme_gpipe = {
    .name = "gpipe",
    .help = "cut by depth into stages, micro-batches streamed through (GPipe)",
    .keys = "workers micro_batches balance cuts data wire events",
    .many = true,
    .cost = tsri_gpipe_cost,
    .setup = setup,
    .round = one_round,
    .teardown = teardown,
    .assemble = tsri_gpipe_assemble,
    .serve = tsri_gpipe_serve,
    .collect = tsri_gpipe_collect,
};
