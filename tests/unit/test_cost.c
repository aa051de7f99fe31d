/* What is counted without training is what training counts: bytes to the byte for every scheme,
 * memory that of the plan a worker makes. Times by the model's formula, worked by hand. */
#include "run_testing.h"

#include "scheme/cost.h"
#include "scheme/schemes.h"
#include "scheme/team.h"
#include "subnet/cut.h"
#include "train/describe.h"

#include <math.h>

static const char mlp[] = "data: {name: glyphs, n: 60, test_n: 4}\n"
                          "model: {name: mlp, hidden: [9, 7], norm: batch}\n"
                          "batch: 12\nrounds: 9\noptim: {lr: 0.05, momentum: 0.9}\n";
static const char preresnet[] =
    "data: {name: glyphs, n: 24, test_n: 4, channels: 3}\nmodel: {name: preresnet18, width: 3}\n"
    "batch: 4\noptim: {lr: 0.05, momentum: 0.9}\nrounds: 2\n";

static tsr_cost cost_of(const char *text, const char *settings)
{
    tsr_cost cost = tsr_cost_default();
    tsr_config *config = make_config(text, settings);
    assert_ok(tsr_cost_count(&cost, config, NULL));
    tsr_config_destroy(config);
    return cost;
}

/* ---- Bytes -------------------------------------------------------------------------------- */

static void bytes_are_the_runs(const char *text, const char *settings)
{
    tsr_cost cost = cost_of(text, settings);
    tsr_config *config = make_config(text, settings);
    tsr_run_options options = tsr_run_options_default();
    tsri_run run;
    int64_t first = 0;
    assert_ok(tsri_run_init(&run, config, &options));
    assert_ok(run.settings.scheme->setup(&run));
    for (; run.position.round < run.settings.rounds; run.position.round++) {
        assert_ok(run.settings.scheme->round(&run));
        first = run.position.round == 0 ? run.position.bytes_total : first;
    }
    assert_true(cost.exact);
    assert_int_equal(cost.rounds, run.settings.rounds);
    assert_int_equal(cost.bytes_round, first);
    assert_int_equal(cost.bytes_total, run.position.bytes_total);
    tsri_run_fini(&run);
    tsr_config_destroy(config);
}

static void bytes_of_every_scheme(void **state)
{
    (void)state;
    static const char *const settings[] = {
        "scheme.name=dense",
        "scheme.name=dense;scheme.micro_batches=3",
        "scheme.name=dropout;scheme.xi=0.6",
        "scheme.name=multisample;scheme.workers=3;scheme.xi=0.3", /* some shares are empty */
        "scheme.name=masked;scheme.workers=3;scheme.xi=0.5;scheme.local_steps=2",
        "scheme.name=masked;scheme.workers=3;scheme.draw=categorical;scheme.momentum=carry",
        "scheme.name=ist;scheme.workers=4;scheme.local_steps=2",
        "scheme.name=ist;scheme.workers=3;scheme.weights=[1, 2, 3];scheme.momentum=carry",
        "scheme.name=loft;scheme.workers=2;scheme.axes=hidden.1",
        "scheme.name=local_sgd;scheme.workers=3;scheme.local_steps=4",
        "scheme.name=gpipe;scheme.workers=3"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        bytes_are_the_runs(mlp, settings[i]);
    bytes_are_the_runs(preresnet, "scheme.name=loft;scheme.workers=4;scheme.local_steps=2");
    bytes_are_the_runs(preresnet, "scheme.name=gpipe;scheme.workers=4");
    for (int i = 0; tsri_schemes[i]; i++)
        assert_non_null(tsri_schemes[i]->cost);
}

/* ---- Memory and sizes --------------------------------------------------------------------- */

/* Three batches of images, the one in use and those ahead of it, with labels and numbers; the order
 * of the 24. */
static int64_t batches_of(int64_t images)
{
    return 3 * images * (3 * 32 * 32 * 4 + 4 + 8) + 24 * 8;
}

static void memory_of_the_whole(void **state)
{
    (void)state;
    tsr_cost cost = cost_of(preresnet, "");
    tsr_config *config = make_config(preresnet, "");
    tsr_run_options options = tsr_run_options_default();
    tsri_run run;
    tsri_plan *plan = NULL;
    assert_ok(tsri_run_init(&run, config, &options));
    assert_ok(tsri_run_plan(&plan, &run));
    int64_t input = 4 * 3 * 32 * 32; /* channels last: the plan's own copy */
    assert_int_equal(cost.memory_worker, (run.net->total + 2 * run.net->trained + input) * 4 +
                                             tsri_plan_bytes(plan) + batches_of(4));
    assert_int_equal(cost.params, run.net->total);
    assert_int_equal(cost.params_share, run.net->total);
    assert_int_equal(cost.flops_step, cost.flops_step_whole);
    tsri_plan_destroy(plan);
    tsri_run_fini(&run);
    tsr_config_destroy(config);
}

static void memory_of_a_share(void **state)
{
    (void)state;
    const char *loft = "scheme.name=loft;scheme.workers=3;scheme.strided=true";
    tsr_cost cost = cost_of(preresnet, loft), whole = cost_of(preresnet, "");
    tsr_config *config = make_config(preresnet, loft);
    tsr_run_options options = tsr_run_options_default();
    tsri_run run;
    tsri_net *small = NULL;
    tsri_store store;
    tsri_plan *plan = NULL;
    const tsri_share *share = NULL;
    bool rescale;
    assert_ok(tsri_run_init(&run, config, &options));
    assert_ok(run.settings.scheme->setup(&run));
    assert_ok(tsri_team_share(&run, &share, &rescale));
    assert_ok(tsri_net_cut(&small, run.net, share, rescale));
    assert_ok(tsri_store_init(&store, small, &tsri_backend_cpu, true));
    assert_ok(tsri_plan_create(&plan, &store, run.device, run.settings.batch, true));
    /* 3 divides 6, 12 and 24: all shares are of one size */
    assert_int_equal(cost.params_share, small->total);
    assert_int_equal(cost.memory_worker, (small->total + 2 * small->trained + 4 * 3 * 32 * 32) * 4 +
                                             tsri_plan_bytes(plan) + batches_of(4));
    assert_true(cost.params_share < whole.params_share);
    assert_true(cost.flops_step < whole.flops_step);
    assert_true(cost.memory_worker < whole.memory_worker);
    tsri_plan_destroy(plan);
    tsri_store_fini(&store);
    tsri_net_destroy(small);
    tsri_run_fini(&run);
    tsr_config_destroy(config);
}

/* Stages are smaller than the whole, and micro-batches need less at a time. (Not so for the
 * smallest nets: each micro-batch has the scratch memory of its kernels.) */
static void memory_of_stages(void **state)
{
    (void)state;
    tsr_cost whole = cost_of(preresnet, "model.width=16;batch=24"),
             stages = cost_of(preresnet, "model.width=16;batch=24;scheme.name=gpipe;"
                                         "scheme.workers=2"),
             micro = cost_of(preresnet, "model.width=16;batch=24;scheme.micro_batches=2");
    assert_true(stages.memory_worker < whole.memory_worker);
    assert_true(micro.memory_worker < whole.memory_worker);
    assert_true(stages.flops_step > whole.flops_step / 2 && stages.flops_step < whole.flops_step);
    assert_int_equal(micro.flops_step, whole.flops_step);
}

/* One stage holds the plans of all its micro-batches at once, where dense training holds one. */
static void memory_of_micro_batches(void **state)
{
    (void)state;
    tsr_cost one = cost_of(preresnet, "batch=24;scheme.micro_batches=3"),
             all = cost_of(preresnet, "batch=24;scheme.micro_batches=3;scheme.name=gpipe");
    int64_t plan = one.memory_worker - (one.params + 3 * one.trained) * 4 - batches_of(24);
    assert_true(plan > 0);
    assert_int_equal(all.memory_worker, one.memory_worker + 2 * plan);
}

/* ---- Data that are not here --------------------------------------------------------------- */

static void described_data(void **state)
{
    (void)state;
    tsr_cost there = cost_of(preresnet, "scheme.name=loft;scheme.workers=2"),
             here = tsr_cost_default();
    tsr_cost_data none = {.samples = 24};
    tsr_config *config =
        make_config(preresnet, "scheme.name=loft;scheme.workers=2;data.name=not-here");
    assert_ok(tsr_cost_count(&here, config, &there.data));
    assert_memory_equal(&there, &here, sizeof here);
    assert_fails(tsr_cost_count(&here, config, &none), TSR_USAGE, "only described");
    tsr_config_destroy(config);
}

/* ---- Times -------------------------------------------------------------------------------- */

static void times_by_hand(void **state)
{
    (void)state;
    const tsr_machine machine = {.flops = 1e9, .bandwidth = 1e6, .latency = 0.01, .sending = 0.1};
    tsr_prediction p;
    tsr_cost team = {.flops_step = 500000000,
                     .local_steps = 4,
                     .rounds = 10,
                     .workers = 2,
                     .bytes_round = 2000000,
                     .local = true};
    tsr_cost_predict(&p, &team, &machine);
    assert_true(fabs(p.seconds_step - 0.5) < 1e-12);
    assert_true(fabs(p.seconds_send - 2.02) < 1e-12); /* two messages' latency, 2 MB */
    assert_true(fabs(p.seconds_round - 4.02) < 1e-12);
    assert_true(fabs(p.seconds_run - 40.2) < 1e-12);
    assert_int_equal(p.local_steps, 37); /* 2.02 of 37 x 0.5 + 2.02 is 9.8 %, of 36 x ... 10.1 % */
    assert_true(fabs(p.seconds_best - 40.0 / 37 * (37 * 0.5 + 2.02)) < 1e-9);
    tsr_cost pipe = {.flops_step = 400000000,
                     .local_steps = 1,
                     .rounds = 3,
                     .workers = 2,
                     .micro_batches = 4,
                     .bytes_cut = 10000,
                     .bytes_round = 80000};
    tsr_cost_predict(&p, &pipe, &machine);
    assert_true(fabs(p.seconds_send - 2 * 5 * 0.02) < 1e-12); /* 5 ticks, there and back */
    assert_true(fabs(p.seconds_round - (5 * 0.1 + 0.2)) < 1e-12);
    assert_int_equal(p.local_steps, 1);
    tsr_cost alone = {.flops_step = 400000000, .local_steps = 1, .rounds = 3, .workers = 1};
    tsr_cost_predict(&p, &alone, &machine);
    assert_true(fabs(p.seconds_best - 1.2) < 1e-12);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const settings[] = {"scheme.name=ist;scheme.workers=2",
                                           "scheme.name=gpipe;scheme.workers=2"};
    for (int i = 0; i < 2; i++) {
        const tsr_cost_data data = {60, 1, 28, 28, 10, 0};
        tsr_config *config = make_config(mlp, settings[i]);
        tsr_status st = TSR_RESOURCES;
        for (int64_t n = 0; st != TSR_OK; n++) {
            tsr_cost cost = tsr_cost_default();
            (void)tsri_alloc_fail_after(n, false);
            st = tsr_cost_count(&cost, config, &data);
            (void)tsri_alloc_fail_after(-1, false);
            assert_true(st == TSR_OK || st == TSR_RESOURCES);
        }
        tsr_config_destroy(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_every_scheme),   cmocka_unit_test(memory_of_the_whole),
        cmocka_unit_test(memory_of_a_share),       cmocka_unit_test(memory_of_stages),
        cmocka_unit_test(memory_of_micro_batches), cmocka_unit_test(described_data),
        cmocka_unit_test(times_by_hand),           cmocka_unit_test(every_allocation_may_fail),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
