/* numpy's files: round trips, other versions and orders, hostile headers, every length. */
#include "scratch.h"

#include "io/npy.h"

static char made[1 << 17];

/* A file with this header text (version 1 to 3) and data; returns its size. */
static int64_t make(int version, const char *text, const void *data, size_t data_size)
{
    size_t begin = version == 1 ? 10 : 12, n = strlen(text);
    memcpy(made, "\x93NUMPY", 6);
    made[6] = (char)version;
    memset(made + 7, 0, 5);
    made[8] = (char)(n & 255);
    made[9] = (char)(n >> 8);
    memcpy(made + begin, text, n);
    if (data_size > 0)
        memcpy(made + begin + n, data, data_size);
    return (int64_t)(begin + n + data_size);
}

static void every_type_and_rank(void **state)
{
    (void)state;
    static unsigned char data[8 * 24];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 7 + 1);
    static const int64_t shape[4][3] = {{0}, {24}, {4, 6}, {2, 3, 4}};
    for (int d = TSRI_BOOL; d <= TSRI_F64; d++) {
        for (int dims = 0; dims < 4; dims++) {
            tsri_tensor t = {.name = "", .dtype = (tsri_dtype)d, .dims = dims, .data = data}, u;
            memcpy(t.shape, shape[dims], sizeof shape[dims]);
            const char *path = scratch_path("a.npy");
            void *memory = NULL;
            if (d == TSRI_BF16) {
                assert_fails(tsri_npy_write(path, &t), TSR_FAILURE, "no type BF16");
                continue;
            }
            assert_ok(tsri_npy_write(path, &t));
            assert_ok(tsri_npy_read(&u, &memory, path));
            assert_int_equal(u.dtype, d);
            assert_int_equal(u.dims, dims);
            assert_memory_equal(u.shape, t.shape, sizeof(int64_t) * (size_t)dims);
            assert_memory_equal(u.data, data, (size_t)tsri_tensor_bytes(&t));
            tsri_free(memory);
        }
    }
}

/* Exactly what numpy.save writes for arange(3, dtype='<f4') up to version 1.22. */
static void the_bytes_are_numpys(void **state)
{
    (void)state;
    static const float data[3] = {0, 1, 2};
    const tsri_tensor t = {"", TSRI_F32, 1, {3}, data};
    char *bytes = NULL;
    int64_t n = 0;
    assert_ok(tsri_npy_write(scratch_path("b.npy"), &t));
    assert_ok(tsri_file_read(&bytes, &n, scratch_path("b.npy"), 1000));
    assert_int_equal(n, 128 + 12);
    assert_memory_equal(bytes, "\x93NUMPY\x01\x00\x76\x00", 10);
    assert_memory_equal(bytes + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }",
                        57);
    assert_int_equal(bytes[127], '\n');
    assert_memory_equal(bytes + 128, data, 12);
    tsri_free(bytes);
}

static void other_versions_and_orders(void **state)
{
    (void)state;
    static const char row[] = "{'shape': (2L, 3L), \"descr\": '|u1', 'fortran_order': True}\n";
    tsri_tensor t;
    void *memory = NULL;
    for (int version = 1; version <= 3; version++) {
        int64_t n = make(version, row, "adbecf", 6); /* columns of abc / def */
        assert_ok(tsri_npy_parse(&t, &memory, made, n, "v"));
        assert_int_equal(t.dims, 2);
        assert_memory_equal(t.data, "abcdef", 6);
        tsri_free(memory);
    }
    /* [2,3,2] by columns: element (i,j,k) stands at i + 2j + 6k */
    int64_t n = make(1, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3, 2), }\n",
                     "\0\0\1\0\2\0\3\0\4\0\5\0\6\0\7\0\10\0\11\0\12\0\13\0", 24);
    assert_ok(tsri_npy_parse(&t, &memory, made, n, "v"));
    const int16_t *x = t.data;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 2; k++)
                assert_int_equal(x[(i * 3 + j) * 2 + k], i + 2 * j + 6 * k);
    tsri_free(memory);
    n = make(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (0, 5), }\n", "", 0);
    assert_ok(tsri_npy_parse(&t, &memory, made, n, "v"));
    assert_int_equal(tsri_tensor_count(&t), 0);
    tsri_free(memory);
}

#define H(descr, order, shape)                                                                     \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"

static const struct {
    const char *text;
    size_t data_size;
    const char *words;
} hostile[] = {
    {"", 0, "expected '{'"},
    {"__import__('os').system('x')", 0, "expected '{'"},
    {"{'descr': __import__('os').system('x')}", 0, "expected a quoted word"},
    {H("'<f4'", "__import__('os')", "(1,)"), 4, "True or False"},
    {H("'<f4'", "0", "(1,)"), 4, "True or False"},
    {H("'|O'", "False", "(1,)"), 8, "pickle"},
    {H("'O'", "False", "(1,)"), 8, "pickle"},
    {H("'>f4'", "False", "(1,)"), 4, "big-endian numbers >f4; save them with a.astype('<f4')"},
    {H("'<c8'", "False", "(1,)"), 8, "dtype <c8 is not supported"},
    {H("'<U5'", "False", "(1,)"), 20, "dtype <U5"},
    {H("'\x1b[31m'", "False", "(1,)"), 4, "\\x1b[31m"},
    {H("[('a', '<f4')]", "False", "(1,)"), 4, "records"},
    {H("'<f4<f4<f4<f4<f4<f4'", "False", "(1,)"), 4, "a word that no key"},
    {H("'<f4'", "False", "(-1,)"), 4, "whole number"},
    {H("'<f4'", "False", "(1.5,)"), 4, "expected ',' or ')'"},
    {H("'<f4'", "False", "(1 2)"), 4, "expected ',' or ')'"},
    {H("'<f4'", "False", "1"), 4, "expected '('"},
    {H("'<f4'", "False", "(99999999999999999999,)"), 4, "over 2^63"},
    {H("'<f8'", "False", "(4294967296, 4294967296)"), 0, "overflows"},
    {H("'<f8'", "False", "(1000000000000,)"), 8, "needs 8000000000000 bytes of data, but 8"},
    {H("'<f4'", "False", "(1,1,1,1,1,1,1,1,1)"), 4, "more than 8 dimensions"},
    {H("'<f4'", "False", "(1,)"), 3, "cut off"},
    {H("'<f4'", "False", "(1,)"), 5, "not one array"},
    {H("'<f4'", "False", "(1,)") "x", 4, "nothing may follow"},
    {"{'descr': '<f4', 'shape': (1,)}", 4, "fortran_order is missing"},
    {"{'descr': '<f4', 'descr': '<f4'}", 4, "duplicate key descr"},
    {"{'descr': '<f4' 'shape': (1,)}", 4, "no ',' before key shape"},
    {"{'colour': 'red'}", 4, "unknown key colour"},
    {"{'descr", 4, "expected '''"},
    {"{'descr': '<f4', 'shape': (1,", 4, "whole number"},
    {" {\t'descr' :\n'<f4', 'shape': (1,", 4, "whole number"},
};

static void hostile_headers(void **state)
{
    (void)state;
    for (int version = 1; version <= 3; version++) {
        for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
            tsri_tensor t;
            void *memory = NULL;
            int64_t n =
                make(version, hostile[i].text, "12345678901234567890", hostile[i].data_size);
            tsr_status st = tsri_npy_parse(&t, &memory, made, n, "h.npy");
            if (st != TSR_BAD_FILE || !strstr(tsr_last_error(), hostile[i].words) ||
                !strstr(tsr_last_error(), "h.npy"))
                fail_msg("%s: status %d, \"%s\"; expected \"%s\"", hostile[i].text, (int)st,
                         tsr_last_error(), hostile[i].words);
            assert_null(memory);
        }
    }
    assert_true(tsr_memory_peak() < 1 << 20);
}

static void hostile_beginnings(void **state)
{
    (void)state;
    tsri_tensor t;
    void *memory = NULL;
    int64_t n = make(1, H("'<f4'", "False", "(1,)"), "1234", 4);
    for (int64_t cut = 0; cut < n; cut++)
        assert_int_equal(tsri_npy_parse(&t, &memory, made, cut, "c"), TSR_BAD_FILE);
    made[6] = 4;
    assert_fails(tsri_npy_parse(&t, &memory, made, n, "c"), TSR_BAD_FILE, "version 4.0");
    made[6] = 0;
    assert_fails(tsri_npy_parse(&t, &memory, made, n, "c"), TSR_BAD_FILE, "version 0.0");
    made[6] = 2;
    memset(made + 8, 0xff, 4);
    assert_fails(tsri_npy_parse(&t, &memory, made, n, "c"), TSR_BAD_FILE, "4294967295 bytes");
    memcpy(made, "PK\3\4", 4);
    assert_fails(tsri_npy_parse(&t, &memory, made, n, "c"), TSR_BAD_FILE, "not a .npy file");
    assert_fails(tsri_npy_read(&t, &memory, scratch_path("absent.npy")), TSR_BAD_FILE,
                 "No such file");
}

static void failed_allocations(void **state)
{
    (void)state;
    static const float data[6] = {1, 2, 3, 4, 5, 6};
    const tsri_tensor t = {"", TSRI_F32, 2, {2, 3}, data};
    int failures = 0;
    for (int64_t n = 0, done = 0; !done; n++) {
        tsri_tensor u;
        void *memory = NULL;
        (void)tsri_alloc_fail_after(n, n % 2);
        tsr_status st = tsri_npy_write(scratch_path("f.npy"), &t);
        if (st == TSR_OK)
            st = tsri_npy_read(&u, &memory, scratch_path("f.npy"));
        (void)tsri_alloc_fail_after(-1, false);
        done = st == TSR_OK;
        failures += !done;
        assert_true(done || st == TSR_RESOURCES);
        tsri_free(memory);
    }
    assert_true(failures >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_and_rank),       cmocka_unit_test(the_bytes_are_numpys),
        cmocka_unit_test(other_versions_and_orders), cmocka_unit_test(hostile_headers),
        cmocka_unit_test(hostile_beginnings),        cmocka_unit_test(failed_allocations),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
