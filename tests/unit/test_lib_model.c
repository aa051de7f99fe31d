/* test_lib_model.c - models as programs see them: made, looked at, changed, written, asked. */
#include "library_testing.h"

#include <math.h>

/* ---- Making and writing --------------------------------------------------------------------- */

static tsr_model *built(const char *const *more)
{
    tsr_config *config = small_config(more);
    tsr_model *model = NULL;
    assert_ok(tsr_model_build(&model, config, (int64_t[]){INPUTS, 1, 1}, 3, true));
    tsr_config_destroy(config);
    return model;
}

static void built_from_a_description(void **state)
{
    (void)state;
    tsr_model *model = built(NULL);
    tsr_model_info info = tsr_model_info_default();
    tsr_param p = tsr_param_default();
    assert_ok(tsr_model_look(&info, model));
    assert_string_equal(info.path, "");
    assert_int_equal(info.channels, INPUTS);
    assert_int_equal(info.outputs, 3);
    assert_int_equal(info.classes, 3);
    assert_int_equal(info.params, tsr_model_params(model));
    assert_int_equal(info.numbers, INPUTS * 8 + 8 + 8 * 3 + 3);
    assert_true(info.flops > 0);
    assert_ok(tsr_model_find(&p, model, "layers.0.weight"));
    assert_int_equal(p.values.shape[0], 8);
    assert_int_equal(p.values.shape[1], INPUTS);
    assert_true(p.trained && !p.count);
    assert_fails(tsr_model_find(&p, model, "layers.0.weigth"), TSR_USAGE,
                 "did you mean layers.0.weight?");
    assert_fails(tsr_model_param(&p, model, 99), TSR_USAGE, "no number 99");
    tsr_model_destroy(model);
}

/* A run's first weights are those of tsr_model_create and, where nothing is scaled, of build. */
static void created_for_data(void **state)
{
    (void)state;
    tsr_config *config = small_config(NULL);
    tsr_data *data = vectors_data();
    tsr_model *created = NULL, *plain = built(NULL);
    tsr_param a = tsr_param_default(), b = tsr_param_default();
    assert_ok(tsr_model_create(&created, config, data));
    for (int64_t i = 0; i < tsr_model_params(plain); i++) {
        assert_ok(tsr_model_param(&a, created, i));
        assert_ok(tsr_model_param(&b, plain, i));
        assert_string_equal(a.name, b.name);
        assert_memory_equal(
            a.values.data, b.values.data,
            (size_t)(a.values.shape[0] * (a.values.dims > 1 ? a.values.shape[1] : 1)) *
                sizeof(float));
    }
    tsr_model_destroy(created);
    assert_fails(tsr_model_create(&created, NULL, data), TSR_USAGE, "NULL");
    assert_null(created);
    tsr_config_destroy(config);
    tsr_data_destroy(data);
    tsr_model_destroy(plain);
}

static void bytes_are_the_file(void **state)
{
    (void)state;
    tsr_model *model = small_model(NULL), *read = NULL, *copy = NULL;
    void *bytes = NULL, *again = NULL;
    int64_t n = 0, m = 0;
    const char *path = scratch_path("written.safetensors");
    assert_ok(tsr_model_bytes(&bytes, &n, model));
    assert_ok(tsr_model_write(model, path));
    assert_ok(tsr_model_read(&read, path));
    assert_ok(tsr_model_bytes(&again, &m, read));
    assert_int_equal(n, m);
    assert_memory_equal(bytes, again, (size_t)n);
    tsr_free(again);
    assert_ok(tsr_model_copy(&copy, read));
    assert_ok(tsr_model_bytes(&again, &m, copy));
    assert_memory_equal(bytes, again, (size_t)n);
    tsr_model_destroy(read);
    assert_fails(tsr_model_parse(&read, bytes, n / 2), TSR_BAD_FILE, "in memory");
    assert_null(read);
    assert_string_equal(tsr_model_meta(copy, "tessera.version"), TSR_VERSION_STRING);
    assert_null(tsr_model_meta(copy, "no.such.key"));
    tsr_free(bytes);
    tsr_free(again);
    tsr_model_destroy(model);
    tsr_model_destroy(copy);
}

/* ---- Changing ------------------------------------------------------------------------------- */

static void parameters_are_written(void **state)
{
    (void)state;
    tsr_model *model = small_model(NULL);
    tsr_result before = tsr_result_default(), after = tsr_result_default();
    tsr_data *data = vectors_data();
    tsr_param p = tsr_param_default();
    double zeros[8 * INPUTS] = {0};
    tsr_array values = tsr_array_of(zeros, TSR_F64, 2, (int64_t[]){8, INPUTS});
    assert_ok(tsr_model_judge(&before, model, data));
    assert_true(before.accuracy > 0.95);
    assert_int_equal(before.n, SAMPLES);
    assert_ok(tsr_model_set(model, "layers.0.weight", &values));
    assert_ok(tsr_model_find(&p, model, "layers.0.weight"));
    assert_true(((const float *)p.values.data)[5] == 0);
    assert_ok(tsr_model_judge(&after, model, data)); /* every sample looks the same now */
    assert_true(after.accuracy < 0.4);
    values.shape[1] = 3;
    assert_fails(tsr_model_set(model, "layers.0.weight", &values), TSR_USAGE, "shape");
    values.shape[1] = INPUTS;
    zeros[0] = 1;
    zeros[7] = NAN;
    assert_fails(tsr_model_set(model, "layers.0.weight", &values), TSR_USAGE, "NaN");
    assert_true(((const float *)p.values.data)[0] == 0); /* nothing of it was written */
    values.type = TSR_U8;
    assert_fails(tsr_model_set(model, "layers.0.weight", &values), TSR_USAGE, "F32 or F64");
    assert_fails(tsr_model_set(model, "nothing", &values), TSR_USAGE, "no parameter nothing");
    assert_fails(tsr_model_set(model, "layers.0.weight", NULL), TSR_USAGE, "no array");
    assert_fails(tsr_model_set(NULL, "layers.0.weight", &values), TSR_USAGE, "NULL");
    tsr_data_destroy(data);
    tsr_model_destroy(model);
}

/* Running statistics and counts, as PyTorch's state_dict has them. */
static void statistics_are_written(void **state)
{
    (void)state;
    static const char *const norm[] = {"model.norm=batch", NULL};
    tsr_model *model = built(norm), *copy = NULL;
    tsr_param p = tsr_param_default();
    int64_t count = 77, found = 0;
    float variance[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    tsr_array counted = tsr_array_of(&count, TSR_I64, 0, NULL);
    for (int64_t i = 0; i < tsr_model_params(model); i++) {
        assert_ok(tsr_model_param(&p, model, i));
        if (p.count) {
            found++;
            assert_ok(tsr_model_set(model, p.name, &counted));
        } else if (strstr(p.name, "running_var")) {
            tsr_array a = tsr_array_of(variance, TSR_F32, 1, p.values.shape);
            found++;
            assert_ok(tsr_model_set(model, p.name, &a));
            variance[2] = -1;
            assert_fails(tsr_model_set(model, p.name, &a), TSR_USAGE, "negative variance");
            variance[2] = 3;
        }
    }
    assert_int_equal(found, 2);
    assert_ok(tsr_model_copy(&copy, model));
    for (int64_t i = 0; i < tsr_model_params(copy); i++) {
        assert_ok(tsr_model_param(&p, copy, i));
        if (p.count)
            assert_true(*(const float *)p.values.data == 77);
        else if (strstr(p.name, "running_var"))
            assert_memory_equal(p.values.data, variance, sizeof variance);
    }
    tsr_model_destroy(copy);
    tsr_model_destroy(model);
}

/* The whole of a masked net carries a factor beside its weights (model/whole.h): what a program
 * reads and writes is what files have. */
static void factors_stay_inside(void **state)
{
    (void)state;
    static const char *const masked[] = {
        "model.name=shallow", "model.width=32", "scheme.name=masked",  "scheme.workers=2",
        "scheme.xi=0.5",      "optim.name=gd",  "data.normalize=unit", NULL};
    float x[2 * INPUTS] = {1, 2, 3, 4, 4, 3, 2, 1}, values[32], a[2], b[2];
    tsr_config *config = small_config(masked);
    tsr_model *model = NULL, *copy = NULL;
    tsr_param p = tsr_param_default();
    tsr_predictor *asked = NULL;
    tsr_array two = tsr_array_of(x, TSR_F32, 2, (int64_t[]){2, INPUTS});
    assert_ok(tsr_model_build(&model, config, (int64_t[]){INPUTS, 1, 1}, 1, false));
    int64_t last = tsr_model_params(model) - 1;
    assert_ok(tsr_model_param(&p, model, last));
    memcpy(values, p.values.data, sizeof values);
    assert_ok(tsr_predictor_create(&asked, model, NULL));
    assert_ok(tsr_predictor_run(a, asked, &two, NULL));
    tsr_predictor_destroy(asked);
    tsr_array same = tsr_array_of(values, TSR_F32, p.values.dims, p.values.shape);
    assert_ok(tsr_model_set(model, p.name, &same));
    assert_ok(tsr_model_param(&p, model, last));
    assert_memory_equal(values, p.values.data, sizeof values);
    assert_ok(tsr_model_copy(&copy, model));
    assert_ok(tsr_predictor_create(&asked, copy, NULL));
    assert_ok(tsr_predictor_run(b, asked, &two, NULL));
    tsr_predictor_destroy(asked);
    assert_memory_equal(a, b, sizeof a);
    tsr_model_destroy(copy);
    tsr_model_destroy(model);
    tsr_config_destroy(config);
}

/* ---- Refusals ------------------------------------------------------------------------------- */

static void nothing_given(void **state)
{
    (void)state;
    tsr_model *model = built(NULL), *none = NULL;
    tsr_result r = tsr_result_default();
    tsr_config *config = small_config(NULL);
    void *bytes;
    int64_t n;
    assert_fails(tsr_model_read(&none, NULL), TSR_USAGE, "NULL");
    assert_fails(tsr_model_parse(&none, NULL, 5), TSR_USAGE, "NULL");
    assert_fails(tsr_model_copy(&none, NULL), TSR_USAGE, "NULL");
    assert_fails(tsr_model_write(NULL, "x"), TSR_USAGE, "NULL");
    assert_fails(tsr_model_write(model, NULL), TSR_USAGE, "NULL");
    assert_fails(tsr_model_bytes(&bytes, &n, NULL), TSR_USAGE, "NULL");
    assert_fails(tsr_model_look(NULL, model), TSR_USAGE, "NULL");
    assert_fails(tsr_model_judge(&r, model, NULL), TSR_USAGE, "NULL");
    assert_fails(tsr_model_evaluate(&r, NULL, false), TSR_USAGE, "NULL");
    assert_fails(tsr_model_evaluate(NULL, model, false), TSR_USAGE, "NULL");
    assert_fails(tsr_model_build(&none, config, (int64_t[]){0, 1, 1}, 3, true), TSR_USAGE,
                 "make no network");
    assert_int_equal(tsr_model_params(NULL), 0);
    assert_null(tsr_model_config(NULL));
    assert_null(tsr_model_meta(NULL, "a"));
    assert_null(none);
    tsr_config_destroy(config);
    tsr_model_destroy(model);
    tsr_model_destroy(NULL);
}

static void other_data(void **state)
{
    (void)state;
    tsr_model *model = small_model(NULL);
    tsr_data *data = NULL;
    tsr_data_options o = vectors();
    tsr_result r = tsr_result_default();
    o.x.shape[1] = 2;
    assert_ok(tsr_data_create(&data, &o));
    assert_fails(tsr_model_judge(&r, model, data), TSR_USAGE, "4x1x1");
    tsr_data_destroy(data);
    o = vectors();
    o.classes = 7;
    assert_ok(tsr_data_create(&data, &o));
    assert_fails(tsr_model_judge(&r, model, data), TSR_USAGE, "7 classes");
    tsr_data_destroy(data);
    /* what its config names is a program's memory: told, not guessed */
    assert_fails(tsr_model_evaluate(&r, model, false), TSR_USAGE,
                 "only in the memory of the program");
    tsr_model_destroy(model);
}

/* Judged on one class alone, which its data set numbers 0, or calls by another order of words: classes
 * are matched by their names, once by their places (a sample of class 2 was then one of class 0). */
static void classes_by_name(void **state)
{
    (void)state;
    tsr_model *model = small_model(NULL);
    tsr_predictor *p = NULL;
    tsr_data *data = NULL;
    tsr_data_options o = vectors();
    tsr_result r = tsr_result_default();
    int32_t seen[SAMPLES];
    assert_ok(tsr_predictor_create(&p, model, NULL));
    assert_ok(tsr_predictor_classes(seen, p, &o.x, NULL));
    for (int32_t k = 0; k < 3; k++) {
        float x[SAMPLES * INPUTS];
        int32_t y[SAMPLES], n = 0, right = 0;
        for (int i = 0; i < SAMPLES; i++)
            if (sample_y[i] == k) {
                memcpy(x + n * INPUTS, sample_x + i * INPUTS, INPUTS * sizeof *x);
                y[n++] = k;
                right += seen[i] == k;
            }
        o.x = tsr_array_of(x, TSR_F32, 2, (int64_t[]){n, INPUTS});
        o.y = tsr_array_of(y, TSR_I32, 1, (int64_t[]){n});
        assert_ok(tsr_data_create(&data, &o));
        assert_ok(tsr_model_judge(&r, model, data));
        assert_true(fabs(r.accuracy - (double)right / n) < 1e-6);
        tsr_data_destroy(data);
        for (int32_t i = 0; i < n; i++)
            y[i] = 3;
        assert_ok(tsr_data_create(&data, &o));
        assert_fails(tsr_model_judge(&r, model, data), TSR_USAGE, "the class 3");
        tsr_data_destroy(data);
    }
    tsr_predictor_destroy(p);
    tsr_model_destroy(model);
}

/* Two classes of one name could not be told apart. */
static void names_differ(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    tsr_data_options o = vectors();
    o.classes = 3;
    o.class_name = (const char *const[]){"a", "b", "a"};
    assert_fails(tsr_data_create(&data, &o), TSR_USAGE, "two classes");
    o.class_name = (const char *const[]){"a", NULL, "c"};
    assert_fails(tsr_data_create(&data, &o), TSR_USAGE, "name 1 is missing");
    assert_null(data);
}

static tsr_status all_calls(void)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsr_model *model = NULL, *copy = NULL;
    tsr_param p = tsr_param_default();
    float zeros[8] = {0};
    tsr_array values = tsr_array_of(zeros, TSR_F32, 1, (int64_t[]){8});
    if ((st = tsr_config_create(&config)) == TSR_OK &&
        (st = tsr_config_set(config, "model.hidden=[8]")) == TSR_OK &&
        (st = tsr_model_build(&model, config, (int64_t[]){INPUTS, 1, 1}, 3, true)) == TSR_OK &&
        (st = tsr_model_set(model, "layers.0.bias", &values)) == TSR_OK &&
        (st = tsr_model_copy(&copy, model)) == TSR_OK)
        st = tsr_model_param(&p, copy, 0);
    tsr_model_destroy(model);
    tsr_model_destroy(copy);
    tsr_config_destroy(config);
    return st;
}

static void memory_may_fail(void **state)
{
    (void)state;
    (void)tsri_alloc_fail_after(-1, false);
    assert_ok(all_calls());
    int64_t calls = tsri_alloc_fail_after(-1, false);
    for (int64_t n = 0; n < calls; n += 1 + n / 64) {
        (void)tsri_alloc_fail_after(n, false);
        assert_int_equal(all_calls(), TSR_RESOURCES);
        (void)tsri_alloc_fail_after(-1, false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_from_a_description),
        cmocka_unit_test(created_for_data),
        cmocka_unit_test(bytes_are_the_file),
        cmocka_unit_test(parameters_are_written),
        cmocka_unit_test(statistics_are_written),
        cmocka_unit_test(factors_stay_inside),
        cmocka_unit_test(nothing_given),
        cmocka_unit_test(other_data),
        cmocka_unit_test(classes_by_name),
        cmocka_unit_test(names_differ),
        cmocka_unit_test(memory_may_fail),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
