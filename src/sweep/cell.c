/* cell.c - one run of a sweep. */
#include "sweep/cell.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/stop.h"
#include "run/evaluate.h"
#include "run/recalibrate.h"
#include "run/when.h"
#include "scheme/schemes.h"
#include "scheme/space.h"
#include "scheme/team.h"
#include "train/average.h"
#include "train/convert_run.h"
#include "train/describe.h"
#include "train/iterate.h"
#include "train/sound.h"

#include <math.h>

tsr_status tsri_cell_check(bool *suits, uint32_t *data, tsr_config *config,
                           const tsri_ground *ground)
{
    tsr_status st = TSR_OK;
    tsri_run run = {.process.lock = -1};
    tsr_run_options options = tsr_run_options_default();
    TSR_TRY(
        tsri_config_unread(config, "on_divergence", "a sweep, whose runs have no checkpoints,"));
    TSR_TRY(tsri_run_init_on(&run, config, &options, ground));
    *suits = tsri_space_suits(&run);
    *data = run.data->hash;
    if (run.settings.scheme->setup)
        TSR_TRY(run.settings.scheme->setup(&run));
done:
    tsri_run_fini(&run);
    return st;
}

/* A cell writes no metrics, and needs no loader threads: the cells beside it need the cores. */
static tsr_status without_extras(tsr_config *config)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsr_config_set(config, "scheme.events=none"));
    TSR_TRY(tsr_config_set(config, "data.prefetch=false"));
done:
    return st;
}

/* Loss and accuracy of the whole network on a part, as a run's evaluation has them. */
static tsr_status judge(tsr_result *r, tsri_run *run, const tsri_part *part)
{
    return tsri_evaluate(r, &run->store, run->device, run->data, part, run->settings.loss);
}

/* The same between two rounds. */
static tsr_status judge_now(tsr_result *r, tsri_run *run, const tsri_part *part)
{
    tsr_status st = TSR_OK;
    tsri_average_swap(run);
    TSR_TRY(tsri_recalibrate(run));
    TSR_TRY(judge(r, run, part));
done:
    tsri_average_swap(run);
    return st;
}

static tsr_status compare_iterates(tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_average_swap(run);
    TSR_TRY(tsri_recalibrate(run));
    if (run->settings.patience) {
        tsr_result r = tsr_result_default();
        TSR_TRY(judge(&r, run, &run->data->test));
        run->position.test_loss = r.loss;
        run->position.test_accuracy = r.accuracy;
    }
    TSR_TRY(tsri_iterate_judge(run));
done:
    tsri_average_swap(run);
    return st;
}

/* After this round, as in a run: where it is due, and where a ranking of filters ends it. */
static bool is_judged(const tsri_run *run)
{
    const tsri_settings *s = &run->settings;
    return (s->judges_training || s->patience) && (tsri_due(s, run->position.round, "eval.every") ||
                                                   tsri_iterate_enough(s, &run->position));
}

static tsr_status note_round(tsri_outcome *outcome, tsri_run *run, int64_t every)
{
    tsr_status st = TSR_OK;
    tsr_result r = tsr_result_default();
    if (!outcome->curve || (every > 1 && run->position.round % every != 0))
        return TSR_OK;
    if (tsri_team_space(run))
        TSR_TRY(tsri_space_loss(&r.loss, tsri_team_space(run)));
    else
        TSR_TRY(judge_now(&r, run, &run->data->train));
    outcome->curve[outcome->curve_count++] = r.loss;
done:
    return st;
}

/* Whether an equal ReLU net exists is only known when it is made: if not, this cell ends, and the
 * others go on. */
static tsr_status convert_when_due(tsri_outcome *outcome, tsri_run *run)
{
    tsr_status st = tsri_convert_when_due(run);
    if (st == TSR_USAGE && tsri_strdup(&outcome->refused, tsr_last_error()) != TSR_OK)
        st = TSR_RESOURCES;
    return st;
}

static tsr_status all_rounds(tsri_outcome *outcome, tsri_run *run, int64_t curve_every)
{
    tsr_status st = TSR_OK;
    while (run->position.round < run->settings.rounds &&
           !tsri_iterate_enough(&run->settings, &run->position)) {
        tsri_mean before = run->position.recent;
        TSR_TRY(run->settings.scheme->round(run));
        TSR_TRY(tsri_check_loss(run, &before));
        run->position.round++;
        TSR_TRY(tsri_average_round(run));
        TSR_TRY(note_round(outcome, run, curve_every));
        TSR_TRY(tsri_iterate_scores(run));
        if (is_judged(run))
            TSR_TRY(compare_iterates(run));
        TSR_TRY(convert_when_due(outcome, run));
        TSR_TRY(tsri_stop_heed());
    }
done:
    outcome->rounds = run->position.round;
    return st;
}

static tsr_status judge_the_end(tsri_outcome *outcome, tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsr_result train = tsr_result_default(), test = tsr_result_default();
    bool best;
    if (tsri_team_space(run))
        TSR_TRY(tsri_space_weights(tsri_team_space(run)));
    TSR_TRY(tsri_iterate_take_best(run, &best));
    if (!best)
        tsri_average_swap(run);
    TSR_TRY(tsri_recalibrate(run));
    TSR_TRY(tsri_check_sound(run));
    TSR_TRY(judge(&train, run, &run->data->train));
    test = train;
    if (run->data->test.n > 0)
        TSR_TRY(judge(&test, run, &run->data->test));
    TSR_CHECK(isfinite(train.loss) && isfinite(test.loss), TSR_DIVERGED, "not finite");
    outcome->loss = test.loss;
    outcome->accuracy = test.accuracy;
    outcome->train_loss = train.loss;
done:
    return st;
}

/* Plain descent has no team; one whole share, which nobody has to send, is the same to the bit. */
static const tsri_scheme whole = {.name = "dense", .keys = "", .draw = TSRI_DRAW_WHOLE, TSRI_TEAM};

static void go_to_samples(tsri_run *run)
{
    run->settings.on_samples = true;
    if (run->settings.scheme->plain)
        run->settings.scheme = &whole;
}

tsr_status tsri_cell_run(tsri_outcome *outcome, tsr_config *config, const tsri_ground *ground,
                         const tsri_sweep_options *options)
{
    tsr_status st = TSR_OK;
    tsri_run run = {.process.lock = -1};
    tsr_run_options plain = tsr_run_options_default();
    *outcome = (tsri_outcome){.loss = NAN, .accuracy = NAN, .train_loss = NAN};
    TSR_TRY(without_extras(config));
    TSR_TRY(tsri_run_init_on(&run, config, &plain, ground));
    if (options->curves)
        TSR_TRY(tsri_alloc(&outcome->curve, run.settings.rounds, sizeof *outcome->curve));
    if (!options->weights && tsri_space_fits(&run))
        go_to_samples(&run);
    if (run.settings.scheme->setup)
        TSR_TRY(run.settings.scheme->setup(&run));
    TSR_TRY(all_rounds(outcome, &run, options->curve_every));
    TSR_TRY(judge_the_end(outcome, &run));
done:
    outcome->bytes = run.settings.scheme == &whole ? 0 : run.position.bytes_total;
    outcome->seconds = tsri_clock() - run.process.started;
    tsri_run_fini(&run);
    if (st == TSR_DIVERGED) {
        outcome->diverged = true;
        st = TSR_OK;
    }
    if (outcome->refused)
        st = TSR_OK;
    if (st != TSR_OK)
        TSRI_FREE(outcome->curve);
    return st;
}
