/* JSON: what is written reads back to the same bits; what is not JSON is refused with its place. */
#include "locale_testing.h"

#include "base/rng.h"
#include "io/json.h"
#include "base/number.h"
#include "base/utf8.h"

#include <float.h>
#include <math.h>

/* ---- Writing ------------------------------------------------------------------------------ */

static void commas_and_escapes(void **state)
{
    (void)state;
    tsri_json w = {0};
    tsri_json_open(&w, '{');
    tsri_json_put_int(&w, "a", -5);
    tsri_json_key(&w, "b");
    tsri_json_open(&w, '[');
    tsri_json_bool(&w, true);
    tsri_json_null(&w);
    tsri_json_open(&w, '{');
    tsri_json_close(&w, '}');
    tsri_json_open(&w, '[');
    tsri_json_close(&w, ']');
    tsri_json_text(&w, "q\" b\\ n\n t\t e\x1b \xC3\xA9 bad\xFF\xC3");
    tsri_json_close(&w, ']');
    tsri_json_put_real(&w, "c", (double)NAN);
    tsri_json_key(&w, "d");
    tsri_json_float(&w, 0.1f);
    tsri_json_close(&w, '}');
    assert_ok(tsri_json_end(&w));
    assert_string_equal(
        w.text.data, "{\"a\":-5,\"b\":[true,null,{},[],\"q\\\" b\\\\ n\\n t\\t e\\u001b \xC3\xA9 "
                     "bad\xEF\xBF\xBD\xEF\xBF\xBD\"],\"c\":null,\"d\":0.1}");
    tsri_json_fini(&w);
}

static void numbers_are_shortest(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } one[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1.0, "1.0"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {1.0 / 3.0, "0.3333333333333333"},
        {1e15, "1000000000000000.0"},
        {1e16, "1e16"},
        {123456789012345680.0, "1.2345678901234568e17"},
        {1e-5, "0.00001"},
        {1e-6, "1e-6"},
        {1.25e-7, "1.25e-7"},
        {5e-324, "5e-324"},
        {DBL_MAX, "1.7976931348623157e308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {0x1p-44, "5.684341886080802e-14"}, /* the nearest 16 digits read back to another number */
        {9007199254740993.0, "9007199254740992.0"},
        {0.30000000000000004, "0.30000000000000004"},
    };
    char text[TSRI_NUMBER_TEXT];
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        assert_string_equal(tsri_shortest(text, one[i].value), one[i].text);
    assert_string_equal(tsri_shortest_float(text, 0.1f), "0.1");
    assert_string_equal(tsri_shortest_float(text, 16777216.0f), "16777216.0");
    assert_string_equal(tsri_shortest_float(text, FLT_MAX), "3.4028235e38");
    assert_string_equal(tsri_shortest_float(text, 1e-45f), "1e-45");
}

static int digits_in(const char *text)
{
    int n = 0, zeros = 0;
    bool leading = true;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (leading && *text == '0'))
            continue;
        leading = false;
        zeros = *text == '0' ? zeros + 1 : 0;
        n++;
    }
    return n - zeros;
}

/* Random bit patterns read back to the same bits, and one digit less never would: neither the
 * nearest decimal below nor above. */
static void random_numbers_read_back(void **state)
{
    (void)state;
    tsri_rng rng = tsri_rng_stream(2, TSRI_FOR_TEST, 0, 0, 0);
    char text[TSRI_NUMBER_TEXT], shorter[64];
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = (uint64_t)tsri_rng_u32(&rng) << 32 | tsri_rng_u32(&rng);
        if (i % 4 == 0)
            bits &= 0xFFF0000000000000u; /* powers of two, the hard ones */
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        tsri_shortest(text, value);
        double back = strtod(text, NULL);
        assert_memory_equal(&back, &value, sizeof value);
        int digits = digits_in(text);
        if (digits > 1) {
            (void)snprintf(shorter, sizeof shorter, "%.*e", digits - 2, value);
            assert_true(strtod(shorter, NULL) != value);
        }
        float f = (float)value;
        if (isfinite(f)) {
            tsri_shortest_float(text, f);
            float g = strtof(text, NULL);
            assert_memory_equal(&f, &g, sizeof f);
        }
    }
}

/* A host program with a decimal comma must not get one into its files. */
static void the_point_is_a_point(void **state)
{
    (void)state;
    char text[TSRI_NUMBER_TEXT];
    german_locale(LC_NUMERIC);
    assert_string_equal(tsri_shortest(text, 0.5), "0.5");
    assert_true(setlocale(LC_NUMERIC, "C") != NULL);
}

/* ---- Reading ------------------------------------------------------------------------------ */

static tsr_status join_keys(void *context, const char *key, const tsri_json_value *value)
{
    int64_t n = 0;
    if (!tsri_json_as_int(value, &n))
        return tsri_fail(TSR_BAD_FILE, "%s is no integer", key);
    return tsri_text_add(context, "%s=%lld ", key, (long long)n);
}

static void documents_are_read(void **state)
{
    (void)state;
    static const char text[] = "{\"z\":1,\"a\":{\"x\":[1,2.5,\"t\",true]},\"m\":2}";
    tsri_json_value *root = NULL;
    assert_ok(tsri_json_parse(&root, text, (int64_t)strlen(text), "doc"));
    assert_true(tsri_json_is_object(root) && !tsri_json_is_array(root));
    const tsri_json_value *x = tsri_json_get(tsri_json_get(root, "a"), "x");
    assert_true(tsri_json_is_array(x));
    assert_int_equal(tsri_json_length(x), 4);
    int64_t i = 0;
    double d = 0;
    const char *s = NULL;
    bool b = false;
    assert_true(tsri_json_as_int(tsri_json_at(x, 0), &i) && i == 1);
    assert_true(tsri_json_as_real(tsri_json_at(x, 0), &d) && d == 1.0);
    assert_true(tsri_json_as_real(tsri_json_at(x, 1), &d) && d == 2.5);
    assert_true(tsri_json_as_text(tsri_json_at(x, 2), &s) && strcmp(s, "t") == 0);
    assert_true(tsri_json_as_bool(tsri_json_at(x, 3), &b) && b);
    assert_false(tsri_json_as_int(tsri_json_at(x, 1), &i));
    assert_false(tsri_json_as_text(tsri_json_at(x, 0), &s));
    assert_null(tsri_json_at(x, 4));
    assert_null(tsri_json_at(x, -1));
    assert_null(tsri_json_get(root, "nothing"));
    tsri_text keys = {0};
    assert_fails(tsri_json_each(root, join_keys, &keys), TSR_BAD_FILE, "a is no integer");
    assert_string_equal(keys.data, "z=1 "); /* the file's order, stopped at the failure */
    tsri_text_fini(&keys);
    tsri_json_destroy(root);
}

static void hostile_documents(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"", "h.json:1:0: not the JSON"},
        {"{", "'}'"},
        {"{\"a\":1,\"a\":2}", "duplicate"},
        {"{\"a\":1} x", "end of file expected"},
        {"{\"a\":1}{", "end of file expected"},
        {"{},{}", "end of file expected"},
        {"{}],[{}", "end of file expected"},
        {"{}]", "end of file expected"},
        {"[1,]", "']'"},
        {"{'a':1}", "h.json:1:2"},
        {"[NaN]", "invalid token"},
        {"[1e999]", "overflow"},
        {"[9223372036854775808]", "too big"},
        {"[01]", "h.json:1:"},
        {"[\"\xFF\"]", "unable to decode byte 0xff"},
        {"[\"\\u0000\"]", "\\u0000"},
        {"[\"a\nb\"]", "unexpected newline"},
        {"\xEF\xBB\xBF{}", "h.json:1:"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tsri_json_value *root = NULL;
        assert_fails(tsri_json_parse(&root, bad[i].text, (int64_t)strlen(bad[i].text), "h.json"),
                     TSR_BAD_FILE, bad[i].words);
        assert_null(root);
    }
}

static void depth_and_size_are_limited(void **state)
{
    (void)state;
    enum { DEEP = 200000 };
    tsri_json_value *root = NULL;
    char *text = NULL;
    assert_ok(tsri_alloc(&text, TSRI_JSON_MOST + 1, 1));
    memset(text, '[', DEEP);
    assert_fails(tsri_json_parse(&root, text, DEEP, "h.json"), TSR_BAD_FILE, "depth");
    assert_fails(tsri_json_parse(&root, text, TSRI_JSON_MOST + 1, "h.json"), TSR_BAD_FILE,
                 "the most that is accepted");
    tsri_free(text);
}

/* ---- UTF-8 -------------------------------------------------------------------------------- */

/* Every code point encodes to what decodes as one character; surrogates never do. */
static void every_code_point(void **state)
{
    (void)state;
    char out[4];
    for (uint32_t code = 0; code <= 0x10FFFF; code++) {
        size_t n = tsri_utf8_encode(out, code);
        bool surrogate = code >= 0xD800 && code <= 0xDFFF;
        if (tsri_utf8_length(out, n) != (surrogate ? 0 : n))
            fail_msg("U+%04X", code);
        if (n > 1 && tsri_utf8_length(out, n - 1) != 0)
            fail_msg("U+%04X cut short", code);
    }
    static const char *const bad[] = {"\x80",
                                      "\xC0\x80",
                                      "\xC1\xBF",
                                      "\xE0\x80\x80",
                                      "\xF0\x80\x80\x80",
                                      "\xF4\x90\x80\x80",
                                      "\xF5\x80\x80\x80",
                                      "\xFF",
                                      "\xC3("};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(tsri_utf8_length(bad[i], strlen(bad[i])), 0);
}

static tsr_status write_something(void)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    tsri_json_open(&w, '[');
    for (int i = 0; i < 500; i++)
        tsri_json_int(&w, i);
    tsri_json_close(&w, ']');
    TSR_TRY(tsri_json_end(&w));
    if (w.text.length != 1 + 10 + 90 * 2 + 400 * 3 + 499 + 1)
        st = tsri_fail(TSR_FAILURE, "a part of the text is missing");
done:
    tsri_json_fini(&w);
    return st;
}

static void failed_allocations(void **state)
{
    (void)state;
    int failures = 0;
    for (int64_t n = 0;; n++) {
        (void)tsri_alloc_fail_after(n, false);
        tsr_status st = write_something();
        (void)tsri_alloc_fail_after(-1, false);
        if (st == TSR_OK)
            break;
        assert_int_equal(st, TSR_RESOURCES);
        failures++;
    }
    assert_true(failures > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_and_escapes),         cmocka_unit_test(numbers_are_shortest),
        cmocka_unit_test(random_numbers_read_back),   cmocka_unit_test(the_point_is_a_point),
        cmocka_unit_test(documents_are_read),         cmocka_unit_test(hostile_documents),
        cmocka_unit_test(depth_and_size_are_limited), cmocka_unit_test(every_code_point),
        cmocka_unit_test(failed_allocations),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
