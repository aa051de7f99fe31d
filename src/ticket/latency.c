/* latency.c - how long networks take, measured side by side. */
#include "ticket/latency.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/rng.h"
#include "net/plan.h"

#include <math.h>

enum { HANDS = 4, LEAST = HANDS, MOST = 200 };

/* One network, ready to run. */
typedef struct rig {
    tsri_net *net;
    tsri_store store;
    tsri_plan *infer, *train;
    float *x, *target; /* [batch, inputs], [batch, outputs] zeros */
    double infer_ms[HANDS], step_ms[HANDS];
} rig;

static void rig_fini(rig *r)
{
    tsri_plan_destroy(r->infer);
    tsri_plan_destroy(r->train);
    tsri_store_fini(&r->store);
    tsri_net_destroy(r->net);
    tsri_free(r->x);
    tsri_free(r->target);
}

static tsr_status rig_init(rig *r, const tsr_model *m, const tsri_backend *backend, tsri_pool *pool,
                           int64_t batch)
{
    tsr_status st = TSR_OK;
    int64_t inputs = batch * tsri_shape_count(m->input);
    tsri_rng rng = tsri_rng_stream(1, TSRI_FOR_TICKET, 0, 0, 0);
    TSR_TRY(tsri_model_load(&r->net, &r->store, m, backend, true));
    TSR_TRY(tsri_plan_create(&r->infer, &r->store, backend, pool, batch, false));
    TSR_TRY(tsri_plan_create(&r->train, &r->store, backend, pool, batch, true));
    TSR_TRY(tsri_alloc(&r->x, inputs, sizeof *r->x));
    TSR_TRY(tsri_alloc(&r->target, batch * m->outputs, sizeof *r->target));
    for (int64_t i = 0; i < inputs; i++)
        r->x[i] = (float)tsri_rng_normal(&rng);
    for (int h = 0; h < HANDS; h++)
        r->infer_ms[h] = r->step_ms[h] = (double)INFINITY;
done:
    return st;
}

static tsr_status time_infer(double *least, rig *r)
{
    tsr_status st = TSR_OK;
    double start = tsri_clock();
    TSR_TRY(tsri_plan_forward(r->infer, r->x));
    *least = fmin(*least, 1e3 * (tsri_clock() - start));
done:
    return st;
}

/* At rate 0, so that any number of steps can be taken. Of the losses the squares are the cheapest,
 * and none is a thousandth of a step. */
static tsr_status time_step(double *least, rig *r, const tsri_backend *backend, tsri_pool *pool,
                            int64_t batch)
{
    tsr_status st = TSR_OK;
    tsri_loss loss = {.kind = TSRI_MSE, .valid = batch, .target = r->target};
    tsri_update update = {.count = r->net->trained,
                          .w = r->store.w,
                          .v = r->store.v,
                          .dw = r->store.g,
                          .momentum = 0.9};
    double start = tsri_clock();
    TSR_TRY(tsri_plan_forward(r->train, r->x));
    TSR_TRY(tsri_plan_loss(r->train, &loss));
    TSR_TRY(tsri_plan_backward(r->train));
    TSR_TRY(backend->update(&update, pool));
    *least = fmin(*least, 1e3 * (tsri_clock() - start));
done:
    return st;
}

/* The first turn only warms up: memory is touched for the first time. */
static tsr_status take_turns(rig *rigs, int64_t count, const tsri_backend *backend, tsri_pool *pool,
                             int64_t batch, double seconds)
{
    tsr_status st = TSR_OK;
    double start = tsri_clock(), cold = (double)INFINITY;
    for (int n = -1; n < LEAST || (n < MOST && tsri_clock() - start < seconds); n++)
        for (int64_t i = 0; i < count; i++) {
            rig *r = &rigs[i];
            TSR_TRY(time_infer(n < 0 ? &cold : &r->infer_ms[n % HANDS], r));
            TSR_TRY(time_step(n < 0 ? &cold : &r->step_ms[n % HANDS], r, backend, pool, batch));
        }
done:
    return st;
}

static tsri_duration duration(const double *ms)
{
    tsri_duration d = {ms[0], ms[0]};
    for (int h = 1; h < HANDS; h++) {
        d.least = fmin(d.least, ms[h]);
        d.surely = fmax(d.surely, ms[h]);
    }
    return d;
}

tsr_status tsri_latency_measure(tsri_latency *out, const tsr_model *const *models, int64_t count,
                                double seconds)
{
    tsr_status st = TSR_OK;
    const tsr_config *config = models[0]->config;
    const tsri_backend *backend = tsri_backend_find(tsri_config_text(config, "backend"));
    int64_t threads = tsri_config_int(config, "threads"), batch = tsri_config_int(config, "batch");
    int team = threads > 0 ? (int)threads : tsri_cores();
    tsri_pool *pool = NULL;
    rig *rigs = NULL;
    TSR_TRY(tsri_alloc(&rigs, count, sizeof *rigs));
    if (backend->start)
        TSR_TRY(backend->start(team));
    TSR_TRY(tsri_pool_create(&pool, team));
    for (int64_t i = 0; i < count; i++)
        TSR_TRY(rig_init(&rigs[i], models[i], backend, pool, batch));
    TSR_TRY(take_turns(rigs, count, backend, pool, batch, seconds));
    for (int64_t i = 0; i < count; i++)
        out[i] = (tsri_latency){duration(rigs[i].infer_ms), duration(rigs[i].step_ms)};
done:
    for (int64_t i = 0; rigs && i < count; i++)
        rig_fini(&rigs[i]);
    tsri_free(rigs);
    tsri_pool_destroy(pool);
    return st;
}

tsri_speedup tsri_faster(tsri_duration before, tsri_duration after)
{
    if (!(after.least < 0.98 * before.least))
        return TSRI_NOT_FASTER;
    return after.surely < 0.98 * before.least ? TSRI_FASTER : TSRI_PERHAPS_FASTER;
}
