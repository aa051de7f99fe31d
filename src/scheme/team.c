/* team.c - the round that all schemes with shares have in common: what the workers (team_worker.c)
 * do at once, and what is done with their work. */
#include "scheme/team_parts.h"

#include "base/alloc.h"
#include "base/memory.h"
#include "optim/resident.h"
#include "run/evaluate.h"
#include "run/metrics_lines.h"
#include "run/recalibrate.h"
#include "run/recipe.h"
#include "run/trace.h"
#include "scheme/cost.h"
#include "scheme/space.h"
#include "subnet/take.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Making and unmaking ------------------------------------------------------------------ */

/* Refuses far too many workers before the first is made: with a million small blocks it takes
 * minutes to find out that memory is short. Shares differ in size, so each is taken to need half of
 * one. */
static tsr_status workers_fit(const team *t, const tsri_run *run)
{
    enum { FEW = 64 };
    tsr_status st = TSR_OK;
    int64_t share = 0;
    if (run->settings.workers <= FEW)
        return TSR_OK;
    TSR_TRY(tsri_team_worker_bytes(&share, &t->rules, run));
    double need = (double)run->settings.workers * ((double)sizeof(worker) + (double)share / 2);
    double have = (double)tsri_memory_available();
    TSR_CHECK(
        need <= have, TSR_RESOURCES,
        "%s: out of memory: %lld workers take at least %s, %s are free on this machine: lower "
        "scheme.workers",
        tsri_config_place(run->settings.config, "scheme.workers"), (long long)run->settings.workers,
        tsri_bytes_text(need), tsri_bytes_text(have));
done:
    return st;
}

tsr_status tsri_team_create(tsri_run *run)
{
    tsr_status st = TSR_OK;
    team *t = NULL;
    TSR_TRY(tsri_alloc(&t, 1, sizeof *t));
    run->scheme_state = t;
    TSR_TRY(tsri_rules_init(&t->rules, &run->settings, run->net));
    run->settings.recalibrate = t->rules.recalibrate;
    const char *events = tsri_config_text(run->settings.config, "scheme.events");
    t->step_events = strcmp(events, "step") == 0;
    t->events = t->step_events || strcmp(events, "round") == 0;
    if (run->settings.on_samples)
        return tsri_space_create(&t->space, run, &t->rules.draw);
    TSR_TRY(workers_fit(t, run));
    TSR_TRY(tsri_alloc(&t->worker, run->settings.workers, sizeof *t->worker));
    TSR_TRY(tsri_alloc(&t->owner, run->settings.workers, sizeof *t->owner));
    TSR_TRY(tsri_alloc(&t->down, run->settings.workers, sizeof *t->down));
    TSR_TRY(tsri_alloc(&t->up, run->settings.workers, sizeof *t->up));
    TSR_TRY(tsri_put_init(&t->put, run->net));
    if (tsri_run_draws_there(&run->settings, run->device.backend))
        TSR_TRY(
            tsri_resident_init(&t->resident, run->data, &run->data->train, run->device.backend));
    for (int64_t l = 0; l < run->settings.workers; l++) {
        t->worker[l] = (worker){.run = run, .team = t, .number = l};
        TSR_TRY(tsri_worker_init(&t->worker[l]));
    }
    if (run->process.trace)
        TSR_TRY(tsri_alloc(&t->traced, run->settings.workers, sizeof *t->traced));
done:
    return st;
}

void tsri_team_destroy(tsri_run *run)
{
    team *t = run->scheme_state;
    if (!t)
        return;
    for (int64_t l = 0; t->worker && l < run->settings.workers; l++)
        tsri_worker_fini(&t->worker[l]);
    tsri_space_destroy(t->space);
    tsri_put_fini(&t->put);
    tsri_resident_fini(&t->resident);
    tsri_free(t->worker);
    tsri_free(t->owner);
    tsri_rules_fini(&t->rules);
    tsri_free(t->down);
    tsri_free(t->up);
    tsri_free(t->traced);
    tsri_free(t);
}

/* NULL when the scheme has no shares: then its state is something else. */
const tsri_team *tsri_team_of(const tsri_run *run)
{
    return run->settings.scheme && run->settings.scheme->shares ? run->scheme_state : NULL;
}

tsri_space *tsri_team_space(const tsri_run *run)
{
    const tsri_team *t = tsri_team_of(run);
    return t ? t->space : NULL;
}

const tsri_share *tsri_team_member(const tsri_team *t, int64_t l, const tsri_store **local)
{
    const worker *w = t ? &t->worker[l] : NULL;
    if (!w || !w->net || w->idle)
        return NULL;
    *local = &w->store;
    return &w->share;
}

const tsri_draw *tsri_team_draws(const tsri_team *t)
{
    return t ? &t->rules.draw : NULL;
}

tsri_chances tsri_team_chances(const tsri_team *t)
{
    const tsri_draw *draw = tsri_team_draws(t);
    double sum = 0;
    if (!draw)
        return (tsri_chances){1, 1};
    if (!draw->weight)
        return (tsri_chances){tsri_draw_chance(draw, 0), tsri_draw_coverage(draw)};
    for (int64_t l = 0; l < draw->workers; l++)
        sum += tsri_draw_chance(draw, l);
    return (tsri_chances){sum / (double)draw->workers, tsri_draw_coverage(draw)};
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

/* The round fails with the first worker that failed. */
static tsr_status all_workers(tsri_run *run, duty d)
{
    call c = {run->scheme_state, d};
    if (run->settings.workers == 1) { /* it has the run's own pool, which runs one loop at a time */
        do_duty(&c, 0, 0);
        return c.team->worker[0].st;
    }
    tsri_pool_run(run->device.pool, do_duty, &c, run->settings.workers);
    for (int64_t l = 0; l < run->settings.workers; l++)
        if (c.team->worker[l].st != TSR_OK)
            return tsri_fail(c.team->worker[l].st, "%s", c.team->worker[l].error);
    return TSR_OK;
}

/* ---- Draw --------------------------------------------------------------------------------- */

static tsr_status draw_all(tsri_run *run)
{
    tsr_status st = TSR_OK;
    if (tsri_team_space(run))
        return tsri_space_draw(tsri_team_space(run));
    TSR_TRY(tsri_trace_begin(run, run->settings.workers, run->settings.local_steps));
    TSR_TRY(all_workers(run, tsri_worker_draw));
done:
    return st;
}

tsr_status tsri_team_share(tsri_run *run, const tsri_share **share, bool *rescale)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(run->settings.scheme->shares, TSR_USAGE,
              "%s: scheme %s trains the whole network and has no shares: name one that has, for "
              "example scheme.name=ist scheme.workers=4",
              tsri_config_place(run->settings.config, "scheme.name"), run->settings.scheme->name);
    team *t = run->scheme_state;
    worker *first = &t->worker[0];
    tsri_share_draw(&first->share, &t->rules.draw, run->settings.seed, 0, 0);
    TSR_CHECK(!tsri_share_empty(&first->share), TSR_USAGE,
              "%s: the first worker's share of the first round is empty: raise scheme.xi",
              tsri_config_place(run->settings.config, "scheme.xi"));
    *share = &first->share;
    *rescale = t->rules.rescale;
done:
    return st;
}

/* ---- Train -------------------------------------------------------------------------------- */

/* Numbers that would be rounded on their way to another machine are rounded here, too: the same
 * bits. */
static tsr_status train_share(worker *w)
{
    tsr_status st = TSR_OK;
    team *t = w->team;
    TSR_TRY(tsri_take(&w->store, &w->run->store, &w->share, t->rules.carry));
    TSR_TRY(tsri_wire_round(&w->store, &t->rules.wire));
    TSR_TRY(tsri_worker_steps(w));
    TSR_TRY(tsri_wire_round(&w->store, &t->rules.wire));
done:
    return st;
}

/* Through the worker's own queue, where it has one: beside the others'. */
static tsr_status train(worker *w)
{
    team *t = w->team;
    const tsri_queue_ops *queues = w->device.backend->queues;
    t->down[w->number] = t->up[w->number] = w->idle ? 0 : tsri_wire_bytes(w->net, &t->rules.wire);
    if (w->idle)
        return TSR_OK;
    tsr_status st = w->queue ? queues->enter(w->queue) : TSR_OK;
    st = st == TSR_OK ? train_share(w) : st;
    tsr_status left = w->queue ? queues->leave(w->queue) : TSR_OK;
    return st == TSR_OK ? left : st;
}

/* A coordinator whose workers are all gone does their work itself. */
static tsr_status one_by_one(tsri_run *run)
{
    tsr_status st = TSR_OK;
    team *t = run->scheme_state;
    for (int64_t l = 0; l < run->settings.workers; l++)
        TSR_TRY(train(&t->worker[l]));
done:
    return st;
}

static tsr_status train_all(tsri_run *run)
{
    tsr_status st = TSR_OK;
    bool alone = true;
    if (tsri_team_space(run))
        return tsri_space_train(tsri_team_space(run));
    if (run->process.crew)
        TSR_TRY(tsri_team_deal(run, &alone));
    if (alone)
        TSR_TRY(run->process.crew ? one_by_one(run) : all_workers(run, train));
done:
    return st;
}

/* ---- Put ---------------------------------------------------------------------------------- */

static tsr_status write_trace(tsri_run *run)
{
    team *t = run->scheme_state;
    if (!run->process.trace)
        return TSR_OK;
    for (int64_t l = 0; l < run->settings.workers; l++) {
        const worker *w = &t->worker[l];
        t->traced[l] = (tsri_traced){.share = &w->share};
        if (!w->idle) {
            t->traced[l].local = &w->store;
            t->traced[l].momentum = tsri_optim_remembers(&run->settings.optim) &&
                                    (!run->process.crew || t->rules.carry);
            t->traced[l].loss = w->loss;
        }
    }
    return tsri_trace_round(run, t->traced, t->rules.carry);
}

/* The mean over those who took part of the loss before step t, the sum in the workers' order. */
static double mean_loss(const tsri_run *run, int64_t t)
{
    const team *m = run->scheme_state;
    tsri_mean mean = {0};
    for (int64_t l = 0; l < run->settings.workers; l++)
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
    for (int64_t s = 1; t->step_events && s <= run->settings.local_steps; s++)
        TSR_TRY(tsri_event(run, "step", s, mean_loss(run, s), NULL, NULL));
    tsr_result whole = tsr_result_default();
    TSR_TRY(tsri_recalibrate_after(run, run->position.round + 1));
    TSR_TRY(tsri_evaluate(&whole, &run->store, run->device, run->data, &run->data->train,
                          run->settings.loss));
    TSR_TRY(tsri_event(run, "put", -1, whole.loss, t->down, t->up));
done:
    return st;
}

static tsr_status put_back(tsri_run *run)
{
    tsr_status st = TSR_OK;
    team *t = run->scheme_state;
    int64_t owners = 0;
    if (t->space)
        return tsri_space_put(t->space);
    for (int64_t l = 0; l < run->settings.workers; l++) {
        const worker *w = &t->worker[l];
        run->position.bytes_total += t->down[l] + t->up[l];
        if (w->idle)
            continue;
        t->owner[owners++] = (tsri_owner){&w->share, &w->store};
        tsri_run_add_losses(run, w->loss, run->settings.local_steps);
    }
    TSR_TRY(tsri_put_run(&t->put, &run->store, t->owner, owners, t->rules.carry, run->device));
    TSR_TRY(write_trace(run));
    TSR_TRY(tell_events(run));
done:
    return st;
}

tsr_status tsri_team_round(tsri_run *run)
{
    tsr_status st = TSR_OK;
    TSR_TRY(draw_all(run));
    TSR_TRY(train_all(run));
    TSR_TRY(put_back(run));
done:
    return st;
}
