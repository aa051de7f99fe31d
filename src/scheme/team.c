/* team.c - the round that all schemes with shares have in common. */
#include "scheme/team_parts.h"

#include "base/alloc.h"
#include "scheme/space.h"
#include "subnet/cut.h"
#include "subnet/take.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Making and unmaking ------------------------------------------------------------------ */

/* Full batches that never change are gathered once; workers with the same data share them. */
static tsr_status make_loader(worker *w)
{
    tsr_status st = TSR_OK;
    tsri_run *run = w->run;
    tsri_loader_options o = tsri_run_loader(run, w->number);
    o.prefetch = o.prefetch && !run->gd;
    bool fixed = run->gd && !o.flip && o.crop == 0;
    if (fixed && !run->shard && w->number > 0) {
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

static tsr_status make_worker(worker *w)
{
    tsr_status st = TSR_OK;
    tsri_run *run = w->run;
    int threads = tsri_pool_threads(run->pool);
    TSR_TRY(tsri_share_init(&w->share, run->net));
    TSR_TRY(tsri_alloc(&w->loss, run->local_steps + 1, sizeof *w->loss));
    if (w->team->step_events)
        TSR_TRY(tsri_alloc(&w->kept, run->net->total - run->net->trained, sizeof *w->kept));
    w->pool = run->pool;
    if (run->crew) /* one share at a time, on all threads; its data when it comes */
        return TSR_OK;
    TSR_TRY(make_loader(w));
    if (run->workers > 1) {
        int64_t own = threads / run->workers;
        TSR_TRY(tsri_pool_create(&w->pool, own > 1 ? (int)own : 1));
        w->owns_pool = true;
    }
done:
    return st;
}

tsr_status tsri_team_create(tsri_run *run)
{
    tsr_status st = TSR_OK;
    team *t = NULL;
    TSR_TRY(tsri_alloc(&t, 1, sizeof *t));
    run->scheme_state = run->team = t;
    TSR_TRY(tsri_rules_init(&t->rules, run));
    run->recalibrate = t->rules.recalibrate;
    const char *events = tsri_config_text(run->config, "scheme.events");
    t->step_events = strcmp(events, "step") == 0;
    t->events = t->step_events || strcmp(events, "round") == 0;
    if (run->on_samples)
        return tsri_space_create(&run->space, run, &t->rules.draw);
    TSR_TRY(tsri_alloc(&t->worker, run->workers, sizeof *t->worker));
    TSR_TRY(tsri_alloc(&t->owner, run->workers, sizeof *t->owner));
    TSR_TRY(tsri_alloc(&t->down, run->workers, sizeof *t->down));
    TSR_TRY(tsri_alloc(&t->up, run->workers, sizeof *t->up));
    TSR_TRY(tsri_put_init(&t->put, run->net, tsri_pool_threads(run->pool)));
    for (int64_t l = 0; l < run->workers; l++) {
        t->worker[l] = (worker){.run = run, .team = t, .number = l};
        TSR_TRY(make_worker(&t->worker[l]));
    }
    if (run->trace) {
        TSR_TRY(tsri_alloc(&t->before, run->net->total, sizeof *t->before));
        TSR_TRY(tsri_alloc(&t->batches, run->workers * run->local_steps * run->batch,
                           sizeof *t->batches));
        TSR_TRY(tsri_alloc(&t->shares, run->workers, sizeof *t->shares));
    }
done:
    return st;
}

void tsri_team_destroy(tsri_run *run)
{
    team *t = run->scheme_state;
    if (!t)
        return;
    for (int64_t l = 0; t->worker && l < run->workers; l++) {
        worker *w = &t->worker[l];
        tsri_plan_destroy(w->plan);
        tsri_store_fini(&w->store);
        tsri_net_destroy(w->net);
        tsri_share_fini(&w->share);
        tsri_loader_destroy(w->loader);
        if (w->owns_pool)
            tsri_pool_destroy(w->pool);
        tsri_free(w->loss);
        tsri_free(w->kept);
    }
    tsri_space_destroy(run->space);
    run->space = NULL;
    tsri_put_fini(&t->put);
    tsri_free(t->worker);
    tsri_free(t->owner);
    tsri_rules_fini(&t->rules);
    tsri_free(t->down);
    tsri_free(t->up);
    tsri_free(t->before);
    tsri_free(t->batches);
    tsri_free(t->shares);
    tsri_free(t);
}

const tsri_share *tsri_team_member(const tsri_run *run, int64_t l, const tsri_store **local)
{
    const team *t = run->team;
    const worker *w = t ? &t->worker[l] : NULL;
    if (!w || !w->net || w->idle)
        return NULL;
    *local = &w->store;
    return &w->share;
}

const tsri_draw *tsri_team_draws(const tsri_run *run)
{
    const team *t = run->team;
    return t ? &t->rules.draw : NULL;
}

/* ---- All workers at once ------------------------------------------------------------------ */

typedef tsr_status (*duty)(worker *w);

typedef struct call {
    team *team;
    duty duty;
} call;

/* Error texts belong to threads: a worker's goes with the worker. */
static void do_duty(void *context, int64_t l, int thread)
{
    const call *c = context;
    worker *w = &c->team->worker[l];
    (void)thread;
    w->st = c->duty(w);
    if (w->st != TSR_OK)
        (void)snprintf(w->error, sizeof w->error, "%s", tsr_last_error());
}

/* The first worker's failure is the round's. */
static tsr_status all_workers(tsri_run *run, duty d)
{
    call c = {run->scheme_state, d};
    if (run->workers == 1) { /* it has the run's own pool, which runs one loop at a time */
        do_duty(&c, 0, 0);
        return c.team->worker[0].st;
    }
    tsri_pool_run(run->pool, do_duty, &c, run->workers);
    for (int64_t l = 0; l < run->workers; l++)
        if (c.team->worker[l].st != TSR_OK)
            return tsri_fail(c.team->worker[l].st, "%s", c.team->worker[l].error);
    return TSR_OK;
}

/* ---- Draw --------------------------------------------------------------------------------- */

/* Network, store and plan of the share: those of the last round, resized when its shapes are not
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
    TSR_TRY(tsri_store_init(&w->store, w->net, run->backend->real_bytes, true));
done:
    return st;
}

static tsr_status make_plan(worker *w)
{
    tsri_run *run = w->run;
    if (w->plan && !w->resized)
        return TSR_OK;
    tsr_status st =
        w->plan ? tsri_plan_renew(&w->plan)
                : tsri_plan_create(&w->plan, &w->store, run->backend, w->pool, run->batch, true);
    w->resized = false;
    if (st == TSR_USAGE)
        tsri_fail_prefix("%s: ", tsri_config_place(run->config, "batch"));
    return st;
}

tsr_status tsri_worker_draw(worker *w)
{
    tsri_share_draw(&w->share, &w->team->rules.draw, w->run->seed, w->run->round, w->number);
    w->idle = tsri_share_empty(&w->share);
    return w->idle ? TSR_OK : make_network(w);
}

tsr_status tsri_team_draw(tsri_run *run)
{
    team *t = run->scheme_state;
    if (run->space)
        return tsri_space_draw(run->space);
    if (run->trace)
        memcpy(t->before, run->store.w, (size_t)run->net->total * sizeof(float));
    return all_workers(run, tsri_worker_draw);
}

tsr_status tsri_team_share(tsri_run *run, const tsri_share **share, bool *rescale)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(run->scheme->teardown == tsri_team_destroy, TSR_USAGE,
              "%s: scheme %s trains the whole network and has no shares: name one that has, for "
              "example scheme.name=ist scheme.workers=4",
              tsri_config_place(run->config, "scheme.name"), run->scheme->name);
    team *t = run->scheme_state;
    worker *first = &t->worker[0];
    tsri_share_draw(&first->share, &t->rules.draw, run->seed, 0, 0);
    TSR_CHECK(!tsri_share_empty(&first->share), TSR_USAGE,
              "%s: the first worker's share of the first round is empty: raise scheme.xi",
              tsri_config_place(run->config, "scheme.xi"));
    *share = &first->share;
    *rescale = t->rules.rescale;
done:
    return st;
}

/* ---- Train -------------------------------------------------------------------------------- */

tsr_status tsri_worker_batch(worker *w, int64_t step, const tsri_batch **batch)
{
    tsr_status st = TSR_OK;
    const tsri_run *run = w->run;
    if (!w->fixed && !w->loader)
        TSR_TRY(make_loader(w));
    *batch = w->fixed;
    if (!w->fixed)
        TSR_TRY(tsri_loader_get(w->loader, batch, run->round * run->local_steps + step));
    if (w->team->batches)
        memcpy(w->team->batches + (w->number * run->local_steps + step) * run->batch,
               (*batch)->index, (size_t)run->batch * sizeof *(*batch)->index);
done:
    return st;
}

static tsr_status local_step(worker *w, int64_t step)
{
    tsr_status st = TSR_OK;
    tsri_run *run = w->run;
    const tsri_batch *b = NULL;
    TSR_TRY(tsri_worker_batch(w, step, &b));
    tsri_loss loss = {.kind = run->loss, .valid = b->n, .label = b->label, .target = b->target};
    tsri_plan_lengths(w->plan, b->length);
    TSR_TRY(tsri_plan_forward(w->plan, b->x));
    TSR_TRY(tsri_plan_loss(w->plan, &loss));
    TSR_TRY(tsri_plan_backward(w->plan));
    TSR_TRY(tsri_run_update(run, &w->store, w->pool));
    w->loss[step] = tsri_loss_value(&loss);
done:
    return st;
}

/* The loss after the last step, on that step's batch, for who watches (scheme.events: step). A pass
 * changes running statistics: they are put back, so that watching changes nothing. */
static tsr_status loss_at_the_end(worker *w)
{
    tsr_status st = TSR_OK;
    tsri_run *run = w->run;
    const tsri_batch *b = w->fixed;
    float *statistics = (float *)w->store.w + w->net->trained;
    size_t bytes = (size_t)(w->net->total - w->net->trained) * sizeof *statistics;
    if (!b)
        TSR_TRY(tsri_loader_get(w->loader, &b, (run->round + 1) * run->local_steps - 1));
    tsri_loss loss = {.kind = run->loss, .valid = b->n, .label = b->label, .target = b->target};
    memcpy(w->kept, statistics, bytes);
    TSR_TRY(tsri_plan_forward(w->plan, b->x));
    TSR_TRY(tsri_plan_loss(w->plan, &loss));
    memcpy(statistics, w->kept, bytes);
    w->loss[run->local_steps] = tsri_loss_value(&loss);
done:
    return st;
}

tsr_status tsri_worker_steps(worker *w)
{
    tsr_status st = TSR_OK;
    TSR_TRY(make_plan(w));
    if (!w->team->rules.carry)
        memset(w->store.v, 0, (size_t)w->net->trained * sizeof(float));
    for (int64_t t = 0; t < w->run->local_steps; t++) {
        TSR_CHECK(!w->run->crew || !tsri_crew_orphaned(w->run->crew), TSR_FAILURE,
                  "the coordinator is gone: its last checkpoint is whole, add --resume to go on");
        TSR_TRY(local_step(w, t));
    }
    if (w->team->step_events)
        TSR_TRY(loss_at_the_end(w));
done:
    return st;
}

/* What is rounded on the way between machines is rounded here, too: the same bits. */
static tsr_status train(worker *w)
{
    tsr_status st = TSR_OK;
    team *t = w->team;
    t->down[w->number] = t->up[w->number] = w->idle ? 0 : tsri_wire_bytes(w->net, &t->rules.wire);
    if (w->idle)
        return TSR_OK;
    tsri_take(&w->store, &w->run->store, &w->share, t->rules.carry);
    tsri_wire_round(&w->store, &t->rules.wire);
    TSR_TRY(tsri_worker_steps(w));
    tsri_wire_round(&w->store, &t->rules.wire);
done:
    return st;
}

/* A coordinator whose workers are all gone does their work itself. */
static tsr_status one_by_one(tsri_run *run)
{
    tsr_status st = TSR_OK;
    team *t = run->scheme_state;
    for (int64_t l = 0; l < run->workers; l++)
        TSR_TRY(train(&t->worker[l]));
done:
    return st;
}

tsr_status tsri_team_train(tsri_run *run)
{
    tsr_status st = TSR_OK;
    bool alone = true;
    if (run->space)
        return tsri_space_train(run->space);
    if (run->crew)
        TSR_TRY(tsri_team_deal(run, &alone));
    if (alone)
        TSR_TRY(run->crew ? one_by_one(run) : all_workers(run, train));
done:
    return st;
}

/* ---- Put ---------------------------------------------------------------------------------- */

static tsr_status write_trace(tsri_run *run)
{
    team *t = run->scheme_state;
    if (!run->trace)
        return TSR_OK;
    for (int64_t l = 0; l < run->workers; l++)
        t->shares[l] = &t->worker[l].share;
    tsri_trace trace = {.before = t->before,
                        .batch = t->batches,
                        .share = t->shares,
                        .workers = run->workers,
                        .steps = run->local_steps};
    return tsri_trace_round(run, &trace);
}

/* The mean over those who took part of the loss before step t, the sum in the workers' order. */
static double mean_loss(const tsri_run *run, int64_t t)
{
    const team *m = run->scheme_state;
    tsri_mean mean = {0};
    for (int64_t l = 0; l < run->workers; l++)
        if (!m->worker[l].idle) {
            mean.sum += m->worker[l].loss[t];
            mean.count++;
        }
    return mean.count ? mean.sum / (double)mean.count : (double)NAN;
}

static tsr_status tell_events(tsri_run *run)
{
    tsr_status st = TSR_OK;
    team *t = run->scheme_state;
    if (!t->events)
        return TSR_OK;
    TSR_TRY(tsri_event(run, "draw", -1, mean_loss(run, 0), NULL, NULL));
    for (int64_t s = 1; t->step_events && s <= run->local_steps; s++)
        TSR_TRY(tsri_event(run, "step", s, mean_loss(run, s), NULL, NULL));
    tsr_result whole;
    TSR_TRY(tsri_recalibrate(run));
    TSR_TRY(tsri_evaluate(&whole, &run->store, run->backend, run->pool, run->data,
                          &run->data->train, run->loss));
    TSR_TRY(tsri_event(run, "put", -1, whole.loss, t->down, t->up));
done:
    return st;
}

tsr_status tsri_team_put(tsri_run *run)
{
    tsr_status st = TSR_OK;
    team *t = run->scheme_state;
    int64_t owners = 0;
    if (run->space)
        return tsri_space_put(run->space);
    for (int64_t l = 0; l < run->workers; l++) {
        const worker *w = &t->worker[l];
        run->bytes_total += t->down[l] + t->up[l];
        if (w->idle)
            continue;
        t->owner[owners++] = (tsri_owner){&w->share, &w->store};
        for (int64_t s = 0; s < run->local_steps; s++)
            run->recent.sum += w->loss[s];
        run->recent.count += run->local_steps;
    }
    tsri_put_run(&t->put, &run->store, t->owner, owners, t->rules.carry, run->pool);
    TSR_TRY(write_trace(run));
    TSR_TRY(tell_events(run));
done:
    return st;
}
