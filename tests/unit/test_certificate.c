/* Certificates: verdicts, factors, intervals, text and JSON. */
#include "testing.h"

#include "theory/certificate.h"

#include <math.h>

static tsri_row last(tsri_sense sense, double measured, double required, double low, double high)
{
    tsri_certificate c;
    tsri_certificate_init(&c, "test");
    tsri_certify(&c, "Theorem 1", sense, measured, required, "q");
    if (!isnan(low))
        tsri_certify_interval(&c, low, high, 0.95);
    assert_ok(tsri_certificate_end(&c));
    tsri_row row = c.row[0];
    tsri_certificate_fini(&c);
    return row;
}

static void expect(tsri_row row, tsri_verdict verdict, double factor)
{
    assert_int_equal(tsri_row_verdict(&row), verdict);
    double k = tsri_row_factor(&row);
    assert_true(isnan(factor) ? isnan(k) : k == factor || fabs(k / factor - 1) < 1e-12);
}

static void test_verdicts(void **state)
{
    (void)state;
    const double no = NAN;
    expect(last(TSRI_AT_LEAST, 8, 4, no, no), TSRI_HOLDS, 0.5);
    expect(last(TSRI_AT_LEAST, 4, 4, no, no), TSRI_HOLDS, 1);
    expect(last(TSRI_AT_LEAST, 2, 8, no, no), TSRI_FAILS, 4);
    expect(last(TSRI_AT_LEAST, 0, 8, no, no), TSRI_FAILS, INFINITY);
    expect(last(TSRI_AT_LEAST, -1, 8, no, no), TSRI_FAILS, INFINITY);
    expect(last(TSRI_AT_MOST, 2, 8, no, no), TSRI_HOLDS, 0.25);
    expect(last(TSRI_AT_MOST, 8, 2, no, no), TSRI_FAILS, 4);
    expect(last(TSRI_AT_MOST, 0, 0, no, no), TSRI_HOLDS, 1);
    expect(last(TSRI_AT_MOST, 1, 0, no, no), TSRI_FAILS, INFINITY);
    expect(last(TSRI_MEASURED, 1, 7, no, no), TSRI_NO_VERDICT, NAN);
    expect(last(TSRI_AT_MOST, no, 1, no, no), TSRI_OPEN, NAN);
    /* The whole interval must hold, or fail. */
    expect(last(TSRI_AT_LEAST, 5, 4, 4.5, 5.5), TSRI_HOLDS, 0.8);
    expect(last(TSRI_AT_LEAST, 5, 4, 3.5, 6.5), TSRI_OPEN, 0.8);
    expect(last(TSRI_AT_LEAST, 3, 4, 2, 3.5), TSRI_FAILS, 4.0 / 3);
}

static void test_text(void **state)
{
    (void)state;
    tsri_certificate c;
    tsri_text text = {0};
    tsri_json w = {0};
    tsri_json_value *root = NULL;
    tsri_certificate_init(&c, "masked-neurons");
    c.round = 7;
    tsri_certify(&c, "Theorem 2", TSRI_AT_LEAST, 100, 4.1e5, "width %s", "m");
    tsri_certify(&c, "Theorem 3", TSRI_AT_MOST, 0.5, 1, "step");
    tsri_certify_interval(&c, 0.4, 0.6, 0.95);
    tsri_certify(&c, "Theorem 1", TSRI_MEASURED, 0.023, 0, "lambda_0");
    tsri_certify_note(&c, "constants are taken as %d", 1);
    assert_false(tsri_certificate_holds(&c));
    assert_ok(tsri_certificate_text(&text, &c));
    assert_non_null(strstr(text.data, "masked-neurons, after round 7"));
    assert_non_null(strstr(text.data, "required at least 410000: fails by a factor of 4.1e+03"));
    assert_non_null(strstr(text.data, "0.5 [0.4, 0.6] at 95 %, required at most 1: holds"));
    assert_non_null(strstr(text.data, "note: constants are taken as 1"));
    assert_non_null(strstr(text.data, "1 of 2 conditions hold"));
    tsri_json_open(&w, '{');
    tsri_certificate_json(&w, &c);
    tsri_json_close(&w, '}');
    assert_ok(tsri_json_end(&w));
    assert_ok(tsri_json_parse(&root, w.text.data, w.text.length, "json"));
    const tsri_json_value *rows = tsri_json_get(root, "rows");
    assert_int_equal(tsri_json_length(rows), 3);
    double k = 0;
    const char *verdict = NULL;
    assert_true(tsri_json_as_real(tsri_json_get(tsri_json_at(rows, 0), "factor"), &k));
    assert_true(fabs(k - 4100) < 1e-9);
    assert_true(tsri_json_as_text(tsri_json_get(tsri_json_at(rows, 1), "verdict"), &verdict));
    assert_string_equal(verdict, "holds");
    assert_false(tsri_json_as_text(tsri_json_get(tsri_json_at(rows, 2), "verdict"), &verdict));
    tsri_json_destroy(root);
    tsri_json_fini(&w);
    tsri_text_fini(&text);
    tsri_certificate_fini(&c);
}

static void test_failures(void **state)
{
    (void)state;
    for (int64_t n = 0; n < 4; n++) {
        tsri_certificate c;
        tsri_certificate_init(&c, "test");
        (void)tsri_alloc_fail_after(n, true);
        for (int i = 0; i < 40; i++) {
            tsri_certify(&c, "a", TSRI_AT_MOST, 1, 2, "b");
            tsri_certify_note(&c, "c");
        }
        (void)tsri_alloc_fail_after(-1, false);
        assert_int_equal(tsri_certificate_end(&c), TSR_RESOURCES);
        tsri_certificate_fini(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_verdicts), cmocka_unit_test(test_text),
                                       cmocka_unit_test(test_failures)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
