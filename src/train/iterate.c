/* iterate.c - which iterate a run hands over, and when it has had enough.
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
#include "run/when.h"
#include "scheme/rules.h"
#include "scheme/space.h"
#include "scheme/team.h"

#include <math.h>
#include <string.h>

static bool stops_at(const tsri_settings *s, const char *metric)
{
    return strcmp(tsri_config_text(s->config, "stop.metric"), metric) == 0;
}

/* Does it stop when the test set has shown nothing better for a while? */
static bool is_patient(const tsri_settings *s)
{
    return stops_at(s, "test_error") || stops_at(s, "test_loss");
}

static bool keeps_best(const tsri_settings *s)
{
    const char *keep = tsri_config_text(s->config, "optim.keep");
    bool wanted = tsri_model_of(s->config)->keeps_best && !s->gd;
    return strcmp(keep, "best") == 0 || (strcmp(keep, "auto") == 0 && (wanted || is_patient(s)));
}

static bool by_ranks(const tsri_settings *s)
{
    return stops_at(s, "filter_distance") || stops_at(s, "mask_distance");
}

/* Does anybody want to know how filters rank? */
static tsr_status watch_ranks(tsri_run *run)
{
    tsr_status st = TSR_OK;
    bool stops = by_ranks(&run->settings), *cut = NULL;
    run->settings.scores_every = tsri_config_real(run->settings.config, "distance.every");
    if (stops && run->settings.scores_every <= 0)
        run->settings.scores_every = 1;
    if (run->settings.scores_every <= 0)
        return TSR_OK;
    TSR_TRY(tsri_alloc(&cut, run->net->axes, sizeof *cut));
    TSR_TRY(tsri_ticket_axes(cut, run->settings.config, run->net, NULL));
    TSR_TRY(tsri_score_log_init(&run->scores, run->net, cut));
    run->scores.masks = stops_at(&run->settings, "mask_distance");
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
    run->position.train_loss = run->position.train_accuracy = NAN;
    run->position.best_loss = INFINITY;
    run->position.best_iterate = -1;
    TSR_CHECK(!(stops_at(&run->settings, "error") || stops_at(&run->settings, "test_error")) ||
                  run->data->classes > 0 || run->settings.loss->margin,
              TSR_USAGE,
              "%s: there is no error to stop at, %s has real targets: use loss or test_loss",
              tsri_config_place(run->settings.config, "stop.metric"), run->data->name);
    TSR_CHECK(
        !is_patient(&run->settings) ||
            (run->data->test.n > 0 && tsri_config_real(run->settings.config, "eval.every") > 0),
        TSR_USAGE, "%s: %s is looked at with every evaluation on a test set: %s",
        tsri_config_place(run->settings.config, "stop.metric"),
        tsri_config_text(run->settings.config, "stop.metric"),
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
    run->settings.judges_training = (run->best_w && !run->settings.patience) ||
                                    stops_at(&run->settings, "error") ||
                                    stops_at(&run->settings, "loss");
done:
    return st;
}

/* Is this one better than all before it? Then it is kept. */
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
        TSR_TRY(compare(run, stops_at(&run->settings, "test_loss")
                                 ? run->position.test_loss
                                 : 1 - run->position.test_accuracy));
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
    if (below >= 0)
        return below;
    if (stops_at(s, "mask_distance"))
        return 0.1;                                   /* You et al. 2019, section 3.3 */
    return stops_at(s, "filter_distance") ? 0.05 : 0; /* docs/measurements/tickets.md */
}

bool tsri_iterate_enough(const tsri_settings *s, const tsri_run_position *p)
{
    double below = limit_of(s);
    return (s->patience && p->stale >= s->patience) ||
           (stops_at(s, "error") && 1 - p->train_accuracy <= below) ||
           (stops_at(s, "loss") && p->train_loss <= below) ||
           (by_ranks(s) && p->ranking_change <= below);
}

void tsri_iterate_say_enough(const tsri_run *run)
{
    double value = by_ranks(&run->settings)            ? run->position.ranking_change
                   : stops_at(&run->settings, "error") ? 1 - run->position.train_accuracy
                                                       : run->position.train_loss;
    if (run->position.round < run->settings.rounds && run->settings.patience)
        TSRI_INFO("stop: %s was lowest, %.4g, after round %lld and has not fallen for %lld "
                  "evaluations: the run ends after round %lld of %lld%s",
                  tsri_config_text(run->settings.config, "stop.metric"), run->position.best_loss,
                  (long long)run->position.best_iterate, (long long)run->position.stale,
                  (long long)run->position.round, (long long)run->settings.rounds,
                  run->best_w ? ", the best iterate is the model" : "");
    else if (run->position.round < run->settings.rounds)
        TSRI_INFO("stop: %s is %.3g, not above %g: the run ends after round %lld of %lld",
                  tsri_config_text(run->settings.config, "stop.metric"), value,
                  limit_of(&run->settings), (long long)run->position.round,
                  (long long)run->settings.rounds);
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
