/* space.c - a shallow network trained in the space of its samples. */
#include "scheme/space.h"

#include "base/alloc.h"
#include "base/pieces.h"
#include "scheme/team.h"
#include "subnet/cut.h"
#include "subnet/put.h"
#include "subnet/take.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { Z, ALPHA, SIGN, PARAMS }; /* of the network of this space */

/* Sums and gradients over the samples, of one worker or of the whole. */
typedef struct scratch {
    float *f, *df;          /* [columns] outputs, gradient of the loss; behind n zero */
    float *c;               /* [columns] */
    double *total;          /* [columns] */
    float *table;           /* NULL for the whole, which takes no step */
    int64_t chunks, *chunk; /* [chunks + 1] of units, as in tsri_samples */
} scratch;

typedef struct member {
    tsri_space *space;
    int64_t number;
    tsri_share share; /* those of its units that are awake */
    int64_t drawn;    /* units of its share, asleep ones too */
    tsri_net *net;    /* as large as the whole when made; resized in every round */
    tsri_store store;
    scratch s;
    double *loss; /* [local_steps] */
    bool idle;
    tsr_status st;
} member;

struct tsri_space {
    tsri_run *run;
    const tsri_draw *draw;
    const tsri_samples_ops *ops;
    int64_t n, d, columns, groups;
    float *x;       /* [n, d] */
    float *gram;    /* [columns, columns] <x_i, x_j> */
    float *first;   /* [m, d] weights at the start */
    uint8_t *awake; /* [m] 0 = off for every sample: a unit that will never move again */
    double scale;   /* 1/sqrt(m), of a share's outputs */
    double whole;   /* the same of the whole network: with its factor xi */
    tsri_net *net;  /* z, alpha, sign */
    tsri_store store;
    member *member; /* [workers] */
    tsri_put put;
    tsri_owner *owner;
    scratch s;
};

/* ---- When --------------------------------------------------------------------------------- */

static bool is_shallow(const tsri_run *run)
{
    return strcmp(tsri_config_text(run->config, "model.name"), "shallow") == 0 &&
           run->net->outputs == 1;
}

bool tsri_space_fits(const tsri_run *run)
{
    int64_t n = run->data->train.n;
    return run->backend->samples && is_shallow(run) &&
           strcmp(tsri_config_text(run->config, "precision"), "f32") == 0 &&
           strcmp(tsri_config_text(run->config, "scheme.wire"), "f32") == 0 && !run->crew &&
           run->gd && !run->shard &&
           strcmp(tsri_config_text(run->config, "data.augment"), "none") == 0 &&
           !run->judges_training && run->momentum == 0 && run->decay == 0 &&
           n <= TSRI_SAMPLES_MOST && n <= 4 * run->data->dim;
}

/* ---- Making ------------------------------------------------------------------------------- */

static int64_t chunks_of(int64_t units)
{
    return tsri_ceil_div(units, TSRI_SAMPLES_CHUNK);
}

static tsr_status make_scratch(scratch *s, const tsri_space *space, bool steps)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc(&s->f, space->columns, sizeof *s->f));
    TSR_TRY(tsri_alloc(&s->df, space->columns, sizeof *s->df));
    TSR_TRY(tsri_alloc(&s->c, space->columns, sizeof *s->c));
    TSR_TRY(tsri_alloc(&s->total, space->columns, sizeof *s->total));
    TSR_TRY(tsri_alloc(&s->chunk, chunks_of(space->net->param[SIGN].count) + 1, sizeof *s->chunk));
    if (steps)
        TSR_TRY(tsri_alloc_raw(&s->table, tsri_samples_table_size(space->groups, space->columns),
                               sizeof *s->table));
done:
    return st;
}

static void unmake_scratch(scratch *s)
{
    tsri_free(s->f);
    tsri_free(s->df);
    tsri_free(s->c);
    tsri_free(s->total);
    tsri_free(s->table);
    tsri_free(s->chunk);
}

static tsri_param param(const char *name, tsri_role role, int axis, int64_t units, int64_t columns)
{
    tsri_param p = {.role = role,
                    .rank = columns > 1 ? 2 : 1,
                    .shape = {units, columns},
                    .axis = {axis, -1},
                    .inner = {1, 1},
                    .count = units * columns};
    (void)snprintf(p.name, sizeof p.name, "%s", name);
    return p;
}

/* The axes of the model, so that draws are those of the model; no layers. */
static tsr_status make_net(tsri_space *space)
{
    tsr_status st = TSR_OK;
    const tsri_net *model = space->run->net;
    tsri_net *net = NULL;
    int64_t hidden = tsri_axis_find(model, "hidden");
    int64_t m = model->axis[hidden].size;
    TSR_TRY(tsri_alloc(&net, 1, sizeof *net));
    space->net = net;
    TSR_TRY(tsri_alloc(&net->axis, model->axes, sizeof *net->axis));
    TSR_TRY(tsri_alloc(&net->param, PARAMS, sizeof *net->param));
    TSR_TRY(tsri_alloc(&net->value, 0, sizeof *net->value));
    TSR_TRY(tsri_alloc(&net->layer, 0, sizeof *net->layer));
    memcpy(net->axis, model->axis, (size_t)model->axes * sizeof *net->axis);
    net->axes = net->axes_room = model->axes;
    net->params = net->params_room = PARAMS;
    net->param[Z] = param("z", TSRI_BUFFER, (int)hidden, m, space->columns);
    net->param[ALPHA] = param("alpha", TSRI_BUFFER, (int)hidden, m, space->columns);
    net->param[SIGN] = param("sign", TSRI_FIXED, (int)hidden, m, 1);
    tsri_net_finish(net);
    TSR_TRY(tsri_store_init(&space->store, net, sizeof(float), false));
done:
    return st;
}

/* The samples as the network sees them, and their products, in double, rounded once. */
static tsr_status gather(tsri_space *space)
{
    tsr_status st = TSR_OK;
    const tsr_data *data = space->run->data;
    TSR_TRY(tsri_alloc(&space->x, space->n * space->d, sizeof *space->x));
    TSR_TRY(tsri_alloc(&space->gram, space->columns * space->columns, sizeof *space->gram));
    for (int64_t i = 0; i < space->n; i++)
        tsri_sample(space->x + i * space->d, data, &data->train, i);
    for (int64_t i = 0; i < space->n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = 0;
            for (int64_t k = 0; k < space->d; k++)
                sum += (double)space->x[i * space->d + k] * (double)space->x[j * space->d + k];
            space->gram[i * space->columns + j] = space->gram[j * space->columns + i] = (float)sum;
        }
done:
    return st;
}

static float *numbers(const tsri_store *store, int64_t p)
{
    return tsri_store_at(store, store->w, p);
}

static void find_sleepers(tsri_space *space)
{
    space->ops->awake(space->awake, numbers(&space->store, Z), space->net->param[SIGN].count,
                      space->columns);
}

/* z = w x^T, alpha = 0: a run begins. */
static tsr_status begin(tsri_space *space)
{
    tsr_status st = TSR_OK;
    const tsri_store *model = &space->run->store;
    int64_t m = space->net->param[SIGN].count;
    float *narrow = NULL; /* [m, n], columns still without their filling */
    const float *w = numbers(model, tsri_net_param(model->net, "w"));
    TSR_TRY(tsri_alloc(&space->first, m * space->d, sizeof *space->first));
    memcpy(space->first, w, (size_t)(m * space->d) * sizeof *w);
    memcpy(numbers(&space->store, SIGN), numbers(model, tsri_net_param(model->net, "a")),
           (size_t)m * sizeof(float));
    TSR_TRY(tsri_alloc_raw(&narrow, m * space->n, sizeof *narrow));
    TSR_TRY(space->ops->product(narrow, w, space->x, m, space->n, space->d, true, false,
                                space->run->pool));
    for (int64_t r = 0; r < m; r++)
        memcpy(numbers(&space->store, Z) + r * space->columns, narrow + r * space->n,
               (size_t)space->n * sizeof *narrow);
    TSR_TRY(tsri_alloc(&space->awake, m, sizeof *space->awake));
    memset(space->awake, 1, (size_t)m);
    find_sleepers(space);
done:
    tsri_free(narrow);
    return st;
}

static tsr_status make_member(member *w)
{
    tsr_status st = TSR_OK;
    tsri_space *space = w->space;
    TSR_TRY(tsri_share_init(&w->share, space->net));
    TSR_TRY(tsri_net_cut(&w->net, space->net, &w->share, false));
    TSR_TRY(tsri_store_init(&w->store, w->net, sizeof(float), false));
    TSR_TRY(make_scratch(&w->s, space, true));
    TSR_TRY(tsri_alloc(&w->loss, space->run->local_steps, sizeof *w->loss));
done:
    return st;
}

tsr_status tsri_space_create(tsri_space **out, tsri_run *run, const tsri_draw *draw)
{
    tsr_status st = TSR_OK;
    tsri_space *space = NULL;
    const tsri_layer *last = &run->net->layer[run->net->layers - 1];
    int64_t n = run->data->train.n, grain = TSRI_SAMPLES_GRAIN;
    *out = NULL;
    TSR_TRY(tsri_alloc(&space, 1, sizeof *space));
    *space = (tsri_space){.run = run,
                          .draw = draw,
                          .ops = run->backend->samples,
                          .n = n,
                          .d = run->data->dim,
                          .columns = tsri_round_up(n, grain),
                          .groups = (n + 3) / 4,
                          .scale = last->share_scale,
                          .whole = last->scale};
    TSR_TRY(make_net(space));
    TSR_TRY(gather(space));
    TSR_TRY(begin(space));
    TSR_TRY(make_scratch(&space->s, space, false));
    space->s.chunks = chunks_of(space->net->param[SIGN].count);
    for (int64_t k = 0; k < space->s.chunks; k++)
        space->s.chunk[k] = k * TSRI_SAMPLES_CHUNK;
    space->s.chunk[space->s.chunks] = space->net->param[SIGN].count;
    TSR_TRY(tsri_put_init(&space->put, space->net, tsri_pool_threads(run->pool)));
    TSR_TRY(tsri_alloc(&space->owner, run->workers, sizeof *space->owner));
    TSR_TRY(tsri_alloc(&space->member, run->workers, sizeof *space->member));
    for (int64_t l = 0; l < run->workers; l++) {
        space->member[l] = (member){.space = space, .number = l};
        TSR_TRY(make_member(&space->member[l]));
    }
    *out = space;
    space = NULL;
done:
    tsri_space_destroy(space);
    return st;
}

void tsri_space_destroy(tsri_space *space)
{
    if (!space)
        return;
    for (int64_t l = 0; space->member && l < space->run->workers; l++) {
        member *w = &space->member[l];
        tsri_store_fini(&w->store);
        tsri_net_destroy(w->net);
        tsri_share_fini(&w->share);
        unmake_scratch(&w->s);
        tsri_free(w->loss);
    }
    unmake_scratch(&space->s);
    tsri_put_fini(&space->put);
    tsri_store_fini(&space->store);
    tsri_net_destroy(space->net);
    tsri_free(space->member);
    tsri_free(space->owner);
    tsri_free(space->first);
    tsri_free(space->awake);
    tsri_free(space->gram);
    tsri_free(space->x);
    tsri_free(space);
}

/* ---- Outputs and loss --------------------------------------------------------------------- */

typedef void (*pass)(const tsri_samples *s);

/* A pass over the units, then s->f = scale sum_r a_r relu(z_r). */
static void go_over(const tsri_space *space, scratch *s, const tsri_store *store, pass what,
                    double scale)
{
    tsri_samples all = {.chunks = s->chunks,
                        .groups = space->groups,
                        .columns = space->columns,
                        .chunk = s->chunk,
                        .z = numbers(store, Z),
                        .alpha = numbers(store, ALPHA),
                        .sign = numbers(store, SIGN),
                        .c = s->c,
                        .table = s->table,
                        .total = s->total};
    memset(s->total, 0, (size_t)space->columns * sizeof *s->total);
    what(&all);
    for (int64_t j = 0; j < space->columns; j++)
        s->f[j] = (float)(scale * s->total[j]);
}

static tsr_status find_loss(tsri_loss *loss, const tsri_space *space, const scratch *s)
{
    const tsri_run *run = space->run;
    *loss = (tsri_loss){.kind = run->loss,
                        .n = space->n,
                        .valid = space->n,
                        .outputs = 1,
                        .x = s->f,
                        .label = run->data->train.label,
                        .target = run->data->train.target,
                        .dx = s->df};
    return run->backend->loss(loss, run->pool);
}

tsr_status tsri_space_loss(double *loss, tsri_space *space)
{
    tsr_status st = TSR_OK;
    tsri_loss l;
    go_over(space, &space->s, &space->store, space->ops->outputs, space->whole);
    TSR_TRY(find_loss(&l, space, &space->s));
    *loss = tsri_judged_loss(l.kind, l.sum, space->n);
done:
    return st;
}

tsr_status tsri_space_weights(tsri_space *space)
{
    tsr_status st = TSR_OK;
    int64_t m = space->net->param[SIGN].count;
    tsri_store *model = &space->run->store;
    float *w = numbers(model, tsri_net_param(model->net, "w")), *narrow = NULL;
    TSR_TRY(tsri_alloc_raw(&narrow, m * space->n, sizeof *narrow));
    for (int64_t r = 0; r < m; r++)
        memcpy(narrow + r * space->n, numbers(&space->store, ALPHA) + r * space->columns,
               (size_t)space->n * sizeof *narrow);
    memcpy(w, space->first, (size_t)(m * space->d) * sizeof *w);
    TSR_TRY(space->ops->product(w, narrow, space->x, m, space->d, space->n, false, true,
                                space->run->pool));
done:
    tsri_free(narrow);
    return st;
}

/* ---- A round ------------------------------------------------------------------------------ */

/* Leaves units that are asleep out of the share: they own nothing, so put does not touch them. The
 * others stay in their chunks, so that what is summed has the same bits with and without. */
static void leave_sleepers(member *w)
{
    const tsri_space *space = w->space;
    int axis = space->net->param[SIGN].axis[0];
    const tsri_pick *pick = &w->share.pick[axis];
    int64_t left = 0;
    w->drawn = pick->count;
    w->s.chunks = chunks_of(w->drawn);
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
    member *w = &space->member[l];
    (void)thread;
    tsri_share_draw(&w->share, space->draw, space->run->seed, space->run->round, l);
    w->idle = tsri_share_empty(&w->share);
    leave_sleepers(w);
    tsri_net_resize(w->net, &w->share);
}

tsr_status tsri_space_draw(tsri_space *space)
{
    tsri_pool_run(space->run->pool, draw_one, space, space->run->workers);
    return TSR_OK;
}

/* tau steps: the outputs of step t come out of step t-1's pass. */
static tsr_status train(member *w, double rate)
{
    tsr_status st = TSR_OK;
    const tsri_space *space = w->space;
    tsri_take(&w->store, &space->store, &w->share, false);
    go_over(space, &w->s, &w->store, space->ops->outputs, space->scale);
    for (int64_t t = 0; t < space->run->local_steps; t++) {
        tsri_loss loss;
        TSR_TRY(find_loss(&loss, space, &w->s));
        w->loss[t] = tsri_loss_value(&loss);
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
    member *w = &space->member[l];
    const tsri_run *run = space->run;
    (void)thread;
    w->st =
        w->idle ? TSR_OK : train(w, tsri_schedule_rate(&run->schedule, run->round, run->rounds));
}

tsr_status tsri_space_train(tsri_space *space)
{
    tsri_pool_run(space->run->pool, train_one, space, space->run->workers);
    for (int64_t l = 0; l < space->run->workers; l++)
        if (space->member[l].st != TSR_OK)
            return tsri_fail(space->member[l].st, "worker %lld could not compute its loss",
                             (long long)l);
    return TSR_OK;
}

/* What a worker of the model would receive: its rows of w, asleep or not. */
static int64_t bytes_of(const tsri_space *space, const member *w)
{
    return w->drawn * space->d * (int64_t)sizeof(float);
}

tsr_status tsri_space_put(tsri_space *space)
{
    tsri_run *run = space->run;
    int64_t owners = 0;
    for (int64_t l = 0; l < run->workers; l++) {
        const member *w = &space->member[l];
        if (w->idle)
            continue;
        space->owner[owners++] = (tsri_owner){&w->share, &w->store};
        run->bytes_total += 2 * bytes_of(space, w); /* down and up */
        for (int64_t t = 0; t < run->local_steps; t++)
            run->recent.sum += w->loss[t];
        run->recent.count += run->local_steps;
    }
    tsri_put_run(&space->put, &space->store, space->owner, owners, false, run->pool);
    find_sleepers(space);
    return TSR_OK;
}
