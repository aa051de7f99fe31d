/* cost.c - what a run will take, counted before it begins, and how long that is on a machine. How
 * each scheme is counted is scheme/cost.c. */
#include "scheme/cost.h"

#include "base/alloc.h"
#include "base/sized.h"
#include "scheme/scheme.h"
#include "train/describe.h"
#include "train/device_fit.h"

#include <math.h>

/* A data set of which only the shape is known. */
static tsr_status described(tsr_data **out, const tsr_cost_data *d)
{
    tsr_status st = TSR_OK;
    tsr_data *data = NULL;
    TSR_CHECK(d->channels > 0 && d->height > 0 && d->width > 0 &&
                  (d->classes > 0 || d->targets > 0),
              TSR_USAGE, "data that is only described needs a shape, and classes or targets");
    TSR_TRY(tsri_alloc(&data, 1, sizeof *data));
    TSR_TRY(tsri_strdup(&data->name, "described data"));
    data->channels = d->channels;
    data->height = d->height;
    data->width = d->width;
    data->dim = d->channels * d->height * d->width;
    data->classes = d->classes;
    data->targets = d->classes > 0 ? 0 : d->targets;
    data->train.n = d->samples;
    *out = data;
    data = NULL;
done:
    tsr_data_destroy(data);
    return st;
}

static void note_whole(tsr_cost *cost, const tsri_run *run)
{
    *cost = (tsr_cost){.params = run->net->total,
                       .trained = run->net->trained,
                       .workers = run->settings.workers,
                       .local_steps = run->settings.local_steps,
                       .batch = run->settings.batch,
                       .rounds = run->settings.rounds,
                       .epochs = (double)run->settings.rounds / run->settings.epoch_rounds,
                       .micro_batches = 1,
                       .exact = true,
                       .flops_step_whole =
                           (int64_t)((double)run->settings.batch * run->settings.sample_flops),
                       .local = run->settings.scheme->local};
    if (!run->data->sequences) /* of these it would not say enough: they are looked at each time */
        cost->data = (tsr_cost_data){.samples = run->data->train.n,
                                     .channels = run->data->channels,
                                     .height = run->data->height,
                                     .width = run->data->width,
                                     .classes = run->data->classes,
                                     .targets = run->data->targets};
}

static tsr_status count(tsr_cost *cost, tsr_config *config, const tsr_cost_data *data)
{
    tsr_status st = TSR_OK;
    tsri_run run = {.process.lock = -1};
    tsri_ground ground = {0};
    const tsri_backend *backend;
    tsri_fit fit;
    tsr_run_options options = tsr_run_options_default();
    bool here = !data || data->samples == 0;
    *cost = (tsr_cost){0};
    if (!here) {
        TSR_TRY(described(&ground.data, data));
        TSR_TRY(tsri_start_backend(&backend, &ground.threads, config));
    }
    TSR_TRY(tsri_run_describe(&run, config, &options, here ? NULL : &ground));
    note_whole(cost, &run);
    TSR_TRY(run.settings.scheme->cost(cost, &run));
    TSR_TRY(tsri_device_fit(&fit, &run, 0, true));
    cost->memory_device = fit.wanted;
    cost->batch_fits = fit.batch;
done:
    tsri_run_fini(&run);
    tsr_data_destroy(ground.data);
    return st;
}

tsr_status tsr_cost_count(tsr_cost *cost, tsr_config *config, const tsr_cost_data *data)
{
    tsr_status st = TSR_OK;
    tsr_cost mine = {0};
    TSRI_GIVEN(config);
    TSR_TRY(TSRI_SIZED_GIVE(cost, &mine));
    TSR_TRY(count(&mine, config, data));
    TSR_TRY(TSRI_SIZED_GIVE(cost, &mine));
done:
    return st;
}

/* ---- Prediction --------------------------------------------------------------------------- */

/* A pipeline's clock ticks M + S - 1 times forward and as often backward; in a tick the busiest
 * stage works on one micro-batch and the widest cut carries one. */
static void predict_pipe(tsr_prediction *p, const tsr_cost *c, const tsr_machine *m)
{
    double ticks = (double)(c->micro_batches + c->workers - 1);
    double work = (double)c->flops_step / (double)c->micro_batches / m->flops;
    double carry = m->latency + (double)c->bytes_cut / m->bandwidth;
    p->seconds_step = (double)c->flops_step / m->flops;
    p->seconds_send = c->workers > 1 ? 2 * ticks * carry : 0;
    p->seconds_round = ticks * work + p->seconds_send;
}

/* Everything goes over the one link of the machine that holds the whole. */
static void predict_team(tsr_prediction *p, const tsr_cost *c, const tsr_machine *m)
{
    p->seconds_step = (double)c->flops_step / m->flops;
    p->seconds_send =
        c->bytes_round > 0 ? 2 * m->latency + (double)c->bytes_round / m->bandwidth : 0;
    p->seconds_round = p->seconds_step * (double)c->local_steps + p->seconds_send;
}

void tsr_cost_predict(tsr_prediction *p, const tsr_cost *c, const tsr_machine *m)
{
    if (p)
        *p = (tsr_prediction){.local_steps = c ? c->local_steps : 0};
    if (!p || !c || !m)
        return;
    double steps = (double)c->rounds * (double)c->local_steps;
    if (c->bytes_cut > 0)
        predict_pipe(p, c, m);
    else
        predict_team(p, c, m);
    if (c->local && p->seconds_send > 0) {
        double least = p->seconds_send * (1 - m->sending) / (m->sending * p->seconds_step);
        p->local_steps = (int64_t)fmax(1, ceil(least));
        double rounds = fmax(1, steps / (double)p->local_steps);
        p->seconds_best = rounds * ((double)p->local_steps * p->seconds_step + p->seconds_send);
    } else {
        p->seconds_best = (double)c->rounds * p->seconds_round;
    }
    p->seconds_run = (double)c->rounds * p->seconds_round;
}
