/* convert_run.c - a gated net made into a ReLU net within a run. See convert_run.h. */
#include "train/convert_run.h"

#include "base/alloc.h"
#include "base/log.h"
#include "convert/convert_pair.h"
#include "linalg/gemm64.h"
#include "linalg/lapack.h"
#include "model/whole.h"
#include "run/metrics_lines.h"
#include "run/recipe.h"
#include "scheme/scheme.h"
#include "train/checkpoint.h"

#include <math.h>
#include <stdio.h>

static bool least_squares(const tsri_run *run)
{
    return tsri_config_bool(run->settings.config, "convert_least_squares");
}

/* ---- Before the run ------------------------------------------------------------------------ */

static tsr_status choose_round(tsri_run *run, double epoch)
{
    tsr_status st = TSR_OK;
    int64_t round = (int64_t)llround(epoch * run->settings.epoch_rounds);
    run->settings.convert_round = round > 0 ? round : 1;
    TSR_CHECK(run->settings.convert_round <= run->settings.rounds, TSR_USAGE,
              "%s: convert_at is epoch %g but the run ends after %g",
              tsri_config_place(run->settings.config, "convert_at"), epoch,
              (double)run->settings.rounds / run->settings.epoch_rounds);
done:
    return st;
}

tsr_status tsri_convert_init(tsri_run *run)
{
    tsr_status st = TSR_OK;
    const tsr_config *c = run->settings.config;
    double epoch = tsri_config_real(c, "convert_at");
    const char *place = tsri_config_place(c, "convert_at");
    int64_t n = run->data->train.n, m = tsri_config_int(c, "model.width");
    run->settings.convert_round = run->position.converted = -1;
    if (epoch <= 0)
        return TSR_OK;
    TSR_CHECK(tsri_model_of(c)->gated, TSR_USAGE,
              "%s: convert_at makes a gated net into a ReLU net: use model: grelu, not %s", place,
              tsri_config_text(c, "model.name"));
    TSR_CHECK(!run->best_w && !run->scores.cut, TSR_USAGE,
              "%s: convert_at leaves nothing to compare the best iterate with: use optim.keep: "
              "last",
              place);
    TSR_CHECK(n <= m || least_squares(run), TSR_USAGE,
              "%s: an equal ReLU net needs at least as many units as training samples (Theorem 2), "
              "but the width is %lld and there are %lld: use data.limit: %lld, a wider net, or "
              "convert_least_squares: true for the nearest one",
              place, (long long)m, (long long)n, (long long)m);
    TSR_TRY(choose_round(run, epoch));
    if (tsri_run_changes_samples(&run->settings))
        TSRI_WARN("%s: the nets will be equal on the images as they are, not on their random "
                  "changes: the loss of a step may jump",
                  place);
done:
    return st;
}

/* a [n, m] = [C x]+ of the training points. */
static tsr_status first_features(double *a, const tsri_run *run, int64_t m)
{
    tsr_status st = TSR_OK;
    const tsr_data *d = run->data;
    const tsri_part *part = &d->train;
    double *x = NULL, *c = NULL;
    float *sample = NULL;
    tsri_opened host = {0};
    TSR_TRY(tsri_store_open(&host, &run->store, TSRI_OPEN_WEIGHTS));
    const float *C = tsri_opened_at(&host, host.w, tsri_net_param(run->net, "c.weight"));
    TSR_TRY(tsri_alloc(&x, part->n * d->dim, sizeof *x));
    TSR_TRY(tsri_alloc(&c, m * d->dim, sizeof *c));
    TSR_TRY(tsri_alloc(&sample, d->dim, sizeof *sample));
    for (int64_t i = 0; i < part->n; i++) {
        tsri_sample(sample, d, part, i);
        for (int64_t j = 0; j < d->dim; j++)
            x[i * d->dim + j] = (double)sample[j];
    }
    for (int64_t j = 0; j < m * d->dim; j++)
        c[j] = (double)C[j];
    tsri_gemm64 g = {
        .b_transposed = true, .m = part->n, .n = m, .k = d->dim, .a = x, .b = c, .c = a};
    TSR_TRY(tsri_gemm64_run(&g, run->device.pool));
    for (int64_t i = 0; i < part->n * m; i++)
        a[i] = fmax(a[i], 0);
done:
    tsri_store_close(&host);
    tsri_free(x);
    tsri_free(c);
    tsri_free(sample);
    return st;
}

tsr_status tsri_convert_prepare(tsri_run *run)
{
    tsr_status st = TSR_OK;
    int64_t n = run->data->train.n, m = tsri_config_int(run->settings.config, "model.width"),
            matrix_rank;
    double *a = NULL, *b = NULL;
    if (run->settings.convert_round < 0 || least_squares(run) || run->settings.options.resume)
        return TSR_OK;
    TSR_TRY(tsri_alloc(&a, n * m, sizeof *a));
    TSR_TRY(tsri_alloc(&b, m, sizeof *b)); /* n <= m; its right side, 0, has the answer 0 */
    TSR_TRY(first_features(a, run, m));
    TSR_TRY(tsri_least_norm(b, a, n, m, 1, TSRI_CONVERT_CUT, &matrix_rank));
    TSR_CHECK(matrix_rank == n, TSR_USAGE,
              "%s: the features before the first layer have matrix rank %lld on the %lld training "
              "samples (some of them are equal, or too few units are on): there will be no "
              "equal ReLU net; use fewer samples, a wider net, or convert_least_squares: true",
              tsri_config_place(run->settings.config, "convert_at"), (long long)matrix_rank,
              (long long)n);
done:
    tsri_free(a);
    tsri_free(b);
    return st;
}

/* ---- The other kind ------------------------------------------------------------------------ */

tsr_status tsri_convert_run_file(tsr_config **out, const tsri_run *run)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_config_copy(out, run->settings.config));
    if (run->position.converted >= 0)
        TSR_TRY(tsri_convert_config(*out));
done:
    if (st != TSR_OK) {
        tsr_config_destroy(*out);
        *out = NULL;
    }
    return st;
}

/* A net of the kind that a run in that position has, and a store for it. */
static tsr_status make(tsri_net **net, tsri_store *store, const tsri_run *run, int64_t converted)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsri_run then = *run;
    then.position.converted = converted;
    *net = NULL;
    *store = (tsri_store){0};
    TSR_TRY(tsri_convert_run_file(&config, &then));
    TSR_TRY(tsri_whole_create(net, config, run->net->input, run->net->outputs,
                              run->device.backend->can.filters));
    TSR_TRY(tsri_store_init(store, *net, run->device.backend, true));
    if (run->settings.optim.adam)
        TSR_TRY(tsri_store_add_variance(store));
done:
    tsr_config_destroy(config);
    return st;
}

/* Replaces the run's net and store, which it takes over; plans are made again. */
static tsr_status replace(tsri_run *run, tsri_net *net, tsri_store *store, int64_t converted)
{
    bool ready = run->scheme_state != NULL;
    if (ready)
        run->settings.scheme->teardown(run);
    run->scheme_state = NULL;
    tsri_store_fini(&run->store);
    tsri_net_destroy(run->net);
    run->net = net;
    run->store = *store;
    run->position.converted = converted;
    return ready ? run->settings.scheme->setup(run) : TSR_OK;
}

tsr_status tsri_convert_as_saved(tsri_run *run, int64_t converted)
{
    tsr_status st = TSR_OK;
    tsri_net *net = NULL;
    tsri_store store = {0};
    if ((converted < 0) == (run->position.converted < 0)) {
        run->position.converted = converted;
        return TSR_OK;
    }
    TSR_TRY(make(&net, &store, run, converted));
    return replace(run, net, &store, converted);
done:
    tsri_store_fini(&store);
    tsri_net_destroy(net);
    return st;
}

/* ---- The conversion ------------------------------------------------------------------------ */

static tsr_status write_event(tsri_run *run, const tsri_conversion *how, const tsri_judged *train,
                              const tsri_judged *test)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    tsri_event_open(&w, "converted");
    tsri_json_put_int(&w, "round", run->position.round);
    tsri_json_put_real(&w, "epoch", (double)run->position.round / run->settings.epoch_rounds);
    tsri_conversion_json(&w, how);
    tsri_judged_json(&w, "train", train);
    tsri_judged_json(&w, "test", test);
    TSR_TRY(tsri_event_write(run, &w));
done:
    tsri_json_fini(&w);
    return st;
}

static void tell(const tsri_run *run, const tsri_conversion *how, const tsri_judged *train,
                 const tsri_judged *test)
{
    char accuracy[64] = "";
    if (test->n > 0 && !isnan(test->accuracy[0]))
        (void)snprintf(accuracy, sizeof accuracy, ", test accuracy %.2f -> %.2f %%",
                       100 * test->accuracy[0], 100 * test->accuracy[1]);
    TSRI_INFO("after round %lld the gated net became a ReLU net that differs by %.1e at "
              "most over %lld training points and %lld layers; training loss %.6g -> %.6g%s",
              (long long)run->position.round, how->worst, (long long)how->n, (long long)how->layers,
              train->loss[0], train->loss[1], accuracy);
}

/* When a conversion is impossible, what was trained so far must not be lost. */
static void keep_what_there_is(tsri_run *run, tsr_status st)
{
    char why[600];
    (void)snprintf(why, sizeof why, "%s", tsr_last_error());
    bool saved = run->process.metrics && (run->process.saved_round == run->position.round ||
                                          tsri_checkpoint_save(run) == TSR_OK);
    (void)tsri_fail(st, "%s: after round %lld: %s%s",
                    tsri_config_place(run->settings.config, "convert_at"),
                    (long long)run->position.round, why,
                    saved && st == TSR_USAGE
                        ? " (go on with --resume --force and that setting, or convert_at: 0)"
                        : "");
}

static tsr_status convert(tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_net *net = NULL;
    tsri_store store = {0};
    tsri_conversion how;
    tsri_judged train, test;
    tsri_judge_on on = {run->device, run->data, run->settings.loss};
    int64_t p, i;
    bool spoilt;
    TSR_TRY(tsri_store_nonfinite(&spoilt, &run->store, &p, &i));
    TSR_CHECK(
        !spoilt, TSR_DIVERGED,
        "parameter %s is no longer finite at element %lld before it is converted, after round "
        "%lld: lower optim.lr, now %g",
        run->net->param[p].name, (long long)i, (long long)run->position.round,
        tsri_config_real(run->settings.config, "optim.lr"));
    TSR_TRY(make(&net, &store, run, run->position.round));
    st = tsri_convert_pair(&how, &store, &run->store, &on, least_squares(run));
    if (st != TSR_OK)
        keep_what_there_is(run, st);
    TSR_TRY(st);
    TSR_TRY(tsri_judge_pair(&train, &run->store, &store, &on, &run->data->train));
    TSR_TRY(tsri_judge_pair(&test, &run->store, &store, &on, &run->data->test));
    TSR_TRY(write_event(run, &how, &train, &test));
    tell(run, &how, &train, &test);
    run->position.test_loss = test.n > 0 ? test.loss[1] : train.loss[1];
    run->position.test_accuracy = test.n > 0 ? test.accuracy[1] : train.accuracy[1];
    run->position.test_rmse = NAN; /* until the next evaluation */
    return replace(run, net, &store, run->position.round);
done:
    tsri_store_fini(&store);
    tsri_net_destroy(net);
    return st;
}

tsr_status tsri_convert_when_due(tsri_run *run)
{
    bool due =
        run->settings.convert_round >= 0 && run->position.round >= run->settings.convert_round;
    return run->position.converted < 0 && due ? convert(run) : TSR_OK;
}
