/* Files that belong together: inputs and labels, training and test data. Each alone is sound; where
 * they do not fit, the sentence names the file that is to be mended. */
#include "data_testing.h"

#define BYTES(text) text, sizeof text - 1
#define ZEROS       "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"

typedef struct file {
    const char *name, *descr, *shape; /* of an .npy; descr = NULL: the bytes are the file */
    const char *bytes;
    size_t n;
} file;

typedef struct pair {
    file file[4];
    const char *set[3]; /* settings besides data.path=d */
    const char *words;  /* of the sentence */
} pair;

/* IDX: magic with type and number of dimensions, sizes, data */
#define U8_2X1  "\0\0\10\2\0\0\0\2\0\0\0\1ab"
#define TRAIN_X "d/train-images-idx2-ubyte"
#define TRAIN_Y "d/train-labels-idx1-ubyte"
#define TEST_X  "d/t10k-images-idx2-ubyte"
#define TEST_Y  "d/t10k-labels-idx1-ubyte"
#define SOUND_IDX                                                                                  \
    {TRAIN_X, 0, 0, BYTES(U8_2X1)},                                                                \
    {                                                                                              \
        TRAIN_Y, 0, 0, BYTES("\0\0\10\1\0\0\0\2\0\1")                                              \
    }
#define SOUND_NPY                                                                                  \
    {"d/x.npy", "<f4", "(2, 1)", BYTES("\0\0\0\0\0\0\200\77")},                                    \
    {                                                                                              \
        "d/y.npy", "|u1", "(2,)", BYTES("\0\1")                                                    \
    }

/* clang-format off */
static const pair table[] = {
    /* IDX */
    {{{TRAIN_X, 0, 0, BYTES(U8_2X1)}, {TRAIN_Y, 0, 0, BYTES("\0\0\10\3\0\0\0\2\0\0\0\1\0\0\0\1ab")}}, {0}, "byte 3: labels of 3 dimensions"},
    {{SOUND_IDX, {TEST_X, 0, 0, BYTES("\0\0\10\2\0\0\0\1\0\0\0\2ab")}, {TEST_Y, 0, 0, BYTES("\0\0\10\1\0\0\0\1\0")}}, {0}, "must agree"},
    {{SOUND_IDX, {TEST_X, 0, 0, BYTES("\0\0\11\2\0\0\0\1\0\0\0\1a")}, {TEST_Y, 0, 0, BYTES("\0\0\10\1\0\0\0\1\0")}}, {0}, "shape and type"},
    {{SOUND_IDX, {TEST_X, 0, 0, BYTES("\0\0\10\2\0\0\0\1\0\0\0\1a")}, {TEST_Y, 0, 0, BYTES("\0\0\10\2\0\0\0\1\0\0\0\1a")}}, {0}, "labels of another shape"},
    {{{TRAIN_X, 0, 0, BYTES(U8_2X1)}, {TRAIN_Y, 0, 0, BYTES("\0\0\10\2\0\0\0\2\0\0\0\2abcd")}}, {"data.task=classify"}, "several labels per sample; set data.task"},
    {{{TRAIN_X, 0, 0, BYTES(U8_2X1)}, {TRAIN_Y, 0, 0, BYTES("\0\0\15\1\0\0\0\2\77\0\0\0\77\200\0\0")}}, {"data.task=classify"}, "label 1 is 0.5, not a whole number"},
    {{{TRAIN_X, 0, 0, BYTES(U8_2X1)}, {TRAIN_Y, 0, 0, BYTES("\0\0\15\1\0\0\0\2\0\0\0\0\177\300\0\0")}}, {0}, "the target of training sample 2 is nan"},
    /* npy */
    {{{"d/x.npy", "<f4", "()", BYTES("\0\0\0\0")}, {"d/y.npy", "|u1", "(2,)", BYTES("\0\1")}}, {0}, "1 to 4, samples first"},
    {{{"d/x.npy", "<f4", "(2, 1)", BYTES("\0\0\0\0\0\0\200\77")}, {"d/y.npy", "|u1", "(3,)", BYTES("\0\1\1")}}, {0}, "3 rows, but"},
    {{SOUND_NPY, {"d/length.npy", "<i4", "(3,)", BYTES("\1\0\0\0\1\0\0\0\1\0\0\0")}}, {0}, "3 lengths for 2 sequences"},
    {{SOUND_NPY, {"d/length.npy", "<i4", "(2,)", BYTES("\1\0\0\0\1\0\0\0")}}, {0}, "sequences are arrays"},
    {{{"d/x.npy", "<f4", "(2, 1, 1)", BYTES("\0\0\0\0\0\0\200\77")}, {"d/y.npy", "|u1", "(2,)", BYTES("\0\1")}, {"d/length.npy", "<i4", "(2,)", BYTES("\1\0\0\0\2\0\0\0")}}, {0}, "row 2: a length of 2; 1 to 1"},
    {{SOUND_NPY, {"d/x_test.npy", "<f4", "(1, 2)", BYTES("\0\0\0\0\0\0\0\0")}, {"d/y_test.npy", "|u1", "(1,)", BYTES("\0")}}, {0}, "2 numbers in a sample, but the training data has 1"},
    {{SOUND_NPY, {"d/x_test.npy", "<f4", "(1, 1, 1)", BYTES("\0\0\0\0")}, {"d/y_test.npy", "|u1", "(1,)", BYTES("\0")}}, {0}, "another number of dimensions or kind"},
    {{{"d/x.npy", "<f4", "(2, 1)", BYTES("\0\0\0\0\0\0\200\77")}, {"d/y.npy", "<i2", "(2, 2)", BYTES("\0\0\1\0\0\0\1\0")}}, {"data.task=classify"}, "2 labels for a sample; set data.task"},
    {{{"d/x.npy", "<f4", "(2, 1)", BYTES("\0\0\0\0\0\0\200\77")}, {"d/y.npy", "<f4", "(2, 2)", BYTES(ZEROS)}, {"d/x_test.npy", "<f4", "(1, 1)", BYTES("\0\0\0\0")}, {"d/y_test.npy", "<f4", "(1,)", BYTES("\0\0\0\0")}}, {0}, "1 targets in a row, but the training data has 2"},
    {{{"d/x.npy", "<f2", "(2, 1)", BYTES("\0\174\0\0")}, {"d/y.npy", "|u1", "(2,)", BYTES("\0\1")}}, {0}, "row 1, column 1"},
    {{{"d/x.npy", "<f2", "(2, 1)", BYTES("\0\0\1\376")}, {"d/y.npy", "|u1", "(2,)", BYTES("\0\1")}}, {0}, "row 2, column 1"},
    {{{"d/other.npy", "<f4", "(1, 1)", BYTES("\0\0\0\0")}}, {"data.format=npy"}, "no x.npy in this folder; check data.path"},
    {{SOUND_NPY, {"e/none", 0, 0, BYTES("")}}, {"data.test_path=e", "data.format=npy"}, "check data.test_path"},
    /* sequences */
    {{{"d/s.train", 0, 0, BYTES("1 2\n\n3 4\n\n")}, {"d/size_s.train", 0, 0, BYTES("1 1")}, {"d/s.test", 0, 0, BYTES("1\n\n")}, {"d/size_s.test", 0, 0, BYTES("1 0")}}, {"data.format=sequences"}, "1 numbers, but"},
    {{{"d/s.train", 0, 0, BYTES("1 2\n\n3 4\n\n")}, {"d/size_s.train", 0, 0, BYTES("1 1")}, {"d/s.test", 0, 0, BYTES("1 2\n\n")}, {"d/size_s.test", 0, 0, BYTES("1")}}, {"data.format=sequences"}, "1 classes, but the training data has 2"},
    {{{"d/nothing.txt", 0, 0, BYTES("1")}}, {"data.format=sequences"}, "no NAME.train with a size_NAME.train"},
};
/* clang-format on */

static void put_file(const file *f)
{
    char header[128];
    (void)snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                   f->descr, f->shape);
    if (f->descr)
        put_npy(f->name, header, f->bytes, f->n);
    else
        (void)scratch_put(f->name, f->bytes, f->n);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    put_folder("d");
    put_folder("e");
    int wrong = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const pair *p = &table[i];
        tsr_data *data = NULL;
        const char *set[5] = {"data.path=d", "data.split=0", p->set[0], p->set[0] ? p->set[1] : 0};
        for (int k = 0; k < 4 && p->file[k].name; k++)
            put_file(&p->file[k]);
        tsr_status st = load_settings(&data, set);
        bool right = st == TSR_BAD_FILE && strstr(tsr_last_error(), p->words);
        if (!right)
            print_message("row %zu: status %d, \"%s\"; expected \"%s\"\n", i, (int)st,
                          tsr_last_error(), p->words);
        wrong += !right;
        assert_null(data);
        for (int k = 0; k < 4 && p->file[k].name; k++)
            assert_int_equal(remove(scratch_path(p->file[k].name)), 0);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
