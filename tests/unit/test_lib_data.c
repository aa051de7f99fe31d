/* test_lib_data.c - data sets from a program's arrays: what is taken, kept and refused. */
#include "library_testing.h"

#include <math.h>

/* ---- What comes back ------------------------------------------------------------------------ */

static void arrays_come_back(void **state)
{
    (void)state;
    tsr_data *data = vectors_data();
    tsr_data_info info = tsr_data_info_default();
    assert_ok(tsr_data_look(&info, data));
    assert_string_equal(info.name, "arrays");
    assert_int_equal(info.form, TSR_VECTORS);
    assert_int_equal(info.n, SAMPLES);
    assert_int_equal(info.test_n, 0);
    assert_int_equal(info.channels, INPUTS);
    assert_int_equal(info.classes, 3);
    assert_int_equal(info.targets, 0);
    assert_int_equal(info.x.dims, 2);
    assert_memory_equal(info.x.data, sample_x, sizeof sample_x);
    assert_ptr_not_equal(info.x.data, sample_x);
    assert_memory_equal(info.y.data, sample_y, sizeof sample_y);
    assert_null(info.length.data);
    tsr_data_destroy(data);
}

/* An older program knows the first fields alone; a newer one has more, which are zero here. */
static void sizes_are_heeded(void **state)
{
    (void)state;
    tsr_data *data = vectors_data();
    struct {
        tsr_data_info info;
        char more[64];
    } longer;
    tsr_data_info info = tsr_data_info_default();
    info.size = offsetof(tsr_data_info, form);
    info.n = -7;
    assert_ok(tsr_data_look(&info, data));
    assert_string_equal(info.name, "arrays");
    assert_int_equal(info.n, -7);
    assert_int_equal(info.size, offsetof(tsr_data_info, form));
    memset(&longer, 1, sizeof longer);
    longer.info.size = sizeof longer;
    assert_ok(tsr_data_look(&longer.info, data));
    assert_int_equal(longer.info.n, SAMPLES);
    assert_int_equal(longer.more[5], 0);
    info.size = 0;
    assert_fails(tsr_data_look(&info, data), TSR_USAGE, "_default()");
    assert_fails(tsr_data_look(NULL, data), TSR_USAGE, "NULL");
    assert_fails(tsr_data_look(&info, NULL), TSR_USAGE, "NULL");
    tsr_data_destroy(data);
}

static void unknown_options_are_refused(void **state)
{
    (void)state;
    struct {
        tsr_data_options o;
        int64_t more;
    } newer = {vectors(), 0};
    tsr_data *data = NULL;
    newer.o.size = sizeof newer;
    assert_ok(tsr_data_create(&data, &newer.o));
    tsr_data_destroy(data);
    newer.more = 1;
    assert_fails(tsr_data_create(&data, &newer.o), TSR_USAGE, "install a newer one");
    assert_null(data);
}

/* Pictures with their channels last, as a view. */
static void strides_are_followed(void **state)
{
    (void)state;
    enum { N = 2, H = 3, W = 2, C = 3 };
    uint8_t last[N * H * W * C];
    int32_t y[N] = {0, 1};
    tsr_data *data = NULL;
    tsr_data_info info = tsr_data_info_default();
    for (int i = 0; i < N * H * W * C; i++)
        last[i] = (uint8_t)i;
    tsr_data_options o = tsr_data_options_default();
    o.x = (tsr_array){last, TSR_U8, 4, {N, C, H, W}, {H * W * C, 1, W * C, C}};
    o.y = tsr_array_of(y, TSR_I32, 1, (int64_t[]){N});
    assert_ok(tsr_data_create(&data, &o));
    assert_ok(tsr_data_look(&info, data));
    assert_int_equal(info.form, TSR_IMAGES);
    assert_int_equal(info.x.type, TSR_U8);
    const uint8_t *first = info.x.data;
    for (int n = 0; n < N; n++)
        for (int c = 0; c < C; c++)
            for (int h = 0; h < H; h++)
                for (int w = 0; w < W; w++)
                    assert_int_equal(first[((n * C + c) * H + h) * W + w],
                                     last[((n * H + h) * W + w) * C + c]);
    tsr_data_destroy(data);
    o.borrow = true;
    assert_fails(tsr_data_create(&data, &o), TSR_USAGE, "C's order");
}

static void borrowed_is_not_copied(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    tsr_data_info info = tsr_data_info_default();
    tsr_data_options o = vectors();
    float target[SAMPLES];
    for (int i = 0; i < SAMPLES; i++)
        target[i] = (float)i;
    o.y = tsr_array_of(target, TSR_F32, 1, (int64_t[]){SAMPLES});
    o.borrow = true;
    assert_ok(tsr_data_create(&data, &o));
    assert_ok(tsr_data_look(&info, data));
    assert_ptr_equal(info.x.data, sample_x);
    assert_ptr_equal(info.y.data, target);
    assert_int_equal(info.targets, 1);
    tsr_data_destroy(data);
    o.x.type = TSR_I32;
    assert_fails(tsr_data_create(&data, &o), TSR_USAGE, "borrowed");
}

static void sequences_and_lengths(void **state)
{
    (void)state;
    double x[3 * 4 * 2];
    int64_t length[3] = {4, 2, 1}, y[3] = {0, 1, 0};
    tsr_data *data = NULL;
    tsr_data_info info = tsr_data_info_default();
    for (int i = 0; i < 24; i++)
        x[i] = i + 1;
    tsr_data_options o = tsr_data_options_default();
    o.form = TSR_SEQUENCES;
    o.x = tsr_array_of(x, TSR_F64, 3, (int64_t[]){3, 4, 2});
    o.y = tsr_array_of(y, TSR_I64, 1, (int64_t[]){3});
    o.length = tsr_array_of(length, TSR_I64, 1, (int64_t[]){3});
    assert_ok(tsr_data_create(&data, &o));
    assert_ok(tsr_data_look(&info, data));
    const float *kept = info.x.data;
    assert_int_equal(info.channels, 2);
    assert_int_equal(info.height, 4);
    assert_true(kept[8 + 3] == 12 && kept[8 + 4] == 0 && kept[16 + 2] == 0);
    assert_int_equal(((const int32_t *)info.length.data)[1], 2);
    tsr_data_destroy(data);
    length[1] = 5;
    assert_fails(tsr_data_create(&data, &o), TSR_USAGE, "from 1 to 4");
    o.form = TSR_FORM_AUTO;
    assert_fails(tsr_data_create(&data, &o), TSR_USAGE, "images or sequences");
    o.form = TSR_VECTORS;
    assert_fails(tsr_data_create(&data, &o), TSR_USAGE, "3 dimensions");
}

/* Labels that are not counted from 0 are names, as in files. */
static void labels_become_classes(void **state)
{
    (void)state;
    static const char *const names[] = {"ant", "bee", "cat", "dog"};
    int64_t signs[SAMPLES];
    tsr_data *data = NULL;
    tsr_data_info info = tsr_data_info_default();
    tsr_data_options o = vectors();
    for (int i = 0; i < SAMPLES; i++)
        signs[i] = i % 2 ? 1 : -1;
    o.y = tsr_array_of(signs, TSR_I64, 1, (int64_t[]){SAMPLES});
    assert_ok(tsr_data_create(&data, &o));
    assert_ok(tsr_data_look(&info, data));
    assert_int_equal(info.classes, 2);
    assert_string_equal(info.class_name[0], "-1");
    tsr_data_destroy(data);
    o = vectors();
    o.classes = 4;
    o.class_name = names;
    assert_ok(tsr_data_create(&data, &o));
    assert_ok(tsr_data_look(&info, data));
    assert_int_equal(info.classes, 4);
    assert_string_equal(info.class_name[3], "dog");
    tsr_data_destroy(data);
    o.classes = 2;
    assert_fails(tsr_data_create(&data, &o), TSR_USAGE, "there are 2 classes");
    o.classes = 0;
    assert_fails(tsr_data_create(&data, &o), TSR_USAGE, "how many");
    o = vectors();
    o.regress = true;
    assert_ok(tsr_data_create(&data, &o));
    assert_ok(tsr_data_look(&info, data));
    assert_int_equal(info.targets, 1);
    tsr_data_destroy(data);
}

/* ---- What is refused ------------------------------------------------------------------------ */

static void wrong_arrays(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    tsr_data_options o = vectors();
    assert_fails(tsr_data_create(NULL, &o), TSR_USAGE, "NULL");
    assert_fails(tsr_data_create(&data, NULL), TSR_USAGE, "NULL");
    o.x.data = NULL;
    assert_fails(tsr_data_create(&data, &o), TSR_USAGE, "x: there is no array");
    o = vectors();
    o.x.type = (tsr_type)9;
    assert_fails(tsr_data_create(&data, &o), TSR_USAGE, "no type 9");
    o = vectors();
    o.x.dims = 9;
    assert_fails(tsr_data_create(&data, &o), TSR_USAGE, "dimensions");
    o = vectors();
    o.x.dims = 0;
    assert_fails(tsr_data_create(&data, &o), TSR_USAGE, "samples first");
    o = vectors();
    o.x.shape[1] = -4;
    assert_fails(tsr_data_create(&data, &o), TSR_USAGE, "size of -4");
    o = vectors();
    o.x.shape[0] = o.x.shape[1] = (int64_t)1 << 40;
    assert_fails(tsr_data_create(&data, &o), TSR_RESOURCES, "");
    o = vectors();
    o.y.shape[0] = SAMPLES - 1;
    assert_fails(tsr_data_create(&data, &o), TSR_USAGE, "x has 60 samples and y 59");
    o = vectors();
    o.test_y = o.y;
    assert_fails(tsr_data_create(&data, &o), TSR_USAGE, "test_x is missing");
    o = vectors();
    o.test_x = tsr_array_of(sample_x, TSR_F32, 2, (int64_t[]){SAMPLES * 2, INPUTS / 2});
    o.test_y = tsr_array_of(sample_y, TSR_I32, 1, (int64_t[]){SAMPLES * 2});
    assert_fails(tsr_data_create(&data, &o), TSR_USAGE, "another shape");
    o = vectors();
    o.length = o.y;
    assert_fails(tsr_data_create(&data, &o), TSR_USAGE, "only sequences");
    assert_null(data);
}

static void numbers_that_are_none(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    tsr_data_options o = vectors();
    double target[SAMPLES];
    sample_x[7] = NAN;
    assert_fails(tsr_data_create(&data, &o), TSR_USAGE, "number 3 of sample 1 is nan");
    o.missing = true;
    assert_ok(tsr_data_create(&data, &o));
    tsr_data_destroy(data);
    sample_x[7] = INFINITY;
    assert_fails(tsr_data_create(&data, &o), TSR_USAGE, "is inf");
    o = vectors();
    for (int i = 0; i < SAMPLES; i++)
        target[i] = i == 9 ? 1e300 : i;
    o.y = tsr_array_of(target, TSR_F64, 1, (int64_t[]){SAMPLES});
    assert_fails(tsr_data_create(&data, &o), TSR_USAGE, "the target of sample 9");
}

static void read_from_config(void **state)
{
    (void)state;
    static const char *const glyphs[] = {"data.name=glyphs", "data.n=50", "data.test_n=10", NULL};
    static const char *const arrays[] = {"data.name=arrays", NULL};
    tsr_config *config = small_config(glyphs), *other = small_config(arrays);
    tsr_data *data = NULL;
    tsr_data_info info = tsr_data_info_default();
    assert_ok(tsr_data_read(&data, config));
    assert_ok(tsr_data_look(&info, data));
    assert_int_equal(info.n, 50);
    assert_int_equal(info.test_n, 10);
    assert_int_equal(info.x.type, TSR_U8);
    tsr_data_destroy(data);
    assert_fails(tsr_data_read(&data, other), TSR_USAGE, "only in the memory of the program");
    tsr_config_destroy(config);
    tsr_config_destroy(other);
}

static void memory_may_fail(void **state)
{
    (void)state;
    static const char *const column[] = {"a", "b", "c", "d"};
    static const char *const names[] = {"x", "y", "z"};
    tsr_status st = TSR_RESOURCES;
    for (int64_t n = 0; st != TSR_OK; n++) {
        tsr_data *data = NULL;
        tsr_data_options o = vectors();
        o.test_x = o.x;
        o.test_y = o.y;
        o.column = column;
        o.classes = 3;
        o.class_name = names;
        o.target = "kind";
        (void)tsri_alloc_fail_after(n, false);
        st = tsr_data_create(&data, &o);
        (void)tsri_alloc_fail_after(-1, false);
        assert_true(st == TSR_OK ? data != NULL : st == TSR_RESOURCES && !data);
        tsr_data_destroy(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_come_back),
        cmocka_unit_test(sizes_are_heeded),
        cmocka_unit_test(unknown_options_are_refused),
        cmocka_unit_test(strides_are_followed),
        cmocka_unit_test(borrowed_is_not_copied),
        cmocka_unit_test(sequences_and_lengths),
        cmocka_unit_test(labels_become_classes),
        cmocka_unit_test(wrong_arrays),
        cmocka_unit_test(numbers_that_are_none),
        cmocka_unit_test(read_from_config),
        cmocka_unit_test(memory_may_fail),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
