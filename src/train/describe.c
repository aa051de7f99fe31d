/* describe.c - from a checked run file to data, network and first weights.
 *
 * tsri_run_describe does what needs no weights: it loads the data, settles what the run file leaves
 * open, and builds the network. tsri_run_init goes on to the numbers.
 */
#include "train/describe.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/pieces.h"
#include "data/source.h"
#include "io/crc32c.h"
#include "model/model.h"
#include "model/whole.h"
#include "net/grelu.h"
#include "run/loss_choice.h"
#include "run/observer.h"
#include "run/recipe.h"
#include "run/trace.h"
#include "scheme/keys.h"
#include "scheme/scheme.h"
#include "train/average.h"
#include "train/convert_run.h"
#include "train/device_fit.h"
#include "train/iterate.h"
#include "train/rollback.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Settings ----------------------------------------------------------------------------- */

/* Gradient descent takes the whole set in each step, whatever `batch` says: a resolved run file
 * always has a value for it. */
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

/* Workers and local steps. A scheme that has no such thing refuses more than one. */
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

/* bf16 is refused where it would not help. */
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

/* From now on the config names the backend that `auto` became: a run that is resumed where `auto`
 * would become another one is then told so. */
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

int64_t tsri_run_numbers(const tsri_settings *s, const tsri_net *net)
{
    return (s->ema > 0 ? 2 : 1) * net->total + tsri_optim_vectors(&s->optim) * net->trained;
}

/* RESOURCES when the numbers of the run would not fit, before any memory is taken for them. */
static tsr_status model_fits(tsri_run *run)
{
    tsr_status st = TSR_OK;
    if (run->device.backend->heap->room)
        return tsri_device_fits(run);
    double need = (double)tsri_run_numbers(&run->settings, run->net) *
                  (double)run->device.backend->real_bytes;
    int64_t have = tsri_memory_available();
    TSR_CHECK(need <= (double)have, TSR_RESOURCES,
              "%s: out of memory: the model has %lld numbers and takes %s to train, %s are free on "
              "this machine: make it smaller",
              tsri_config_place(run->settings.config, "model.name"), (long long)run->net->total,
              tsri_bytes_text(need), tsri_bytes_text((double)have));
done:
    return st;
}

/* ---- Data and model ----------------------------------------------------------------------- */

/* Writes the data that was chosen into a run file that names none: a model must be judged on the
 * data it was trained on, not on what another machine would choose. */
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

/* Opens the model to start from. It says how wide its network is, unless the run file does, and
 * which units of the whole it has; a file of another program says neither. Its numbers are read
 * when there is a network for them (train.c). */
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

/* Writes into the config what a program's data set is called, or, if it was read from files, how:
 * so a later reader of the config finds the same data, or learns that it is not there. */
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

/* ---- The run ------------------------------------------------------------------------------ */

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
