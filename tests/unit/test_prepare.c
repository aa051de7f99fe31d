/* Split, limits, missing values, normalisation, targets, checksum: what happens to every set. */
#include "data_testing.h"

#include "data/loader.h"
#include "data/source.h"

#include <math.h>

/* 100 rows: x = row number, w = 7, label = row / 10 (sorted), as CSV. */
static void put_rows(void)
{
    tsri_text t = {0};
    assert_ok(tsri_text_add(&t, "x,w,label\n"));
    for (int i = 0; i < 100; i++)
        assert_ok(tsri_text_add(&t, "%d,7,%d\n", i, i / 10));
    put_text("rows.csv", t.data);
    tsri_text_fini(&t);
}

static tsr_data *rows(const char *a, const char *b)
{
    tsr_data *data = NULL;
    put_rows();
    assert_ok(load_settings(&data, SETTINGS("data.path=rows.csv", a, b)));
    return data;
}

static void split_is_a_partition_by_seed(void **state)
{
    (void)state;
    tsr_data *a = rows("data.normalize=none", "data.split=0.25");
    assert_int_equal(a->train.n, 75);
    assert_int_equal(a->test.n, 25);
    int seen[100] = {0};
    for (int64_t i = 0; i < 75; i++) {
        seen[(int)a->train.numbers[2 * i]]++;
        assert_int_equal(a->train.label[i], (int)a->train.numbers[2 * i] / 10);
        assert_true(i == 0 || a->train.numbers[2 * i] > a->train.numbers[2 * i - 2]);
    }
    for (int64_t i = 0; i < 25; i++)
        seen[(int)a->test.numbers[2 * i]]++;
    for (int i = 0; i < 100; i++)
        assert_int_equal(seen[i], 1);

    tsr_data *same = NULL, *other = NULL;
    assert_ok(load_settings(
        &same, SETTINGS("data.path=rows.csv", "data.normalize=none", "data.split=0.25")));
    assert_ok(load_settings(&other, SETTINGS("data.path=rows.csv", "data.normalize=none",
                                             "data.split=0.25", "data.seed=2")));
    assert_int_equal(same->hash, a->hash);
    assert_int_not_equal(other->hash, a->hash);
    assert_memory_equal(same->test.numbers, a->test.numbers, 50 * sizeof(float));
    assert_memory_not_equal(other->test.numbers, a->test.numbers, 50 * sizeof(float));
    tsr_data_destroy(a);
    tsr_data_destroy(same);
    tsr_data_destroy(other);
}

static void limits_see_every_class_and_nest(void **state)
{
    (void)state;
    tsr_data *few = rows("data.limit=40", "data.normalize=none");
    tsr_data *fewer = rows("data.limit=10", "data.normalize=none");
    assert_int_equal(few->train.n, 40);
    assert_int_equal(few->test.n, 20);
    assert_int_equal(fewer->train.n, 10);
    int classes[10] = {0}, different = 0;
    for (int64_t i = 0; i < 40; i++)
        classes[few->train.label[i]]++;
    for (int c = 0; c < 10; c++)
        different += classes[c] > 0;
    assert_true(different >= 9); /* the first 40 rows would be 4 classes */
    for (int64_t i = 0; i < 10; i++) {
        bool found = false;
        for (int64_t j = 0; j < 40; j++)
            found = found || few->train.numbers[2 * j] == fewer->train.numbers[2 * i];
        assert_true(found);
    }
    tsr_data_destroy(few);
    tsr_data_destroy(fewer);
}

static void statistics_are_of_the_training_part(void **state)
{
    (void)state;
    tsr_data *raw = rows("data.normalize=none", "data.split=0.5");
    tsr_data *data = rows("data.normalize=standardize", "data.split=0.5");
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < 50; i++)
        sum += (double)raw->train.numbers[2 * i];
    for (int64_t i = 0; i < 50; i++)
        squares += pow((double)raw->train.numbers[2 * i] - sum / 50, 2);
    float shift = (float)(sum / 50), scale = (float)(1.0 / sqrt(squares / 50));
    for (int64_t i = 0; i < 50; i++) {
        assert_true(data->test.numbers[2 * i] == (raw->test.numbers[2 * i] - shift) * scale);
        assert_true(data->train.numbers[2 * i] == (raw->train.numbers[2 * i] - shift) * scale);
        assert_true(data->train.numbers[2 * i + 1] == 0.0f); /* a constant is only centred */
    }
    tsr_data_destroy(raw);
    tsr_data_destroy(data);

    data = rows("data.normalize=minmax", "data.split=0");
    assert_true(data->train.numbers[0] == 0.0f && data->train.numbers[198] == 1.0f);
    tsr_data_destroy(data);

    data = rows("data.normalize=unit", "data.split=0");
    for (int64_t i = 0; i < 100; i++) {
        const float *x = data->train.numbers + 2 * i;
        assert_true(fabsf(x[0] * x[0] + x[1] * x[1] - 1.0f) < 1e-6f);
    }
    tsr_data_destroy(data);
}

/* The largest floats of both signs: their difference is beyond a float, (x - shift) / spread is
 * not. Such data once ended as "diverged, lower optim.lr". */
static void huge_numbers_are_scaled(void **state)
{
    (void)state;
    static const char *const how[] = {"data.normalize=standardize", "data.normalize=minmax"};
    put_text("h.csv", "a,y\n3.4e38,8e37\n-3.4e38,-8e37\n3.4e38,8e37\n-3.4e38,-8e37\n");
    for (int i = 0; i < 2; i++) {
        tsr_data *data = NULL;
        assert_ok(load_settings(
            &data, SETTINGS("data.path=h.csv", "data.split=0", how[i], "data.task=regress")));
        for (int k = 0; k < 4; k++) { /* the scale itself is a subnormal: 20 bits of it are left */
            float want = k % 2 == 0 ? 1.0f : i == 0 ? -1.0f : 0.0f;
            assert_true(fabsf(data->train.numbers[k] - want) < 1e-5f);
            float target = k % 2 == 0 ? 1.0f : -1.0f;
            assert_true(fabsf(data->train.target[k] - target) < 1e-5f);
        }
        tsr_data_destroy(data);
    }
    tsr_data *data = NULL; /* a test sample far outside of what was measured */
    put_text("near.csv", "a,y\n1e-30,1\n3e-30,2\n2e-30,3\n");
    put_text("far.csv", "a,y\n1e-30,1\n1e20,2\n");
    assert_fails(load_settings(&data, SETTINGS("data.path=near.csv", "data.test_path=far.csv")),
                 TSR_BAD_FILE, "test sample 2: input 1 (a) is 1e+20");
}

static void missing_values_take_the_training_mean(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    put_text("m.csv", "a,b,c,y\n1,?,red,0.5\n3,,blue,1.5\n?,?,red,2.5\n8,,?,3.5\n");
    assert_ok(
        load_settings(&data, SETTINGS("data.path=m.csv", "data.split=0", "data.normalize=none")));
    assert_int_equal(data->missing, 6);
    assert_int_equal(data->dim, 4);
    const float want[] = {1, 0, 0, 1, 3, 0, 1, 0, 4, 0, 0, 1, 8, 0, 1.0f / 3, 2.0f / 3};
    for (int k = 0; k < 16; k++)
        assert_true(fabsf(data->train.numbers[k] - want[k]) < 1e-6f);
    tsr_data_destroy(data);
    assert_ok(load_settings(&data, SETTINGS("data.path=m.csv", "data.split=0",
                                            "data.normalize=none", "data.missing=zero")));
    assert_true(data->train.numbers[8] == 0.0f && data->train.numbers[14] == 0.0f);
    tsr_data_destroy(data);
}

static void targets_are_scaled_and_come_back(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    put_text("y.csv", "x,y\n1,10.5\n2,20.5\n3,40\n4,80\n");
    static const char *const how[] = {"data.target_scale=auto", "data.target_scale=minmax",
                                      "data.target_scale=none"};
    static const double original[] = {10.5, 20.5, 40, 80};
    for (int k = 0; k < 3; k++) {
        assert_ok(load_settings(&data, SETTINGS("data.path=y.csv", "data.split=0", how[k])));
        for (int i = 0; i < 4; i++) {
            double y = (double)data->train.target[i] / (double)data->scaling.target_scale +
                       (double)data->scaling.target_shift;
            assert_true(fabs(y - original[i]) < 1e-5);
        }
        if (k == 1)
            assert_true(data->train.target[0] == 0.0f && data->train.target[3] == 1.0f);
        tsr_data_destroy(data);
    }
    assert_ok(
        load_settings(&data, SETTINGS("data.path=y.csv", "data.split=0", "data.target_scale=log")));
    for (int i = 0; i < 4; i++)
        assert_true(fabs((double)data->train.target[i] - log(original[i])) < 1e-6);
    tsr_data_destroy(data);
}

/* ---- Images ------------------------------------------------------------------------------- */

static void put_images(void)
{
    static const uint32_t size[] = {2, 2, 1, 2}, labels[] = {2};
    put_idx("i-images-idx4-ubyte", 8, 4, size, "\0\377\1\3\377\0\5\7", 8);
    put_idx("i-labels-idx1-ubyte", 8, 1, labels, "\0\1", 2);
}

static void images_keep_their_bytes(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    float x[4];
    put_images();
    assert_ok(load_settings(&data, SETTINGS("data.path=i-images-idx4-ubyte", "data.split=0")));
    assert_non_null(data->train.bytes);
    assert_true(data->scaling.shift[0] == 127.5f && data->scaling.scale[0] == 1.0f / 127.5f);
    assert_true(data->scaling.shift[1] == 4.0f); /* mean of 1 3 5 7, deviation sqrt 5 */
    tsri_sample(x, data, &data->train, 1);
    assert_true(x[0] == 1.0f && x[1] == -1.0f && fabsf(x[3] - 3.0f / sqrtf(5.0f)) < 1e-6f);
    tsr_data_destroy(data);

    assert_ok(load_settings(
        &data, SETTINGS("data.path=i-images-idx4-ubyte", "data.split=0", "data.normalize=none")));
    tsri_sample(x, data, &data->train, 0);
    assert_true(x[0] == 0.0f && x[1] == 1.0f);
    tsr_data_destroy(data);

    assert_ok(load_settings(
        &data, SETTINGS("data.path=i-images-idx4-ubyte", "data.split=0", "data.normalize=unit")));
    assert_null(data->train.bytes);
    tsri_sample(x, data, &data->train, 0);
    assert_true(fabsf(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3] - 1.0f) < 1e-6f);
    tsr_data_destroy(data);
}

static void sequences_are_scaled_by_coordinate(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    put_text("s.train", "1 10\n3 10\n\n5 40\n\n");
    put_text("size_s.train", "1 1");
    assert_ok(load_settings(&data, SETTINGS("data.path=s.train", "data.split=0")));
    /* coordinate 1: 1 3 5; coordinate 2: 10 10 40; padding takes no part and stays zero */
    float a = (float)sqrt(8.0 / 3.0), b = (float)sqrt(200.0);
    const float want[] = {-2 / a, -10 / b, 0, -10 / b, 2 / a, 20 / b, 0, 0};
    for (int k = 0; k < 8; k++)
        assert_true(fabsf(data->train.numbers[k] - want[k]) < 1e-6f);
    tsr_data_destroy(data);
    assert_ok(
        load_settings(&data, SETTINGS("data.path=s.train", "data.split=0", "data.normalize=unit")));
    assert_true(fabsf(hypotf(data->train.numbers[2], data->train.numbers[3]) - 1.0f) < 1e-6f);
    assert_true(data->train.numbers[6] == 0.0f);
    tsr_data_destroy(data);
}

/* ---- Defaults ----------------------------------------------------------------------------- */

static int warnings;

static void count_warnings(void *context, tsr_log_level level, const char *text)
{
    (void)context;
    if (level == TSR_LOG_WARNING && strstr(text, "glyphs") && strstr(text, "tessera data get"))
        warnings++;
}

static void without_a_name_it_is_fashion_mnist_or_glyphs(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    tsr_set_log(count_warnings, NULL, TSR_LOG_WARNING);
    warnings = 0;
    char *path = NULL;
    assert_ok(tsri_source_locate(&path, NULL, "fashion-mnist", NULL));
    bool have = path != NULL;
    tsri_free(path);
    assert_ok(load_settings(&data, SETTINGS("data.limit=100", "data.test_limit=50")));
    assert_string_equal(data->name, have ? "fashion-mnist" : "glyphs");
    assert_int_equal(warnings, have ? 0 : 1);
    assert_true(data->train.n == 100 && data->test.n == 50 && data->classes == 10);
    tsr_set_log(NULL, NULL, TSR_LOG_ERROR);
    tsr_data_destroy(data);
}

static void synthetic_sets_are_not_rescaled(void **state)
{
    (void)state;
    static const char *const names[] = {"data.name=sphere", "data.name=random-labels",
                                        "data.name=sequences", "data.name=ackley",
                                        "data.name=glyphs"};
    for (int i = 0; i < 5; i++) {
        tsr_data *data = NULL;
        assert_ok(load_settings(&data, SETTINGS(names[i], "data.n=50", "data.phi=0.05")));
        assert_int_equal(data->train.n, 50);
        assert_int_equal(data->test.n, 10);
        double norm = 0;
        for (int64_t k = 0; k < data->channels && data->train.numbers; k++)
            norm += pow((double)data->train.numbers[k], 2);
        assert_true(i > 2 || fabs(norm - 1.0) < 1e-5);
        tsr_data_destroy(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split_is_a_partition_by_seed),
        cmocka_unit_test(limits_see_every_class_and_nest),
        cmocka_unit_test(statistics_are_of_the_training_part),
        cmocka_unit_test(huge_numbers_are_scaled),
        cmocka_unit_test(missing_values_take_the_training_mean),
        cmocka_unit_test(targets_are_scaled_and_come_back),
        cmocka_unit_test(images_keep_their_bytes),
        cmocka_unit_test(sequences_are_scaled_by_coordinate),
        cmocka_unit_test(without_a_name_it_is_fashion_mnist_or_glyphs),
        cmocka_unit_test(synthetic_sets_are_not_rescaled),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
