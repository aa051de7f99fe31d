/* The way from a run file to a fine-tuned ticket with nothing but the public header, as a program
 * that uses the library would go it. */
#include "tessera.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char folder[64], path[8][128];

/* A path in the scratch folder; it lives until eight more were asked for. */
static const char *in(const char *name)
{
    static int next;
    char *text = path[next++ % 8];
    (void)snprintf(text, sizeof path[0], "%s/%s", folder, name);
    return text;
}

static void ok(tsr_status st)
{
    if (st != TSR_OK)
        fail_msg("%s: %s", tsr_status_text(st), tsr_last_error());
}

static int setup(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/tessera-public-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    char command[100];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* One version, said in three ways. */
static void the_version_is_one(void **state)
{
    (void)state;
    char text[32];
    (void)snprintf(text, sizeof text, "%d.%d.%d", TSR_VERSION_MAJOR, TSR_VERSION_MINOR,
                   TSR_VERSION_PATCH);
    assert_string_equal(text, TSR_VERSION_STRING);
    assert_string_equal(text, tsr_version());
}

static tsr_config *small_run(void)
{
    static const char *const set[] = {
        "data.name=glyphs", "data.n=80",        "data.test_n=20",
        "model.name=mlp",   "model.norm=batch", "model.hidden=[16, 12]",
        "scheme.name=ist",  "scheme.workers=2", "scheme.local_steps=2",
        "epochs=2",         "batch=20",         "threads=1"};
    tsr_config *config = NULL;
    ok(tsr_config_create(&config));
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        ok(tsr_config_set(config, set[i]));
    return config;
}

/* Bytes counted before are those sent. */
static void pretrain(void **state)
{
    (void)state;
    tsr_config *config = small_run();
    tsr_run_options o = tsr_run_options_default();
    tsr_cost cost = tsr_cost_default();
    tsr_result r = tsr_result_default();
    char run[128];
    (void)snprintf(run, sizeof run, "%s", in("run"));
    o.folder = run;
    ok(tsr_cost_count(&cost, config, NULL));
    ok(tsr_train(&r, config, &o));
    assert_true(cost.exact && cost.bytes_total == r.bytes_total && r.bytes_total > 0);
    tsr_config_destroy(config);
}

static int64_t numbers_of(const tsr_model *m)
{
    int64_t total = 0;
    for (int64_t i = 0; i < tsr_model_params(m); i++) {
        int64_t count = 1;
        tsr_param p = tsr_param_default();
        ok(tsr_model_param(&p, m, i));
        assert_non_null(p.values.data);
        for (int d = 0; d < p.values.dims; d++)
            count *= p.values.shape[d];
        total += count;
    }
    return total;
}

static void prune_and_compare(void **state)
{
    (void)state;
    tsr_prune_options how = tsr_prune_options_default();
    tsr_model *whole = NULL, *ticket = NULL;
    tsr_layer_distance *far = NULL;
    int64_t n;
    how.ratio = 0.25;
    ok(tsr_prune(in("ticket"), in("run/model.safetensors"), &how));
    ok(tsr_model_read(&whole, in("run/model.safetensors")));
    ok(tsr_model_read(&ticket, in("ticket")));
    assert_true(numbers_of(ticket) < numbers_of(whole));
    ok(tsr_model_distance(&far, &n, whole, whole));
    assert_int_equal(n, 2);
    assert_string_equal(far[0].layer, "hidden.0");
    assert_true(far[0].distance == 0 && far[1].distance == 0);
    tsr_free(far);
    ok(tsr_model_distance(&far, &n, whole, ticket));
    assert_true(far[0].units == 16 && far[0].units_other == 12 && far[1].units_other == 9);
    double want = 0; /* ranks 13 to 16 are missing and count as 13 */
    for (int i = 14; i <= 16; i++)
        want += (log(i) - log(13)) / i;
    assert_true(fabs(far[0].distance - want) < 1e-12 && far[0].relative < 0.1);
    tsr_free(far);
    tsr_model_destroy(whole);
    tsr_model_destroy(ticket);
}

static void finetune(void **state)
{
    (void)state;
    tsr_model *ticket = NULL;
    tsr_run_options o = tsr_run_options_default();
    tsr_result r = tsr_result_default();
    char run[128], from[128];
    (void)snprintf(run, sizeof run, "%s", in("tuned"));
    (void)snprintf(from, sizeof from, "%s", in("ticket"));
    ok(tsr_model_read(&ticket, from));
    assert_int_equal(tsr_config_finetune(tsr_model_config(ticket), -3, 0.01), TSR_USAGE);
    assert_int_equal(tsr_config_finetune(tsr_model_config(ticket), 3, (double)NAN), TSR_USAGE);
    ok(tsr_config_finetune(tsr_model_config(ticket), 3, 0.01));
    o.folder = run;
    o.init = from;
    ok(tsr_train(&r, tsr_model_config(ticket), &o));
    assert_true(r.rounds == 12 && r.bytes_total == 0 && isfinite(r.loss));
    tsr_model_destroy(ticket);
}

/* A sentence each, and nothing written. */
static void refused(void **state)
{
    (void)state;
    tsr_prune_options how = tsr_prune_options_default();
    tsr_model *m = NULL;
    how.ratio = 1;
    assert_int_equal(tsr_prune(in("new"), in("run/model.safetensors"), &how), TSR_USAGE);
    how.ratio = 0.5;
    how.criterion = "size";
    assert_int_equal(tsr_prune(in("new"), in("run/model.safetensors"), &how), TSR_USAGE);
    assert_non_null(strstr(tsr_last_error(), "size"));
    how.criterion = NULL;
    assert_int_equal(tsr_prune(in("new"), in("run/model.safetensors"), &how), TSR_USAGE);
    how.criterion = "l2";
    assert_int_equal(tsr_prune(in("new"), in("absent"), &how), TSR_BAD_FILE);
    assert_non_null(strstr(tsr_last_error(), "absent"));
    how.axes = "hidden.7";
    assert_int_equal(tsr_prune(in("new"), in("run/model.safetensors"), &how), TSR_USAGE);
    assert_int_equal(tsr_model_read(&m, in("new")), TSR_BAD_FILE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_version_is_one),
        cmocka_unit_test(pretrain),
        cmocka_unit_test(prune_and_compare),
        cmocka_unit_test(finetune),
        cmocka_unit_test(refused),
    };
    int failed = cmocka_run_group_tests(tests, setup, teardown);
    return failed + (tsr_memory_in_use() > 0);
}
