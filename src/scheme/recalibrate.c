/* recalibrate.c - the statistics of a network's norms, measured on the network itself.
 *
 * Workers that train shares see the activations of shares. Where a share's layers read fewer units
 * than the whole's, sums are smaller, and the mean of the shares' running statistics is not what
 * the whole network meets. So, before it is judged or written, some batches of the training set go
 * through it, and each statistic becomes the plain mean over these batches of what a training step
 * would have seen: it depends on the weights alone, not on what was there before. No weight
 * changes, and neither does the count of training batches.
 */
#include "scheme/run.h"

#include "base/alloc.h"

typedef struct count_of {
    float *at, value;
} count_of;

static int64_t find_counts(count_of *count, const tsri_store *store)
{
    int64_t n = 0;
    for (int64_t p = 0; p < store->net->params; p++)
        if (store->net->param[p].role == TSRI_COUNT) {
            float *at = tsri_store_at(store, store->w, p);
            count[n++] = (count_of){at, *at};
        }
    return n;
}

/* After batch k of the same weight each: mean_k = (1 - 1/k) mean_(k-1) + 1/k x_k. */
static tsr_status pass(tsri_plan *plan, tsri_loader *loader, int64_t batches)
{
    tsr_status st = TSR_OK;
    for (int64_t k = 0; k < batches; k++) {
        const tsri_batch *b = NULL;
        TSR_TRY(tsri_loader_get(loader, &b, k));
        tsri_plan_norm_momentum(plan, 1.0 / (double)(k + 1));
        TSR_TRY(tsri_plan_forward(plan, b->x));
    }
done:
    return st;
}

tsr_status tsri_recalibrate(tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_loader *loader = NULL;
    tsri_plan *plan = NULL;
    count_of *count = NULL;
    if (run->recalibrate == 0)
        return TSR_OK;
    tsri_loader_options o = tsri_run_loader(run, run->workers); /* an order of nobody's */
    o.shard = 0;
    o.shards = 1;
    o.prefetch = false;
    TSR_TRY(tsri_alloc(&count, run->net->params, sizeof *count));
    int64_t counts = find_counts(count, &run->store);
    if (counts > 0) {
        TSR_TRY(tsri_loader_create(&loader, run->data, &run->data->train, &o));
        TSR_TRY(tsri_run_plan(&plan, run));
        TSR_TRY(pass(plan, loader, run->gd ? 1 : run->recalibrate));
    }
    for (int64_t i = 0; i < counts; i++)
        *count[i].at = count[i].value;
done:
    tsri_plan_destroy(plan);
    tsri_loader_destroy(loader);
    tsri_free(count);
    return st;
}
