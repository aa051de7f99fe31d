/* space_make.c - the space of a run's samples: when training in it fits, and what it is made of. */
#include "scheme/space_parts.h"

#include "base/alloc.h"
#include "run/recipe.h"
#include "subnet/cut.h"

#include <stdio.h>
#include <string.h>

/* ---- When --------------------------------------------------------------------------------- */

static bool is_shallow(const tsri_run *run)
{
    return tsri_model_of(run->settings.config)->one_hidden &&
           run->net->layer[0].kind == TSRI_LINEAR && run->net->outputs == 1;
}

bool tsri_space_suits(const tsri_run *run)
{
    int64_t n = run->data->train.n;
    return is_shallow(run) && tsri_config_is(run->settings.config, "precision", "f32") &&
           tsri_config_is(run->settings.config, "scheme.wire", "f32") && !run->process.crew &&
           run->settings.gd && !run->settings.shard && !tsri_run_changes_samples(&run->settings) &&
           !run->settings.judges_training && !tsri_optim_remembers(&run->settings.optim) &&
           run->settings.smoothing == 0 && run->settings.optim.clip == 0 &&
           run->settings.ema == 0 && !run->settings.class_weight &&
           run->settings.optim.decay == 0 && n <= TSRI_SAMPLES_MOST && n <= 4 * run->data->dim;
}

bool tsri_space_fits(const tsri_run *run)
{
    return run->device.backend->samples && tsri_space_suits(run);
}

/* ---- Making ------------------------------------------------------------------------------- */

static tsr_status make_scratch(tsri_space_scratch *s, const tsri_space *space, bool steps)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc(&s->f, space->columns, sizeof *s->f));
    TSR_TRY(tsri_alloc(&s->df, space->columns, sizeof *s->df));
    TSR_TRY(tsri_alloc(&s->c, space->columns, sizeof *s->c));
    TSR_TRY(tsri_alloc(&s->total, space->columns, sizeof *s->total));
    TSR_TRY(tsri_alloc(&s->chunk, tsri_space_chunks(space->net->param[TSRI_SPACE_SIGN].count) + 1,
                       sizeof *s->chunk));
    if (steps)
        TSR_TRY(tsri_alloc_raw(&s->table, tsri_samples_table_size(space->groups, space->columns),
                               sizeof *s->table));
done:
    return st;
}

static void unmake_scratch(tsri_space_scratch *s)
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
                    .dims = columns > 1 ? 2 : 1,
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
    TSR_TRY(tsri_alloc(&net->param, TSRI_SPACE_PARAMS, sizeof *net->param));
    TSR_TRY(tsri_alloc(&net->value, 0, sizeof *net->value));
    TSR_TRY(tsri_alloc(&net->layer, 0, sizeof *net->layer));
    memcpy(net->axis, model->axis, (size_t)model->axes * sizeof *net->axis);
    net->axes = net->axes_room = model->axes;
    net->params = net->params_room = TSRI_SPACE_PARAMS;
    net->param[TSRI_SPACE_Z] = param("z", TSRI_BUFFER, (int)hidden, m, space->columns);
    net->param[TSRI_SPACE_ALPHA] = param("alpha", TSRI_BUFFER, (int)hidden, m, space->columns);
    net->param[TSRI_SPACE_SIGN] = param("sign", TSRI_FIXED, (int)hidden, m, 1);
    tsri_net_finish(net);
    TSR_TRY(tsri_store_init_host(&space->store, net));
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

/* z = w x^T, alpha = 0: a run begins. */
static tsr_status begin(tsri_space *space)
{
    tsr_status st = TSR_OK;
    const tsri_net *net = space->run->net;
    int64_t m = space->net->param[TSRI_SPACE_SIGN].count;
    float *narrow = NULL; /* [m, n], columns still without their filling */
    tsri_opened model = {0};
    TSR_TRY(tsri_store_open(&model, &space->run->store, TSRI_OPEN_WEIGHTS));
    const float *w = tsri_opened_at(&model, model.w, tsri_net_param(net, "w"));
    TSR_TRY(tsri_alloc(&space->first, m * space->d, sizeof *space->first));
    memcpy(space->first, w, (size_t)(m * space->d) * sizeof *w);
    memcpy(tsri_space_numbers(&space->store, TSRI_SPACE_SIGN),
           tsri_opened_at(&model, model.w, tsri_net_param(net, "a")), (size_t)m * sizeof(float));
    TSR_TRY(tsri_alloc_raw(&narrow, m * space->n, sizeof *narrow));
    TSR_TRY(space->ops->product(narrow, w, space->x, m, space->n, space->d, true, false,
                                space->run->device.pool));
    for (int64_t r = 0; r < m; r++)
        memcpy(tsri_space_numbers(&space->store, TSRI_SPACE_Z) + r * space->columns,
               narrow + r * space->n, (size_t)space->n * sizeof *narrow);
    TSR_TRY(tsri_alloc(&space->awake, m, sizeof *space->awake));
    memset(space->awake, 1, (size_t)m);
    tsri_space_find_sleepers(space);
done:
    tsri_store_close(&model);
    tsri_free(narrow);
    return st;
}

static tsr_status make_member(tsri_space_member *w)
{
    tsr_status st = TSR_OK;
    tsri_space *space = w->space;
    TSR_TRY(tsri_share_init(&w->share, space->net));
    TSR_TRY(tsri_net_cut(&w->net, space->net, &w->share, false));
    TSR_TRY(tsri_store_init_host(&w->store, w->net));
    TSR_TRY(make_scratch(&w->s, space, true));
    TSR_TRY(tsri_alloc(&w->loss, space->run->settings.local_steps, sizeof *w->loss));
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
                          .ops = run->device.backend->samples,
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
    space->s.chunks = tsri_space_chunks(space->net->param[TSRI_SPACE_SIGN].count);
    for (int64_t k = 0; k < space->s.chunks; k++)
        space->s.chunk[k] = k * TSRI_SAMPLES_CHUNK;
    space->s.chunk[space->s.chunks] = space->net->param[TSRI_SPACE_SIGN].count;
    TSR_TRY(tsri_put_init(&space->put, space->net));
    TSR_TRY(tsri_alloc(&space->owner, run->settings.workers, sizeof *space->owner));
    TSR_TRY(tsri_alloc(&space->member, run->settings.workers, sizeof *space->member));
    for (int64_t l = 0; l < run->settings.workers; l++) {
        space->member[l] = (tsri_space_member){.space = space};
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
    for (int64_t l = 0; space->member && l < space->run->settings.workers; l++) {
        tsri_space_member *w = &space->member[l];
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
