/* latency.c - how long networks take, measured side by side. */
#include "ticket/latency.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "optim/step.h"
#include "train/describe.h"

#include <math.h>

/* One network, ready to run. */
typedef struct rig {
    const tsri_stage *stage;
    tsri_plan *infer, *train; /* train NULL: only inference is timed */
    tsri_step step;           /* of `train` */
    float *x, *target;        /* [batch, inputs], [batch, outputs] zeros */
} rig;

/* Of the losses the squares are the cheapest, and none is a thousandth of a step. */
static const tsri_aim squares = {.kind = &tsri_loss_mse};
static const tsri_optim rule = {.momentum = 0.9};

static void rig_fini(rig *r)
{
    tsri_step_fini(&r->step);
    tsri_plan_destroy(r->infer);
    tsri_plan_destroy(r->train);
    tsri_free(r->x);
    tsri_free(r->target);
}

static tsr_status rig_init(rig *r, tsri_store *store, const tsri_stage *stage)
{
    tsr_status st = TSR_OK;
    int64_t batch = stage->batch, inputs = batch * tsri_shape_count(store->net->input);
    tsri_rng rng = tsri_rng_stream(1, TSRI_FOR_TICKET, 0, 0, 0);
    r->stage = stage;
    TSR_TRY(tsri_plan_create(&r->infer, store, stage->device, batch, false));
    if (store->g) {
        TSR_TRY(tsri_plan_create(&r->train, store, stage->device, batch, true));
        TSR_TRY(tsri_step_init(&r->step, r->train, &squares, &rule));
    }
    TSR_TRY(tsri_alloc(&r->x, inputs, sizeof *r->x));
    TSR_TRY(tsri_alloc(&r->target, batch * store->net->outputs, sizeof *r->target));
    for (int64_t i = 0; i < inputs; i++)
        r->x[i] = (float)tsri_rng_normal(&rng);
done:
    return st;
}

static tsr_status run_infer(void *of)
{
    tsr_status st = TSR_OK;
    rig *r = of;
    TSR_TRY(tsri_plan_forward(r->infer, r->x));
    TSR_TRY(tsri_device_wait(r->stage->device));
done:
    return st;
}

/* At rate 0, so that any number of steps can be taken. */
static tsr_status run_step(void *of)
{
    tsr_status st = TSR_OK;
    rig *r = of;
    const tsri_batch b = {.n = r->stage->batch, .x = r->x, .target = r->target};
    if (!r->train)
        return TSR_OK;
    TSR_TRY(tsri_step_run(&r->step, &b, 0, 0));
    TSR_TRY(tsri_device_wait(r->stage->device));
done:
    return st;
}

/* ---- The stage ------------------------------------------------------------------------------ */

tsr_status tsri_stage_init(tsri_stage *stage, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    int threads;
    *stage = (tsri_stage){.batch = tsri_config_int(config, "batch")};
    TSR_TRY(tsri_start_backend(&stage->device.backend, &threads, config));
    TSR_TRY(tsri_pool_create(&stage->device.pool, threads));
done:
    return st;
}

void tsri_stage_fini(tsri_stage *stage)
{
    tsri_pool_destroy(stage->device.pool);
    *stage = (tsri_stage){0};
}

tsr_status tsri_stage_time(tsri_latency *out, tsri_store *const *stores, int64_t count,
                           const tsri_stage *stage, double seconds)
{
    tsr_status st = TSR_OK;
    rig *rigs = NULL;
    tsri_turn *turns = NULL;
    tsri_duration *times = NULL;
    TSR_TRY(tsri_alloc(&rigs, count, sizeof *rigs));
    TSR_TRY(tsri_alloc(&turns, 2 * count, sizeof *turns));
    TSR_TRY(tsri_alloc(&times, 2 * count, sizeof *times));
    for (int64_t i = 0; i < count; i++) {
        TSR_TRY(rig_init(&rigs[i], stores[i], stage));
        turns[2 * i] = (tsri_turn){run_infer, &rigs[i]};
        turns[2 * i + 1] = (tsri_turn){run_step, &rigs[i]};
    }
    TSR_TRY(tsri_take_turns(times, turns, 2 * count, seconds));
    for (int64_t i = 0; i < count; i++)
        out[i] = (tsri_latency){times[2 * i], rigs[i].train ? times[2 * i + 1] : (tsri_duration){0},
                                stage->batch};
done:
    tsri_free(times);
    tsri_free(turns);
    for (int64_t i = 0; rigs && i < count; i++)
        rig_fini(&rigs[i]);
    tsri_free(rigs);
    return st;
}

/* The run's batch; on processors at most as many samples as the least number of repetitions can take
 * in about the time that is allowed. A large network's default batch is nobody's choice: that of an
 * imported ResNet-50 took minutes, and more memory than most machines have. */
static int64_t batch_within(double seconds, const tsri_stage *stage, tsri_net *const *net,
                            int64_t count)
{
    enum { ROUNDS = 5, PASSES = 4 }; /* inference, and a step of three passes */
    static const double rate = 5e11; /* operations a second: high, so that few networks are cut */
    double operations = 0;
    if (tsri_backend_chip(stage->device.backend))
        return stage->batch;
    for (int64_t i = 0; i < count; i++)
        operations += ROUNDS * PASSES * tsri_net_flops(net[i]);
    double most = fmax(2, floor(seconds * rate / fmax(operations, 1))); /* norms train on two */
    return most < (double)stage->batch ? (int64_t)most : stage->batch;
}

tsr_status tsri_latency_measure(tsri_latency *out, const tsr_model *const *models, int64_t count,
                                double seconds, bool fewer)
{
    tsr_status st = TSR_OK;
    tsri_stage stage = {0};
    tsri_net **net = NULL;
    tsri_store *store = NULL, **stores = NULL;
    TSR_TRY(tsri_alloc(&net, count, sizeof(tsri_net *)));
    TSR_TRY(tsri_alloc(&store, count, sizeof *store));
    TSR_TRY(tsri_alloc(&stores, count, sizeof(tsri_store *)));
    TSR_TRY(tsri_stage_init(&stage, models[0]->config));
    for (int64_t i = 0; i < count; i++) {
        TSR_TRY(tsri_model_load(&net[i], &store[i], models[i], stage.device.backend, true));
        stores[i] = &store[i];
    }
    if (fewer)
        stage.batch = batch_within(seconds, &stage, net, count);
    TSR_TRY(tsri_stage_time(out, stores, count, &stage, seconds));
done:
    for (int64_t i = 0; net && store && i < count; i++) {
        tsri_store_fini(&store[i]);
        tsri_net_destroy(net[i]);
    }
    tsri_free(net);
    tsri_free(store);
    tsri_free(stores);
    tsri_stage_fini(&stage);
    return st;
}
