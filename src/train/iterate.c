/* iterate.c - which iterate becomes the model (optim.keep), and when a run stops early (stop).
 *
 * The deep ReLU paper proves gradient descent's *last* iterate good, of stochastic gradient descent
 * only the *best* one (Theorems 4.1 and 4.5), and zero training error once L_S <= l(0)/n (Corollary
 * 4.4). So a run may keep the iterate with the least training loss (optim.keep) and may stop at a
 * training error or loss (`stop:`). Both look at the whole training set, whenever the run is
 * judged. A run that stops when its test error or loss has not become better for a while keeps the
 * iterate that was best by that. What they saw is part of the position, so that a resumed run keeps
 * and stops as the uninterrupted one.
 */
#include "train/iterate.h"

#include "base/alloc.h"
#include "base/log.h"
#include "run/evaluate.h"
#include "run/stop_metric.h"
#include "run/when.h"
#include "scheme/rules.h"
#include "scheme/space.h"
#include "scheme/team.h"

#include <math.h>
#include <string.h>

/* Does it stop when the test set has shown nothing better for a while? */
static bool is_patient(const tsri_settings *s)
{
    return tsri_stop_metric_of(s->config)->on == TSRI_STOP_ON_TEST;
}

static bool keeps_best(const tsri_settings *s)
{
    const char *keep = tsri_config_text(s->config, "optim.keep");
    bool wanted = tsri_model_of(s->config)->keeps_best && !s->gd;
    return strcmp(keep, "best") == 0 || (strcmp(keep, "auto") == 0 && (wanted || is_patient(s)));
}

/* Prepares to record the ranking of filters, if a setting asks for it. */
static tsr_status watch_ranks(tsri_run *run)
{
    tsr_status st = TSR_OK;
    const tsri_stop_metric *metric = tsri_stop_metric_of(run->settings.config);
    bool stops = metric->on == TSRI_STOP_ON_RANKS, *cut = NULL;
    run->settings.scores_every = tsri_config_real(run->settings.config, "distance.every");
    if (stops && run->settings.scores_every <= 0)
        run->settings.scores_every = 1;
    if (run->settings.scores_every <= 0)
        return TSR_OK;
    TSR_TRY(tsri_alloc(&cut, run->net->axes, sizeof *cut));
    TSR_TRY(tsri_ticket_axes(cut, run->settings.config, run->net, NULL));
    TSR_TRY(tsri_score_log_init(&run->scores, run->net, cut));
    run->scores.masks = metric->masks;
    run->scores.ratio = tsri_config_real(run->settings.config, "stop.ratio");
    run->position.ranking_change = NAN;
done:
    if (st == TSR_USAGE)
        tsri_fail_prefix("%s: ", tsri_config_place(run->settings.config,
                                                   stops ? "stop.metric" : "distance.every"));
    tsri_free(cut);
    return st;
}

tsr_status tsri_iterate_init(tsri_run *run)
{
    tsr_status st = TSR_OK;
    const tsri_stop_metric *metric = tsri_stop_metric_of(run->settings.config);
    run->position.train_loss = run->position.train_accuracy = NAN;
    run->position.best_loss = INFINITY;
    run->position.best_iterate = -1;
    TSR_CHECK(!metric->error || run->data->classes > 0 || run->settings.loss->margin, TSR_USAGE,
              "%s: there is no error to stop at, %s has real targets: use loss or test_loss",
              tsri_config_place(run->settings.config, "stop.metric"), run->data->name);
    TSR_CHECK(
        !is_patient(&run->settings) ||
            (run->data->test.n > 0 && tsri_config_real(run->settings.config, "eval.every") > 0),
        TSR_USAGE, "%s: %s is looked at with every evaluation on a test set: %s",
        tsri_config_place(run->settings.config, "stop.metric"), metric->name,
        run->data->test.n > 0 ? "set eval.every above 0" : "there is none, use data.split");
    run->settings.patience =
        is_patient(&run->settings) ? tsri_config_int(run->settings.config, "stop.patience") : 0;
    double below = tsri_config_real(run->settings.config, "stop.below");
    TSR_CHECK(below >= 0 || below == -1, TSR_USAGE,
              "%s: stop.below is %g: no metric falls below 0; -1 stands for the default",
              tsri_config_place(run->settings.config, "stop.below"), below);
    if (keeps_best(&run->settings))
        TSR_TRY(run->store.heap->take(&run->best_w, run->net->total * run->store.real_bytes));
    TSR_TRY(watch_ranks(run));
    run->settings.judges_training =
        (run->best_w && !run->settings.patience) || metric->on == TSRI_STOP_ON_TRAINING;
done:
    return st;
}

/* Keeps this iterate if it is better than all before it. */
static tsr_status compare(tsri_run *run, double loss)
{
    tsr_status st = TSR_OK;
    if (!(loss < run->position.best_loss)) {
        run->position.stale++;
        return TSR_OK;
    }
    if (run->best_w)
        TSR_TRY(run->store.heap->within(run->best_w, run->store.w,
                                        run->net->total * run->store.real_bytes));
    run->position.best_loss = loss;
    run->position.best_iterate = run->position.round;
    run->position.stale = 0;
done:
    return st;
}

tsr_status tsri_iterate_judge(tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsr_result r = tsr_result_default();
    if (run->settings.patience)
        TSR_TRY(compare(run, tsri_stop_metric_of(run->settings.config)->error
                                 ? 1 - run->position.test_accuracy
                                 : run->position.test_loss));
    if (!run->settings.judges_training)
        return TSR_OK;
    TSR_TRY(tsri_evaluate(&r, &run->store, run->device, run->data, &run->data->train,
                          run->settings.loss));
    run->position.train_loss = r.loss;
    run->position.train_accuracy = r.accuracy;
    if (run->best_w)
        TSR_TRY(compare(run, r.loss));
done:
    return st;
}

tsr_status tsri_iterate_scores(tsri_run *run)
{
    tsr_status st = TSR_OK;
    if (!run->scores.cut ||
        !tsri_due_after(&run->settings, run->position.round, run->settings.scores_every))
        return TSR_OK;
    if (tsri_team_space(run))
        TSR_TRY(tsri_space_weights(tsri_team_space(run)));
    TSR_TRY(tsri_score_log_sample(&run->position.ranking_change, &run->scores, &run->store,
                                  run->position.round,
                                  tsri_config_int(run->settings.config, "stop.window")));
done:
    return st;
}

static double limit_of(const tsri_settings *s)
{
    double below = tsri_config_real(s->config, "stop.below");
    return below >= 0 ? below : tsri_stop_metric_of(s->config)->below;
}

/* What is compared with the limit; NaN when nothing is. */
static double value_of(const tsri_settings *s, const tsri_run_position *p)
{
    const tsri_stop_metric *metric = tsri_stop_metric_of(s->config);
    if (metric->on == TSRI_STOP_ON_RANKS)
        return p->ranking_change;
    if (metric->on != TSRI_STOP_ON_TRAINING)
        return (double)NAN;
    return metric->error ? 1 - p->train_accuracy : p->train_loss;
}

bool tsri_iterate_enough(const tsri_settings *s, const tsri_run_position *p)
{
    return (s->patience && p->stale >= s->patience) || value_of(s, p) <= limit_of(s);
}

void tsri_iterate_say_enough(const tsri_run *run)
{
    const char *name = tsri_stop_metric_of(run->settings.config)->name;
    if (run->position.round < run->settings.rounds && run->settings.patience)
        TSRI_INFO("stop: %s was lowest, %.4g, after round %lld and has not fallen for %lld "
                  "evaluations: the run ends after round %lld of %lld%s",
                  name, run->position.best_loss, (long long)run->position.best_iterate,
                  (long long)run->position.stale, (long long)run->position.round,
                  (long long)run->settings.rounds,
                  run->best_w ? ", the best iterate is the model" : "");
    else if (run->position.round < run->settings.rounds)
        TSRI_INFO("stop: %s is %.3g, not above %g: the run ends after round %lld of %lld", name,
                  value_of(&run->settings, &run->position), limit_of(&run->settings),
                  (long long)run->position.round, (long long)run->settings.rounds);
}

tsr_status tsri_iterate_take_best(tsri_run *run, bool *taken)
{
    *taken = run->best_w && run->position.best_iterate >= 0 &&
             run->position.best_iterate != run->position.round;
    if (!*taken)
        return TSR_OK;
    return run->store.heap->within(run->store.w, run->best_w,
                                   run->net->total * run->store.real_bytes);
}
