/* train.c - the life of a run: open the folder, rounds (rounds.c), the model at the end; alone or
 * as one process of many. */
#include "base/stop.h"
#include "run/metrics_lines.h"
#include "run/observer.h"
#include "run/pace.h"
#include "run/rate.h"
#include "run/trace.h"
#include "scheme/scheme.h"
#include "train/average.h"
#include "train/checkpoint.h"
#include "train/describe.h"
#include "train/folder.h"
#include "train/forced.h"
#include "train/iterate.h"
#include "train/model_write.h"
#include "train/sound.h"
#include "train/train.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sized.h"
#include "io/file.h"
#include "model/whole.h"
#include "train/convert_run.h"
#include "train/rollback.h"
#include "train/rounds.h"

/* ---- Opening ------------------------------------------------------------------------------- */

static tsr_status first_weights(tsri_run *run)
{
    tsr_status st = TSR_OK;
    if (run->process.init)
        TSR_TRY(tsri_whole_load(&run->store, run->process.init,
                                run->settings.options.init ? run->settings.options.init
                                                           : "the model to start from"));
done:
    tsri_tensors_destroy(run->process.init);
    run->process.init = NULL;
    return st;
}

static tsr_status open_metrics(tsri_run *run)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    TSR_TRY(tsri_path_join(&path, run->settings.options.folder, "metrics.jsonl"));
    TSR_TRY(tsri_metrics_open(&run->process.metrics, path, run->position.metrics_bytes));
done:
    tsri_free(path);
    return st;
}

static tsr_status open_trace(tsri_run *run)
{
    tsr_status st = TSR_OK;
    if (!run->process.trace)
        return TSR_OK;
    TSR_TRY(tsri_make_own_folder(run->process.trace));
    TSR_TRY(tsri_sweep_folder(run->process.trace)); /* what a killed run left half written */
    TSR_TRY(tsri_trace_data(run));
done:
    return st;
}

/* ---- The two ends ---------------------------------------------------------------------------- */

static tsr_status write_distances(const tsri_run *run)
{
    const double *ratio;
    int64_t ratios = tsri_config_reals(run->settings.config, "distance.ratios", &ratio);
    return tsri_score_log_write(&run->scores, run->settings.epoch_rounds, ratio, ratios,
                                run->settings.options.folder);
}

tsr_status tsri_train_end(tsr_result *result, tsri_run *run)
{
    tsr_status st = TSR_OK;
    bool best;
    char *path = NULL;
    TSR_TRY(tsri_iterate_take_best(run, &best));
    if (best) /* what is handed over is what is judged */
        TSR_TRY(tsri_rounds_judge(run, run->position.best_iterate));
    else
        tsri_average_swap(run);
    TSR_TRY(tsri_check_sound(run));
    if (run->settings.options.folder) {
        TSR_TRY(tsri_metrics_sync(run->process.metrics)); /* a run with a model has all its lines */
        TSR_TRY(tsri_path_join(&path, run->settings.options.folder, "model.safetensors"));
        TSR_TRY(tsri_model_write(run, path));
        TSR_TRY(write_distances(run));
    }
    *result = (tsr_result){.size = sizeof *result,
                           .n = run->data->test.n > 0 ? run->data->test.n : run->data->train.n,
                           .loss = run->position.test_loss,
                           .accuracy = run->position.test_accuracy,
                           .rmse = run->position.test_rmse,
                           .seconds = tsri_clock() - run->process.started,
                           .rounds = run->position.round,
                           .bytes_total = run->position.bytes_total,
                           .bytes_collected = run->process.bytes_collected};
done:
    tsri_free(path);
    return st;
}

tsr_status tsri_train_check_folder(const tsri_run *run)
{
    tsr_status st = TSR_OK;
    const tsr_run_options *o = &run->settings.options;
    TSR_CHECK(o->folder || !o->resume, TSR_USAGE, "a run without a folder cannot be resumed");
    TSR_CHECK(o->folder || !o->trace, TSR_USAGE, "a trace needs the run's folder");
    TSR_CHECK(o->folder || !tsri_rolls_back(&run->settings), TSR_USAGE,
              "%s: on_divergence: rollback needs checkpoints, and so the run's folder",
              tsri_config_place(run->settings.config, "on_divergence"));
done:
    return st;
}

tsr_status tsri_train_prepare(tsri_run *run)
{
    tsr_status st = TSR_OK;
    if (run->settings.options.trace)
        TSR_TRY(tsri_path_join(&run->process.trace, run->settings.options.folder, "trace"));
    TSR_TRY(first_weights(run));
    TSR_TRY(tsri_convert_prepare(run));
    for (int i = 0; tsri_observers[i]; i++)
        if (tsri_observers[i]->prepare)
            TSR_TRY(tsri_observers[i]->prepare(run));
    if (run->settings.scheme->setup)
        TSR_TRY(run->settings.scheme->setup(run));
done:
    return st;
}

/* ---- One process of many -------------------------------------------------------------------- */

/* The ranks that mpirun started, if it did. */
static tsr_status enlist(tsri_crew **crew, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    tsri_comm *comm = NULL;
    tsri_comm_options o = {.start = tsri_config_real(config, "cluster.start"),
                           .port = (int)tsri_config_int(config, "cluster.port")};
    TSR_TRY(tsri_comm_open(&comm, &o));
    if (!comm)
        return TSR_OK;
    TSR_TRY(tsri_crew_create(crew, comm, tsri_config_real(config, "cluster.deadline")));
    comm = NULL;
done:
    tsri_comm_close(comm);
    return st;
}

static tsr_status can_spread(const tsri_run *run)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(!run->process.crew || run->settings.scheme->serve, TSR_USAGE,
              "%s: scheme %s runs in one process: start it without mpirun",
              tsri_config_place(run->settings.config, "scheme.name"), run->settings.scheme->name);
    TSR_CHECK(
        !run->process.crew || !run->settings.scheme->collect || run->settings.optim.clip == 0,
        TSR_USAGE,
        "%s: optim.clip needs the whole gradient, and with mpirun every stage of %s has a part "
        "of it: start it without mpirun",
        tsri_config_place(run->settings.config, "optim.clip"), run->settings.scheme->name);
    TSR_CHECK(
        !run->process.crew || !run->settings.scheme->collect || run->settings.ema == 0, TSR_USAGE,
        "%s: optim.ema needs the weights of every round, and with mpirun the stages of %s keep "
        "them: start it without mpirun",
        tsri_config_place(run->settings.config, "optim.ema"), run->settings.scheme->name);
    TSR_CHECK(!run->process.crew || !run->settings.scheme->collect ||
                  !tsri_rolls_back(&run->settings),
              TSR_USAGE,
              "%s: with mpirun the stages of %s keep the weights and cannot go back: start it "
              "without mpirun, or use on_divergence: stop",
              tsri_config_place(run->settings.config, "on_divergence"), run->settings.scheme->name);
    TSR_CHECK(!run->process.crew || run->settings.convert_round < 0, TSR_USAGE,
              "%s: convert_at is for one process, whose net it replaces: start it without mpirun",
              tsri_config_place(run->settings.config, "convert_at"));
done:
    return st;
}

static bool coordinates(const tsri_crew *crew)
{
    return !crew || crew->comm->rank == 0;
}

/* A rank that fails before it has joined says so, or the others would wait for it. */
static void dismiss(tsri_crew *crew, tsr_status st)
{
    if (!crew)
        return;
    if (crew->comm->rank == 0)
        tsri_crew_end(crew);
    else if (st != TSR_OK)
        tsri_crew_give_up(crew, st);
    tsri_comm *comm = crew->comm;
    tsri_crew_destroy(crew);
    tsri_comm_close(comm);
}

/* Warns when one round is longer than all the epochs asked for: rounds are trained to their end, so
 * the run is longer, too. */
static void tell_length(const tsri_run *run)
{
    int64_t wanted = tsri_config_int(run->settings.config, "epochs");
    double epochs = (double)run->settings.rounds / run->settings.epoch_rounds;
    if (wanted > 0 && epochs > 1.5 * (double)wanted)
        TSRI_WARN("%s: one round of %lld steps is %.3g epochs, more than the %lld wanted: fewer "
                  "scheme.local_steps make it shorter",
                  tsri_config_place(run->settings.config, "scheme.local_steps"),
                  (long long)run->settings.local_steps, epochs, (long long)wanted);
}

/* gd with momentum is allowed, but it is not what people mean by gd. */
static void tell_momentum(const tsri_run *run)
{
    if (run->settings.gd && run->settings.optim.momentum > 0)
        TSRI_INFO("%s: gd with momentum %g is the heavy ball, not plain gradient descent: leave "
                  "optim.momentum out for that",
                  tsri_config_place(run->settings.config, "optim.momentum"),
                  run->settings.optim.momentum);
}

static tsr_status begin_in_folder(tsri_run *run, bool *resumed)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_open_folder(run));
    if (run->settings.options.resume)
        TSR_TRY(tsri_checkpoint_load(run, resumed));
    TSR_TRY(open_metrics(run));
    TSR_TRY(open_trace(run));
    if (run->process.crew)
        TSR_TRY(run->settings.scheme->assemble(run));
    TSR_TRY(tsri_write_run_file(run));
    TSR_TRY(tsri_forced_tell(run));
    if (run->settings.auto_backend && !*resumed) /* the checkpoint of round 0 comes after it */
        TSR_TRY(tsri_event_backend(run));
    TSR_TRY(tsri_event_device(run));
    /* Resuming must not need the file of --init again, and a rollback may go back to the start. */
    bool given = run->settings.options.init || run->settings.options.model;
    if ((given || tsri_rolls_back(&run->settings)) && !*resumed)
        TSR_TRY(tsri_checkpoint_save(run));
done:
    return st;
}

tsr_status tsri_train_begin(tsri_run *run)
{
    tsr_status st = TSR_OK;
    bool resumed = false;
    tell_length(run);
    tell_momentum(run);
    tsri_pace_start(run);
    if (run->settings.options.folder)
        TSR_TRY(begin_in_folder(run, &resumed));
    else if (run->process.crew)
        TSR_TRY(run->settings.scheme->assemble(run));
    tsri_rounds_tell(run, resumed ? TSRI_RESUMED : TSRI_STARTED);
done:
    return st;
}

void tsri_train_close(tsri_run *run, tsr_status st, const char *why)
{
    if (st != TSR_OK && run->process.metrics && !tsri_metrics_broken(run->process.metrics))
        tsri_event_ended(run, st, why);
    tsri_metrics_close(run->process.metrics);
    run->process.metrics = NULL;
    if (run->process.lock >= 0)
        tsri_unlock_folder(run->process.lock);
    run->process.lock = -1;
}

static tsr_status coordinate(tsr_result *result, tsri_run *run)
{
    tsr_status st = TSR_OK;
    bool more = true;
    TSR_TRY(tsri_train_begin(run));
    while (more)
        TSR_TRY(tsri_train_step(run, &more));
    TSR_TRY(tsri_train_end(result, run));
done:
    tsri_train_close(run, st, tsr_last_error());
    return st;
}

static tsr_status serve(tsr_result *result, tsri_run *run)
{
    tsr_status st = TSR_OK;
    *result = (tsr_result){.size = sizeof *result, .worker = true};
    TSR_TRY(run->settings.scheme->assemble(run));
    TSR_TRY(run->settings.scheme->serve(run));
done:
    if (st == TSR_INTERRUPTED) /* the coordinator stopped before it began, and says why */
        st = TSR_OK;
    return st;
}

static tsr_status train(tsr_result *result, tsr_config *config, const tsr_run_options *options)
{
    tsr_status st = TSR_OK;
    tsri_run run = {.process.lock = -1};
    tsri_crew *crew = NULL;
    TSR_TRY(enlist(&crew, config));
    TSR_TRY(tsri_run_init(&run, config, options));
    run.process.crew = crew;
    TSR_TRY(can_spread(&run));
    TSR_TRY(tsri_train_check_folder(&run));
    TSR_TRY(tsri_train_prepare(&run));
    TSR_TRY(coordinates(crew) ? coordinate(result, &run) : serve(result, &run));
done:
    tsri_run_fini(&run);
    dismiss(crew, st);
    return st;
}

tsr_status tsri_train(tsr_result *result, tsr_config *config, const tsr_run_options *options)
{
    tsr_status st = TSR_OK;
    tsr_run_options o;
    tsr_result r = {0};
    TSRI_GIVEN(config);
    TSR_TRY(TSRI_SIZED_GIVE(result, &r));
    TSR_TRY(TSRI_SIZED_TAKE(&o, options));
    TSR_CHECK(!o.message, TSR_USAGE,
              "message: tsr_train's messages go where the thread's context sends them");
    TSR_TRY(train(&r, config, &o));
    TSR_TRY(TSRI_SIZED_GIVE(result, &r));
done:
    return st;
}

tsr_status tsr_train(tsr_result *result, tsr_config *config, const tsr_run_options *options)
{
    tsr_status st = tsri_train(result, config, options);
    tsri_stop_clear(); /* it was for this run */
    return st;
}
