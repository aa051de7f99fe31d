/* safetensors: round trips, bytes that never change, hostile headers, damage at every byte. */
#include "scratch.h"

#include "io/crc32c.h"
#include "io/safetensors.h"

#include <malloc.h>
#include <time.h>

/* ---- Round trips --------------------------------------------------------------------------- */

static const float W[6] = {1, 2, 3, 4, 5, 6};
static const double D[2] = {0.5, -0.25};
static const int64_t I[3] = {-1, 0, 1};
static const unsigned char B[3] = {1, 0, 1};

static const tsri_tensor SAMPLE[] = {
    {"layers.0.weight", TSRI_F32, 2, {2, 3}, W},
    {"flags", TSRI_BOOL, 1, {3}, B},
    {"best", TSRI_F64, 1, {2}, D},
    {"index", TSRI_I64, 1, {3}, I},
    {"scalar", TSRI_F32, 0, {0}, W},
    {"nothing", TSRI_F32, 2, {0, 7}, NULL},
    {"bias \"\xC3\xA9\"", TSRI_F32, 1, {2}, W},
};
enum { SAMPLES = sizeof SAMPLE / sizeof *SAMPLE };

static const tsri_pair META[] = {
    {"format", "pt"}, {"tessera.model", "name: mlp\nwidth: 4\t\"q\" \\ \xE2\x82\xAC"}, {"", ""}};

static void tensors_come_back(void **state)
{
    (void)state;
    const char *path = scratch_path("a.safetensors");
    tsri_tensors *f = NULL;
    assert_ok(tsri_tensors_write(path, SAMPLE, SAMPLES, META, 3));
    assert_ok(tsri_tensors_read(&f, path));
    assert_int_equal(f->count, SAMPLES);
    assert_int_equal(f->metadata_count, 5);
    for (int i = 0; i < SAMPLES; i++) {
        const tsri_tensor *t = tsri_tensors_find(f, SAMPLE[i].name);
        assert_non_null(t);
        assert_int_equal(t->dtype, SAMPLE[i].dtype);
        assert_int_equal(t->dims, SAMPLE[i].dims);
        assert_memory_equal(t->shape, SAMPLE[i].shape, sizeof(int64_t) * (size_t)t->dims);
        assert_int_equal((uintptr_t)t->data % (uintptr_t)tsri_dtype_bytes(t->dtype), 0);
        if (tsri_tensor_bytes(t) > 0)
            assert_memory_equal(t->data, SAMPLE[i].data, (size_t)tsri_tensor_bytes(t));
    }
    for (int i = 0; i < 3; i++)
        assert_string_equal(tsri_tensors_meta(f, META[i].key), META[i].value);
    assert_null(tsri_tensors_find(f, "layers"));
    assert_null(tsri_tensors_meta(f, "layers"));
    assert_int_equal(tsri_dtype_bytes(f->tensor[0].dtype), 8); /* largest elements first */
    tsri_tensors_destroy(f);
}

/* The bytes themselves, so that a change of the format cannot slip in: with the checksums of
 * this header and these data computed by the tables. */
static void the_bytes_are_these(void **state)
{
    (void)state;
    static const tsri_tensor two[] = {{"b", TSRI_U8, 1, {3}, "xyz"}, {"a", TSRI_F32, 1, {1}, W}};
    static const tsri_pair meta = {"k", "v"};
    char expected[600], *bytes = NULL, digits[9];
    int64_t n = 0;
    int length = snprintf(expected, sizeof expected,
                          "{\"__metadata__\":{\"k\":\"v\",\"tessera.crc32c\":\"{\\\"a\\\":\\\"%08x"
                          "\\\",\\\"b\\\":\\\"%08x\\\"}\",\"tessera.header.crc32c\":\"00000000\"},"
                          "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
                          "\"b\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[4,7]}}",
                          tsri_crc32c_tables(0, W, 4), tsri_crc32c_tables(0, "xyz", 3));
    while (length % 8)
        expected[length++] = ' ';
    expected[length] = '\0';
    (void)snprintf(digits, sizeof digits, "%08x", tsri_crc32c_tables(0, expected, (size_t)length));
    memcpy(strstr(expected, "00000000"), digits, 8);
    for (int round = 0; round < 2; round++) { /* the order of the input does not matter */
        tsri_tensor t[2] = {two[round], two[1 - round]};
        const char *path = scratch_path("b.safetensors");
        assert_ok(tsri_tensors_write(path, t, 2, &meta, 1));
        assert_ok(tsri_file_read(&bytes, &n, path, 1 << 20));
        assert_int_equal(n, 8 + length + 7);
        assert_int_equal((unsigned char)bytes[0] | (unsigned char)bytes[1] << 8, length);
        assert_memory_equal(bytes + 2, "\0\0\0\0\0\0", 6);
        assert_memory_equal(bytes + 8, expected, (size_t)length);
        assert_memory_equal(bytes + 8 + length, W, 4);
        assert_memory_equal(bytes + 8 + length + 4, "xyz", 3);
        tsri_free(bytes);
    }
}

/* A file's metadata written again with its old checksums gets new ones, not both. */
static void old_checksums_are_replaced(void **state)
{
    (void)state;
    const char *path = scratch_path("c.safetensors");
    tsri_tensors *f = NULL, *g = NULL;
    assert_ok(tsri_tensors_write(path, SAMPLE, SAMPLES, META, 3));
    assert_ok(tsri_tensors_read(&f, path));
    assert_ok(tsri_tensors_write(path, f->tensor, 2, f->metadata, f->metadata_count));
    assert_ok(tsri_tensors_read(&g, path));
    assert_int_equal(g->metadata_count, f->metadata_count);
    tsri_tensors_destroy(f);
    tsri_tensors_destroy(g);
}

static void what_cannot_be_read_back_is_not_written(void **state)
{
    (void)state;
    const char *path = scratch_path("no.safetensors");
    char longer[TSRI_TENSOR_NAME_MAX + 2];
    memset(longer, 'n', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    const tsri_tensor bad[] = {
        {"", TSRI_U8, 0, {0}, B},     {"__metadata__", TSRI_U8, 0, {0}, B},
        {longer, TSRI_U8, 0, {0}, B}, {"a\nb", TSRI_U8, 0, {0}, B},
        {"\xFF", TSRI_U8, 0, {0}, B}, {"r", TSRI_U8, 9, {0}, B},
        {"s", TSRI_U8, 1, {-1}, B},   {"o", TSRI_F64, 2, {INT64_MAX / 2, 3}, B},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(tsri_tensors_write(path, &bad[i], 1, NULL, 0), TSR_FAILURE);
    const tsri_tensor twice[] = {{"x", TSRI_U8, 0, {0}, B}, {"x", TSRI_F32, 0, {0}, W}};
    assert_fails(tsri_tensors_write(path, twice, 2, NULL, 0), TSR_FAILURE, "two tensors");
    const tsri_pair keys[] = {{"k", "1"}, {"k", "2"}}, raw = {"k", "\xFF"};
    assert_fails(tsri_tensors_write(path, twice, 1, keys, 2), TSR_FAILURE, "two metadata entries");
    assert_fails(tsri_tensors_write(path, twice, 1, &raw, 1), TSR_FAILURE, "not UTF-8");
    assert_fails(tsri_tensors_write(path, twice, TSRI_TENSORS_MAX + 1, NULL, 0), TSR_FAILURE,
                 "too many tensors");
    assert_false(tsri_file_exists(path));
}

/* ---- Files of other tools -------------------------------------------------------------------- */

static char made[1 << 16];

/* length word + header + data in `made`; returns the size. */
static int64_t make(const char *header, const char *data, size_t data_size)
{
    size_t n = strlen(header);
    memset(made, 0, 8);
    made[0] = (char)(n & 255);
    made[1] = (char)(n >> 8);
    memcpy(made + 8, header, n);
    if (data_size > 0)
        memcpy(made + 8 + n, data, data_size);
    return (int64_t)(8 + n + data_size);
}

static tsr_status parse_header(tsri_tensors **f, const char *header, size_t data_size)
{
    static const char data[64] = "0123456789abcdef";
    return tsri_tensors_parse(f, made, make(header, data, data_size), "h.safetensors");
}

static void foreign_files_load(void **state)
{
    (void)state;
    tsri_tensors *f = NULL;
    /* no checksums, odd length, spaces, keys in another order, tensors not in file order,
     * escapes in names, an empty tensor between two others, unaligned numbers */
    assert_ok(parse_header(&f,
                           "{ \"z\" : {\"data_offsets\":[1,5] ,\"shape\":[1],\"dtype\":\"F32\"},\n"
                           "\"e\":{\"dtype\":\"I64\",\"shape\":[3,0],\"data_offsets\":[1,1]},"
                           "\"\\u00e9\\ud83d\\ude00\\/\":{\"dtype\":\"U8\",\"shape\":[],"
                           "\"data_offsets\":[0,1]} }   ",
                           5));
    assert_int_equal(f->count, 3);
    assert_string_equal(f->tensor[0].name, "\xC3\xA9\xF0\x9F\x98\x80/");
    assert_memory_equal(f->tensor[0].data, "0", 1);
    assert_string_equal(f->tensor[1].name, "e");
    const tsri_tensor *z = tsri_tensors_find(f, "z");
    assert_int_equal((uintptr_t)z->data % 4, 0);
    assert_memory_equal(z->data, "1234", 4);
    tsri_tensors_destroy(f);
    assert_ok(parse_header(&f, "{}", 0));
    assert_int_equal(f->count, 0);
    assert_null(tsri_tensors_find(f, "x"));
    tsri_tensors_destroy(f);
    assert_ok(parse_header(&f, "{\"__metadata__\":{}}", 0));
    tsri_tensors_destroy(f);
    /* names that would be trouble as paths are names */
    assert_ok(parse_header(
        &f, "{\"../../x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1));
    assert_non_null(tsri_tensors_find(f, "../../x"));
    tsri_tensors_destroy(f);
}

/* ---- Hostile headers ------------------------------------------------------------------------ */

#define T(name, dtype, shape, range)                                                               \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" range "}"

static const struct {
    const char *header;
    size_t data_size;
    const char *words;
} hostile[] = {
    {"", 0, "must begin with '{'"},
    {" {}", 0, "must begin with '{'"},
    {"[]", 0, "must begin with '{'"},
    {"null", 0, "must begin with '{'"},
    {"{", 0, "header byte 1: expected"},
    {"{}x", 0, "nothing may follow"},
    {"{}{}", 0, "nothing may follow"},
    {"{\"a\"}", 0, "expected ':'"},
    {"{\"a\":1}", 0, "expected '{'"},
    {"{\"a\":[]}", 0, "expected '{'"},
    {"{a:1}", 0, "expected '\"'"},
    {"{" T("a", "U8", "[1]", "[0,1]") ",}", 1, "expected '\"'"},
    {"{,}", 0, "expected '\"'"},
    {"{\"a\xFF\":{}}", 0, "not UTF-8"},
    {"{\"a\xC3\":{}}", 0, "not UTF-8"},
    {"{\"\xED\xA0\x80\":{}}", 0, "not UTF-8"},
    {"{\"\\ud800\":{}}", 0, "surrogate"},
    {"{\"\\ud800\\u0041\":{}}", 0, "surrogate"},
    {"{\"\\u00g0\":{}}", 0, "hexadecimal"},
    {"{\"\\x\":{}}", 0, "unknown escape"},
    {"{\"a", 0, "ends inside a string"},
    {"{\"a\\", 0, "unknown escape"},
    {"{\"a\nb\":{}}", 0, "control character"},
    {"{" T("a\\u0000b", "U8", "[1]", "[0,1]") "}", 1, "a NUL in a string"},
    {"{" T("a\\u001bb", "U8", "[1]", "[0,1]") "}", 1, "no control characters; found \"a\\x1bb\""},
    {"{" T("", "U8", "[1]", "[0,1]") "}", 1, "1 to 1024 bytes"},
    {"{" T("a", "F31", "[1]", "[0,4]") "}", 4, "unknown dtype F31"},
    {"{" T("a", "f32", "[1]", "[0,4]") "}", 4, "unknown dtype f32"},
    {"{" T("a", "F32F32F32F32F32F32F32F32F32F32F32F32", "[1]", "[0,4]") "}", 4, "longer than"},
    {"{" T("a", "U8", "[1]", "[-1,0]") "}", 1, "whole number"},
    {"{" T("a", "U8", "[1]", "[0,1.0]") "}", 1, "whole number"},
    {"{" T("a", "U8", "[1]", "[0,1e0]") "}", 1, "whole number"},
    {"{" T("a", "U8", "[1]", "[00,1]") "}", 1, "whole number"},
    {"{" T("a", "U8", "[1]", "[\\\"0\\\",1]") "}", 1, "whole number"},
    {"{" T("a", "U8", "[1]", "[0]") "}", 1, "expected ','"},
    {"{" T("a", "U8", "[1]", "[0,1,2]") "}", 1, "expected ']'"},
    {"{" T("a", "U8", "[1]", "[1,0]") "}", 1, "after its end"},
    {"{" T("a", "U8", "[1]", "[0,9223372036854775808]") "}", 1, "over 2^63"},
    {"{" T("a", "U8", "[2]", "[0,2]") "}", 1, "cut off"},
    {"{" T("a", "U8", "[1]", "[0,2]") "}", 2, "needs 1 bytes and its range has 2"},
    {"{" T("a", "F32", "[1]", "[0,3]") "}", 3, "needs 4 bytes"},
    {"{" T("a", "U8", "[1]", "[0,1]") "," T("b", "U8", "[1]", "[2,3]") "}", 3, "a hole"},
    {"{" T("a", "U8", "[1]", "[1,2]") "}", 2, "a hole"},
    {"{" T("a", "U8", "[2]", "[0,2]") "," T("b", "U8", "[2]", "[1,3]") "}", 3, "an overlap"},
    {"{" T("a", "U8", "[2]", "[0,2]") "," T("b", "U8", "[2]", "[0,2]") "}", 2, "an overlap"},
    {"{" T("a", "U8", "[1]", "[0,1]") "}", 5, "4 bytes after the last tensor"},
    {"{}", 4, "4 bytes after the last tensor"}, /* a ZIP could hide there */
    {"{" T("a", "U8", "[1]", "[0,1]") "," T("a", "U8", "[1]", "[1,2]") "}", 2,
     "two tensors are named a"},
    {"{" T("a", "U8", "[1]", "[0,1]") "," T("\\u0061", "U8", "[1]", "[1,2]") "}", 2,
     "two tensors are named a"},
    {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
     "duplicate key dtype"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"extra\":1}}", 1,
     "unknown key extra"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1, "no data_offsets"},
    {"{\"a\":{\"shape\":[1],\"data_offsets\":[0,1]}}", 1, "no dtype"},
    {"{\"a\":{}}", 0, "no dtype"},
    {"{" T("a", "F64", "[4294967296,4294967296]", "[0,0]") "}", 0, "overflows"},
    {"{" T("a", "F64", "[1152921504606846976]", "[0,0]") "}", 0, "overflows"},
    {"{" T("a", "U8", "[1,1,1,1,1,1,1,1,1]", "[0,1]") "}", 1, "more than 8 dimensions"},
    {"{" T("a", "U8", "[1,]", "[0,1]") "}", 1, "whole number"},
    {"{" T("a", "U8", "[[1]]", "[0,1]") "}", 1, "whole number"},
    {"{\"__metadata__\":{\"k\":1}}", 0, "value of k is not a string"},
    {"{\"__metadata__\":{\"k\":{}}}", 0, "not a string"},
    {"{\"__metadata__\":{\"k\":null}}", 0, "not a string"},
    {"{\"__metadata__\":[]}", 0, "expected '{'"},
    {"{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0, "duplicate metadata key k"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "duplicate __metadata__"},
    {"{\"__metadata__\":{\"tessera.crc32c\":\"{}\"}}", 0, "one is missing"},
    {"{\"__metadata__\":{\"tessera.header.crc32c\":\"1234567\"}}", 0, "8 hexadecimal digits"},
    {"{\"__metadata__\":{\"tessera.header.crc32c\":\"12345678\"}}", 0, "the header is damaged"},
};

static void hostile_headers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        tsri_tensors *f = NULL;
        tsr_status st = parse_header(&f, hostile[i].header, hostile[i].data_size);
        if (st != TSR_BAD_FILE || !strstr(tsr_last_error(), hostile[i].words) ||
            !strstr(tsr_last_error(), "h.safetensors"))
            fail_msg("case %zu, %s: status %d, \"%s\"; expected \"%s\"", i, hostile[i].header,
                     (int)st, tsr_last_error(), hostile[i].words);
        assert_null(f);
    }
}

static void hostile_lengths(void **state)
{
    (void)state;
    static const uint64_t length[] = {1,         7,          9,          57,         100000000,
                                      100000001, 1ull << 32, 1ull << 62, 1ull << 63, UINT64_MAX};
    char file[64] = {0};
    size_t peak = tsr_memory_peak();
    for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
        tsri_tensors *f = NULL;
        memcpy(file, &length[i], 8);
        assert_fails(tsri_tensors_parse(&f, file, sizeof file, "l"), TSR_BAD_FILE, "l: ");
        for (int64_t n = 0; n < 8; n++)
            assert_fails(tsri_tensors_parse(&f, file, n, "l"), TSR_BAD_FILE, "too few");
    }
    assert_true(tsr_memory_peak() - peak < 1 << 20);
}

/* Checksums that do not belong to the tensors, in a header whose own checksum is right. */
static void checksums_must_fit(void **state)
{
    (void)state;
    static const struct {
        const char *crcs, *words;
    } bad[] = {
        {"{}", "1 tensors have no checksum"},
        {"{\\\"b\\\":\\\"00000000\\\"}", "not in the file"},
        {"{\\\"a\\\":\\\"00000000\\\"}", "tensor a is damaged"},
        {"{\\\"a\\\":\\\"0000000\\\"}", "not 8 hexadecimal"},
        {"{\\\"a\\\":\\\"000000000\\\"}", "longer than 8"},
        {"{\\\"a\\\":1}", "expected '\"'"},
        {"[]", "expected '{'"},
        {"{\\\"a\\\":\\\"%08x\\\",\\\"a\\\":\\\"%08x\\\"}", "twice"},
        {"{\\\"a\\\":\\\"%08x\\\"}}", "nothing may follow"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char crcs[200], header[600];
        tsri_tensors *f = NULL;
        uint32_t right = tsri_crc32c(0, "0", 1);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        (void)snprintf(crcs, sizeof crcs, bad[i].crcs, right, right);
#pragma GCC diagnostic pop
        (void)snprintf(header, sizeof header,
                       "{\"__metadata__\":{\"tessera.crc32c\":\"%s\",\"tessera.header.crc32c\":"
                       "\"00000000\"}," T("a", "U8", "[1]", "[0,1]") "}",
                       crcs);
        char digits[9];
        (void)snprintf(digits, sizeof digits, "%08x", tsri_crc32c(0, header, strlen(header)));
        memcpy(strstr(header, "header.crc32c\":\"") + 16, digits, 8);
        tsr_status st = parse_header(&f, header, 1);
        if (st != TSR_BAD_FILE || !strstr(tsr_last_error(), bad[i].words))
            fail_msg("%s: status %d, \"%s\"", crcs, (int)st, tsr_last_error());
    }
}

/* ---- Large hostile files: under a second, in bounded memory ---------------------------------- */

typedef struct big {
    char *bytes;
    int64_t n, capacity;
} big;

static void big_add(big *b, const char *text, size_t n)
{
    memcpy(b->bytes + b->n, text, n);
    b->n += (int64_t)n;
    assert_true(b->n <= b->capacity);
}

static big big_begin(int64_t capacity)
{
    big b = {.bytes = malloc((size_t)capacity), .n = 8, .capacity = capacity};
    assert_non_null(b.bytes);
    return b;
}

static void big_end(big *b)
{
    int64_t n = b->n - 8;
    memcpy(b->bytes, &n, 8);
}

/* An allocator that knows the most it has given out since it was reset. */
static size_t held, most_held;

static void *watched_alloc(void *context, size_t bytes)
{
    (void)context;
    void *memory = aligned_alloc(64, bytes);
    held += malloc_usable_size(memory);
    most_held = held > most_held ? held : most_held;
    return memory;
}

static void watched_free(void *context, void *memory)
{
    (void)context;
    held -= malloc_usable_size(memory);
    free(memory);
}

/* Parses under a clock and an allocation limit of 3 x file + 1 MB. */
static tsr_status big_parse(big *b, tsri_tensors **f)
{
    const tsr_allocator watched = {watched_alloc, watched_free, NULL};
    clock_t start = clock(); /* not the wall clock: the machine may be busy with others */
    held = most_held = 0;
    big_end(b);
    tsr_set_allocator(&watched);
    tsr_status st = tsri_tensors_parse(f, b->bytes, b->n, "big");
    tsr_set_allocator(NULL); /* both are malloc underneath: what is left may be freed by either */
    /* a second in the release; the sanitizers are given more */
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 10.0);
    size_t limit = 3 * (size_t)b->n + (1 << 20);
    if (most_held > limit)
        fail_msg("%zu bytes held at the peak, %zu allowed", most_held, limit);
    free(b->bytes);
    return st;
}

static void repeat(big *b, const char *text, int64_t times)
{
    for (int64_t i = 0; i < times; i++)
        big_add(b, text, strlen(text));
}

static void large_hostile_files(void **state)
{
    (void)state;
    tsri_tensors *f = NULL;
    big b = big_begin(300000);
    repeat(&b, "[", 200000);
    assert_fails(big_parse(&b, &f), TSR_BAD_FILE, "must begin with '{'");
    b = big_begin(1500000);
    repeat(&b, "{\"a\":", 200000);
    assert_fails(big_parse(&b, &f), TSR_BAD_FILE, "unknown key a");
    b = big_begin(1500000); /* braces would ask for memory for a million tensors */
    repeat(&b, "{", 1000000);
    assert_fails(big_parse(&b, &f), TSR_BAD_FILE, "expected '\"'");
    b = big_begin(1500000);
    repeat(&b, "{\"", 1);
    repeat(&b, "n", 1000000);
    repeat(&b, "\":{}}", 1);
    assert_fails(big_parse(&b, &f), TSR_BAD_FILE, "1 to 1024 bytes");
    b = big_begin(1500000);
    repeat(&b, "{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,0],\"shape\":[", 1);
    repeat(&b, "1,", 100000);
    assert_fails(big_parse(&b, &f), TSR_BAD_FILE, "more than 8 dimensions");
    b = big_begin(1500000);
    repeat(&b, "{\"__metadata__\":{", 1);
    char pair[32];
    for (int i = 0; i <= TSRI_METADATA_MAX; i++) {
        (void)snprintf(pair, sizeof pair, "%s\"%d\":\"\"", i ? "," : "", i);
        big_add(&b, pair, strlen(pair));
    }
    assert_fails(big_parse(&b, &f), TSR_BAD_FILE, "more than 10000 metadata");
}

/* A million tensors are fine, one more is not; names in falling order, so that sorting works. */
static void a_million_tensors(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        tsri_tensors *f = NULL;
        big b = big_begin(80000000);
        repeat(&b, "{", 1);
        for (int i = TSRI_TENSORS_MAX + more; i > 0; i--) {
            char entry[100];
            (void)snprintf(entry, sizeof entry, T("%x", "U8", "[0]", "[0,0]") "%s", i,
                           i > 1 ? "," : "}");
            big_add(&b, entry, strlen(entry));
        }
        tsr_status st = big_parse(&b, &f);
        if (more) {
            assert_int_equal(st, TSR_BAD_FILE);
            assert_non_null(strstr(tsr_last_error(), "more than 1000000 tensors"));
        } else {
            assert_int_equal(st, TSR_OK);
            assert_string_equal(tsri_tensors_find(f, "abcde")->name, "abcde");
            tsri_tensors_destroy(f);
        }
    }
}

/* ---- Damage --------------------------------------------------------------------------------- */

#ifdef __SANITIZE_ADDRESS__
enum { FLIP_STEP = 13 }; /* twenty times slower: every byte still, some values only */
#else
enum { FLIP_STEP = 1 };
#endif

/* Every byte of a file of ours, changed to every other value, is found out. */
static void every_changed_byte_is_found(void **state)
{
    (void)state;
    const char *path = scratch_path("d.safetensors");
    char *bytes = NULL;
    int64_t n = 0;
    assert_ok(tsri_tensors_write(path, SAMPLE, SAMPLES, META, 3));
    assert_ok(tsri_file_read(&bytes, &n, path, 1 << 20));
    for (int64_t i = 0; i < n; i++) {
        for (int flip = 1; flip < 256; flip += FLIP_STEP) {
            tsri_tensors *f = NULL;
            bytes[i] = (char)(bytes[i] ^ flip);
            if (tsri_tensors_parse(&f, bytes, n, "d") != TSR_BAD_FILE)
                fail_msg("byte %lld ^ %02x passes", (long long)i, (unsigned int)flip);
            bytes[i] = (char)(bytes[i] ^ flip);
        }
    }
    for (int64_t cut = 0; cut < n; cut++) {
        tsri_tensors *f = NULL;
        assert_int_equal(tsri_tensors_parse(&f, bytes, cut, "d"), TSR_BAD_FILE);
    }
    tsri_tensors *f = NULL;
    assert_ok(tsri_tensors_parse(&f, bytes, n, "d"));
    tsri_tensors_destroy(f);
    tsri_free(bytes);
}

/* Two tensors that changed places, a block of zeros: what a disk does. */
static void swapped_and_zeroed(void **state)
{
    (void)state;
    static float big_data[2][1024];
    for (int i = 0; i < 1024; i++) {
        big_data[0][i] = (float)i;
        big_data[1][i] = (float)-i;
    }
    const tsri_tensor t[] = {{"a", TSRI_F32, 1, {1024}, big_data[0]},
                             {"b", TSRI_F32, 1, {1024}, big_data[1]}};
    const char *path = scratch_path("e.safetensors");
    char *bytes = NULL;
    int64_t n = 0;
    tsri_tensors *f = NULL;
    assert_ok(tsri_tensors_write(path, t, 2, NULL, 0));
    assert_ok(tsri_file_read(&bytes, &n, path, 1 << 20));
    memcpy(bytes + n - 8192, big_data[1], 4096);
    memcpy(bytes + n - 4096, big_data[0], 4096);
    assert_fails(tsri_tensors_parse(&f, bytes, n, "e"), TSR_BAD_FILE, "tensor a is damaged");
    memcpy(bytes + n - 8192, big_data[0], 4096);
    memset(bytes + n - 4096, 0, 4096);
    assert_fails(tsri_tensors_parse(&f, bytes, n, "e"), TSR_BAD_FILE, "tensor b is damaged");
    tsri_free(bytes);
}

static void truncated_files_on_disk(void **state)
{
    (void)state;
    const char *path = scratch_path("t.safetensors");
    char *bytes = NULL;
    int64_t n = 0;
    assert_ok(tsri_tensors_write(path, SAMPLE, SAMPLES, NULL, 0));
    assert_ok(tsri_file_read(&bytes, &n, path, 1 << 20));
    for (int64_t cut = 0; cut < n; cut++) {
        tsri_tensors *f = NULL;
        assert_int_equal(truncate(path, n - 1 - cut), 0);
        assert_fails(tsri_tensors_read(&f, path), TSR_BAD_FILE, "t.safetensors");
    }
    tsri_free(bytes);
    tsri_tensors *f = NULL;
    assert_fails(tsri_tensors_read(&f, scratch_path("absent")), TSR_BAD_FILE, "No such file");
    assert_fails(tsri_tensors_read(&f, scratch_folder), TSR_BAD_FILE, "is a folder");
    assert_fails(tsri_tensors_read(&f, "/dev/zero"), TSR_BAD_FILE, "a device or a pipe");
}

static void failed_allocations(void **state)
{
    (void)state;
    const char *path = scratch_path("f.safetensors");
    int failures = 0;
    for (int64_t n = 0, done = 0; !done; n++) {
        tsri_tensors *f = NULL;
        (void)tsri_alloc_fail_after(n, n % 2);
        tsr_status st = tsri_tensors_write(path, SAMPLE, SAMPLES, META, 3);
        if (st == TSR_OK)
            st = tsri_tensors_read(&f, path);
        (void)tsri_alloc_fail_after(-1, false);
        done = st == TSR_OK;
        failures += !done;
        assert_true(done || st == TSR_RESOURCES);
        tsri_tensors_destroy(f);
    }
    assert_true(failures > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_hostile_files),
        cmocka_unit_test(a_million_tensors),
        cmocka_unit_test(tensors_come_back),
        cmocka_unit_test(the_bytes_are_these),
        cmocka_unit_test(old_checksums_are_replaced),
        cmocka_unit_test(what_cannot_be_read_back_is_not_written),
        cmocka_unit_test(foreign_files_load),
        cmocka_unit_test(hostile_headers),
        cmocka_unit_test(hostile_lengths),
        cmocka_unit_test(checksums_must_fit),
        cmocka_unit_test(every_changed_byte_is_found),
        cmocka_unit_test(swapped_and_zeroed),
        cmocka_unit_test(truncated_files_on_disk),
        cmocka_unit_test(failed_allocations),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
