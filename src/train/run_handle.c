/* run_handle.c - a run as a program holds it: created, stepped, stopped, finished.
 *
 * It is the life of train.h in steps, in a context of its own: whatever thread calls, a stop or a
 * message belongs to this run alone.
 */
#include "base/alloc.h"
#include "base/context.h"
#include "base/sized.h"
#include "model/model.h"
#include "train/average.h"
#include "train/describe.h"
#include "train/model_write.h"
#include "train/train.h"

struct tsr_run {
    tsr_context *context;
    tsr_config *config;
    char *folder, *init;
    tsri_run run;
    bool more;         /* there is another round */
    bool finished;     /* and `result` is known */
    tsr_status failed; /* what it ended with, if it has: it cannot go on */
    tsr_result result;
};

/* This thread's calls now belong to the run's context; `leave` brings the one before back. */
static tsr_context *enter(const tsr_run *run)
{
    return tsr_context_use(run->context);
}

/* After a failure the run is over: its folder says so, and is free for others. */
static tsr_status leave(tsr_run *run, tsr_context *before, tsr_status st)
{
    if (st != TSR_OK)
        tsri_train_close(&run->run, st, tsr_last_error());
    (void)tsr_context_use(before);
    return run->failed = st;
}

/* ---- Life ----------------------------------------------------------------------------------- */

void tsr_run_destroy(tsr_run *run)
{
    if (!run)
        return;
    tsr_context *before = enter(run), *own = run->context;
    tsri_train_close(&run->run, TSR_INTERRUPTED, "the program destroyed it before its end");
    tsri_run_fini(&run->run);
    tsr_config_destroy(run->config);
    tsri_free(run->folder);
    tsri_free(run->init);
    tsri_free(run);
    (void)tsr_context_use(before);
    tsr_context_destroy(own);
}

/* What the options point at may be gone after the call. */
static tsr_status keep_options(tsr_run *run, tsr_run_options *o)
{
    tsr_status st = TSR_OK;
    if (o->folder)
        TSR_TRY(tsri_strdup(&run->folder, o->folder));
    if (o->init)
        TSR_TRY(tsri_strdup(&run->init, o->init));
    o->folder = run->folder;
    o->init = run->init;
    if (o->message)
        tsr_context_set_log(run->context, o->message, o->context, o->loudest);
done:
    return st;
}

static tsr_status begin(tsr_run *run, const tsr_config *config, tsr_run_options *o)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_config_copy(&run->config, config));
    TSR_TRY(keep_options(run, o));
    TSR_TRY(tsri_run_init(&run->run, run->config, o));
    TSR_TRY(tsri_train_check_folder(&run->run));
    TSR_TRY(tsri_train_prepare(&run->run));
    TSR_TRY(tsri_train_begin(&run->run));
    run->run.settings.options.data = NULL; /* copied */
    run->run.settings.options.model = NULL;
    run->more = true;
done:
    return st;
}

tsr_status tsr_run_create(tsr_run **out, const tsr_config *config, const tsr_run_options *options)
{
    tsr_status st = TSR_OK;
    tsr_run *run = NULL;
    tsr_run_options o;
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(config);
    TSR_TRY(TSRI_SIZED_TAKE(&o, options));
    TSR_TRY(tsri_alloc(&run, 1, sizeof *run));
    run->run = (tsri_run){.process.lock = -1};
    TSR_TRY(tsri_context_create_within(&run->context));
    tsr_context *before = enter(run);
    TSR_TRY(leave(run, before, begin(run, config, &o)));
    *out = run;
    run = NULL;
done:
    if (run && !run->context)
        tsri_free(run);
    else
        tsr_run_destroy(run);
    return st;
}

/* ---- Rounds --------------------------------------------------------------------------------- */

static tsr_status check_going(const tsr_run *run)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(run->failed == TSR_OK, run->failed,
              "the run has ended: %s; create another one, or resume it from its folder",
              tsr_status_text(run->failed));
done:
    return st;
}

tsr_status tsr_run_step(tsr_run *run, bool *more)
{
    tsr_status st = TSR_OK;
    if (more)
        *more = false;
    TSRI_GIVEN(run);
    TSR_TRY(check_going(run));
    if (run->more && !run->finished) {
        tsr_context *before = enter(run);
        TSR_TRY(leave(run, before, tsri_train_step(&run->run, &run->more)));
    }
    if (more)
        *more = run->more;
done:
    return st;
}

tsr_status tsr_run_finish(tsr_result *result, tsr_run *run)
{
    tsr_status st = TSR_OK;
    tsr_result none = {0};
    TSRI_GIVEN(run);
    TSR_TRY(TSRI_SIZED_GIVE(result, &none));
    TSR_TRY(check_going(run));
    while (run->more)
        TSR_TRY(tsr_run_step(run, NULL));
    if (!run->finished) {
        tsr_context *before = enter(run);
        TSR_TRY(leave(run, before, tsri_train_end(&run->result, &run->run)));
        tsri_train_close(&run->run, TSR_OK, NULL);
        run->finished = true;
    }
    TSR_TRY(TSRI_SIZED_GIVE(result, &run->result));
done:
    return st;
}

void tsr_run_stop(tsr_run *run)
{
    if (run)
        tsr_context_stop(run->context);
}

/* ---- Looking -------------------------------------------------------------------------------- */

tsr_status tsr_run_progress(tsr_progress *progress, const tsr_run *run)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(run);
    tsr_progress mine = tsri_train_progress(&run->run);
    TSR_TRY(TSRI_SIZED_GIVE(progress, &mine));
done:
    return st;
}

const tsr_config *tsr_run_config(const tsr_run *run)
{
    return run ? run->config : NULL;
}

/* The model as it is judged: the average of the weights, where there is one and it was not handed
 * over yet. */
static tsr_status put_judged(tsri_sink *sink, tsr_run *run)
{
    bool average = !run->finished && run->run.position.round > 0;
    if (average)
        tsri_average_swap(&run->run);
    tsr_status st = tsri_run_put(sink, &run->run);
    if (average)
        tsri_average_swap(&run->run);
    return st;
}

tsr_status tsr_run_model(tsr_model **out, tsr_run *run)
{
    tsr_status st = TSR_OK;
    tsri_sink sink = {0};
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(run);
    TSR_TRY(put_judged(&sink, run));
    TSR_TRY(tsr_model_parse(out, sink.bytes, sink.n));
done:
    tsri_free(sink.bytes);
    return st;
}

tsr_status tsr_model_create(tsr_model **out, const tsr_config *config, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    tsr_run *run = NULL;
    tsr_run_options o = tsr_run_options_default();
    TSRI_GIVEN(out);
    *out = NULL;
    o.data = data;
    TSR_TRY(tsr_run_create(&run, config, &o));
    TSR_TRY(tsr_run_model(out, run));
done:
    tsr_run_destroy(run);
    return st;
}
