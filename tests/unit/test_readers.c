/* Readers: small files of arrays and sequences, made here, come out as they went in. CSV is
 * test_csv.c, pictures are test_pictures.c. */
#include "data_testing.h"

#include <math.h>

/* ---- IDX ---------------------------------------------------------------------------------- */

static void idx_of_every_type(void **state)
{
    (void)state;
    static const uint32_t size[] = {3, 1, 2}, labels[] = {3};
    static const uint8_t y[] = {0, 2, 1};
    static const struct {
        int type;
        uint8_t bytes[48];
        size_t n;
        float want[6];
    } kinds[] = {
        {8, {0, 1, 2, 253, 254, 255}, 6, {0, 1, 2, 253, 254, 255}},
        {9, {0, 1, 2, 253, 254, 255}, 6, {0, 1, 2, -3, -2, -1}},
        {11, {0, 0, 0, 1, 1, 0, 255, 255, 128, 0, 127, 255}, 12, {0, 1, 256, -1, -32768, 32767}},
        {12,
         {0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 255, 255, 255, 255, 128, 0, 0, 0, 0, 0, 0, 7},
         24,
         {0, 1, 65536, -1, -2147483648.0f, 7}},
        {13,
         {0, 0, 0, 0, 63, 128, 0, 0, 191, 128, 0, 0, 63, 0, 0, 0, 64, 0, 0, 0, 65, 32, 0, 0},
         24,
         {0, 1, -1, 0.5f, 2, 10}},
        {14, {63, 240, [8] = 191, 224, [16] = 64, 8, [40] = 64, 36}, 48, {1, -0.5f, 3, 0, 0, 10}},
    };
    put_idx("t-labels-idx1-ubyte", 8, 1, labels, y, 3);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        tsr_data *data = NULL;
        put_idx("t-images-idx3-ubyte", kinds[k].type, 3, size, kinds[k].bytes, kinds[k].n);
        assert_ok(load_settings(&data, SETTINGS("data.path=t-images-idx3-ubyte", "data.split=0",
                                                "data.normalize=none")));
        assert_int_equal(data->train.n, 3);
        assert_true(data->channels == 1 && data->height == 1 && data->width == 2);
        assert_int_equal(data->classes, 3);
        for (int64_t i = 0; i < 3; i++)
            assert_int_equal(data->train.label[i], y[i]);
        for (int i = 0; i < 6; i++)
            assert_true((kinds[k].type == 8 ? (float)data->train.bytes[i]
                                            : data->train.numbers[i]) == kinds[k].want[i]);
        tsr_data_destroy(data);
    }
}

static void idx_folders_have_a_test_part(void **state)
{
    (void)state;
    static const uint32_t four[] = {2, 3, 1, 1}, one[] = {1, 3, 1, 1}, two[] = {2}, single[] = {1};
    tsr_data *data = NULL;
    put_folder("idx");
    put_idx("idx/train-images-idx4-ubyte", 8, 4, four, "abcdef", 6);
    put_idx("idx/train-labels-idx1-ubyte", 8, 1, two, "\0\4", 2);
    put_idx("idx/t10k-images-idx4-ubyte", 8, 4, one, "xyz", 3);
    put_idx("idx/t10k-labels-idx1-ubyte", 8, 1, single, "\1", 1);
    assert_ok(load_settings(&data, SETTINGS("data.path=idx", "data.normalize=none")));
    assert_int_equal(data->channels, 3);
    assert_int_equal(data->classes, 5);
    assert_int_equal(data->test.n, 1);
    assert_memory_equal(data->test.bytes, "xyz", 3);
    tsr_data_destroy(data);
    put_folder("other");
    put_idx("other/t10k-images-idx4-ubyte", 8, 4, one, "pqr", 3);
    put_idx("other/t10k-labels-idx1-ubyte", 8, 1, single, "\1", 1);
    assert_ok(load_settings(
        &data, SETTINGS("data.path=idx", "data.test_path=other", "data.normalize=none")));
    assert_memory_equal(data->test.bytes, "pqr", 3);
    tsr_data_destroy(data);
    put_folder("bare");
    assert_fails(load_settings(&data, SETTINGS("data.path=idx", "data.test_path=bare")),
                 TSR_BAD_FILE, "check data.test_path");
}

/* One number a sample, and real targets: labels of type float, with a test part. */
static void idx_of_real_targets(void **state)
{
    (void)state;
    static const uint32_t two[] = {2}, one[] = {1};
    tsr_data *data = NULL;
    put_folder("real");
    put_idx("real/train-images-idx3-ubyte", 8, 1, two, "\3\4", 2);
    put_idx("real/train-labels-idx1-ubyte", 13, 1, two, "\77\0\0\0\277\200\0\0", 8);
    put_idx("real/t10k-images-idx3-ubyte", 8, 1, one, "\5", 1);
    put_idx("real/t10k-labels-idx1-ubyte", 13, 1, one, "\100\0\0\0", 4);
    assert_ok(load_settings(
        &data, SETTINGS("data.path=real", "data.normalize=none", "data.target_scale=none")));
    assert_true(data->dim == 1 && data->classes == 0 && data->targets == 1);
    assert_true(data->train.target[0] == 0.5f && data->train.target[1] == -1.0f);
    assert_true(data->test.target[0] == 2.0f && data->test.bytes[0] == 5);
    tsr_data_destroy(data);
}

/* ---- CIFAR -------------------------------------------------------------------------------- */

static void cifar_layouts(void **state)
{
    (void)state;
    static uint8_t file[2 * 3074];
    char name[64];
    tsr_data *data = NULL;
    put_folder("c10");
    for (int b = 1; b <= 6; b++) {
        for (int i = 0; i < 2; i++) {
            memset(file + i * 3073, 10 * b + i, 3073);
            file[i * 3073] = (uint8_t)(b + i);
        }
        (void)snprintf(name, sizeof name, b < 6 ? "c10/data_batch_%d.bin" : "c10/test_batch.bin",
                       b);
        (void)scratch_put(name, file, 2 * 3073);
    }
    put_text("c10/batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n");
    assert_ok(load_settings(&data, SETTINGS("data.path=c10")));
    assert_int_equal(data->train.n, 10);
    assert_int_equal(data->test.n, 2);
    assert_int_equal(data->classes, 10);
    assert_string_equal(data->class_name[9], "j");
    assert_int_equal(data->train.label[9], 6);
    assert_int_equal(data->train.bytes[9 * 3072 + 3071], 51);
    assert_int_equal(data->test.bytes[0], 60);
    tsr_data_destroy(data);
    assert_ok(load_settings(&data, SETTINGS("data.path=c10/data_batch_1.bin", "data.test_path=c10",
                                            "data.format=cifar10")));
    assert_true(data->train.n == 2 && data->test.n == 2);
    tsr_data_destroy(data);
    assert_ok(load_settings(&data, SETTINGS("data.path=c10", "data.test_path=c10/test_batch.bin")));
    assert_true(data->train.n == 10 && data->test.n == 2);
    tsr_data_destroy(data);

    /* files of different lengths, and a label that is none */
    (void)scratch_put("c10/data_batch_1.bin", file, 3073);
    assert_ok(load_settings(&data, SETTINGS("data.path=c10")));
    assert_int_equal(data->train.n, 9);
    assert_int_equal(data->train.bytes[8 * 3072 + 3071], 51);
    tsr_data_destroy(data);
    file[3073] = 10;
    (void)scratch_put("c10/data_batch_1.bin", file, 2 * 3073);
    assert_fails(load_settings(&data, SETTINGS("data.path=c10")), TSR_BAD_FILE,
                 "byte 3073: label 10 of image 2");

    put_folder("c100");
    memset(file, 7, sizeof file);
    file[1] = 99;
    (void)scratch_put("c100/train.bin", file, 2 * 3074);
    (void)scratch_put("c100/test.bin", file, 3074);
    assert_ok(load_settings(&data, SETTINGS("data.path=c100")));
    assert_int_equal(data->classes, 100);
    assert_int_equal(data->train.label[0], 99);
    assert_int_equal(data->train.label[1], 7);
    assert_int_equal(data->test.n, 1);
    tsr_data_destroy(data);
}

/* ---- npy ---------------------------------------------------------------------------------- */

static void npy_folders_and_single_files(void **state)
{
    (void)state;
    static const float x[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const int64_t y[] = {-1, 1};
    static const double table[] = {1, 2, 0.5, 3, 4, 1.5};
    static const uint16_t half[] = {0x3C00, 0xC000, 0x0001, 0x3555};
    tsr_data *data = NULL;
    put_folder("np");
    put_npy("np/x.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2, 2), }", x,
            sizeof x);
    put_npy("np/y.npy", "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }", y, sizeof y);
    assert_ok(
        load_settings(&data, SETTINGS("data.path=np", "data.split=0", "data.normalize=none")));
    assert_true(data->channels == 1 && data->height == 2 && data->width == 2);
    assert_int_equal(data->classes, 2);
    assert_string_equal(data->class_name[0], "-1");
    assert_memory_equal(data->train.numbers, x, sizeof x);
    tsr_data_destroy(data);

    /* a test part in a folder, or as a table whose last column is the label */
    static const float row[] = {1, 2, 3, 4, 1};
    assert_ok(load_settings(&data, SETTINGS("data.path=np", "data.test_path=np")));
    assert_true(data->test.n == 2 && data->test.label[0] == 0);
    tsr_data_destroy(data);
    put_npy("row.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 5), }", row,
            sizeof row);
    assert_ok(load_settings(
        &data, SETTINGS("data.path=row.npy", "data.test_path=row.npy", "data.task=classify")));
    assert_true(data->test.n == 1 && data->test.label[0] == 0 && data->dim == 4);
    tsr_data_destroy(data);

    /* the same array as sequences of two positions, by format */
    assert_ok(load_settings(&data, SETTINGS("data.path=np", "data.format=sequences", "data.split=0",
                                            "data.normalize=none")));
    assert_true(data->sequences && data->channels == 2 && data->height == 2);
    assert_int_equal(data->train.length[1], 2);
    tsr_data_destroy(data);

    /* and by lengths; what stands after the end becomes zero */
    static const int32_t length[] = {1, 2};
    put_npy("np/length.npy", "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", length,
            sizeof length);
    assert_ok(load_settings(&data,
                            SETTINGS("data.path=np/x.npy", "data.split=0", "data.normalize=none")));
    assert_true(data->sequences && data->train.numbers[2] == 0.0f);
    assert_true(data->train.numbers[1] == 2.0f && data->train.numbers[7] == 8.0f);
    tsr_data_destroy(data);

    put_npy("t.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", table,
            sizeof table);
    assert_ok(load_settings(&data, SETTINGS("data.path=t.npy", "data.split=0",
                                            "data.normalize=none", "data.target_scale=none")));
    assert_int_equal(data->dim, 2);
    assert_true(data->train.target[0] == 0.5f && data->train.target[1] == 1.5f);
    assert_true(data->train.numbers[3] == 4.0f);
    tsr_data_destroy(data);

    put_npy("h.npy", "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 2), }", half,
            sizeof half);
    assert_ok(load_settings(&data, SETTINGS("data.path=h.npy", "data.split=0",
                                            "data.normalize=none", "data.target_scale=none")));
    assert_true(data->train.numbers[0] == 1.0f && data->train.target[0] == -2.0f);
    assert_true(data->train.numbers[1] == 0x1p-24f && data->train.target[1] == 0x1.554p-2f);
    tsr_data_destroy(data);
}

static void npy_of_every_type(void **state)
{
    (void)state;
    static const struct {
        const char *descr;
        char bytes[16];
        size_t n;
        float want[2];
    } kinds[] = {
        {"|b1", "\1\0", 2, {1, 0}},
        {"|u1", "\7\377", 2, {7, 255}},
        {"|i1", "\7\377", 2, {7, -1}},
        {"<i2", "\7\0\376\377", 4, {7, -2}},
        {"<u2", "\7\0\376\377", 4, {7, 65534}},
        {"<i4", "\7\0\0\0\376\377\377\377", 8, {7, -2}},
        {"<u4", "\7\0\0\0\0\0\0\200", 8, {7, 0x1p31f}},
        {"<i8", "\7\0\0\0\0\0\0\0\376\377\377\377\377\377\377\377", 16, {7, -2}},
        {"<u8", "\7\0\0\0\0\0\0\0\0\0\0\0\0\0\0\200", 16, {7, 0x1p63f}},
    };
    put_folder("kinds");
    put_npy("kinds/y.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", "\0\1", 2);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        tsr_data *data = NULL;
        char header[96];
        (void)snprintf(header, sizeof header,
                       "{'descr': '%s', 'fortran_order': False, 'shape': (2,), }", kinds[k].descr);
        put_npy("kinds/x.npy", header, kinds[k].bytes, kinds[k].n);
        assert_ok(load_settings(
            &data, SETTINGS("data.path=kinds", "data.split=0", "data.normalize=none")));
        assert_true(data->dim == 1 && data->train.n == 2);
        for (int i = 0; i < 2; i++)
            assert_true((data->train.bytes ? (float)data->train.bytes[i]
                                           : data->train.numbers[i]) == kinds[k].want[i]);
        tsr_data_destroy(data);
    }
}

/* ---- Sequences ---------------------------------------------------------------------------- */

static void sequences_as_text(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    put_folder("seq");
    put_text("seq/v.train", "1 2\n3 4 \n\n5 6\n\n\n7 8\n9 10\n11 12\n");
    put_text("seq/size_v.train", "2 0 1\n");
    put_text("seq/v.test", "0.5 -1\r\n\r\n");
    put_text("seq/size_v.test", "0 1 0");
    assert_ok(load_settings(&data, SETTINGS("data.path=seq", "data.normalize=none")));
    assert_int_equal(data->train.n, 3);
    assert_true(data->channels == 2 && data->height == 3 && data->width == 1 && data->dim == 6);
    static const int32_t length[] = {2, 1, 3}, label[] = {0, 0, 2};
    static const float x[] = {1, 2, 3, 4, 0, 0, 5, 6, 0, 0, 0, 0, 7, 8, 9, 10, 11, 12};
    assert_memory_equal(data->train.length, length, sizeof length);
    assert_memory_equal(data->train.label, label, sizeof label);
    assert_memory_equal(data->train.numbers, x, sizeof x);
    assert_int_equal(data->classes, 3);
    assert_int_equal(data->test.label[0], 1);
    tsr_data_destroy(data);
}

/* ---- Memory ------------------------------------------------------------------------------- */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    walk_failures(SETTINGS("data.path=idx"));
    walk_failures(SETTINGS("data.path=c100"));
    walk_failures(SETTINGS("data.path=np", "data.split=0.5"));
    walk_failures(SETTINGS("data.path=seq"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idx_of_every_type),   cmocka_unit_test(idx_folders_have_a_test_part),
        cmocka_unit_test(idx_of_real_targets), cmocka_unit_test(npy_of_every_type),
        cmocka_unit_test(cifar_layouts),       cmocka_unit_test(npy_folders_and_single_files),
        cmocka_unit_test(sequences_as_text),   cmocka_unit_test(every_allocation_may_fail),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
