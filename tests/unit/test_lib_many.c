/* test_lib_many.c - sweeps, tickets and studies from a program: what goes in, and the JSON that comes
 * out. */
#include "library_testing.h"

static const char *const made[] = {"data={name: glyphs, n: 64, test_n: 16}", "epochs=1", NULL};

static void count_runs(void *context, int64_t done, int64_t runs)
{
    int64_t *most = context;
    assert_int_equal(runs, 4);
    *most = done > *most ? done : *most;
}

static void a_sweep(void **state)
{
    (void)state;
    static const char *const grid[] = {"optim.lr=0.01,0.1"};
    tsr_config *config = small_config(made);
    tsr_sweep_options o = tsr_sweep_options_default();
    int64_t most = 0;
    char *json = NULL;
    o.grid = grid;
    o.grids = 1;
    o.seeds = 2;
    o.curves = true;
    o.progress = count_runs;
    o.context = &most;
    assert_ok(tsr_sweep(&json, config, &o));
    assert_int_equal(most, 4);
    assert_non_null(strstr(json, "\"cells\":2,\"seeds\":2,\"runs\":4"));
    assert_non_null(strstr(json, "\"cell\":1,\"seed\":1,\"settings\":\"optim.lr=0.1\""));
    assert_non_null(strstr(json, "\"curve\":["));
    tsr_free(json);
    o.grids = 0;
    assert_fails(tsr_sweep(&json, config, &o), TSR_USAGE, "needs a grid");
    o.grids = 1;
    o.grid = (const char *const[]){"optim.lrr=1,2"};
    assert_fails(tsr_sweep(&json, config, &o), TSR_USAGE, "optim");
    assert_fails(tsr_sweep(&json, NULL, &o), TSR_USAGE, "NULL");
    assert_null(json);
    tsr_config_destroy(config);
}

static void tickets(void **state)
{
    (void)state;
    tsr_config *config = small_config(made);
    tsr_run_options o = tsr_run_options_default();
    char folder[256], *json = NULL;
    (void)snprintf(folder, sizeof folder, "%s", scratch_path("tickets"));
    assert_ok(tsr_config_set(config, "ticket.ratios=[0.5]"));
    assert_fails(tsr_tickets(&json, config, &o), TSR_USAGE, "need options.folder");
    o.folder = folder;
    assert_ok(tsr_tickets(&json, config, &o));
    assert_non_null(strstr(json, "ticket-0.5"));
    assert_non_null(strstr(json, "\"best\""));
    tsr_free(json);
    assert_fails(tsr_tickets(NULL, config, &o), TSR_USAGE, "NULL");
    tsr_config_destroy(config);
}

static void studies(void **state)
{
    (void)state;
    tsr_study_options o = tsr_study_options_default();
    char *json = NULL;
    int64_t count = 0;
    while (tsr_study_name(count))
        count++;
    assert_true(count > 10);
    assert_null(tsr_study_name(-1));
    assert_fails(tsr_reproduce(&json, "fig-nowhere", &o), TSR_USAGE, "fig-nowhere");
    assert_fails(tsr_reproduce(&json, tsr_study_name(0), &o), TSR_USAGE, "needs a folder");
    assert_fails(tsr_reproduce(&json, NULL, &o), TSR_USAGE, "NULL");
    assert_null(json);
}

static void other_data(void **state)
{
    (void)state;
    tsr_config *config = small_config(made);
    char *text = NULL;
    assert_ok(tsr_config_use_data(config, "sphere"));
    assert_ok(tsr_config_get(&text, config, "data.name"));
    assert_string_equal(text, "sphere");
    tsr_free(text);
    assert_ok(tsr_config_use_data(config, "some/where.csv"));
    assert_ok(tsr_config_get(&text, config, "data.path"));
    assert_string_equal(text, "some/where.csv");
    tsr_free(text);
    assert_fails(tsr_config_use_data(config, NULL), TSR_USAGE, "NULL");
    tsr_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_sweep), cmocka_unit_test(tickets),
                                       cmocka_unit_test(studies), cmocka_unit_test(other_data)};
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
