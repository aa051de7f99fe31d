/* space.c - a shallow network in the space of its samples: its loss, its weights, a round. */
#include "scheme/space_parts.h"

#include "base/alloc.h"
#include "run/evaluate.h"
#include "run/rate.h"
#include "subnet/cut.h"
#include "subnet/take.h"

#include <string.h>

/* ---- Outputs and loss --------------------------------------------------------------------- */

typedef void (*pass)(const tsri_samples *s);

/* A pass over the units, then s->f = scale sum_r a_r relu(z_r). */
static void go_over(const tsri_space *space, tsri_space_scratch *s, const tsri_store *store,
                    pass what, double scale)
{
    tsri_samples all = {.chunks = s->chunks,
                        .groups = space->groups,
                        .columns = space->columns,
                        .chunk = s->chunk,
                        .z = tsri_space_numbers(store, TSRI_SPACE_Z),
                        .alpha = tsri_space_numbers(store, TSRI_SPACE_ALPHA),
                        .sign = tsri_space_numbers(store, TSRI_SPACE_SIGN),
                        .c = s->c,
                        .table = s->table,
                        .total = s->total};
    memset(s->total, 0, (size_t)space->columns * sizeof *s->total);
    what(&all);
    for (int64_t j = 0; j < space->columns; j++)
        s->f[j] = (float)(scale * s->total[j]);
}

static tsr_status find_loss(tsri_tally *tally, tsri_loss *loss, const tsri_space *space,
                            const tsri_space_scratch *s)
{
    const tsri_run *run = space->run;
    *loss = (tsri_loss){.kind = run->settings.loss,
                        .n = space->n,
                        .valid = space->n,
                        .outputs = 1,
                        .x = s->f,
                        .label = run->data->train.label,
                        .target = run->data->train.target,
                        .dx = s->df,
                        .tally = tsri_space_mem(tally)};
    return tsri_device_loss(run->device, loss);
}

tsr_status tsri_space_loss(double *loss, tsri_space *space)
{
    tsr_status st = TSR_OK;
    tsri_loss l;
    tsri_tally o;
    go_over(space, &space->s, &space->store, space->ops->outputs, space->whole);
    TSR_TRY(find_loss(&o, &l, space, &space->s));
    *loss = tsri_judged_loss(l.kind, o.sum, space->n);
done:
    return st;
}

tsr_status tsri_space_weights(tsri_space *space)
{
    tsr_status st = TSR_OK;
    int64_t m = space->net->param[TSRI_SPACE_SIGN].count;
    tsri_opened model = {0};
    float *narrow = NULL;
    TSR_TRY(tsri_store_open(&model, &space->run->store, TSRI_OPEN_WEIGHTS));
    float *w = tsri_opened_at(&model, model.w, tsri_net_param(model.net, "w"));
    TSR_TRY(tsri_alloc_raw(&narrow, m * space->n, sizeof *narrow));
    for (int64_t r = 0; r < m; r++)
        memcpy(narrow + r * space->n,
               tsri_space_numbers(&space->store, TSRI_SPACE_ALPHA) + r * space->columns,
               (size_t)space->n * sizeof *narrow);
    memcpy(w, space->first, (size_t)(m * space->d) * sizeof *w);
    TSR_TRY(space->ops->product(w, narrow, space->x, m, space->d, space->n, false, true,
                                space->run->device.pool));
    TSR_TRY(tsri_store_save(&model));
done:
    tsri_store_close(&model);
    tsri_free(narrow);
    return st;
}

/* ---- A round ------------------------------------------------------------------------------ */

/* Leaves units that are asleep out of the share: they own nothing, so put does not touch them. The
 * others stay in their chunks, so that what is summed has the same bits with and without. */
static void leave_sleepers(tsri_space_member *w)
{
    const tsri_space *space = w->space;
    int axis = space->net->param[TSRI_SPACE_SIGN].axis[0];
    const tsri_pick *pick = &w->share.pick[axis];
    int64_t left = 0;
    w->drawn = pick->count;
    w->s.chunks = tsri_space_chunks(w->drawn);
    memset(w->share.mark, 0, (size_t)space->net->axis[axis].size);
    for (int64_t i = 0; i < w->drawn; i++) {
        if (i % TSRI_SAMPLES_CHUNK == 0)
            w->s.chunk[i / TSRI_SAMPLES_CHUNK] = left;
        w->share.mark[pick->index[i]] = space->awake[pick->index[i]];
        left += space->awake[pick->index[i]];
    }
    w->s.chunk[w->s.chunks] = left;
    tsri_share_settle(&w->share, axis, pick->xi);
}

static void draw_one(void *context, int64_t l, int thread)
{
    tsri_space *space = context;
    tsri_space_member *w = &space->member[l];
    (void)thread;
    tsri_share_draw(&w->share, space->draw, space->run->settings.seed, space->run->position.round,
                    l);
    w->idle = tsri_share_empty(&w->share);
    leave_sleepers(w);
    tsri_net_resize(w->net, &w->share);
}

tsr_status tsri_space_draw(tsri_space *space)
{
    tsri_pool_run(space->run->device.pool, draw_one, space, space->run->settings.workers);
    return TSR_OK;
}

/* tau steps: the outputs of step t come out of step t-1's pass. */
static tsr_status train(tsri_space_member *w, double rate)
{
    tsr_status st = TSR_OK;
    const tsri_space *space = w->space;
    TSR_TRY(tsri_take(&w->store, &space->store, &w->share, false));
    go_over(space, &w->s, &w->store, space->ops->outputs, space->scale);
    for (int64_t t = 0; t < space->run->settings.local_steps; t++) {
        tsri_loss loss;
        tsri_tally tally;
        TSR_TRY(find_loss(&tally, &loss, space, &w->s));
        w->loss[t] = tsri_loss_value(&loss, &tally);
        for (int64_t i = 0; i < space->n; i++)
            w->s.c[i] = (float)(-rate * space->scale * (double)w->s.df[i]);
        space->ops->table(w->s.table, w->s.c, space->gram, space->groups, space->columns);
        go_over(space, &w->s, &w->store, space->ops->step, space->scale);
    }
done:
    return st;
}

static void train_one(void *context, int64_t l, int thread)
{
    const tsri_space *space = context;
    tsri_space_member *w = &space->member[l];
    const tsri_run *run = space->run;
    (void)thread;
    w->st = w->idle ? TSR_OK
                    : train(w, tsri_run_rate(&run->settings, &run->position, run->position.round));
}

tsr_status tsri_space_train(tsri_space *space)
{
    tsri_pool_run(space->run->device.pool, train_one, space, space->run->settings.workers);
    for (int64_t l = 0; l < space->run->settings.workers; l++)
        if (space->member[l].st != TSR_OK)
            return tsri_fail(space->member[l].st, "worker %lld could not compute its loss",
                             (long long)l);
    return TSR_OK;
}

/* What a worker of the model would receive: its rows of w, asleep or not. */
static int64_t bytes_of(const tsri_space *space, const tsri_space_member *w)
{
    return w->drawn * space->d * (int64_t)sizeof(float);
}

tsr_status tsri_space_put(tsri_space *space)
{
    tsr_status st = TSR_OK;
    tsri_run *run = space->run;
    int64_t owners = 0;
    for (int64_t l = 0; l < run->settings.workers; l++) {
        const tsri_space_member *w = &space->member[l];
        if (w->idle)
            continue;
        space->owner[owners++] = (tsri_owner){&w->share, &w->store};
        run->position.bytes_total += 2 * bytes_of(space, w); /* down and up */
        tsri_run_add_losses(run, w->loss, run->settings.local_steps);
    }
    tsri_device host = tsri_device_on(space->store.backend, run->device.pool);
    TSR_TRY(tsri_put_run(&space->put, &space->store, space->owner, owners, false, host));
    tsri_space_find_sleepers(space);
done:
    return st;
}
