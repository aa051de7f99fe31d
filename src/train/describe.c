/* describe.c - from a checked run file to data, network and first weights. */
#include "train/describe.h"

#include "base/pieces.h"
#include "model/model.h"
#include "model/whole.h"
#include "run/loss_choice.h"
#include "run/observer.h"
#include "run/recipe.h"
#include "run/trace.h"
#include "scheme/keys.h"
#include "scheme/scheme.h"
#include "scheme/schemes.h"
#include "train/average.h"
#include "train/convert_run.h"
#include "train/device_fit.h"
#include "train/iterate.h"
#include "train/rollback.h"
#include "train/train.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sized.h"
#include "data/source.h"
#include "io/crc32c.h"
#include "net/grelu.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Gradient descent takes the whole set each step, whatever `batch` says: a resolved run file always
 * says something. */
static tsr_status choose_batch(tsri_run *run)
{
    tsr_status st = TSR_OK;
    int64_t n = run->data->train.n, parts = run->settings.shard ? run->settings.workers : 1;
    run->settings.gd = tsri_optim_of(run->settings.config)->whole_set;
    run->settings.independent = tsri_config_is(run->settings.config, "data.order", "replacement");
    TSR_CHECK(!run->settings.independent || !run->settings.gd, TSR_USAGE,
              "%s: gd takes the whole training set each step: there is nothing to draw with "
              "replacement; use optim.name: sgd",
              tsri_config_place(run->settings.config, "data.order"));
    run->settings.batch =
        run->settings.gd ? tsri_ceil_div(n, parts) : tsri_config_int(run->settings.config, "batch");
    TSR_CHECK(run->settings.batch <= n, TSR_USAGE,
              "%s: batch is %lld but there are only %lld training samples: use a smaller batch",
              tsri_config_place(run->settings.config, "batch"), (long long)run->settings.batch,
              (long long)n);
    int64_t steps =
        run->settings.gd ? 1 : n / parts / run->settings.batch; /* of a worker in an epoch */
    TSR_CHECK(steps > 0, TSR_USAGE,
              "%s: batch is %lld but each of the %lld workers has only %lld samples: use a smaller "
              "batch, fewer workers or scheme.data: replicate",
              tsri_config_place(run->settings.config, "batch"), (long long)run->settings.batch,
              (long long)parts, (long long)(n / parts));
    run->settings.epoch_rounds = (double)steps / (double)run->settings.local_steps;
done:
    return st;
}

static tsr_status choose_length(tsri_run *run)
{
    tsr_status st = TSR_OK;
    int64_t epochs = tsri_config_int(run->settings.config, "epochs");
    int64_t rounds = tsri_config_int(run->settings.config, "rounds");
    TSR_CHECK(epochs == 0 || rounds == 0, TSR_USAGE,
              "%s: give the length of the run as epochs or as rounds, not both",
              tsri_config_place(run->settings.config, "rounds"));
    if (epochs == 0 && rounds == 0)
        epochs = 10;
    int64_t of_epochs = (int64_t)llround((double)epochs * run->settings.epoch_rounds);
    run->settings.rounds = rounds > 0 ? rounds : of_epochs > 0 ? of_epochs : 1;
done:
    return st;
}

/* Workers and local steps as the scheme has them; what it has not must not be asked for. */
static tsr_status choose_workers(tsri_run *run)
{
    tsr_status st = TSR_OK;
    const tsr_config *c = run->settings.config;
    const tsri_scheme *s = run->settings.scheme;
    run->settings.workers = tsri_config_int(c, "scheme.workers");
    run->settings.local_steps = tsri_config_int(c, "scheme.local_steps");
    run->settings.shard = tsri_config_is(c, "scheme.data", "shard");
    TSR_CHECK(s->many || run->settings.workers == 1, TSR_USAGE,
              "%s: scheme %s has one worker, not %lld: use multisample, masked, ist, loft, "
              "local_sgd or gpipe",
              tsri_config_place(c, "scheme.workers"), s->name, (long long)run->settings.workers);
    TSR_CHECK(s->local || run->settings.local_steps == 1, TSR_USAGE,
              "%s: a round of scheme %s is one step, not %lld: use masked, ist, loft or local_sgd",
              tsri_config_place(c, "scheme.local_steps"), s->name,
              (long long)run->settings.local_steps);
done:
    return st;
}

tsr_status tsri_start_backend(const tsri_backend **backend, int *threads, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    int64_t wanted = tsri_config_int(config, "threads");
    *threads = wanted > 0 ? (int)wanted : tsri_cores();
    TSR_TRY(tsri_backend_find(backend, tsri_config_text(config, "backend")));
    if ((*backend)->start)
        TSR_TRY((*backend)->start(*threads));
done:
    return st;
}

/* bf16 where it is of use only. */
static tsr_status check_precision(const tsri_run *run)
{
    tsr_status st = TSR_OK;
    const tsri_backend *b = run->device.backend;
    bool bf16 = tsri_config_is(run->settings.config, "precision", "bf16");
    const char *why = bf16 && b->lacks_bf16 ? b->lacks_bf16() : NULL;
    TSR_CHECK(!why, TSR_USAGE,
              "%s: precision: bf16 %s: use precision: f32, or backend: ref for the definition, "
              "slowly",
              tsri_config_place(run->settings.config, "precision"), why);
done:
    return st;
}

/* From now on the config names what `auto` became: a run that goes on where the choice would be
 * another one is told so. */
static tsr_status settle_backend(tsri_run *run, tsr_config *config)
{
    run->settings.auto_backend = tsri_backend_is_auto(tsri_config_text(config, "backend"));
    return run->settings.auto_backend
               ? tsr_config_put(config, "backend", tsri_backend_auto(NULL)->name)
               : TSR_OK;
}

static tsr_status start_run(tsri_run *run, tsr_config *config, const tsri_ground *ground)
{
    tsr_status st = TSR_OK;
    int threads = 1;
    TSR_TRY(settle_backend(run, config));
    if (ground) {
        TSR_TRY(tsri_backend_find(&run->device.backend,
                                  tsri_config_text(run->settings.config, "backend")));
        threads = ground->threads;
    } else {
        TSR_TRY(tsri_start_backend(&run->device.backend, &threads, run->settings.config));
    }
    TSR_TRY(check_precision(run));
    TSR_TRY(tsri_pool_create(&run->device.pool, threads));
done:
    return st;
}

/* Numbers of a training run: weights, their average, gradient, the optimiser's state. */
static int64_t numbers_of(const tsri_settings *s, const tsri_net *net)
{
    return (s->ema > 0 ? 2 : 1) * net->total + tsri_optim_vectors(&s->optim) * net->trained;
}

/* Before the first byte is touched: weights, gradient and the optimiser's state together. */
static tsr_status model_fits(tsri_run *run)
{
    tsr_status st = TSR_OK;
    if (run->device.backend->heap->room)
        return tsri_device_fits(run);
    double need =
        (double)numbers_of(&run->settings, run->net) * (double)run->device.backend->real_bytes;
    int64_t have = tsri_memory_available();
    TSR_CHECK(need <= (double)have, TSR_RESOURCES,
              "%s: out of memory: the model has %lld numbers and takes %s to train, %s are free on "
              "this machine: make it smaller",
              tsri_config_place(run->settings.config, "model.name"), (long long)run->net->total,
              tsri_bytes_text(need), tsri_bytes_text((double)have));
done:
    return st;
}

/* What was chosen where the run file named no data: a model must be judged on what it was trained
 * for, not on what another machine would choose. */
static tsr_status note_data(tsr_config *config, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    tsri_text name = {0};
    if (tsri_config_text(config, "data.name") || tsri_config_text(config, "data.path"))
        return TSR_OK;
    TSR_TRY(tsri_text_add(&name, "data.name=%s", data->name));
    TSR_TRY(tsr_config_set(config, name.data));
done:
    tsri_text_fini(&name);
    return st;
}

/* Which numbers a run begins with: it must not be resumed as one that began with others. */
static void note_init(tsri_run *run)
{
    const tsri_tensors *file = run->process.init;
    uint32_t crc = 0;
    for (int64_t i = 0; i < file->count; i++) {
        const tsri_tensor *t = &file->tensor[i];
        crc = tsri_crc32c(crc, t->name, strlen(t->name) + 1);
        crc = tsri_crc32c(crc, t->data, (size_t)tsri_tensor_bytes(t));
    }
    (void)snprintf(run->process.given, sizeof run->process.given, "%08" PRIx32, crc);
    memcpy(run->init, run->process.given, sizeof run->init);
}

/* The model to start from says how wide its network is, unless the run file does, and which units
 * of the whole it has. Its numbers are read when the network is there (train.c). A file of another
 * program has only numbers. */
static tsr_status open_init(tsri_run *run, tsr_config *config)
{
    tsr_status st = TSR_OK;
    const char *path = run->settings.options.init;
    const tsr_model *model = run->settings.options.model;
    tsr_config *inside = NULL;
    tsri_text widths = {0};
    TSR_CHECK(!path || !model, TSR_USAGE,
              "a run begins with a model or with a model file, not both");
    if (!path && !model)
        return TSR_OK;
    TSR_TRY(path ? tsri_tensors_read(&run->process.init, path)
                 : tsri_model_tensors(&run->process.init, model));
    path = path ? path : model->path;
    note_init(run);
    TSR_TRY(tsri_model_knows(run->process.init, path, run->data));
    const char *ticket = tsri_tensors_meta(run->process.init, TSRI_META_TICKET);
    if (ticket)
        TSR_TRY(tsri_strdup(&run->ticket, ticket));
    if (!tsri_tensors_meta(run->process.init, "tessera.run") ||
        tsri_config_given(config, "model.widths"))
        goto done;
    TSR_TRY(tsri_model_run_file(&inside, run->process.init, path));
    if (tsri_config_text(inside, "model.widths")) {
        TSR_TRY(
            tsri_text_add(&widths, "model.widths=%s", tsri_config_text(inside, "model.widths")));
        TSR_TRY(tsr_config_set(config, widths.data));
    }
done:
    tsri_text_fini(&widths);
    tsr_config_destroy(inside);
    return st;
}

tsr_status tsri_run_data(tsr_data **data, tsr_config *config)
{
    tsr_status st = TSR_OK;
    tsri_wants wants = tsri_model_wants(config);
    TSR_TRY(tsri_data_load(data, config, &wants));
    TSR_TRY(note_data(config, *data));
done:
    return st;
}

/* The config says what a program's data set is called, or, of one that was read, what it was read
 * by: who reads the config later finds the same data, or is told that they are not there. */
static tsr_status note_given(tsr_config *config, const tsr_data *given)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_config_reset(config, "data.name"));
    TSR_TRY(tsri_config_reset(config, "data.path"));
    TSR_TRY(tsri_config_reset(config, "data.test_path"));
    if (!given->asked)
        return tsr_config_put(config, "data.name", TSRI_ARRAYS);
    for (int64_t i = 0; i < tsri_schema_count; i++) {
        const char *key = tsri_schema[i].key;
        if (strncmp(key, "data.", 5) != 0 || !tsri_config_given(given->asked, key) ||
            tsri_config_given(config, key))
            continue;
        char *text = NULL;
        TSR_TRY(tsr_config_get(&text, given->asked, key));
        st = text ? tsr_config_put(config, key, text) : TSR_OK;
        tsri_free(text);
        TSR_TRY(st);
    }
    TSR_TRY(note_data(config, given));
done:
    return st;
}

/* A program's data set, split and scaled as the config says. */
static tsr_status given_data(tsr_data **data, tsr_config *config, const tsr_data *given)
{
    tsr_status st = TSR_OK;
    TSR_TRY(note_given(config, given));
    tsri_wants wants = tsri_model_wants(config);
    TSR_TRY(tsri_data_prepared(data, given, config, &wants, NULL));
done:
    return st;
}

tsr_status tsri_run_init(tsri_run *run, tsr_config *config, const tsr_run_options *options)
{
    return tsri_run_init_on(run, config, options, NULL);
}

tsr_status tsri_run_describe(tsri_run *run, tsr_config *config, const tsr_run_options *options,
                             const tsri_ground *ground)
{
    tsr_status st = TSR_OK;
    *run = (tsri_run){.settings = {.config = config,
                                   .options = *options,
                                   .seed = (uint64_t)tsri_config_int(config, "seed"),
                                   .convert_round = -1},
                      .position = {.converted = -1,
                                   .test_loss = NAN,
                                   .test_accuracy = NAN,
                                   .test_rmse = NAN,
                                   .best_score = -INFINITY,
                                   .best_round = -1},
                      .process = {.started = tsri_clock(), .lock = -1, .saved_round = -1}};
    TSR_TRY(start_run(run, config, ground));
    run->data = ground ? ground->data : NULL;
    run->process.owns_data = !run->data;
    if (run->process.owns_data)
        TSR_TRY(options->data ? given_data(&run->data, config, options->data)
                              : tsri_run_data(&run->data, config));
    tsr_data *d = run->data;
    TSR_TRY(tsri_resolve_sequences(config, d));
    run->settings.scheme = tsri_scheme_of(config);
    TSR_TRY(tsri_choose_loss(&run->settings.loss, config, d));
    TSR_TRY(tsri_choose_weights(&run->settings, run->data));
    TSR_TRY(choose_workers(run));
    TSR_TRY(tsri_check_keys(config, d));
    TSR_TRY(choose_batch(run));
    TSR_TRY(choose_length(run));
    tsri_choose_optimiser(&run->settings);
    TSR_TRY(open_init(run, config));
    TSR_TRY(tsri_whole_create(&run->net, config, (tsri_shape){d->channels, d->height, d->width},
                              tsri_outputs_wanted(config, run->settings.loss, d),
                              run->device.backend->can.filters));
    TSR_TRY(tsri_net_step_flops(&run->settings.sample_flops, run->net, false));
done:
    if (st != TSR_OK)
        tsri_run_fini(run);
    return st;
}

tsr_status tsri_run_init_on(tsri_run *run, tsr_config *config, const tsr_run_options *options,
                            const tsri_ground *ground)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_run_describe(run, config, options, ground));
    TSR_TRY(model_fits(run));
    TSR_TRY(tsri_store_init(&run->store, run->net, run->device.backend, true));
    if (run->settings.optim.adam)
        TSR_TRY(tsri_store_add_variance(&run->store));
    if (!ground || !ground->dry)
        TSR_TRY(tsri_store_fill(&run->store, run->settings.seed));
    if (tsri_config_text(config, "model.from_relu") && (!ground || !ground->dry))
        TSR_TRY(tsri_grelu_from_relu(&run->store, tsri_config_text(config, "model.from_relu")));
    TSR_TRY(tsri_iterate_init(run));
    TSR_TRY(tsri_average_init(run));
    TSR_TRY(tsri_convert_init(run));
    TSR_TRY(tsri_rollback_init(&run->settings));
done:
    if (st != TSR_OK)
        tsri_run_fini(run);
    return st;
}

void tsri_run_fini(tsri_run *run)
{
    if (run->settings.scheme && run->settings.scheme->teardown)
        run->settings.scheme->teardown(run);
    for (int i = 0; tsri_observers[i]; i++)
        if (tsri_observers[i]->fini)
            tsri_observers[i]->fini(run->process.observer_state[i]);
    if (run->store.heap) {
        run->store.heap->drop(run->best_w);
        run->store.heap->drop(run->average);
    }
    tsri_store_fini(&run->store);
    tsri_free(run->settings.class_weight);
    tsri_net_destroy(run->net);
    if (run->process.owns_data)
        tsr_data_destroy(run->data);
    tsri_pool_destroy(run->device.pool);
    tsri_trace_fini(run);
    tsri_text_fini(&run->forced);
    tsri_free(run->ticket);
    tsri_score_log_fini(&run->scores);
    tsri_tensors_destroy(run->process.init);
    *run = (tsri_run){.process.lock = -1};
}

/* ---- What a run would need ---------------------------------------------------------------- */

static int64_t part_bytes(const tsr_data *d, const tsri_part *p)
{
    int64_t each = d->dim * ((p->bytes ? 1 : (int64_t)sizeof(float)) + (p->pixels != NULL));
    return p->n * (each + (int64_t)sizeof(int32_t) + d->targets * (int64_t)sizeof(float));
}

/* How the columns of a table will be used: what one checks a run file for. */
static tsr_status tell_columns(const tsr_data *data)
{
    tsr_status st = TSR_OK;
    tsri_text text = {0};
    TSR_TRY(tsri_data_schema_text(&text, &data->schema));
    if (text.data)
        TSRI_INFO("%s: %s", data->name, text.data);
done:
    tsri_text_fini(&text);
    return st;
}

/* A step of the whole network, as `cost` counts it: in shares a worker's is smaller. */
static tsr_status whole_step(int64_t *flops, const tsri_run *run)
{
    tsr_status st = TSR_OK;
    double sample;
    TSR_TRY(tsri_net_step_flops(&sample, run->net,
                                run->settings.scheme->plain &&
                                    tsri_dense_knows_gates(&run->settings, run->net)));
    *flops = (int64_t)((double)run->settings.batch * sample);
done:
    return st;
}

static tsr_status needs_of(tsr_needs *needs, const tsri_run *run, int64_t plan)
{
    double epoch = run->settings.epoch_rounds;
    *needs = (tsr_needs){.params = run->net->total,
                         .trained = run->net->trained,
                         .train_n = run->data->train.n,
                         .test_n = run->data->test.n,
                         .rounds = run->settings.rounds,
                         .epoch_rounds = (int64_t)llround(epoch < 1 ? 1 : epoch),
                         .memory_data = part_bytes(run->data, &run->data->train) +
                                        part_bytes(run->data, &run->data->test),
                         .memory_model =
                             numbers_of(&run->settings, run->net) * run->device.backend->real_bytes,
                         .memory_plan = plan,
                         .backend = tsri_backend_vendor(run->device.backend)};
    return whole_step(&needs->flops_step, run);
}

/* What it wants of a device's memory: of one with `stated` bytes, which need not be here, or of this
 * one. Nothing is taken. */
static tsr_status plan_device(tsr_needs *needs, tsr_config *config, int64_t stated)
{
    tsr_status st = TSR_OK;
    tsri_run run = {.process.lock = -1};
    const tsri_backend *backend;
    tsri_ground ground = {.threads = tsri_cores()};
    tsr_run_options options = tsr_run_options_default();
    tsri_fit fit;
    int64_t plan = 0;
    st = tsri_start_backend(&backend, &ground.threads, config);
    if (st == TSR_USAGE && stated > 0) {
        TSRI_INFO("planned without a GPU: what cuDNN's kernels need is not counted");
        tsri_fail_clear();
        st = TSR_OK;
    }
    TSR_TRY(st);
    TSR_TRY(tsri_run_describe(&run, config, &options, &ground));
    TSR_TRY(tsri_device_fit(&fit, &run, stated, true));
    TSR_CHECK(fit.wanted > 0, TSR_USAGE,
              "backend: %s has no memory of its own to plan for: name backend: cuda",
              run.device.backend->name);
    TSR_TRY(tsri_fit_judge(&fit, &run));
    TSR_TRY(tsri_plan_measure(&plan, run.net, run.device, run.settings.batch, true));
    TSR_TRY(needs_of(needs, &run, plan));
    needs->memory_device = fit.wanted;
    needs->device_free = fit.available;
    needs->device_all = fit.all;
    needs->batch_fits = fit.batch;
done:
    tsri_run_fini(&run);
    return st;
}

/* The run as it would begin: what training would refuse is refused here. */
static tsr_status try_run(tsr_needs *needs, tsr_config *config)
{
    tsr_status st = TSR_OK;
    tsri_run run = {.process.lock = -1};
    tsri_plan *plan = NULL;
    tsr_run_options options = tsr_run_options_default();
    TSR_TRY(tsri_run_init(&run, config, &options));
    TSR_TRY(tell_columns(run.data));
    TSR_TRY(tsri_train_prepare(&run));
    if (!run.device.backend->heap
             ->room) /* a device has been asked already, and has less to spare */
        TSR_TRY(tsri_run_plan(&plan, &run));
    TSR_TRY(needs_of(needs, &run, plan ? tsri_plan_bytes(plan) : 0));
done:
    tsri_plan_destroy(plan);
    tsri_run_fini(&run);
    return st;
}

tsr_status tsr_check(tsr_needs *needs, tsr_config *config)
{
    tsr_status st = TSR_OK;
    const tsri_backend *backend;
    tsr_needs mine = {0}, device = {0};
    TSRI_GIVEN(config);
    TSR_TRY(TSRI_SIZED_TAKE(&mine, needs));
    int64_t stated = mine.device_all;
    mine = (tsr_needs){0};
    TSR_TRY(TSRI_SIZED_GIVE(needs, &mine));
    TSR_TRY(tsri_backend_find(&backend, tsri_config_text(config, "backend")));
    if (stated > 0 || backend->heap->room)
        TSR_TRY(plan_device(&device, config, stated));
    if (stated > 0) {
        mine = device;
    } else {
        TSR_TRY(try_run(&mine, config));
        mine.memory_plan = backend->heap->room ? device.memory_plan : mine.memory_plan;
        mine.memory_device = device.memory_device;
        mine.device_free = device.device_free;
        mine.device_all = device.device_all;
        mine.batch_fits = device.batch_fits;
    }
    TSR_TRY(TSRI_SIZED_GIVE(needs, &mine));
done:
    return st;
}
