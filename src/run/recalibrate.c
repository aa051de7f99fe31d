/* recalibrate.c - the statistics of a network's norms, measured on the network itself.
 *
 * Workers that train shares see the activations of shares. Where a share's layers read fewer units
 * than the whole's, sums are smaller, and the mean of the shares' running statistics is not what
 * the whole network meets. So, before it is judged or written, some batches of the training set go
 * through it, and each statistic becomes the plain mean over these batches of what a training step
 * would have seen: it depends on the weights alone, not on what was there before. No weight
 * changes, and neither does the count of training batches.
 */
#include "run/recalibrate.h"

#include "base/alloc.h"
#include "net/parcel.h"
#include "run/changes.h"
#include "run/recipe.h"
#include "run/trace.h"

#include <string.h>

/* The counts of training batches, kept aside while other batches pass; [params], 0 where a
 * parameter is none. */
static tsr_status read_counts(float *count, const tsri_store *store, int64_t *found)
{
    tsr_status st = TSR_OK;
    *found = 0;
    for (int64_t p = 0; p < store->net->params; p++)
        if (store->net->param[p].role == TSRI_COUNT) {
            TSR_TRY(store->heap->out(&count[p], tsri_store_at(store, store->w, p), sizeof *count));
            ++*found;
        }
done:
    return st;
}

static tsr_status write_counts(tsri_store *store, const float *count)
{
    tsr_status st = TSR_OK;
    for (int64_t p = 0; p < store->net->params; p++)
        if (store->net->param[p].role == TSRI_COUNT)
            TSR_TRY(store->heap->in(tsri_store_at(store, store->w, p), &count[p], sizeof *count));
done:
    return st;
}

/* ---- For the trace ------------------------------------------------------------------------- */

/* The batches that went through the network. */
typedef struct passed {
    int64_t batches, batch;
    int64_t *sample; /* [batches][batch]; NULL = there is no trace */
    tsri_changes changes;
} passed;

static tsr_status passed_init(passed *p, const tsri_run *run, const tsri_augment *how,
                              int64_t batches)
{
    tsr_status st = TSR_OK;
    int64_t samples = batches * run->settings.batch;
    *p = (passed){.batches = batches, .batch = run->settings.batch};
    if (!run->process.trace)
        return TSR_OK;
    TSR_TRY(tsri_alloc(&p->sample, samples, sizeof *p->sample));
    TSR_TRY(tsri_changes_init(&p->changes, how, batches, p->batch));
done:
    return st;
}

static void passed_fini(passed *p)
{
    tsri_free(p->sample);
    tsri_changes_fini(&p->changes);
}

static void note_batch(passed *p, const tsri_loader *loader, const tsri_batch *b, int64_t k)
{
    if (!p->sample)
        return;
    memcpy(p->sample + k * p->batch, b->index, (size_t)p->batch * sizeof *p->sample);
    tsri_changes_note(&p->changes, k, loader, b, k);
}

static tsr_status write_trace(const tsri_run *run, const passed *p, int64_t rounds)
{
    tsr_status st = TSR_OK;
    tsri_parcel parcel;
    tsri_opened host = {0};
    tsri_tensor t = {
        .dtype = TSRI_I64, .dims = 2, .shape = {p->batches, p->batch}, .data = p->sample};
    if (!p->sample)
        return TSR_OK;
    tsri_parcel_init(&parcel, run->net);
    TSR_TRY(tsri_store_open(&host, &run->store, TSRI_OPEN_WEIGHTS));
    TSR_TRY(tsri_parcel_add(&parcel, &t, "recalibrate.batch"));
    TSR_TRY(tsri_changes_add(&p->changes, &parcel, 0, p->batches, "recalibrate.", ""));
    for (int64_t i = 0; i < run->net->params; i++) {
        const tsri_param *param = &run->net->param[i];
        tsri_tensor statistic = {
            .dtype = TSRI_F32, .dims = param->dims, .data = tsri_opened_at(&host, host.w, i)};
        memcpy(statistic.shape, param->shape, (size_t)param->dims * sizeof *param->shape);
        if (param->role == TSRI_BUFFER)
            TSR_TRY(tsri_parcel_add(&parcel, &statistic, "recalibrate.after.%s", param->name));
    }
    TSR_TRY(tsri_trace_write(run->process.trace, &parcel, "recalibrate", rounds));
done:
    tsri_parcel_fini(&parcel);
    tsri_store_close(&host);
    return st;
}

/* ---- Measuring ----------------------------------------------------------------------------- */

/* After batch k of the same weight each: mean_k = (1 - 1/k) mean_(k-1) + 1/k x_k. */
static tsr_status pass(passed *p, tsri_plan *plan, tsri_loader *loader)
{
    tsr_status st = TSR_OK;
    for (int64_t k = 0; k < p->batches; k++) {
        const tsri_batch *b = NULL;
        TSR_TRY(tsri_loader_get(loader, &b, k));
        tsri_plan_norm_momentum(plan, 1.0 / (double)(k + 1));
        TSR_TRY(tsri_plan_forward(plan, b->x));
        note_batch(p, loader, b, k);
    }
done:
    return st;
}

tsr_status tsri_recalibrate(tsri_run *run)
{
    return tsri_recalibrate_after(run, run->position.round);
}

tsr_status tsri_recalibrate_after(tsri_run *run, int64_t rounds)
{
    tsr_status st = TSR_OK;
    passed seen = {0};
    tsri_loader *loader = NULL;
    tsri_plan *plan = NULL;
    float *count = NULL;
    int64_t counts;
    if (run->settings.recalibrate == 0)
        return TSR_OK;
    tsri_loader_options o =
        tsri_run_loader(&run->settings, run->settings.workers); /* an order that no worker has */
    o.shard = 0;
    o.shards = 1;
    o.prefetch = false;
    TSR_TRY(tsri_alloc(&count, run->net->params, sizeof *count));
    TSR_TRY(read_counts(count, &run->store, &counts));
    if (counts > 0) {
        TSR_TRY(tsri_loader_create(&loader, run->data, &run->data->train, &o));
        TSR_TRY(tsri_run_plan(&plan, run));
        TSR_TRY(
            passed_init(&seen, run, &o.augment, run->settings.gd ? 1 : run->settings.recalibrate));
        TSR_TRY(pass(&seen, plan, loader));
        TSR_TRY(write_trace(run, &seen, rounds));
    }
    TSR_TRY(write_counts(&run->store, count));
done:
    passed_fini(&seen);
    tsri_plan_destroy(plan);
    tsri_loader_destroy(loader);
    tsri_free(count);
    return st;
}
