/* latency.c - how long networks take, measured side by side. */
#include "ticket/latency.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/rng.h"
#include "optim/step.h"
#include "train/describe.h"

#include <math.h>

enum { GROUPS = 4, LEAST = GROUPS, MOST = 200 };

/* One network, ready to run. */
typedef struct rig {
    tsri_store *store;
    tsri_plan *infer, *train; /* train NULL: only inference is timed */
    tsri_step step;           /* of `train` */
    float *x, *target;        /* [batch, inputs], [batch, outputs] zeros */
    double infer_ms[GROUPS], step_ms[GROUPS];
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
    r->store = store;
    TSR_TRY(tsri_plan_create(&r->infer, store, stage->device, batch, false));
    if (store->g) {
        TSR_TRY(tsri_plan_create(&r->train, store, stage->device, batch, true));
        TSR_TRY(tsri_step_init(&r->step, r->train, &squares, &rule));
    }
    TSR_TRY(tsri_alloc(&r->x, inputs, sizeof *r->x));
    TSR_TRY(tsri_alloc(&r->target, batch * store->net->outputs, sizeof *r->target));
    for (int64_t i = 0; i < inputs; i++)
        r->x[i] = (float)tsri_rng_normal(&rng);
    for (int h = 0; h < GROUPS; h++)
        r->infer_ms[h] = r->step_ms[h] = (double)INFINITY;
done:
    return st;
}

static tsr_status time_infer(double *least, rig *r, const tsri_stage *stage)
{
    tsr_status st = TSR_OK;
    double start = tsri_clock();
    TSR_TRY(tsri_plan_forward(r->infer, r->x));
    TSR_TRY(tsri_device_wait(stage->device));
    *least = fmin(*least, 1e3 * (tsri_clock() - start));
done:
    return st;
}

/* At rate 0, so that any number of steps can be taken. */
static tsr_status time_step(double *least, rig *r, const tsri_stage *stage)
{
    tsr_status st = TSR_OK;
    const tsri_batch b = {.n = stage->batch, .x = r->x, .target = r->target};
    if (!r->train)
        return TSR_OK;
    double start = tsri_clock();
    TSR_TRY(tsri_step_run(&r->step, &b, 0, 0));
    TSR_TRY(tsri_device_wait(stage->device));
    *least = fmin(*least, 1e3 * (tsri_clock() - start));
done:
    return st;
}

/* The first turn only warms up: memory is touched for the first time. */
static tsr_status take_turns(rig *rigs, int64_t count, const tsri_stage *stage, double seconds)
{
    tsr_status st = TSR_OK;
    double start = tsri_clock(), cold = (double)INFINITY;
    for (int n = -1; n < LEAST || (n < MOST && tsri_clock() - start < seconds); n++)
        for (int64_t i = 0; i < count; i++) {
            rig *r = &rigs[i];
            TSR_TRY(time_infer(n < 0 ? &cold : &r->infer_ms[n % GROUPS], r, stage));
            TSR_TRY(time_step(n < 0 ? &cold : &r->step_ms[n % GROUPS], r, stage));
        }
done:
    return st;
}

static tsri_duration duration(const double *ms)
{
    tsri_duration d = {ms[0], ms[0]};
    for (int h = 1; h < GROUPS; h++) {
        d.least = fmin(d.least, ms[h]);
        d.worst = fmax(d.worst, ms[h]);
    }
    return d;
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
    TSR_TRY(tsri_alloc(&rigs, count, sizeof *rigs));
    for (int64_t i = 0; i < count; i++)
        TSR_TRY(rig_init(&rigs[i], stores[i], stage));
    TSR_TRY(take_turns(rigs, count, stage, seconds));
    for (int64_t i = 0; i < count; i++)
        out[i] = (tsri_latency){duration(rigs[i].infer_ms), duration(rigs[i].step_ms)};
done:
    for (int64_t i = 0; rigs && i < count; i++)
        rig_fini(&rigs[i]);
    tsri_free(rigs);
    return st;
}

tsr_status tsri_latency_measure(tsri_latency *out, const tsr_model *const *models, int64_t count,
                                double seconds)
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

tsri_speedup tsri_faster(tsri_duration before, tsri_duration after)
{
    if (!(after.least < 0.98 * before.least))
        return TSRI_NOT_FASTER;
    return after.worst < 0.98 * before.least ? TSRI_FASTER : TSRI_PERHAPS_FASTER;
}
