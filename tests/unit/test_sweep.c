/* Sweeps: grids and their refusals; a cell is the run that train would have made, to the bit;
 * threads do not matter; what diverges is recorded; every allocation may fail. */
#include "testing.h"

#include "run/evaluate.h"
#include "run/recalibrate.h"
#include "run/run.h"
#include "scheme/scheme.h"
#include "scratch.h"
#include "sweep/sweep.h"
#include "train/describe.h"

#include <math.h>

static const char run_file[] = "data: {name: sphere, n: 40, dim: 6, task: regress, test_n: 10}\n"
                               "model: {name: shallow, width: 50, kappa: 0.5}\n"
                               "optim: {name: gd, lr: 0.02, momentum: 0.5}\n"
                               "scheme: {name: masked, local_steps: 2}\n"
                               "rounds: 4\nthreads: 1\n";

static tsr_config *make_config(const char *set)
{
    tsr_config *config = NULL;
    assert_ok(tsri_config_parse(&config, run_file, (int64_t)strlen(run_file), "test"));
    if (set)
        assert_ok(tsr_config_set(config, set));
    return config;
}

/* ---- Grids -------------------------------------------------------------------------------- */

static void reads(const char *text, const char *values)
{
    tsr_config *config = make_config(NULL);
    tsri_grid grid;
    char joined[256] = "";
    assert_ok(tsri_grid_read(&grid, text, config));
    for (int64_t i = 0; i < grid.count; i++)
        (void)snprintf(joined + strlen(joined), sizeof joined - strlen(joined), "%s%s",
                       i > 0 ? " " : "", grid.value[i]);
    assert_string_equal(joined, values);
    tsri_grid_fini(&grid);
    tsr_config_destroy(config);
}

static void refuses(const char *text, const char *words)
{
    tsr_config *config = make_config(NULL);
    tsri_grid grid;
    assert_fails(tsri_grid_read(&grid, text, config), TSR_USAGE, words);
    tsr_config_destroy(config);
}

static void grids(void **state)
{
    (void)state;
    reads("scheme.xi=0.1:1:0.1", "0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0");
    reads("scheme.xi=1:0.5:-0.25", "1.0 0.75 0.5");
    reads("scheme.xi=0.5:0.5:1", "0.5");
    reads("scheme.workers=1,2,4,8", "1 2 4 8");
    reads("scheme.workers=1:9:3", "1 4 7");
    reads("scheme.xi=1e-1,.5", "0.1 0.5");
    reads("model.hidden=[256, 256],[64]", "[256, 256] [64]");
    reads("scheme.name=masked,dropout", "masked dropout");
    reads("optim.nesterov=true,false", "true false");
    refuses("scheme.xi", "expected KEY=");
    refuses("scheme.xi=", "expected KEY=");
    refuses("=1", "expected KEY=");
    refuses("scheme.x=1", "did you mean scheme.xi?");
    refuses("nonsense.key=1", "unknown key");
    refuses("scheme.xi=1:0.5:0.1", "the range is empty");
    refuses("scheme.xi=0:1:0", "the step is 0");
    refuses("scheme.xi=0:1", "a range is FIRST:LAST:STEP");
    refuses("scheme.xi=0:1:x", "a range is FIRST:LAST:STEP");
    refuses("scheme.xi=0:1:1e-9", "more than");
    refuses("scheme.xi=0.5,1.5", "--grid scheme.xi: scheme.xi must be a number from 0 to 1");
    refuses("scheme.workers=1,2.5", "must be a whole number");
    refuses("scheme.workers=1,0", "must be a whole number from 1");
    refuses("scheme.workers=1:2:0.5", "must be a whole number");
    refuses("scheme.xi=0.5,,1", "empty value");
    refuses("scheme.xi=0.5,5e-1", "twice");
    refuses("scheme.name=masked,none", "must be one of");
    refuses("seed=1,2", "use --seeds");
    refuses("threads=1,2", "use --set");
}

/* ---- Runs --------------------------------------------------------------------------------- */

static tsr_status sweep(tsri_sweep *s, tsr_config *config, const char *a, const char *b,
                        tsri_sweep_options o)
{
    const char *grid[2] = {a, b};
    o.grid = grid;
    o.grids = b ? 2 : 1;
    if (o.seeds == 0)
        o.seeds = 1;
    tsr_status st = tsri_sweep_run(s, config, &o);
    s->options.grid = NULL;
    return st;
}

/* What train would say of run i. */
static void plain_run(tsri_outcome *o, const tsri_sweep *s, int64_t i)
{
    tsr_config *config = NULL;
    tsri_run run;
    tsr_result train = tsr_result_default(), test = tsr_result_default();
    tsr_run_options options = tsr_run_options_default();
    assert_ok(tsri_sweep_config(&config, s, i));
    assert_ok(tsri_run_init(&run, config, &options));
    assert_ok(run.settings.scheme->setup(&run));
    for (; run.position.round < run.settings.rounds; run.position.round++)
        assert_ok(run.settings.scheme->round(&run));
    assert_ok(tsri_recalibrate(&run));
    assert_ok(tsri_evaluate(&train, &run.store, run.device, run.data, &run.data->train,
                            run.settings.loss));
    assert_ok(
        tsri_evaluate(&test, &run.store, run.device, run.data, &run.data->test, run.settings.loss));
    *o = (tsri_outcome){
        .loss = test.loss, .train_loss = train.loss, .bytes = run.position.bytes_total};
    tsri_run_fini(&run);
    tsr_config_destroy(config);
}

static void a_cell_is_the_run_of_train(void **state)
{
    (void)state;
    tsr_config *config = make_config(NULL);
    tsri_sweep s;
    assert_ok(sweep(&s, config, "scheme.xi=0.5,1", "scheme.workers=1,3",
                    (tsri_sweep_options){.seeds = 2, .curves = true, .weights = true}));
    assert_int_equal(s.cells, 4);
    assert_int_equal(s.runs, 8);
    assert_int_equal(s.done, 8);
    for (int64_t i = 0; i < s.runs; i++) {
        const tsri_outcome *o = &s.outcome[i];
        tsri_outcome plain;
        plain_run(&plain, &s, i);
        assert_true(o->done && !o->diverged && o->rounds == 4 && isnan(o->accuracy));
        assert_true(o->loss == plain.loss && o->train_loss == plain.train_loss);
        assert_int_equal(o->bytes, plain.bytes);
        assert_int_equal(o->curve_count, 4);
        assert_true(o->curve[3] == o->train_loss && o->curve[0] != o->curve[3]);
    }
    assert_true(s.outcome[0].loss != s.outcome[1].loss); /* another seed */
    assert_true(s.outcome[0].loss != s.outcome[2].loss); /* another cell */
    tsri_sweep_fini(&s);
    tsr_config_destroy(config);
}

/* Shares whose sums are smaller leave statistics of norms that are not the whole network's: it is
 * judged as train judges it. (Sweeps of LoFT once were judged with the workers' statistics.) */
static void norms_are_measured_anew(void **state)
{
    (void)state;
    static const char file[] = "data: {name: glyphs, n: 60, test_n: 20}\n"
                               "model: {name: mlp, hidden: [12, 9], norm: batch}\n"
                               "scheme: {name: ist, workers: 2, local_steps: 2}\n"
                               "optim: {lr: 0.05}\nbatch: 20\nrounds: 4\nthreads: 1\n";
    tsr_config *config = NULL;
    tsri_sweep s;
    assert_ok(tsri_config_parse(&config, file, (int64_t)strlen(file), "test"));
    assert_ok(
        sweep(&s, config, "scheme.recalibrate=0,3", NULL, (tsri_sweep_options){.curves = true}));
    for (int64_t i = 0; i < 2; i++) {
        tsri_outcome plain;
        plain_run(&plain, &s, i);
        assert_true(s.outcome[i].loss == plain.loss);
        assert_true(s.outcome[i].train_loss == plain.train_loss);
        assert_true(s.outcome[i].curve[3] == plain.train_loss);
    }
    assert_true(s.outcome[0].loss != s.outcome[1].loss);
    tsri_sweep_fini(&s);
    tsr_config_destroy(config);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    tsri_sweep one, many;
    tsr_config *config = make_config(NULL), *three = make_config("threads=3");
    assert_ok(sweep(&one, config, "scheme.xi=0.25:1:0.25", NULL, (tsri_sweep_options){.seeds = 3}));
    assert_ok(sweep(&many, three, "scheme.xi=0.25:1:0.25", NULL, (tsri_sweep_options){.seeds = 3}));
    assert_int_equal(many.runs, 12);
    for (int64_t i = 0; i < 12; i++)
        assert_true(one.outcome[i].loss == many.outcome[i].loss &&
                    one.outcome[i].train_loss == many.outcome[i].train_loss);
    tsri_sweep_fini(&many);
    /* one run at a time, as where memory is short, on all threads */
    assert_ok(sweep(&many, three, "scheme.xi=0.25:1:0.25", NULL,
                    (tsri_sweep_options){.seeds = 3, .beside = 1}));
    for (int64_t i = 0; i < 12; i++)
        assert_true(one.outcome[i].train_loss == many.outcome[i].train_loss);
    tsri_sweep_fini(&one);
    tsri_sweep_fini(&many);
    /* fewer runs than threads: a run has several */
    assert_ok(sweep(&many, three, "scheme.xi=0.5", NULL, (tsri_sweep_options){.weights = true}));
    assert_ok(sweep(&one, config, "scheme.xi=0.5", NULL, (tsri_sweep_options){.weights = true}));
    assert_true(one.outcome[0].loss == many.outcome[0].loss);
    tsri_sweep_fini(&one);
    tsri_sweep_fini(&many);
    tsr_config_destroy(config);
    tsr_config_destroy(three);
}

static void what_diverges_is_recorded(void **state)
{
    (void)state;
    tsr_config *config = make_config("rounds=60");
    tsri_sweep s;
    assert_ok(sweep(&s, config, "optim.lr=0.02,1e5,0.01", NULL,
                    (tsri_sweep_options){.seeds = 2, .curves = true}));
    assert_int_equal(s.diverged, 2);
    for (int64_t i = 0; i < 6; i++) {
        const tsri_outcome *o = &s.outcome[i];
        assert_int_equal(o->diverged, i / 2 == 1);
        assert_int_equal(isnan(o->loss) != 0, i / 2 == 1);
        assert_true(o->diverged ? o->rounds < 60 : o->rounds == 60);
        assert_int_equal(o->curve_count, o->rounds);
    }
    tsri_sweep_fini(&s);
    tsr_config_destroy(config);
}

/* A gated net as wide as it has samples, some of its units off for all of them: no ReLU net is
 * equal to it, which only shows when it is to be made. It used to end the whole sweep. */
static void what_is_refused_on_its_way_is_recorded(void **state)
{
    (void)state;
    static const char text[] =
        "{data: {name: ackley, n: 24, test_n: 4, dim: 5}, threads: 1, rounds: 3, convert_at: 2, "
        "model: {name: grelu, width: 96, layers: 2}, optim: {name: gd, lr: 1.0e-5, momentum: 0}}";
    tsr_config *config = NULL;
    char why[400] = "";
    assert_ok(tsri_config_parse(&config, text, (int64_t)strlen(text), "test"));
    for (int again = 0; again < 2; again++) { /* made, then read back */
        tsri_sweep s;
        tsri_sweep_options o = {.curves = true, .folder = scratch_path("refused")};
        assert_ok(sweep(&s, config, "model.width=96,24,120", NULL, o));
        assert_int_equal(s.resumed, again ? 3 : 0);
        assert_int_equal(s.refused, 1);
        assert_int_equal(s.diverged, 0);
        const tsri_outcome *o1 = &s.outcome[1];
        assert_true(o1->refused && strstr(o1->refused, "rank") && isnan(o1->loss));
        assert_int_equal(o1->rounds, 2);
        for (int64_t i = 0; i < 3; i += 2)
            assert_true(!s.outcome[i].refused && s.outcome[i].rounds == 3 &&
                        isfinite(s.outcome[i].loss));
        if (!again)
            (void)snprintf(why, sizeof why, "%s", o1->refused);
        assert_string_equal(o1->refused, why);
        tsri_sweep_fini(&s);
    }
    tsr_config_destroy(config);
}

/* Data that the grid changes are loaded for each cell. */
static void data_may_vary(void **state)
{
    (void)state;
    tsr_config *config = make_config(NULL);
    tsri_sweep s;
    assert_ok(sweep(&s, config, "data.n=20,40", NULL, (tsri_sweep_options){.weights = true}));
    for (int64_t i = 0; i < 2; i++) {
        tsri_outcome plain;
        plain_run(&plain, &s, i);
        assert_true(s.outcome[i].train_loss == plain.train_loss);
    }
    tsri_sweep_fini(&s);
    tsr_config_destroy(config);
}

/* Before anything is run. */
static void cells_that_cannot_be(void **state)
{
    (void)state;
    tsr_config *config = make_config(NULL);
    tsri_sweep s;
    tsri_sweep_options o = {.folder = "no-such-folder-is-made"};
    assert_fails(sweep(&s, config, "scheme.xi=0.5,0", NULL, o), TSR_USAGE,
                 "scheme.xi=0.0, seed 1: --grid scheme.xi: xi is 0");
    tsri_sweep_fini(&s);
    assert_fails(sweep(&s, config, "scheme.workers=2,51", "scheme.draw=bernoulli,chunks", o),
                 TSR_USAGE, "51 workers cannot share the 50 units");
    tsri_sweep_fini(&s);
    assert_fails(sweep(&s, config, "scheme.xi=0.5", "scheme.xi=0.6", o), TSR_USAGE, "given twice");
    tsri_sweep_fini(&s);
    assert_fails(sweep(&s, config, "data.n=20,0", "scheme.name=dense", o), TSR_USAGE, "one step");
    tsri_sweep_fini(&s);
    assert_int_not_equal(remove("no-such-folder-is-made"), 0);
    tsr_config_destroy(config);
}

/* Figure 2 of the paper on a small grid: mean over seeds of the error of the whole network. */
static double mean_error(const tsri_sweep *s, int64_t cell)
{
    double sum = 0;
    for (int64_t i = 0; i < s->seeds; i++)
        sum += s->outcome[cell * s->seeds + i].train_loss;
    return sum / (double)s->seeds;
}

static void trends_of_figure_2(void **state)
{
    (void)state;
    static const char file[] = "data: {name: sphere, n: 40, dim: 20, task: regress, test_n: 10}\n"
                               "model: {name: shallow, width: 400, kappa: 0.1}\n"
                               "optim: {name: gd, lr: 0.1, momentum: 0}\n"
                               "scheme: {name: masked, local_steps: 5}\nrounds: 40\nthreads: 1\n";
    tsr_config *config = NULL;
    tsri_sweep b, c;
    assert_ok(tsri_config_parse(&config, file, (int64_t)strlen(file), "test"));
    assert_ok(sweep(&b, config, "scheme.workers=1,2,4", "scheme.xi=0.25,0.5,1",
                    (tsri_sweep_options){.seeds = 5}));
    for (int64_t row = 0; row < 3; row++) /* falls with xi, p fixed */
        for (int64_t column = 0; column < 2; column++)
            assert_true(mean_error(&b, 3 * row + column) > mean_error(&b, 3 * row + column + 1));
    for (int64_t row = 0; row < 2;
         row++) { /* falls with p, xi fixed; at xi = 1 p changes nothing */
        for (int64_t column = 0; column < 2; column++)
            assert_true(mean_error(&b, 3 * row + column) > mean_error(&b, 3 * row + column + 3));
        assert_true(mean_error(&b, 3 * row + 2) == mean_error(&b, 3 * row + 5));
    }
    tsri_sweep_fini(&b);
    assert_ok(tsr_config_set(config, "scheme.draw=categorical"));
    assert_ok(sweep(&c, config, "scheme.workers=1,2,4,8", "scheme.local_steps=1,5",
                    (tsri_sweep_options){.seeds = 5}));
    for (int64_t row = 0; row < 3; row++) /* grows with p, tau fixed */
        for (int64_t column = 0; column < 2; column++)
            assert_true(mean_error(&c, 2 * row + column) < mean_error(&c, 2 * row + column + 2));
    tsri_sweep_fini(&c);
    tsr_config_destroy(config);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tsr_config *config = make_config("rounds=1");
    tsr_status st = TSR_RESOURCES;
    for (int64_t n = 0; st != TSR_OK; n += 1 + n / 40) { /* all of the first, then ever fewer */
        tsri_sweep s;
        (void)tsri_alloc_fail_after(n, false);
        st = sweep(&s, config, "scheme.xi=0.5,1", NULL,
                   (tsri_sweep_options){.curves = true, .weights = n % 2 == 1});
        (void)tsri_alloc_fail_after(-1, false);
        assert_true(st == TSR_OK || st == TSR_RESOURCES);
        tsri_sweep_fini(&s);
    }
    tsr_config_destroy(config);
}

/* A grid.json is a claim: memory for so many runs is not taken before they can be of a sweep. */
static void a_grid_of_a_billion_runs_is_refused(void **state)
{
    (void)state;
    tsri_sweep s;
    (void)scratch_put("run.yaml", run_file, sizeof run_file - 1);
    static const char grid[] = "{\"grid\":[{\"key\":\"optim.lr\",\"values\":[\"0.1\"]}],"
                               "\"seeds\":1000000000}";
    (void)scratch_put("grid.json", grid, sizeof grid - 1);
    assert_fails(tsri_sweep_read(&s, scratch_folder), TSR_BAD_FILE,
                 "more runs than a sweep may have");
    tsri_sweep_fini(&s);
    static const char number[] = "{\"grid\":[{\"key\":\"optim.lr\",\"values\":[0.1]}],\"seeds\":1}";
    (void)scratch_put("grid.json", number, sizeof number - 1);
    assert_fails(tsri_sweep_read(&s, scratch_folder), TSR_BAD_FILE, "a value of optim.lr is not");
    tsri_sweep_fini(&s);
    char text[4096] = "{\"grid\":[";
    for (int g = 0; g < 24; g++) /* 2^24 cells */
        (void)strcat(text, g ? ",{\"key\":\"optim.lr\",\"values\":[\"1\",\"2\"]}"
                             : "{\"key\":\"optim.lr\",\"values\":[\"1\",\"2\"]}");
    (void)strcat(text, "],\"seeds\":1}");
    (void)scratch_put("grid.json", text, strlen(text));
    assert_fails(tsri_sweep_read(&s, scratch_folder), TSR_BAD_FILE,
                 "more cells than a sweep may have");
    tsri_sweep_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids),
        cmocka_unit_test(a_cell_is_the_run_of_train),
        cmocka_unit_test(norms_are_measured_anew),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(what_diverges_is_recorded),
        cmocka_unit_test(what_is_refused_on_its_way_is_recorded),
        cmocka_unit_test(data_may_vary),
        cmocka_unit_test(cells_that_cannot_be),
        cmocka_unit_test(trends_of_figure_2),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_grid_of_a_billion_runs_is_refused),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
