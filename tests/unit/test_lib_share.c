/* test_lib_share.c - shares, tickets, kernels and certificates from a program. */
#include "library_testing.h"

#include <math.h>

static float number_of(const tsr_model *model, const char *name, int64_t i)
{
    tsr_param p = tsr_param_default();
    assert_ok(tsr_model_find(&p, model, name));
    return ((const float *)p.values.data)[i];
}

static int64_t numbers_of(const tsr_model *model)
{
    tsr_model_info info = tsr_model_info_default();
    assert_ok(tsr_model_look(&info, model));
    return info.numbers;
}

/* ---- Shares --------------------------------------------------------------------------------- */

static void axes_are_listed(void **state)
{
    (void)state;
    tsr_model *model = small_model(NULL);
    tsr_share *share = NULL;
    tsr_axis a = tsr_axis_default();
    int64_t cuttable = 0;
    assert_ok(tsr_share_create(&share, model));
    for (int64_t i = 0; i < tsr_share_axes(share); i++) {
        assert_ok(tsr_share_axis(&a, share, i));
        assert_int_equal(a.kept, a.units);
        for (int64_t u = 0; u < a.units; u++)
            assert_int_equal(a.index[u], u); /* whole, and there all the same */
        cuttable += a.cuttable;
    }
    assert_int_equal(cuttable, 1);
    assert_fails(tsr_share_axis(&a, share, 99), TSR_USAGE, "no number 99");
    assert_fails(tsr_share_give(share, "hiden.0", (int64_t[]){1}, 1), TSR_USAGE,
                 "did you mean hidden.0?");
    assert_fails(tsr_share_give(share, "input", (int64_t[]){1}, 1), TSR_USAGE, "input");
    assert_fails(tsr_share_give(share, "hidden.0", (int64_t[]){1, 1}, 2), TSR_USAGE, "");
    assert_fails(tsr_share_give(share, "hidden.0", (int64_t[]){8}, 1), TSR_USAGE, "");
    assert_fails(tsr_share_give(share, "hidden.0", NULL, 1), TSR_USAGE, "NULL");
    assert_fails(tsr_share_give(share, "hidden.0", (int64_t[]){1}, 0), TSR_USAGE, "at least one");
    tsr_share_destroy(share);
    assert_fails(tsr_share_create(&share, NULL), TSR_USAGE, "NULL");
    tsr_model_destroy(model);
    assert_null(share);
    tsr_share_destroy(NULL);
    assert_int_equal(tsr_share_axes(NULL), 0);
}

/* Units 1, 4 and 6 out, changed, and back: they alone have changed. */
static void taken_and_put(void **state)
{
    (void)state;
    const int64_t units[] = {6, 1, 4};
    tsr_model *model = small_model(NULL), *before = NULL, *small = NULL;
    tsr_share *share = NULL;
    tsr_axis a = tsr_axis_default();
    float zeros[3 * INPUTS] = {0};
    tsr_array none = tsr_array_of(zeros, TSR_F32, 2, (int64_t[]){3, INPUTS});
    assert_ok(tsr_model_copy(&before, model));
    assert_ok(tsr_share_create(&share, model));
    assert_ok(tsr_share_give(share, "hidden.0", units, 3));
    assert_ok(tsr_share_axis(&a, share, 1));
    assert_int_equal(a.kept, 3);
    assert_int_equal(a.index[2], 6);
    assert_ok(tsr_share_take(&small, share, model));
    for (int k = 0; k < INPUTS; k++)
        assert_true(number_of(small, "layers.0.weight", 1 * INPUTS + k) ==
                    number_of(model, "layers.0.weight", 4 * INPUTS + k));
    assert_ok(tsr_model_set(small, "layers.0.weight", &none));
    assert_ok(tsr_share_put(model, &share, &small, 1));
    for (int u = 0; u < 8; u++)
        for (int k = 0; k < INPUTS; k++)
            assert_true(number_of(model, "layers.0.weight", u * INPUTS + k) ==
                        (u == 1 || u == 4 || u == 6
                             ? 0
                             : number_of(before, "layers.0.weight", u * INPUTS + k)));
    tsr_model_destroy(small);
    assert_fails(tsr_share_take(&small, share, NULL), TSR_USAGE, "NULL");
    assert_null(small);
    tsr_share_destroy(share);
    tsr_model_destroy(before);
    tsr_model_destroy(model);
}

/* A round of LoFT's kind from a program: two workers, disjoint shares, trained, put back. */
static void a_round_by_hand(void **state)
{
    (void)state;
    tsr_model *model = small_model(NULL), *small[2] = {0}, *trained[2] = {0};
    tsr_data *data = vectors_data();
    tsr_share *share[2] = {0};
    tsr_draw draw = tsr_draw_default();
    tsr_axis a = tsr_axis_default();
    tsr_result r = tsr_result_default();
    int64_t kept = 0;
    draw.kind = TSR_DRAW_CHUNKS;
    draw.workers = 2;
    draw.seed = 7;
    for (int l = 0; l < 2; l++) {
        tsr_run_options o = tsr_run_options_default();
        tsr_run *run = NULL;
        draw.worker = l;
        assert_ok(tsr_share_create(&share[l], model));
        assert_ok(tsr_share_draw(share[l], &draw));
        assert_ok(tsr_share_axis(&a, share[l], 1));
        kept += a.kept;
        assert_ok(tsr_share_take(&small[l], share[l], model));
        o.data = data;
        o.model = small[l];
        assert_ok(tsr_run_create(&run, tsr_model_config(small[l]), &o));
        assert_ok(tsr_run_step(run, NULL));
        assert_ok(tsr_run_model(&trained[l], run));
        tsr_run_destroy(run);
    }
    assert_int_equal(kept, 8);
    assert_ok(tsr_share_put(model, share, trained, 2));
    /* the bias behind both is the mean of the two */
    double mean = ((double)number_of(trained[0], "layers.2.bias", 0) +
                   (double)number_of(trained[1], "layers.2.bias", 0)) /
                  2;
    assert_true(fabs((double)number_of(model, "layers.2.bias", 0) - mean) < 1e-7);
    assert_ok(tsr_model_judge(&r, model, data));
    assert_true(isfinite(r.loss));
    assert_fails(tsr_share_put(model, share, (tsr_model *[]){trained[0], model}, 2), TSR_USAGE,
                 "model 1 is not that share");
    assert_fails(tsr_share_put(model, share, trained, 0), TSR_USAGE, "no share");
    draw.workers = 9;
    assert_fails(tsr_share_draw(share[0], &draw), TSR_USAGE, "");
    draw.workers = 2;
    draw.worker = 2;
    assert_fails(tsr_share_draw(share[0], &draw), TSR_USAGE, "worker 0 to");
    draw.worker = 0;
    draw.kind = TSR_DRAW_BERNOULLI;
    assert_fails(tsr_share_draw(share[0], &draw), TSR_USAGE, "xi");
    draw.xi = 0.5;
    draw.axes = "nowhere";
    assert_fails(tsr_share_draw(share[0], &draw), TSR_USAGE, "nowhere");
    for (int l = 0; l < 2; l++) {
        tsr_share_destroy(share[l]);
        tsr_model_destroy(small[l]);
        tsr_model_destroy(trained[l]);
    }
    tsr_data_destroy(data);
    tsr_model_destroy(model);
}

/* ---- Tickets -------------------------------------------------------------------------------- */

static void pruned_in_memory(void **state)
{
    (void)state;
    tsr_model *model = small_model(NULL), *ticket = NULL, *by_hand = NULL;
    tsr_share *share = NULL;
    tsr_prune_options how = tsr_prune_options_default();
    double *score = NULL;
    int64_t n = 0;
    assert_ok(tsr_model_prune(&ticket, model, &how));
    assert_true(numbers_of(ticket) < numbers_of(model));
    assert_ok(tsr_model_scores(&score, &n, model, "hidden.0", "l2"));
    assert_int_equal(n, 8);
    assert_ok(tsr_share_create(&share, model));
    assert_ok(tsr_share_best(share, "hidden.0", score, 4));
    assert_ok(tsr_share_take(&by_hand, share, model));
    assert_int_equal(numbers_of(by_hand), numbers_of(ticket));
    for (int i = 0; i < 4 * INPUTS; i++)
        assert_true(number_of(by_hand, "layers.0.weight", i) ==
                    number_of(ticket, "layers.0.weight", i));
    score[3] = NAN;
    assert_fails(tsr_share_best(share, "hidden.0", score, 4), TSR_USAGE, "NaN");
    score[3] = 0;
    assert_fails(tsr_share_best(share, "hidden.0", score, 9), TSR_USAGE, "not 9");
    tsr_free(score);
    assert_fails(tsr_model_scores(&score, &n, model, "hidden.0", "l3"), TSR_USAGE, "l3");
    assert_fails(tsr_model_scores(&score, &n, model, "none", "l2"), TSR_USAGE, "no axis");
    how.ratio = 1;
    tsr_model_destroy(ticket);
    assert_fails(tsr_model_prune(&ticket, model, &how), TSR_USAGE, "below 1");
    assert_null(ticket);
    tsr_share_destroy(share);
    tsr_model_destroy(by_hand);
    tsr_model_destroy(model);
}

/* A gated net and the ReLU net that equals it on the points it was trained on. */
static void converted_in_memory(void **state)
{
    (void)state;
    static const char *const gated[] = {"model={name: grelu, width: 64, layers: 2}",
                                        "data={name: sphere, n: 20, test_n: 5, dim: 6}",
                                        "optim.name=gd",
                                        "epochs=3",
                                        "optim.lr=0.001",
                                        NULL};
    tsr_config *config = NULL;
    tsr_model *model = NULL, *relu = NULL, *back = NULL;
    tsr_conversion c = tsr_conversion_default();
    assert_ok(tsr_config_create(&config));
    for (int i = 0; gated[i]; i++)
        assert_ok(tsr_config_set(config, gated[i]));
    assert_ok(tsr_model_create(&model, config, NULL));
    assert_ok(tsr_model_convert(&relu, &c, model, true, false));
    assert_int_equal(c.points, 20);
    assert_true(c.residual < 1e-4 && fabs(c.loss_before - c.loss_after) < 1e-4);
    assert_fails(tsr_model_convert(&back, NULL, relu, true, false), TSR_USAGE, "relu_twin");
    assert_ok(tsr_model_convert(&back, &c, relu, false, false));
    tsr_model_destroy(back);
    assert_fails(tsr_model_convert(&back, &c, NULL, false, false), TSR_USAGE, "NULL");
    assert_null(back);
    tsr_model_destroy(model);
    tsr_model_destroy(relu);
    tsr_config_destroy(config);
}

static void imported(void **state)
{
    (void)state;
    tsr_model *model = NULL;
    tsr_import_options o = tsr_import_options_default();
    scratch_put("not.pth", "hello", 5);
    assert_fails(tsr_import(&model, scratch_path("not.pth"), NULL), TSR_BAD_FILE, "not.pth");
    o.channels = 5;
    assert_fails(tsr_import(&model, "x", &o), TSR_USAGE, "channels");
    assert_fails(tsr_import(&model, NULL, NULL), TSR_USAGE, "NULL");
    assert_null(model);
}

/* ---- Theory --------------------------------------------------------------------------------- */

static void kernels(void **state)
{
    (void)state;
    tsr_model *model = small_model(NULL);
    tsr_data *data = vectors_data();
    tsr_config *config = small_config(NULL);
    tsr_ntk_options o = tsr_ntk_options_default();
    double k[10 * 10], first[10 * 10], value[10];
    o.n = 10;
    o.data = data;
    assert_ok(tsr_model_ntk(k, model, &o));
    assert_ok(tsr_config_ntk(first, config, &o));
    assert_true(memcmp(k, first, sizeof k) != 0);
    assert_ok(tsr_eigenvalues(value, k, 10));
    double trace = 0, sum = 0;
    for (int i = 0; i < 10; i++) {
        trace += k[i * 10 + i];
        sum += value[i];
        for (int j = 0; j < 10; j++)
            assert_true(fabs(k[i * 10 + j] - k[j * 10 + i]) <= 1e-9 * fabs(k[i * 10 + j]));
    }
    /* a Gram matrix: eigenvalues add up to the trace, and none is below 0 but for rounding */
    assert_true(fabs(trace - sum) < 1e-9 * trace && value[0] > -1e-9 * trace);
    o.n = 61;
    assert_fails(tsr_model_ntk(k, model, &o), TSR_USAGE, "61");
    o.n = 0;
    assert_fails(tsr_model_ntk(k, model, &o), TSR_USAGE, "at least 1 sample");
    k[3] = NAN;
    assert_fails(tsr_eigenvalues(value, k, 10), TSR_USAGE, "row 0");
    assert_fails(tsr_eigenvalues(NULL, k, 10), TSR_USAGE, "NULL");
    tsr_config_destroy(config);
    tsr_data_destroy(data);
    tsr_model_destroy(model);
}

static void certificates(void **state)
{
    (void)state;
    static const char *const masked[] = {
        "model={name: shallow, width: 64}",
        "scheme={name: masked, workers: 2, xi: 0.5}",
        "data={name: sphere, n: 20, test_n: 5, dim: 6, task: regress}",
        "optim.name=gd",
        "epochs=2",
        NULL};
    tsr_config *config = NULL,
               *other = small_config((const char *const[]){"data.name=glyphs", NULL});
    tsr_certificate *c = NULL;
    tsr_certificate_row row = tsr_certificate_row_default();
    char *text = NULL, *json = NULL;
    assert_ok(tsr_config_create(&config));
    for (int i = 0; masked[i]; i++)
        assert_ok(tsr_config_set(config, masked[i]));
    assert_ok(tsr_certify(&c, config, NULL));
    assert_string_equal(tsr_certificate_paper(c), "masked-neurons");
    assert_true(tsr_certificate_rows(c) > 3);
    for (int64_t i = 0; i < tsr_certificate_rows(c); i++) {
        assert_ok(tsr_certificate_at(&row, c, i));
        assert_true(*row.quantity != '\0' && (row.sense != 0 || row.verdict == TSR_NO_VERDICT));
    }
    assert_fails(tsr_certificate_at(&row, c, 999), TSR_USAGE, "no number 999");
    assert_ok(tsr_certificate_text(&text, c));
    assert_ok(tsr_certificate_json(&json, c));
    assert_non_null(strstr(text, row.quantity));
    assert_int_equal(json[0], '{');
    tsr_free(text);
    tsr_free(json);
    tsr_certificate_destroy(c);
    assert_fails(tsr_certify(&c, other, NULL), TSR_USAGE, "");
    assert_fails(tsr_certify(&c, NULL, NULL), TSR_USAGE, "NULL");
    assert_null(c);
    assert_int_equal(tsr_certificate_rows(NULL), 0);
    assert_null(tsr_certificate_paper(NULL));
    tsr_certificate_destroy(NULL);
    tsr_config_destroy(config);
    tsr_config_destroy(other);
}

static void pages(void **state)
{
    (void)state;
    assert_fails(tsr_report(scratch_path("nowhere"), NULL), TSR_USAGE, "nowhere");
    assert_fails(tsr_report(NULL, NULL), TSR_USAGE, "NULL");
    int64_t count = 7;
    assert_fails(tsr_report_pictures(&count, scratch_path("nowhere"), "x"), TSR_USAGE, "nowhere");
    assert_fails(tsr_report_pictures(&count, "nowhere", NULL), TSR_USAGE, "NULL");
    assert_int_equal(count, 0);
}

static tsr_status all_calls(tsr_model *model)
{
    tsr_status st = TSR_OK;
    tsr_share *share = NULL;
    tsr_model *small = NULL, *ticket = NULL;
    tsr_draw draw = tsr_draw_default();
    tsr_prune_options how = tsr_prune_options_default();
    draw.kind = TSR_DRAW_CHUNKS;
    draw.workers = 2;
    if ((st = tsr_share_create(&share, model)) == TSR_OK &&
        (st = tsr_share_draw(share, &draw)) == TSR_OK &&
        (st = tsr_share_take(&small, share, model)) == TSR_OK &&
        (st = tsr_share_put(model, &share, &small, 1)) == TSR_OK)
        st = tsr_model_prune(&ticket, model, &how);
    tsr_share_destroy(share);
    tsr_model_destroy(small);
    tsr_model_destroy(ticket);
    return st;
}

static void memory_may_fail(void **state)
{
    (void)state;
    tsr_model *model = small_model(NULL);
    (void)tsri_alloc_fail_after(-1, false);
    assert_ok(all_calls(model));
    int64_t calls = tsri_alloc_fail_after(-1, false);
    for (int64_t n = 0; n < calls; n += 1 + n / 64) {
        (void)tsri_alloc_fail_after(n, false);
        assert_int_equal(all_calls(model), TSR_RESOURCES);
        (void)tsri_alloc_fail_after(-1, false);
    }
    tsr_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_are_listed),
        cmocka_unit_test(taken_and_put),
        cmocka_unit_test(a_round_by_hand),
        cmocka_unit_test(pruned_in_memory),
        cmocka_unit_test(converted_in_memory),
        cmocka_unit_test(imported),
        cmocka_unit_test(kernels),
        cmocka_unit_test(certificates),
        cmocka_unit_test(pages),
        cmocka_unit_test(memory_may_fail),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
