/* team_worker.c - one worker of a team: its data, its share's network, its local steps. */
#include "scheme/team_parts.h"

#include "base/alloc.h"
#include "run/rate.h"
#include "run/recipe.h"
#include "run/trace.h"
#include "subnet/cut.h"

/* ---- Making and unmaking ------------------------------------------------------------------- */

/* Full batches that never change are gathered once; workers with the same data share them. */
static tsr_status make_loader(worker *w)
{
    tsr_status st = TSR_OK;
    tsri_run *run = w->run;
    tsri_loader_options o = tsri_run_loader(&run->settings, w->number);
    o.bare = tsri_run_draws_there(&run->settings, run->device.backend);
    o.prefetch = o.prefetch && !run->settings.gd;
    bool fixed = run->settings.gd && !tsri_run_changes_samples(&run->settings);
    if (fixed && !run->settings.shard && w->number > 0) {
        worker *first = &w->team->worker[0];
        if (!first->loader) /* a rank of a crew may not have had that share */
            TSR_TRY(make_loader(first));
        w->fixed = first->fixed;
        return TSR_OK;
    }
    TSR_TRY(tsri_loader_create(&w->loader, run->data, &run->data->train, &o));
    if (fixed)
        TSR_TRY(tsri_loader_get(w->loader, &w->fixed, 0));
done:
    return st;
}

tsr_status tsri_worker_init(worker *w)
{
    tsr_status st = TSR_OK;
    tsri_run *run = w->run;
    int threads = tsri_pool_threads(run->device.pool);
    TSR_TRY(tsri_share_init(&w->share, run->net));
    TSR_TRY(tsri_alloc(&w->loss, run->settings.local_steps + 1, sizeof *w->loss));
    TSR_TRY(tsri_alloc(&w->judged, run->settings.local_steps, sizeof *w->judged));
    TSR_TRY(run->device.backend->heap->take(&w->tallies, run->settings.local_steps *
                                                             (int64_t)sizeof(tsri_tally)));
    if (w->team->step_events)
        TSR_TRY(tsri_alloc(&w->kept, run->net->total - run->net->trained, sizeof *w->kept));
    w->device = run->device;
    w->device.crowd = (int)run->settings.workers; /* also of ranks: the same bits wherever it is */
    if (run->process.crew) /* one share at a time, on all threads; its data when it comes */
        return TSR_OK;
    TSR_TRY(make_loader(w));
    if (run->settings.workers > 1) {
        int64_t own = threads / run->settings.workers;
        TSR_TRY(tsri_pool_create(&w->device.pool, own > 1 ? (int)own : 1));
        w->owns_pool = true;
        if (w->device.backend->queues)
            TSR_TRY(w->device.backend->queues->make(&w->queue));
    }
done:
    return st;
}

void tsri_worker_fini(worker *w)
{
    tsri_step_fini(&w->step);
    tsri_plan_destroy(w->plan);
    tsri_store_fini(&w->store);
    tsri_net_destroy(w->net);
    tsri_share_fini(&w->share);
    tsri_loader_destroy(w->loader);
    if (w->queue)
        w->device.backend->queues->drop(w->queue);
    if (w->owns_pool)
        tsri_pool_destroy(w->device.pool);
    if (w->tallies)
        w->run->device.backend->heap->drop(w->tallies);
    tsri_free(w->judged);
    tsri_free(w->loss);
    tsri_free(w->kept);
}

/* ---- Draw ---------------------------------------------------------------------------------- */

/* Network and store of the share: those of the last round, resized when its shapes are not
 * the same. Their scales are: a worker's chance of a unit does not change from round to round. */
static tsr_status make_network(worker *w)
{
    tsr_status st = TSR_OK;
    tsri_run *run = w->run;
    if (w->net && tsri_net_fits(w->net, &w->share))
        return TSR_OK;
    if (w->net) {
        tsri_net_resize(w->net, &w->share);
        w->resized = true;
        return tsri_store_fit(&w->store);
    }
    TSR_TRY(tsri_net_cut(&w->net, run->net, &w->share, w->team->rules.rescale));
    TSR_TRY(tsri_store_init(&w->store, w->net, run->device.backend, true));
    if (run->settings.optim.adam)
        TSR_TRY(tsri_store_add_variance(&w->store));
done:
    return st;
}

/* Samples of each of its batches. Full-batch descent on shards of different sizes: rows that only
 * fill up the batch would be samples to batch norm. */
static int64_t rows_of(const worker *w)
{
    const tsri_run *run = w->run;
    tsri_loader_options o = tsri_run_loader(&run->settings, w->number);
    return run->settings.gd ? tsri_shard_size(run->data->train.n, &o) : run->settings.batch;
}

static tsr_status make_plan(worker *w)
{
    tsri_run *run = w->run;
    if (w->plan && !w->resized)
        return TSR_OK;
    tsri_step_fini(&w->step);
    tsr_status st = w->plan ? tsri_plan_renew(&w->plan)
                            : tsri_plan_create(&w->plan, &w->store, w->device, rows_of(w), true);
    w->resized = false;
    if (st == TSR_USAGE)
        tsri_fail_prefix("%s: ", tsri_config_place(run->settings.config, "batch"));
    tsri_aim aim = tsri_run_aim(&run->settings);
    if (st == TSR_OK)
        st = tsri_step_init(&w->step, w->plan, &aim, &run->settings.optim);
    w->step.resident = w->team->resident.n > 0 ? &w->team->resident : NULL;
    return st;
}

tsr_status tsri_worker_draw(worker *w)
{
    tsri_share_draw(&w->share, &w->team->rules.draw, w->run->settings.seed, w->run->position.round,
                    w->number);
    w->idle = tsri_share_empty(&w->share);
    return w->idle ? TSR_OK : make_network(w);
}

/* ---- Train --------------------------------------------------------------------------------- */

tsr_status tsri_worker_batch(worker *w, int64_t step, const tsri_batch **batch)
{
    tsr_status st = TSR_OK;
    tsri_run *run = w->run;
    int64_t number = run->position.round * run->settings.local_steps + step;
    if (!w->fixed && !w->loader)
        TSR_TRY(make_loader(w));
    *batch = w->fixed;
    if (!w->fixed)
        TSR_TRY(tsri_loader_get(w->loader, batch, number));
    tsri_trace_batch(run, w->number, step, w->loader, *batch, number);
done:
    return st;
}

static tsr_status local_step(worker *w, int64_t step)
{
    tsr_status st = TSR_OK;
    tsri_run *run = w->run;
    const tsri_batch *b = NULL;
    TSR_TRY(tsri_worker_batch(w, step, &b));
    TSR_TRY(tsri_step_run(
        &w->step, b, tsri_run_rate(&run->settings, &run->position, run->position.round),
        (w->team->rules.carry ? tsri_run_steps(&run->settings, &run->position) : 0) + step));
    TSR_TRY(tsri_step_keep(tsri_mem_at(w->tallies, step * (int64_t)sizeof(tsri_tally)), &w->step));
    w->judged[step] = w->step.loss;
done:
    return st;
}

/* Reads the losses of all steps at once: reading after each step would make the device wait for the
 * host. */
static tsr_status read_losses(worker *w)
{
    tsr_status st = TSR_OK;
    int64_t steps = w->run->settings.local_steps;
    tsri_mapping tallies = {0};
    TSR_TRY(
        tsri_map_open(&tallies, w->store.heap, w->tallies, steps * (int64_t)sizeof(tsri_tally)));
    for (int64_t t = 0; t < steps; t++)
        w->loss[t] = tsri_loss_value(&w->judged[t], (const tsri_tally *)tallies.host + t);
done:
    tsri_map_close(&tallies);
    return st;
}

/* The loss after the last step, on that step's batch (scheme.events: step). A pass changes running
 * statistics; they are restored, so that watching changes nothing. */
static tsr_status loss_at_the_end(worker *w)
{
    tsr_status st = TSR_OK;
    tsri_run *run = w->run;
    const tsri_batch *b = w->fixed;
    const tsri_heap *heap = w->store.heap;
    tsri_mem *statistics = tsri_mem_at(w->store.w, w->net->trained * w->store.real_bytes);
    int64_t bytes = (w->net->total - w->net->trained) * w->store.real_bytes;
    if (!b)
        TSR_TRY(tsri_loader_get(w->loader, &b,
                                (run->position.round + 1) * run->settings.local_steps - 1));
    TSR_TRY(heap->out(w->kept, statistics, bytes));
    TSR_TRY(tsri_step_forward(&w->step, b, 0));
    TSR_TRY(tsri_step_judge(&w->step, b, 0));
    TSR_TRY(heap->in(statistics, w->kept, bytes));
    TSR_TRY(tsri_step_value(&w->loss[run->settings.local_steps], &w->step));
done:
    return st;
}

tsr_status tsri_worker_steps(worker *w)
{
    tsr_status st = TSR_OK;
    TSR_TRY(make_plan(w));
    if (!w->team->rules.carry)
        TSR_TRY(tsri_store_forget(&w->store));
    for (int64_t t = 0; t < w->run->settings.local_steps; t++) {
        TSR_CHECK(!w->run->process.crew || !tsri_crew_orphaned(w->run->process.crew), TSR_FAILURE,
                  "the coordinator is gone: its last checkpoint is whole, add --resume to go on");
        TSR_TRY(local_step(w, t));
    }
    TSR_TRY(read_losses(w));
    if (w->team->step_events)
        TSR_TRY(loss_at_the_end(w));
done:
    return st;
}
