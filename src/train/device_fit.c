/* device_fit.c - what a run wants of a device's memory, counted without taking any.
 *
 * Weights with gradient and state, the plan of every worker that is there at once, the training set
 * where batches are drawn on the device, the plan of an evaluation, and what the device's libraries
 * take for themselves. It grows with the batch along a line, so two measurements say which batch
 * would fit; that one is measured, too.
 */
#include "train/device_fit.h"

#include "base/text.h"
#include "optim/resident.h"
#include "run/recipe.h"
#include "run/evaluate.h"
#include "scheme/cost.h"
#include "scheme/scheme.h"

/* Seen on an H200: 0.5 GB of a process with cuBLAS and cuDNN, which are gone before the first
 * question (so only where memory is stated), and 33 MB of workspace for every queue. */
static const int64_t CONTEXT = 600000000, QUEUE = 34000000;

/* Weights and what belongs to them, of the whole. */
static int64_t whole_bytes(const tsri_run *run)
{
    const tsri_net *net = run->net;
    return (net->total + tsri_optim_vectors(&run->settings.optim) * net->trained) *
           run->device.backend->real_bytes;
}

static tsr_status workers_bytes(int64_t *bytes, tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_rules rules = {0};
    tsr_cost cost = {0};
    int64_t one = 0;
    if (!run->settings.scheme->shares) {
        TSR_TRY(run->settings.scheme->cost(&cost, run));
        *bytes = run->settings.workers * cost.memory_worker;
        goto done;
    }
    TSR_TRY(tsri_rules_init(&rules, &run->settings, run->net));
    TSR_TRY(tsri_team_worker_bytes(&one, &rules, run));
    *bytes = whole_bytes(run) + run->settings.workers * (one + one / 16 + QUEUE);
done:
    tsri_rules_fini(&rules);
    return st;
}

static tsr_status wanted_bytes(int64_t *bytes, tsri_run *run)
{
    tsr_status st = TSR_OK;
    int64_t workers = 0, judge = 0, again = 0;
    const tsri_part *part = run->data->test.n > 0 ? &run->data->test : &run->data->train;
    TSR_TRY(workers_bytes(&workers, run));
    TSR_TRY(tsri_plan_measure(&judge, run->net, run->device, tsri_evaluate_batch(part), false));
    if (run->settings.recalibrate > 0) /* a plan of its own, of the whole */
        TSR_TRY(tsri_plan_measure(&again, run->net, run->device, run->settings.batch, true));
    *bytes = workers + (judge > again ? judge : again) + QUEUE;
    if (tsri_run_draws_there(&run->settings, run->device.backend))
        *bytes += tsri_resident_bytes(run->data, &run->data->train);
done:
    return st;
}

static tsr_status wanted_with(int64_t *bytes, tsri_run *run, int64_t batch)
{
    int64_t own = run->settings.batch;
    run->settings.batch = batch;
    tsr_status st = wanted_bytes(bytes, run);
    run->settings.batch = own;
    return st;
}

/* A multiple of 8 from 16 on. */
static int64_t rounded(double batch)
{
    int64_t b = batch > 1e12 ? (int64_t)1e12 : (int64_t)batch;
    return b >= 16 ? b / 8 * 8 : b;
}

/* Along the line through the run's own batch and half of it, and what is measured there. */
static tsr_status find_batch(tsri_fit *fit, tsri_run *run)
{
    tsr_status st = TSR_OK;
    int64_t b = run->settings.batch, half = b > 1 ? b / 2 : 2, there = 0, most = run->data->train.n;
    int64_t room = fit->available;
    TSR_TRY(wanted_with(&there, run, half));
    double slope = (double)(fit->wanted - there) / (double)(b - half);
    double found = slope > 0 ? (double)b + (double)(room - fit->wanted) / slope : (double)most;
    found = found < (double)most ? found : (double)most;
    for (int tries = 0; tries < 6 && found >= 1; tries++, found *= 0.9) {
        TSR_TRY(wanted_with(&there, run, rounded(found)));
        if (there <= room) {
            fit->batch = rounded(found);
            break;
        }
    }
    if (fit->wanted <= room && fit->batch < b)
        fit->batch = b;
done:
    return st;
}

tsr_status tsri_device_fit(tsri_fit *fit, tsri_run *run, int64_t stated, bool batch)
{
    tsr_status st = TSR_OK;
    const tsri_heap *heap = run->device.backend->heap;
    *fit = (tsri_fit){0};
    if (!heap->room)
        return TSR_OK;
    TSR_TRY(wanted_bytes(&fit->wanted, run));
    if (stated > 0) {
        fit->all = stated;
        fit->available = stated > CONTEXT ? stated - CONTEXT : 0;
    } else {
        TSR_TRY(heap->room(&fit->available, &fit->all));
    }
    if (batch && !run->settings.gd)
        TSR_TRY(find_batch(fit, run));
done:
    return st;
}

tsr_status tsri_fit_judge(const tsri_fit *fit, const tsri_run *run)
{
    tsr_status st = TSR_OK;
    const tsr_config *c = run->settings.config;
    if (fit->wanted <= fit->available)
        return TSR_OK;
    TSR_CHECK(
        fit->batch == 0, TSR_RESOURCES,
        "%s: out of memory: with batch %lld the run wants %s of the GPU, and %s of its %s are "
        "free: batch: %lld would fit",
        tsri_config_place(c, "batch"), (long long)run->settings.batch,
        tsri_bytes_text((double)fit->wanted), tsri_bytes_text((double)fit->available),
        tsri_bytes_text((double)fit->all), (long long)fit->batch);
    TSR_CHECK(false, TSR_RESOURCES,
              "%s: out of memory: the run wants %s of the GPU, and %s of its %s are free: %s",
              tsri_config_place(c, "model.name"), tsri_bytes_text((double)fit->wanted),
              tsri_bytes_text((double)fit->available), tsri_bytes_text((double)fit->all),
              run->settings.gd ? "gd takes all samples at once: use optim.name: sgd with a batch "
                                 "that fits (tessera check says which)"
                               : "no batch would fit: make the model smaller, or use backend: cpu");
done:
    return st;
}

tsr_status tsri_device_fits(tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_fit fit;
    TSR_TRY(tsri_device_fit(&fit, run, 0, false));
    if (fit.wanted <= fit.available)
        return TSR_OK;
    TSR_TRY(tsri_device_fit(&fit, run, 0, true));
    TSR_TRY(tsri_fit_judge(&fit, run));
done:
    return st;
}
