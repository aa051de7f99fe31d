/* Tickets as files: they say which units of the first network they have, are written whole or not
 * at all, and can be timed beside their network. */
#include "share_testing.h"
#include "scratch.h"

#include "ticket/latency.h"
#include "ticket/origin.h"
#include "ticket/prune.h"

#include <math.h>

static double number(const tsri_store *s, const char *name, int64_t unit, int64_t rest)
{
    int64_t i = tsri_net_param(s->net, name);
    assert_true(i >= 0);
    return number_of(s, i, unit, rest);
}

static tsr_status train_small(const char *folder)
{
    tsr_result r = tsr_result_default();
    tsr_config *c = NULL;
    tsr_run_options o = tsr_run_options_default();
    tsr_status st = tsr_config_create(&c);
    static const char *const set[] = {
        "data.name=glyphs",    "data.n=60",     "data.test_n=10", "model.hidden=[8, 6]",
        "model.norm=batch",    "rounds=1",      "batch=20",       "threads=1",
        "data.prefetch=false", "model.name=mlp"};
    for (size_t i = 0; st == TSR_OK && i < sizeof set / sizeof *set; i++)
        st = tsr_config_set(c, set[i]);
    o.folder = folder;
    if (st == TSR_OK)
        st = tsr_train(&r, c, &o);
    tsr_config_destroy(c);
    return st;
}

static int setup(void **state)
{
    return scratch_setup(state) || train_small(scratch_path("run")) != TSR_OK;
}

static tsr_status write_ticket(const char *from, const char *to, const tsri_prune *how)
{
    tsr_model *m = NULL;
    tsr_status st = tsr_model_read(&m, from);
    if (st == TSR_OK)
        st = tsri_ticket_write(NULL, to, m, how);
    tsr_model_destroy(m);
    return st;
}

static void read_origin(tsri_origin *o, tsr_model **m, const char *path)
{
    assert_ok(tsr_model_read(m, path));
    assert_ok(tsri_origin_read(o, (*m)->net, tsr_model_meta(*m, TSRI_META_TICKET), path));
}

/* Pruned twice, the units are still counted in the first network: their rows are its rows. */
static void units_keep_their_numbers(void **state)
{
    (void)state;
    char model[512], one[512], two[512];
    tsr_model *m = NULL, *t = NULL;
    tsri_origin o;
    (void)snprintf(model, sizeof model, "%s", scratch_path("run/model.safetensors"));
    (void)snprintf(one, sizeof one, "%s", scratch_path("one"));
    (void)snprintf(two, sizeof two, "%s", scratch_path("two"));
    assert_ok(write_ticket(model, one, &(tsri_prune){.ratio = 0.25}));
    assert_ok(write_ticket(one, two, &(tsri_prune){.ratio = 0.5, .axes = "hidden.0"}));
    assert_ok(tsr_model_read(&m, model));
    read_origin(&o, &t, two);
    assert_string_equal(tsri_config_text(t->config, "model.widths"), "hidden.0=3, hidden.1=5");
    int64_t axis = tsri_axis_find(t->net, "hidden.0");
    for (int64_t i = 0; i < t->net->axis[axis].size; i++)
        for (int64_t j = 0; j < 784; j++)
            assert_true(number(&t->store, "layers.0.weight", i, j) ==
                        number(&m->store, "layers.0.weight", o.unit[axis][i], j));
    tsri_origin_fini(&o);
    tsr_model_destroy(t);
    tsr_model_destroy(m);
}

/* The shape of the ticket, the weights of a fresh run of that shape. */
static void fresh_weights(void **state)
{
    (void)state;
    tsr_model *t = NULL;
    tsri_store fresh;
    assert_ok(write_ticket(scratch_path("run/model.safetensors"), scratch_path("fresh"),
                           &(tsri_prune){.ratio = 0.5, .reinit = true, .seed = 9}));
    assert_ok(tsr_model_read(&t, scratch_path("fresh")));
    assert_string_equal(tsri_config_text(t->config, "model.widths"), "hidden.0=4, hidden.1=3");
    assert_ok(tsri_store_init(&fresh, t->net, &tsri_backend_cpu, false));
    assert_ok(tsri_store_fill(&fresh, 9));
    assert_memory_equal(fresh.w, t->store.w, (size_t)t->net->total * sizeof(float));
    tsri_store_fini(&fresh);
    tsr_model_destroy(t);
}

/* What a file says of its units must fit them. */
static void bad_origins(void **state)
{
    static const struct {
        const char *json, *words;
    } bad[] = {
        {"{", "JSON"},
        {"{}", "does not say which units"},
        {"{\"kept\": {\"hidden.0\": [1, 2]}}", "name the 12 units of axis hidden.0"},
        {"{\"kept\": {\"hidden.0\": [0,1,2,3,4,5,6,7,8,9,10,12]}}", "below 12"},
        {"{\"kept\": {\"hidden.0\": [0,2,1,3,4,5,6,7,8,9,10,11]}}", "ascending"},
        {"{\"kept\": {\"hidden.0\": [-1,1,2,3,4,5,6,7,8,9,10,11]}}", "ascending"},
        {"{\"kept\": {\"hidden.0\": 7}}", "ascending"},
    };
    (void)state;
    tsri_net *net = NULL;
    make_net(&net, &test_nets[0]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tsri_origin o;
        tsr_status st = tsri_origin_read(&o, net, bad[i].json, "t");
        assert_int_equal(st, TSR_BAD_FILE);
        if (i > 0)
            assert_non_null(strstr(tsr_last_error(), bad[i].words));
    }
    tsri_net_destroy(net);
}

/* Every allocation fails once: a status, nothing lost, no file; then it works. */
static void memory_fails(void **state)
{
    (void)state;
    int64_t held = tsri_alloc_blocks(), n = 0;
    tsr_status st = TSR_RESOURCES;
    tsri_prune how = {.ratio = 0.5, .global = true, .reinit = true};
    for (; st != TSR_OK; n++) {
        tsri_alloc_fail_after(n, false);
        st = write_ticket(scratch_path("run/model.safetensors"), scratch_path("walk"), &how);
        tsri_alloc_fail_after(-1, false);
        assert_true(st == TSR_OK || st == TSR_RESOURCES);
        assert_true(tsri_file_exists(scratch_path("walk")) == (st == TSR_OK));
        assert_int_equal(tsri_alloc_blocks(), held);
    }
    print_message("%lld allocations\n", (long long)n);
    assert_true(n > 50);
}

/* Two networks, one four times the other's work: times are finite, positive, in that order; the
 * models stay as they are. */
static void times(void **state)
{
    (void)state;
    tsr_model *m[2] = {NULL, NULL};
    tsri_latency t[2];
    assert_ok(tsr_model_read(&m[0], scratch_path("run/model.safetensors")));
    assert_ok(tsr_model_read(&m[1], scratch_path("one")));
    assert_ok(tsri_latency_measure(t, (const tsr_model *const *)m, 2, 0, false));
    for (int i = 0; i < 2; i++) {
        tsri_duration infer = t[i].infer, step = t[i].step;
        assert_true(isfinite(infer.worst) && infer.least > 0 && infer.least <= infer.worst);
        assert_true(isfinite(step.worst) && step.least <= step.worst);
        assert_true(step.least > infer.least / 2);
        assert_true(t[i].batch > 2);
    }
    /* An imported ResNet-50 was timed for minutes, in 22 GB: batches of large networks are cut. */
    assert_ok(tsri_latency_measure(t, (const tsr_model *const *)m, 2, 0, true));
    assert_int_equal(t[0].batch, 2);
    tsr_model_destroy(m[0]);
    tsr_model_destroy(m[1]);
}

/* Faster: every group of repetitions saw it; where groups disagree it may be noise. */
static void verdicts(void **state)
{
    (void)state;
    const tsri_duration before = {.least = 10, .worst = 14};
    assert_int_equal(tsri_faster(before, (tsri_duration){.least = 9, .worst = 9.7}), TSRI_FASTER);
    assert_int_equal(tsri_faster(before, (tsri_duration){.least = 9, .worst = 9.9}),
                     TSRI_PERHAPS_FASTER);
    assert_int_equal(tsri_faster(before, (tsri_duration){.least = 9, .worst = 11}),
                     TSRI_PERHAPS_FASTER);
    assert_int_equal(tsri_faster(before, (tsri_duration){.least = 9.9, .worst = 9.9}),
                     TSRI_NOT_FASTER);
    assert_int_equal(tsri_faster(before, (tsri_duration){.least = 12, .worst = 12}),
                     TSRI_NOT_FASTER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_keep_their_numbers),
        cmocka_unit_test(fresh_weights),
        cmocka_unit_test(bad_origins),
        cmocka_unit_test(memory_fails),
        cmocka_unit_test(times),
        cmocka_unit_test(verdicts),
    };
    return nothing_left(cmocka_run_group_tests(tests, setup, scratch_teardown));
}
