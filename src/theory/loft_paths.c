/* loft_paths.c - LoFT and gradient descent side by side from the same start. */
#include "theory/loft_paths.h"

#include "base/alloc.h"
#include "base/stop.h"
#include "optim/step.h"
#include "run/evaluate.h"
#include "scheme/team.h"
#include "theory/rates.h"
#include "train/describe.h"

/* ---- Gradient descent ----------------------------------------------------------------------- */

/* As many samples as fit so that a plan's largest values, all filters of all pixels, stay below
 * this many numbers. */
enum { VALUES = 1 << 24 };

static int64_t block_of(const tsri_run_view *view)
{
    int64_t n = view->data->train.n, most = 1;
    for (int64_t v = 0; v < view->net->values; v++) {
        int64_t count = tsri_shape_count(view->net->value[v].shape);
        most = count > most ? count : most;
    }
    int64_t block = VALUES / most;
    return block < 1 ? 1 : block > n ? n : block;
}

static const tsri_optim plain = {0};

tsr_status tsri_descent_init(tsri_descent *d, const tsri_run_view *view, const tsri_store *start,
                             int64_t block)
{
    tsr_status st = TSR_OK;
    *d = (tsri_descent){.view = view, .block = block > 0 ? block : block_of(view)};
    TSR_TRY(tsri_store_init(&d->store, view->net, view->device.backend, true));
    TSR_TRY(tsri_store_copy(&d->store, start));
    TSR_TRY(tsri_plan_create(&d->plan, &d->store, view->device, d->block, true));
    TSR_TRY(tsri_step_init(&d->step, d->plan, &(tsri_aim){.kind = view->settings->loss}, &plain));
    TSR_TRY(tsri_alloc(&d->x, d->block * view->data->dim, sizeof *d->x));
    TSR_TRY(d->store.heap->take(&d->sum, view->net->trained * d->store.real_bytes));
done:
    if (st != TSR_OK)
        tsri_descent_fini(d);
    return st;
}

void tsri_descent_fini(tsri_descent *d)
{
    tsri_step_fini(&d->step);
    tsri_plan_destroy(d->plan);
    if (d->store.heap)
        d->store.heap->drop(d->sum);
    tsri_store_fini(&d->store);
    tsri_free(d->x);
    *d = (tsri_descent){0};
}

/* Adds the gradient of the samples from `first` on; that of all is in the store after the last. */
static tsr_status add_block(tsri_descent *d, int64_t first)
{
    tsr_status st = TSR_OK;
    const tsri_part *part = &d->view->data->train;
    int64_t dim = d->view->data->dim, rest = part->n - first;
    const tsri_batch b = {.n = rest < d->block ? rest : d->block,
                          .x = d->x,
                          .target = part->target + first * d->view->net->outputs};
    for (int64_t i = 0; i < b.n; i++)
        tsri_sample(d->x + i * dim, d->view->data, part, first + i);
    TSR_TRY(tsri_step_gradient(&d->step, &b, 0));
    TSR_TRY(tsri_device_gather(d->view->device, d->sum, d->store.g, d->view->net->trained,
                               first == 0, rest <= d->block, 1));
done:
    return st;
}

tsr_status tsri_descent_step(tsri_descent *d)
{
    tsr_status st = TSR_OK;
    tsri_chances chances = tsri_team_chances(d->view->team);
    for (int64_t first = 0; first < d->view->data->train.n; first += d->block)
        TSR_TRY(add_block(d, first));
    TSR_TRY(tsri_step_update(&d->step,
                             tsri_rate_of(d->view->settings, d->view->position, d->round) *
                                 chances.theta / chances.xi,
                             0));
    d->round++;
done:
    return st;
}

static double squares(const float *a, const float *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double difference = (double)a[i] - (double)b[i];
        sum += difference * difference;
    }
    return sum;
}

tsr_status tsri_weights_apart(double *sum, const tsri_store *one, const tsri_store *other)
{
    tsr_status st = TSR_OK;
    tsri_opened a = {0}, b = {0};
    TSR_TRY(tsri_store_open(&a, one, TSRI_OPEN_WEIGHTS));
    TSR_TRY(tsri_store_open(&b, other, TSRI_OPEN_WEIGHTS));
    *sum = squares(a.w, b.w, one->net->trained);
done:
    tsri_store_close(&a);
    tsri_store_close(&b);
    return st;
}

/* ---- Other draws of masks ------------------------------------------------------------------- */

/* The weights are drawn already: only masks follow from this seed (runs are of full batches). */
static uint64_t seed_of(uint64_t seed, int64_t k)
{
    return seed + (uint64_t)k * 1000003;
}

tsr_status tsri_draw_path_init(tsri_draw_path *path, const tsri_run_view *view,
                               const tsri_store *start, int64_t k)
{
    tsr_status st = TSR_OK;
    tsr_run_options options = tsr_run_options_default();
    /* With data of the ground neither these nor the config are changed. */
    tsri_ground ground = {.data = (tsr_data *)(uintptr_t)view->data,
                          .threads = tsri_pool_threads(view->device.pool),
                          .dry = true};
    path->run = (tsri_run){.process.lock = -1};
    TSR_TRY(tsri_run_init_on(&path->run, (tsr_config *)(uintptr_t)view->settings->config, &options,
                             &ground));
    TSR_TRY(tsri_store_copy(&path->run.store, start));
    TSR_TRY(path->run.settings.scheme->setup(&path->run));
    path->run.settings.seed = seed_of(view->settings->seed, k);
done:
    return st;
}

void tsri_draw_path_fini(tsri_draw_path *path)
{
    tsri_run_fini(&path->run);
}

tsr_status tsri_draw_path_round(tsri_draw_path *path)
{
    tsr_status st = path->run.settings.scheme->round(&path->run);
    path->run.position.round += st == TSR_OK;
    return st;
}

/* ---- Both, for the figure ------------------------------------------------------------------- */

static tsr_status outputs_apart(double *sum, tsri_descent *d, tsri_store *other)
{
    tsr_status st = TSR_OK;
    const tsri_run_view *view = d->view;
    float *mine = NULL, *theirs = NULL;
    const tsri_part *part = &view->data->train;
    TSR_TRY(tsri_outputs(&mine, &d->store, view->device, view->data, part));
    TSR_TRY(tsri_outputs(&theirs, other, view->device, view->data, part));
    *sum = squares(mine, theirs, part->n * view->net->outputs);
done:
    tsri_free(mine);
    tsri_free(theirs);
    return st;
}

tsr_status tsri_loft_paths(double *weights, double *outputs, tsr_config *config, int64_t masks)
{
    tsr_status st = TSR_OK;
    tsri_run run = {.process.lock = -1};
    tsri_descent gd = {0};
    tsr_run_options options = tsr_run_options_default();
    double difference;
    TSR_TRY(tsri_run_init(&run, config, &options));
    TSR_TRY(run.settings.scheme->setup(&run));
    tsri_run_view view = tsri_run_view_of(&run);
    TSR_TRY(tsri_descent_init(&gd, &view, &run.store, 0));
    run.settings.seed = seed_of(run.settings.seed, masks);
    *outputs = 0;
    for (; run.position.round < run.settings.rounds; run.position.round++) {
        TSR_TRY(tsri_stop_heed());
        TSR_TRY(outputs_apart(&difference, &gd, &run.store));
        *outputs += tsri_rate_of(&run.settings, &run.position, run.position.round) * difference;
        TSR_TRY(run.settings.scheme->round(&run));
        TSR_TRY(tsri_descent_step(&gd));
    }
    TSR_TRY(tsri_weights_apart(weights, &gd.store, &run.store));
done:
    tsri_descent_fini(&gd);
    tsri_run_fini(&run);
    return st;
}
