/* rounds.c - a run's rounds: the scheme's round, and what is due after it: an evaluation, a look of the
 * observers, a checkpoint, a stop.
 *
 * What happens when depends on the round alone (when.c). A stop that was asked for adds a
 * checkpoint and changes nothing else.
 */
#include "train/rounds.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/stop.h"
#include "run/evaluate.h"
#include "run/metrics_lines.h"
#include "run/observer.h"
#include "run/pace.h"
#include "run/rate.h"
#include "run/recalibrate.h"
#include "run/when.h"
#include "scheme/scheme.h"
#include "train/average.h"
#include "train/checkpoint.h"
#include "train/convert_run.h"
#include "train/iterate.h"
#include "train/rollback.h"
#include "train/sound.h"
#include "train/train.h"

#include <math.h>

/* ---- Output ------------------------------------------------------------------------------- */

tsr_progress tsri_train_progress(const tsri_run *run)
{
    int64_t at = run->position.round > 0 ? run->position.round - 1 : 0;
    tsri_mean recent = run->position.recent; /* begins anew with each evaluation */
    double before = run->process.judged > 0 ? run->process.judged_loss : (double)NAN;
    return (tsr_progress){.size = sizeof(tsr_progress),
                          .round = run->position.round,
                          .rounds = run->settings.rounds,
                          .epoch = (double)run->position.round / run->settings.epoch_rounds,
                          .epochs = (double)run->settings.rounds / run->settings.epoch_rounds,
                          .loss = recent.count ? recent.sum / (double)recent.count : before,
                          .evaluated =
                              run->process.judged > 0 && run->process.judged == run->position.round,
                          .rate = tsri_run_rate(&run->settings, &run->position, at),
                          .seconds = tsri_clock() - run->process.started,
                          .test_loss = run->position.test_loss,
                          .test_accuracy = run->position.test_accuracy,
                          .test_rmse = run->position.test_rmse,
                          .chip = run->process.pace.chip,
                          .samples_per_second = run->process.pace.samples,
                          .device_memory = run->process.pace.memory};
}

void tsri_rounds_tell(const tsri_run *run, tsri_moment moment)
{
    if (!run->settings.options.progress)
        return;
    tsr_progress p = tsri_train_progress(run);
    p.evaluated = moment == TSRI_EVALUATED;
    p.resumed = moment == TSRI_RESUMED;
    run->settings.options.progress(run->settings.options.context, &p);
}

/* ---- Judging ------------------------------------------------------------------------------ */

tsr_status tsri_rounds_judge(tsri_run *run, int64_t rounds)
{
    tsr_status st = TSR_OK;
    tsr_result r = tsr_result_default();
    const tsri_part *part = run->data->test.n > 0 ? &run->data->test : &run->data->train;
    TSR_TRY(tsri_recalibrate_after(run, rounds));
    TSR_TRY(tsri_evaluate(&r, &run->store, run->device, run->data, part, run->settings.loss));
    run->position.test_loss = r.loss;
    run->position.test_accuracy = r.accuracy;
    run->position.test_rmse = r.rmse;
    TSR_TRY(tsri_check_judged(run, r.loss));
done:
    return st;
}

/* Judges the average of the weights, where there is one. */
static tsr_status judge_all(tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_average_swap(run);
    TSR_TRY(tsri_rounds_judge(run, run->position.round));
    TSR_TRY(tsri_iterate_judge(run));
done:
    tsri_average_swap(run);
    return st;
}

static tsr_status evaluate(tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_pace_stop(run);
    TSR_TRY(judge_all(run));
    run->process.judged_loss = tsri_train_progress(run).loss;
    run->process.judged = run->position.round;
    tsri_rounds_tell(run, TSRI_EVALUATED);
    TSR_TRY(tsri_metrics_tell(run));
    run->position.recent = (tsri_mean){0};
    tsri_pace_start(run);
done:
    return st;
}

/* ---- Rounds ------------------------------------------------------------------------------- */

/* Will tickets be rewound to the weights of this round (ticket.rewind)? */
static bool is_rewound_to(const tsri_run *run)
{
    int64_t epoch = tsri_config_int(run->settings.config, "ticket.rewind");
    return epoch > 0 && run->position.round == llround((double)epoch * run->settings.epoch_rounds);
}

/* A checkpoint that cannot be written (a full disk) does not end the run: the old ones stay. Three
 * things end it: weights that have diverged; a disk that lost lines of metrics, since no checkpoint
 * can be saved after that; and a checkpoint that a ticket will ask for: resumed, the run comes back
 * to its round. */
static tsr_status save(tsri_run *run)
{
    if (!run->settings.options.folder)
        return TSR_OK;
    tsr_status st = tsri_checkpoint_save(run);
    if (st == TSR_OK || st == TSR_DIVERGED || tsri_metrics_broken(run->process.metrics) ||
        is_rewound_to(run))
        return st;
    TSRI_WARN("checkpoint of round %lld was not saved, training goes on: %s",
              (long long)run->position.round, tsr_last_error());
    return TSR_OK;
}

/* Saves a checkpoint and returns INTERRUPTED; `when` follows the round in the sentence. */
static tsr_status save_and_stop(tsri_run *run, const char *when)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(run->settings.options.folder, TSR_INTERRUPTED,
              "stopped after round %lld of %lld%s; the run has no folder to be saved in",
              (long long)run->position.round, (long long)run->settings.rounds, when);
    st = tsri_checkpoint_save(run);
    /* Nobody would have looked at this round's weights had the run not been stopped. */
    TSR_CHECK(st != TSR_DIVERGED || !tsri_rolls_back(&run->settings), TSR_INTERRUPTED,
              "stopped after round %lld of %lld, whose weights have diverged; add "
              "--resume to go on from round %lld",
              (long long)run->position.round, (long long)run->settings.rounds,
              (long long)run->process.saved_round);
    TSR_TRY(st);
    TSR_CHECK(false, TSR_INTERRUPTED,
              "stopped after round %lld of %lld%s, all saved: add --resume to go on",
              (long long)run->position.round, (long long)run->settings.rounds, when);
done:
    return st;
}

/* A look that was cut short by a stop is taken again by the resumed run, at the same weights: it
 * writes the same lines. */
static tsr_status observe(tsri_run *run)
{
    tsr_status st = TSR_OK;
    run->position.unlooked = 1;
    for (int i = 0; tsri_observers[i] && st == TSR_OK; i++)
        st = tsri_observers[i]->look(run);
    if (st == TSR_INTERRUPTED)
        return save_and_stop(run, ", while its certificate was made");
    run->position.unlooked = 0;
    return st;
}

/* Brings the workers' numbers to the coordinator when somebody is going to look at them. */
static tsr_status hear_crew(tsri_run *run, bool stopping)
{
    tsr_status st = TSR_OK;
    bool timed = !tsri_config_is(run->settings.config, "scheme.events", "none");
    if (!run->process.crew)
        return TSR_OK;
    if (run->settings.scheme->collect && (stopping || tsri_looked_at(run, run->position.round)))
        TSR_TRY(run->settings.scheme->collect(run));
    if (timed || tsri_due(&run->settings, run->position.round, "eval.every"))
        TSR_TRY(tsri_event_times(run));
done:
    return st;
}

/* Saves the checkpoint that is due; after a request to stop saves one and returns INTERRUPTED. */
static tsr_status save_or_stop(tsri_run *run, bool stop, bool enough)
{
    tsr_status st = TSR_OK;
    bool due = tsri_due(&run->settings, run->position.round, "checkpoint.every") || enough;
    if (stop)
        return save_and_stop(run, "");
    if (due)
        TSR_TRY(save(run));
done:
    return st;
}

/* What comes between one round and the next. */
static tsr_status after_round(tsri_run *run, bool asked)
{
    tsr_status st = TSR_OK;
    TSR_TRY(observe(run));
    bool enough = tsri_iterate_enough(&run->settings, &run->position);
    TSR_TRY(save_or_stop(run, asked && !enough, enough));
    if (enough)
        tsri_iterate_say_enough(run);
done:
    return st;
}

static bool is_over(const tsri_run *run)
{
    return run->position.round >= run->settings.rounds ||
           tsri_iterate_enough(&run->settings, &run->position);
}

/* What comes before the first round of this process. */
static tsr_status enter_rounds(tsri_run *run)
{
    tsr_status st = TSR_OK;
    run->process.entered = true;
    run->process.timed_from = run->process.sound = run->position.round;
    if (run->position.round == 0)
        TSR_TRY(observe(run));
    else if (run->position.unlooked)
        TSR_TRY(after_round(run, false));
    TSR_TRY(tsri_convert_when_due(run)); /* resumed from the checkpoint of that round */
done:
    return st;
}

static bool may_stop(const tsri_run *run)
{
    return run->position.round < run->settings.rounds &&
           run->position.round >= run->process.promised;
}

/* Shows the round, and what was found after it, to a program that watches; it may end the run: by
 * INTERRUPTED as a request to stop does (the ranks' numbers are then collected), else at once. */
static tsr_status show_round(tsri_run *run, bool *asked)
{
    const tsr_run_options *o = &run->settings.options;
    const tsri_scheme *scheme = run->settings.scheme;
    if (!o->round)
        return TSR_OK;
    tsr_progress p = tsri_train_progress(run);
    tsr_status st = o->round(o->context, &p);
    if (st != TSR_INTERRUPTED)
        return st;
    bool late = !*asked && may_stop(run);
    *asked = *asked || late;
    return late && run->process.crew && scheme->collect ? scheme->collect(run) : TSR_OK;
}

/* A round of the scheme, and what is due after it. */
static tsr_status next_round(tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_mean before = run->position.recent;
    run->process.sound = run->position.round;
    TSR_TRY(tsri_rollback_tell(run));
    TSR_TRY(run->settings.scheme->round(run));
    TSR_TRY(tsri_check_loss(run, &before));
    run->position.round++;
    bool asked = tsri_stop_asked() && may_stop(run);
    TSR_TRY(hear_crew(run, asked));
    TSR_TRY(tsri_average_round(run));
    if (tsri_clock() - run->process.told > 0.05) {
        tsri_rounds_tell(run, TSRI_ROUND_DONE);
        run->process.told = tsri_clock();
    }
    TSR_TRY(tsri_iterate_scores(run));
    if (tsri_due(&run->settings, run->position.round, "eval.every") ||
        tsri_iterate_enough(&run->settings, &run->position))
        TSR_TRY(evaluate(run));
    TSR_TRY(show_round(run, &asked));
    TSR_TRY(after_round(run, asked));
    TSR_TRY(tsri_convert_when_due(run));
done:
    return st;
}

tsr_status tsri_train_step(tsri_run *run, bool *more)
{
    tsr_status st = run->process.entered ? TSR_OK : enter_rounds(run);
    if (st == TSR_OK && !is_over(run))
        st = next_round(run);
    if (st == TSR_DIVERGED && tsri_can_roll_back(&run->settings, &run->position)) {
        st = tsri_rollback(run, run->process.sound);
        run->process.entered = false;
    } else if (st == TSR_DIVERGED && run->position.rollbacks > 0) {
        tsri_fail_prefix("diverged again after %lld rollbacks, at a rate of %g: ",
                         (long long)run->position.rollbacks,
                         tsri_run_rate(&run->settings, &run->position, run->process.sound));
    }
    *more = st == TSR_OK && (!run->process.entered || !is_over(run));
    return st;
}
