/* assume.c - the words of assumptions, and which of them a run's way of training breaks. */
#include "theory/assume.h"

#include "io/json.h"
#include "run/recipe.h"
#include "scheme/team.h"
#include "theory/papers.h"
#include "theory/rates.h"

#include <string.h>

const char *tsri_assumption_words(unsigned bits)
{
    static const char *const words[] = {
#define X(name, words) words,
        TSRI_ASSUMPTION_LIST(X)
#undef X
    };
    for (int i = 0; i < TSRI_ASSUMPTIONS; i++)
        if (bits & 1u << i)
            return words[i];
    return "?";
}

static void optimiser(tsri_certificate *c, const tsri_run_view *view)
{
    tsri_rates rates = tsri_rates_of(view->settings, view->position);
    if (rates.most <= 0)
        tsri_certify_breach(c, TSRI_CONSTANT_RATE, "the rate is 0: nothing is trained");
    if (!rates.constant)
        tsri_certify_breach(c, TSRI_CONSTANT_RATE,
                            view->position->rollbacks > 0
                                ? "the run diverged and its rate was halved: it goes from %.4g to "
                                  "%.4g"
                                : "the rate goes from %.4g to %.4g",
                            rates.most, rates.least);
    if (view->settings->optim.adam)
        tsri_certify_breach(c, TSRI_NO_MOMENTUM, "the optimiser is %s",
                            tsri_config_text(view->settings->config, "optim.name"));
    else if (view->settings->optim.momentum > 0)
        tsri_certify_breach(c, TSRI_NO_MOMENTUM, "momentum is %.4g",
                            view->settings->optim.momentum);
    if (view->settings->optim.decay > 0)
        tsri_certify_breach(c, TSRI_NO_DECAY, "weight decay is %.4g", view->settings->optim.decay);
    if (!tsri_config_is(view->settings->config, "precision", "f32"))
        tsri_certify_breach(c, TSRI_SINGLE_PRECISION, "products are of %s numbers",
                            tsri_config_text(view->settings->config, "precision"));
}

/* The step is descent on a loss; what else is done to it no theorem knows. */
static void recipe(tsri_certificate *c, const tsri_run_view *view)
{
    unsigned loss = TSRI_NO_MOMENTUM | TSRI_PAPER_LOSS | TSRI_LIPSCHITZ_LOSS | TSRI_SMOOTH_LOSS;
    if (view->settings->smoothing > 0)
        tsri_certify_breach(c, loss, "labels are smoothed by %.4g", view->settings->smoothing);
    if (view->settings->optim.clip > 0)
        tsri_certify_breach(c, TSRI_NO_MOMENTUM, "gradients are clipped to %.4g",
                            view->settings->optim.clip);
    if (view->settings->ema > 0)
        tsri_certify_breach(c, TSRI_NO_MOMENTUM, "the model is an average of weights");
    if (view->settings->class_weight)
        tsri_certify_breach(c, loss, "classes have weights");
}

static void batches(tsri_certificate *c, const tsri_run_view *view)
{
    bool part = view->settings->batch < view->data->train.n;
    if (part)
        tsri_certify_breach(c, TSRI_FULL_BATCHES, "a step sees %lld of %lld samples",
                            (long long)view->settings->batch, (long long)view->data->train.n);
    else if (view->settings->independent)
        tsri_certify_breach(c, TSRI_FULL_BATCHES, "a step sees samples drawn with replacement");
    if (part && !view->settings->independent)
        tsri_certify_breach(c, TSRI_INDEPENDENT_BATCHES,
                            "batches are drawn without replacement, epoch by epoch");
    if (view->settings->shard && view->settings->workers > 1)
        tsri_certify_breach(c, TSRI_COMMON_DATA, "every worker has its own part of the data");
    if (tsri_run_changes_samples(view->settings))
        tsri_certify_breach(c, TSRI_FIXED_SAMPLES, "images are changed at random");
}

/* Does a unit have another chance in one share than in another? */
static bool unequal(const tsri_draw *draw)
{
    for (int64_t l = 1; draw->weight && l < draw->workers; l++)
        if (draw->weight[l] != draw->weight[0])
            return true;
    return false;
}

/* Descent on the whole is the case of one share with every unit. */
static void shares(tsri_certificate *c, const tsri_run_view *view)
{
    const tsri_draw *draw = tsri_team_draws(view->team);
    if (draw && !(view->settings->workers == 1 && tsri_draw_chance(draw, 0) >= 1))
        tsri_certify_breach(c, TSRI_WHOLE_NETWORK, "scheme %s trains %lld share%s a round",
                            view->settings->scheme->name, (long long)view->settings->workers,
                            view->settings->workers == 1 ? "" : "s");
    if (view->settings->local_steps > 1)
        tsri_certify_breach(c, TSRI_ONE_LOCAL_STEP, "a round has %lld local steps",
                            (long long)view->settings->local_steps);
    if (draw && !tsri_config_is(view->settings->config, "scheme.wire", "f32"))
        tsri_certify_breach(c, TSRI_SINGLE_PRECISION, "shares travel as %s",
                            tsri_config_text(view->settings->config, "scheme.wire"));
    if (!draw || (view->settings->workers == 1 && tsri_draw_chance(draw, 0) >= 1))
        return;
    bool chunks = draw->kind == TSRI_DRAW_CHUNKS;
    if (chunks || draw->kind == TSRI_DRAW_CATEGORICAL)
        tsri_certify_breach(c, TSRI_BERNOULLI_MASKS, "every unit is in exactly one share");
    else
        tsri_certify_breach(c, TSRI_CATEGORICAL_MASKS, "shares are thrown each by itself");
    if (chunks)
        tsri_certify_breach(c, TSRI_CATEGORICAL_MASKS | TSRI_INDEPENDENT_UNITS,
                            "units are dealt in equal chunks");
    if (unequal(draw))
        tsri_certify_breach(c, TSRI_CATEGORICAL_MASKS | TSRI_EQUAL_SHARES,
                            "workers have unequal weights");
}

/* ---- Settings that changed on the way ------------------------------------------------------ */

/* All that is assumed of the way of training. */
static const unsigned WAY = ((TSRI_SINGLE_PRECISION << 1) - 1) & ~(unsigned)TSRI_DRAWN_START;

/* Keys that say how long a run is and when one looks, and nothing of how it is trained. */
static bool is_about_training(const char *key)
{
    static const char *const other[] = {"rounds:", "epochs:", "certify.",  "checkpoint.", "eval.",
                                        "stop.",   "ticket.", "distance.", "threads:"};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (strncmp(key, other[i], strlen(other[i])) == 0)
            return false;
    return true;
}

/* `changes` as tsri_config_differences writes them: "optim.lr: 0.1 -> 0.2", one a line. */
static void changed_settings(tsri_certificate *c, const char *changes, int64_t round)
{
    for (const char *line = changes; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (is_about_training(line))
            tsri_certify_breach(c, WAY, "until round %lld other settings were used: %.*s",
                                (long long)round, (int)strcspn(line, "\n"), line);
}

static tsr_status forced_event(tsri_certificate *c, const char *line, int64_t n)
{
    tsr_status st = TSR_OK;
    tsri_json_value *event = NULL;
    const char *what = "", *change = "";
    int64_t round = 0;
    TSR_TRY(tsri_json_parse(&event, line, n, "a record of --force"));
    (void)tsri_json_as_int(tsri_json_get(event, "round"), &round);
    (void)tsri_json_as_text(tsri_json_get(event, "what"), &what);
    (void)tsri_json_as_text(tsri_json_get(event, "change"), &change);
    if (strcmp(what, "run file") == 0)
        changed_settings(c, change, round);
    if (strcmp(what, "data") == 0)
        tsri_certify_breach(c, WAY | TSRI_DRAWN_START, "until round %lld other data were used",
                            (long long)round);
done:
    tsri_json_destroy(event);
    return st;
}

/* A run that --force resumed with other settings was trained in two ways: what is known of the
 * second says nothing of all rounds. */
static void forced(tsri_certificate *c, const tsri_run_view *view)
{
    for (const char *line = view->forced; line && *line && c->st == TSR_OK;) {
        size_t n = strcspn(line, "\n");
        c->st = forced_event(c, line, (int64_t)n);
        line += n + (line[n] == '\n');
    }
}

/* ---- All of it ----------------------------------------------------------------------------- */

bool tsri_plain_steps(const tsri_run_view *view)
{
    const tsr_config *c = view->settings->config;
    return !tsri_optim_remembers(&view->settings->optim) && view->settings->optim.clip == 0 &&
           !(view->settings->optim.decay > 0) && view->settings->batch == view->data->train.n &&
           !view->settings->independent &&
           !(view->settings->shard && view->settings->workers > 1) &&
           !tsri_run_changes_samples(view->settings) && tsri_config_is(c, "precision", "f32") &&
           tsri_config_is(c, "scheme.wire", "f32") && !tsri_config_is(c, "scheme.scale", "none");
}

void tsri_assume_run(tsri_certificate *c, const tsri_run_view *view)
{
    optimiser(c, view);
    recipe(c, view);
    batches(c, view);
    shares(c, view);
    forced(c, view);
    if (view->given || tsri_config_text(view->settings->config, "model.from_relu"))
        tsri_certify_breach(c, TSRI_DRAWN_START, "the run began with a model's weights");
}
