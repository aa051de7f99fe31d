/* LoFT: which axes are cut on which model, identities to the bit (one worker is plain training,
 * LoFT is IST on the inner axes of its stages), the whole network's statistics measured anew. */
#include "run_testing.h"

#include "run/recalibrate.h"
#include "run/recipe.h"
#include "scheme/team.h"
#include "subnet/filters.h"
#include "train/describe.h"

#include <math.h>

static const char preresnet[] = "data: {name: glyphs, n: 24, test_n: 4}\n"
                                "model: {name: preresnet18, width: 3}\n"
                                "batch: 4\noptim: {lr: 0.05, momentum: 0.9}\nrounds: 100\n";
static const char vgg[] = "data: {name: glyphs, n: 24, test_n: 4}\nmodel: {name: vgg11, width: 3}\n"
                          "batch: 4\noptim: {lr: 0.05, momentum: 0.9}\nrounds: 100\n";
static const char mlp[] = "data: {name: glyphs, n: 60, test_n: 4}\n"
                          "model: {name: mlp, hidden: [9, 5], norm: batch}\n"
                          "batch: 20\nrounds: 100\noptim: {lr: 0.05}\n";

/* ---- Which axes --------------------------------------------------------------------------- */

static tsri_net *net_of(const char *settings)
{
    static const char text[] = "model: {width: 4}\n";
    tsri_net *net = NULL;
    tsr_config *config = make_config(text, settings);
    assert_ok(tsri_net_create(&net, config, (tsri_shape){3, 32, 32}, 10, true));
    tsr_config_destroy(config);
    return net;
}

static void expect_cut(const char *model, const tsri_filters *f, const char *expected)
{
    char have[1000] = "";
    bool cut[200];
    tsri_net *net = net_of(model);
    assert_true(net->axes <= 200);
    assert_ok(tsri_filters_choose(cut, net, f));
    for (int64_t a = 0; a < net->axes; a++)
        if (cut[a]) {
            assert_true(net->axis[a].cuttable);
            (void)strcat(strcat(have, net->axis[a].name), " ");
        }
    assert_string_equal(have, expected);
    tsri_net_destroy(net);
}

static void the_papers_axes(void **state)
{
    (void)state;
    const tsri_filters paper = {0};
    static const char eighteen[] = "layer2.1.inner layer3.1.inner layer4.1.inner ";
    static const char thirty_four[] = "layer2.1.inner layer2.2.inner layer2.3.inner layer3.1.inner "
                                      "layer3.2.inner layer3.3.inner layer3.4.inner layer3.5.inner "
                                      "layer4.1.inner layer4.2.inner ";
    expect_cut("model.name=preresnet18", &paper, eighteen);
    expect_cut("model.name=resnet18", &paper, eighteen);
    expect_cut("model.name=preresnet34", &paper, thirty_four);
    expect_cut("model.name=resnet34", &paper, thirty_four);
    expect_cut("model.name=wideresnet", &paper, "layer2.1.inner layer3.1.inner ");
    /* conv 0 | 1 | 2 3 | 4 5 | 6 7: the first of each pair */
    expect_cut("model.name=vgg11", &paper,
               "features.8.filters features.15.filters features.22.filters ");
}

static void axes_by_stage(void **state)
{
    (void)state;
    const int64_t stages[] = {1, 3};
    tsri_filters f = {.stage = stages, .stages = 2};
    expect_cut("model.name=preresnet18", &f, "layer1.0.inner layer1.1.inner layer3.1.inner ");
    f.strided = true;
    expect_cut("model.name=preresnet18", &f,
               "layer1.0.inner layer1.1.inner layer3.0.inner layer3.1.inner ");
}

static void axes_refused(void **state)
{
    (void)state;
    const int64_t fifth[] = {5}, second[] = {2};
    const tsri_filters paper = {0}, none = {.stage = fifth, .stages = 1},
                       lone = {.stage = second, .stages = 1};
    bool cut[200];
    tsri_net *net = net_of("model.name=mlp");
    assert_fails(tsri_filters_choose(cut, net, &paper), TSR_USAGE, "no pairs of convolutions");
    tsri_net_destroy(net);
    net = net_of("model.name=preresnet18");
    assert_fails(tsri_filters_choose(cut, net, &none), TSR_USAGE, "its stages are 1 to 4");
    tsri_net_destroy(net);
    net = net_of("model.name=vgg11");
    assert_fails(tsri_filters_choose(cut, net, &lone), TSR_USAGE, "nothing is left to cut");
    tsri_net_destroy(net);
}

/* ---- Rounds ------------------------------------------------------------------------------- */

static void one_worker_is_plain_training(void **state)
{
    (void)state;
    const char *loft = "scheme.name=loft;scheme.local_steps=3;scheme.momentum=carry";
    both_same(after(preresnet, "", 6), after(preresnet, loft, 2));
    both_same(after(vgg, "", 6), after(vgg, loft, 2));
    both_same(
        after(preresnet, "backend=ref;data.limit=8", 3),
        after(preresnet, "backend=ref;data.limit=8;scheme.name=loft;scheme.momentum=carry", 3));
}

static void loft_is_ist_on_inner_axes(void **state)
{
    (void)state;
    const char *loft = "scheme.name=loft;scheme.workers=3;scheme.local_steps=2;"
                       "scheme.stages=[3, 4];scheme.strided=true";
    const char *ist = "scheme.name=ist;scheme.workers=3;scheme.local_steps=2;scheme.axes="
                      "layer3.0.inner,layer3.1.inner,layer4.0.inner,layer4.1.inner";
    both_same(after(preresnet, loft, 2), after(preresnet, ist, 2));
    both_same(
        after(preresnet,
              "scheme.name=loft;scheme.workers=2;scheme.stages=[1, 2, 3, 4];scheme.strided=true",
              2),
        after(preresnet, "scheme.name=loft;scheme.workers=2;scheme.axes=all", 2));
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    const char *const loft = "scheme.name=loft;scheme.workers=3;scheme.local_steps=2;threads=";
    outcome one = after(preresnet,
                        "scheme.name=loft;scheme.workers=3;scheme.local_steps=2;"
                        "threads=1",
                        2);
    for (int threads = 2; threads <= 7; threads += 5) {
        char settings[200];
        (void)snprintf(settings, sizeof settings, "%s%d", loft, threads);
        outcome other = after(preresnet, settings, 2);
        assert_memory_equal(one.w, other.w, (size_t)one.count * sizeof(float));
        tsri_free(other.w);
    }
    tsri_free(one.w);
}

/* Table 1's factors: parameters of the whole over those of a share, PreActResNet of width 64. */
static void shares_of_the_paper(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        int64_t workers;
        double printed;
    } rows[] = {{"model.name=preresnet18;model.width=64", 2, 1.38},
                {"model.name=preresnet18;model.width=64", 4, 1.72},
                {"model.name=preresnet34;model.width=64", 2, 1.61},
                {"model.name=preresnet34;model.width=64", 4, 2.34}};
    for (int i = 0; i < 4; i++) {
        bool cut[200];
        const tsri_filters paper = {0};
        int64_t share = 0;
        tsri_net *net = net_of(rows[i].model);
        assert_ok(tsri_filters_choose(cut, net, &paper));
        for (int64_t p = 0; p < net->params; p++) {
            int64_t n = net->param[p].role == TSRI_TRAINED ? net->param[p].count : 0;
            for (int d = 0; d < net->param[p].dims; d++)
                if (net->param[p].axis[d] >= 0 && cut[net->param[p].axis[d]])
                    n /= rows[i].workers;
            share += n;
        }
        double factor = (double)net->trained / (double)share;
        assert_true(fabs(factor / rows[i].printed - 1) < 0.01); /* printed with three digits */
        tsri_net_destroy(net);
    }
}

/* ---- Recalibration ------------------------------------------------------------------------ */

/* By hand, in double: the first norm of an mlp sees W x + b. */
static void expected_statistics(tsri_run *run, int64_t unit, double *mean, double *var)
{
    const tsri_net *net = run->net;
    const float *w = touch(tsri_store_at(&run->store, run->store.w, net->layer[0].weight));
    const float *bias = touch(tsri_store_at(&run->store, run->store.w, net->layer[0].bias));
    int64_t dim = run->data->dim;
    tsri_loader *loader = NULL;
    tsri_loader_options o = tsri_run_loader(&run->settings, run->settings.workers);
    *mean = *var = 0;
    assert_ok(tsri_loader_create(&loader, run->data, &run->data->train, &o));
    for (int64_t k = 0; k < run->settings.recalibrate; k++) {
        const tsri_batch *b = NULL;
        double z[20], m = 0, s = 0;
        assert_ok(tsri_loader_get(loader, &b, k));
        for (int64_t i = 0; i < 20; i++) {
            z[i] = (double)bias[unit];
            for (int64_t d = 0; d < dim; d++)
                z[i] += (double)w[unit * dim + d] * (double)b->x[i * dim + d];
            m += z[i] / 20;
        }
        for (int64_t i = 0; i < 20; i++)
            s += (z[i] - m) * (z[i] - m) / 19; /* unbiased, as running variances are */
        *mean += m / (double)run->settings.recalibrate;
        *var += s / (double)run->settings.recalibrate;
    }
    tsri_loader_destroy(loader);
}

static void statistics_are_those_of_the_whole(void **state)
{
    (void)state;
    tsr_config *config = make_config(mlp, "scheme.name=ist;scheme.workers=2;"
                                          "scheme.local_steps=3;scheme.recalibrate=3");
    tsr_run_options options = tsr_run_options_default();
    tsri_run run;
    assert_ok(tsri_run_init(&run, config, &options));
    assert_ok(run.settings.scheme->setup(&run));
    assert_ok(run.settings.scheme->round(&run));
    const tsri_layer *norm = &run.net->layer[1];
    float *mean = touch(tsri_store_at(&run.store, run.store.w, norm->mean)),
          *var = touch(tsri_store_at(&run.store, run.store.w, norm->var)),
          *tracked = touch(tsri_store_at(&run.store, run.store.w, norm->tracked));
    float counted = *tracked, first = 0;
    for (int pass = 0; pass < 2; pass++) { /* what stood there before does not matter */
        mean[0] = pass ? 1e20F : 0;
        assert_ok(tsri_recalibrate(&run));
        assert_true(*tracked == counted);
        if (pass == 0)
            first = mean[0];
        assert_true(mean[0] == first);
        for (int64_t unit = 0; unit < 9; unit++) {
            double m, v;
            expected_statistics(&run, unit, &m, &v);
            /* sums of 784 products and 20 samples in float: some 1e-6 of their size, about 1 */
            assert_true(fabs((double)mean[unit] - m) < 1e-5 * (1 + fabs(m)));
            assert_true(fabs((double)var[unit] - v) < 1e-5 * (1 + v));
        }
    }
    tsri_run_fini(&run);
    tsr_config_destroy(config);
}

/* Where it happens by itself: shares whose convolutions read less. */
static void recalibrated_where_needed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *settings;
        int64_t batches;
    } rows[] = {{preresnet, "scheme.name=loft;scheme.workers=2", 16},
                {preresnet, "scheme.name=loft;scheme.workers=1", 0},
                {preresnet, "scheme.name=loft;scheme.workers=2;scheme.recalibrate=5", 5},
                {preresnet, "scheme.name=masked;scheme.xi=0.5", 16},
                {preresnet, "scheme.name=local_sgd;scheme.workers=2", 0},
                {mlp, "scheme.name=ist;scheme.workers=2", 0}};
    for (int i = 0; i < 6; i++) {
        tsr_config *config = make_config(rows[i].text, rows[i].settings);
        tsr_run_options options = tsr_run_options_default();
        tsri_run run;
        assert_ok(tsri_run_init(&run, config, &options));
        assert_ok(run.settings.scheme->setup(&run));
        assert_int_equal(run.settings.recalibrate, rows[i].batches);
        tsri_run_fini(&run);
        tsr_config_destroy(config);
    }
}

/* ---- Refusals and faults ------------------------------------------------------------------ */

static void refusals(void **state)
{
    (void)state;
    refuse(mlp, "scheme.name=loft", "no pairs of convolutions");
    refuse(preresnet, "scheme.name=loft;scheme.stages=[9]", "scheme.stages");
    refuse(preresnet, "scheme.name=loft;scheme.workers=7", "7 workers cannot share the 6 units");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    walk_allocations(mlp,
                     "threads=1;data.prefetch=false;scheme.name=loft;scheme.axes=hidden.0;"
                     "scheme.workers=2;scheme.recalibrate=1",
                     1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_axes),
        cmocka_unit_test(axes_by_stage),
        cmocka_unit_test(axes_refused),
        cmocka_unit_test(one_worker_is_plain_training),
        cmocka_unit_test(loft_is_ist_on_inner_axes),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(shares_of_the_paper),
        cmocka_unit_test(statistics_are_those_of_the_whole),
        cmocka_unit_test(recalibrated_where_needed),
        cmocka_unit_test(refusals),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
