/* Certificates: the five verdicts and what each rests on, factors, intervals, series of the past,
 * text and JSON. */
#include "testing.h"

#include "theory/assume.h"
#include "theory/certificate.h"
#include "theory/past.h"

#include <math.h>

static tsri_row judged(const tsri_condition *claim, unsigned broken)
{
    tsri_certificate c;
    tsri_certificate_init(&c, "test");
    int t = tsri_certify_theorem(&c, &(tsri_theorem){.where = "Theorem 1",
                                                     .chance = "1 - delta",
                                                     .probability = 0.9,
                                                     .assumes = TSRI_NO_MOMENTUM | TSRI_NO_DECAY});
    tsri_condition mine = *claim;
    mine.of = t;
    tsri_certify(&c, &mine, "q");
    if (broken) /* after the row: the order does not matter */
        tsri_certify_breach(&c, broken, "momentum is %g", 0.9);
    assert_ok(tsri_certificate_end(&c));
    tsri_row row = c.row[0];
    tsri_certificate_fini(&c);
    return row;
}

static void expect(const tsri_condition *claim, tsri_verdict verdict, double factor)
{
    tsri_row row = judged(claim, 0);
    assert_int_equal(row.verdict, verdict);
    double k = tsri_row_factor(&row);
    assert_true(isnan(factor) ? isnan(k) : k == factor || fabs(k / factor - 1) < 1e-12);
}

#define CLAIM(s, m, r, ...)                                                                        \
    &(tsri_condition)                                                                              \
    {                                                                                              \
        .sense = (s), .measured = (m), .required = (r), __VA_ARGS__                                \
    }
#define ALL .seen = TSRI_SEEN_ALL

static void test_whole(void **state)
{
    (void)state;
    expect(CLAIM(TSRI_AT_LEAST, 8, 4, ALL), TSRI_HOLDS, 0.5);
    expect(CLAIM(TSRI_AT_LEAST, 4, 4, ALL), TSRI_HOLDS, 1);
    expect(CLAIM(TSRI_AT_LEAST, 2, 8, ALL), TSRI_FAILS, 4);
    expect(CLAIM(TSRI_AT_LEAST, 0, 8, ALL), TSRI_FAILS, INFINITY);
    expect(CLAIM(TSRI_AT_LEAST, -1, 8, ALL), TSRI_FAILS, INFINITY);
    expect(CLAIM(TSRI_AT_MOST, 2, 8, ALL), TSRI_HOLDS, 0.25);
    expect(CLAIM(TSRI_AT_MOST, 8, 2, ALL), TSRI_FAILS, 4);
    expect(CLAIM(TSRI_AT_MOST, 0, 0, ALL), TSRI_HOLDS, 1);
    expect(CLAIM(TSRI_AT_MOST, 1, 0, ALL), TSRI_FAILS, INFINITY);
    expect(CLAIM(TSRI_MEASURED, 1, 7, ALL), TSRI_NO_VERDICT, NAN);
}

/* A false "holds" was possible when nobody said how much a row had looked at: Corollary 4.4 was
 * judged on 256 of 1256 samples. */
static void test_part(void **state)
{
    (void)state;
    tsri_seen few = tsri_saw(4, 60, "samples"), every = tsri_saw(60, 60, "samples");
    expect(CLAIM(TSRI_AT_MOST, 2, 8, .of = 0), TSRI_OPEN, 0.25);
    expect(CLAIM(TSRI_AT_MOST, 2, 8, .seen = few), TSRI_OPEN, 0.25);
    expect(CLAIM(TSRI_AT_MOST, 2, 8, .seen = every), TSRI_HOLDS, 0.25);
    expect(CLAIM(TSRI_AT_MOST, 9, 3, .seen = few), TSRI_FAILS, 3); /* the rest cannot mend it */
    expect(CLAIM(TSRI_AT_LEAST, 2, 8, .seen = few), TSRI_FAILS, 4);
    expect(CLAIM(TSRI_AT_LEAST, 9, 3, .seen = few), TSRI_OPEN, 1.0 / 3);
    /* A mean of a part decides nothing either way. */
    expect(CLAIM(TSRI_AT_MOST, 9, 3, .seen = tsri_saw_some(4, 60, "samples")), TSRI_OPEN, 3);
    expect(CLAIM(TSRI_AT_MOST, 1, 2, .seen = tsri_saw(0, 60, "samples")), TSRI_OPEN, 0.5);
    expect(CLAIM(TSRI_AT_MOST, 1, 2, .seen = tsri_saw_both(every, few)), TSRI_OPEN, 0.5);
    expect(CLAIM(TSRI_AT_MOST, 1, 2, .seen = tsri_saw_both(every, every)), TSRI_HOLDS, 0.5);
    tsri_row row = judged(CLAIM(TSRI_AT_MOST, 2, 8, .seen = few), 0);
    assert_string_equal(row.reason, "4 of 60 samples were looked at");
    /* One run says nothing for sure of a mean over all of them. */
    expect(CLAIM(TSRI_AT_MOST, 9, 3, .seen = tsri_saw_one("draw of masks")), TSRI_OPEN, 3);
    row = judged(
        CLAIM(TSRI_AT_MOST, 1, 2, .seen = tsri_saw_both(every, tsri_saw_one("draw of masks"))), 0);
    assert_string_equal(row.reason, "one draw of masks of many was looked at");
}

static void test_unknown(void **state)
{
    (void)state;
    const double no = NAN;
    expect(CLAIM(TSRI_AT_MOST, no, 1, ALL), TSRI_OPEN, NAN);
    expect(CLAIM(TSRI_AT_MOST, 1, no, ALL), TSRI_OPEN, NAN);
    /* The whole interval must hold, or fail; one that is not known (a single draw) decides nothing.
     */
    expect(CLAIM(TSRI_AT_LEAST, 5, 4, ALL, .interval = {4.5, 5.5, 0.95}), TSRI_HOLDS, 0.8);
    expect(CLAIM(TSRI_AT_LEAST, 5, 4, ALL, .interval = {3.5, 6.5, 0.95}), TSRI_OPEN, 0.8);
    expect(CLAIM(TSRI_AT_LEAST, 3, 4, ALL, .interval = {2, 3.5, 0.95}), TSRI_FAILS, 4.0 / 3);
    expect(CLAIM(TSRI_AT_LEAST, 5, 4, ALL, .interval = {no, no, 0.95}), TSRI_OPEN, 0.8);
    /* No nearer to its bound than its rounding is a number judged, on either side. */
    expect(CLAIM(TSRI_AT_MOST, 0.75, 1, ALL, .blur = 0.5), TSRI_OPEN, 0.75);
    expect(CLAIM(TSRI_AT_MOST, 1.25, 1, ALL, .blur = 0.5), TSRI_OPEN, 1.25);
    expect(CLAIM(TSRI_AT_MOST, 0.75, 1, ALL, .blur = 0.25), TSRI_HOLDS, 0.75);
    expect(CLAIM(TSRI_AT_MOST, 1.5, 1, ALL, .blur = 0.25), TSRI_FAILS, 1.5);
}

/* Rows of rounds that nobody had looked at said "seen: all", gave an interval of two NaNs and named
 * round 0 as the worst. */
static void test_unmeasured(void **state)
{
    (void)state;
    int64_t worst = 7;
    tsri_row row =
        judged(CLAIM(TSRI_AT_MOST, 1, 2, ALL, .interval = {1, 1.5, 0.95}, .worst = &worst), 0);
    assert_string_equal(row.quantity, "q, at the worst round so far, 7");
    assert_true(row.claim.interval.level > 0);
    row =
        judged(CLAIM(TSRI_AT_MOST, NAN, 2, ALL, .interval = {NAN, NAN, 0.95}, .worst = &worst), 0);
    assert_string_equal(row.quantity, "q");
    assert_int_equal(row.claim.seen.sight, TSRI_UNSAID);
    assert_true(row.claim.interval.level == 0);
    assert_int_equal(row.verdict, TSRI_OPEN);
}

/* Met, but it could not have been missed. */
static void test_vacuous(void **state)
{
    (void)state;
    expect(CLAIM(TSRI_AT_MOST, 0.3, 1.5, ALL, .trivial = {"any part", 1}), TSRI_VACUOUS, 0.2);
    expect(CLAIM(TSRI_AT_MOST, 0.3, 0.5, ALL, .trivial = {"any part", 1}), TSRI_HOLDS, 0.6);
    expect(CLAIM(TSRI_AT_LEAST, 8, -2, ALL, .trivial = {"no width", 0}), TSRI_VACUOUS, 0);
    expect(CLAIM(TSRI_AT_MOST, 0, 1, ALL, .by_construction = "the gates being fixed"), TSRI_VACUOUS,
           0);
    /* A bound that overflowed bounds nothing, and a number that did is not known. */
    expect(CLAIM(TSRI_AT_MOST, 3, INFINITY, ALL), TSRI_VACUOUS, 0);
    expect(CLAIM(TSRI_AT_LEAST, 3, -INFINITY, ALL), TSRI_VACUOUS, 0);
    expect(CLAIM(TSRI_AT_LEAST, INFINITY, 3, ALL), TSRI_OPEN, 0);
    expect(CLAIM(TSRI_AT_LEAST, 3, INFINITY, ALL), TSRI_FAILS, INFINITY);
    /* What is missed is missed: a loss above a bound that is above the first loss. */
    expect(CLAIM(TSRI_AT_MOST, 3, 1.5, ALL, .trivial = {"the first loss", 1}), TSRI_FAILS, 2);
    expect(CLAIM(TSRI_AT_MOST, 3, 1.5, ALL, .by_construction = "a sum"), TSRI_FAILS, 2);
    /* what was searched for can fail, and no more */
    expect(CLAIM(TSRI_AT_MOST, 1, 2, ALL, .unproven = "it was searched for"), TSRI_OPEN, 0.5);
    expect(CLAIM(TSRI_AT_MOST, 3, 1.5, ALL, .unproven = "it was searched for"), TSRI_FAILS, 2);
}

/* What holds with probability 0 at least is not said at all. */
static void test_improbable(void **state)
{
    (void)state;
    static const double probability[] = {0.5, 0, -3, NAN};
    static const tsri_verdict verdict[] = {TSRI_HOLDS, TSRI_VACUOUS, TSRI_VACUOUS, TSRI_HOLDS};
    for (int i = 0; i < 4; i++) {
        tsri_certificate c;
        tsri_certificate_init(&c, "p");
        tsri_condition claim = *CLAIM(TSRI_AT_MOST, 1, 2, ALL);
        claim.of = tsri_certify_theorem(&c, &(tsri_theorem){"T", "1 - n e^-m", probability[i], 0});
        tsri_certify(&c, &claim, "met");
        claim.measured = 3;
        tsri_certify(&c, &claim, "missed");
        assert_ok(tsri_certificate_end(&c));
        assert_int_equal(c.row[0].verdict, verdict[i]);
        assert_int_equal(c.row[1].verdict, TSRI_FAILS);
        tsri_certificate_fini(&c);
    }
}

static void test_breach(void **state)
{
    (void)state;
    const tsri_condition *good = CLAIM(TSRI_AT_MOST, 1, 2, ALL),
                         *bad = CLAIM(TSRI_AT_MOST, 2, 1, ALL);
    tsri_row row = judged(good, TSRI_NO_MOMENTUM);
    assert_int_equal(row.verdict, TSRI_DOES_NOT_APPLY);
    assert_string_equal(row.reason, "momentum is 0.9");
    assert_int_equal(judged(bad, TSRI_NO_MOMENTUM).verdict, TSRI_DOES_NOT_APPLY);
    assert_int_equal(judged(good, TSRI_FULL_BATCHES).verdict, TSRI_HOLDS); /* not assumed */
    assert_int_equal(judged(good, TSRI_CONSTANT_RATE | TSRI_NO_DECAY).verdict, TSRI_DOES_NOT_APPLY);
}

/* Every bit has words of its own. */
static void test_words(void **state)
{
    (void)state;
    assert_true(TSRI_ASSUMPTIONS <= 31);
    for (int i = 0; i < TSRI_ASSUMPTIONS; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(tsri_assumption_words(1u << i), tsri_assumption_words(1u << j));
}

static void fill(tsri_certificate *c)
{
    tsri_certificate_init(c, "masked-neurons");
    c->round = 7;
    int t2 = tsri_certify_theorem(c, &(tsri_theorem){.where = "Theorem 2",
                                                     .chance = "1 - delta",
                                                     .probability = 0.9,
                                                     .assumes = TSRI_NO_DECAY});
    int t3 = tsri_certify_theorem(c, &(tsri_theorem){.where = "Theorem 3",
                                                     .chance = "",
                                                     .probability = NAN,
                                                     .assumes = TSRI_NO_MOMENTUM});
    tsri_certify_breach(c, TSRI_NO_MOMENTUM, "momentum is 0.9");
    tsri_certify(c, CLAIM(TSRI_AT_LEAST, 100, 4.1e5, ALL, .of = t2), "width %s", "m");
    tsri_certify(c, CLAIM(TSRI_AT_MOST, 0.5, 1, ALL, .of = t2, .interval = {0.4, 0.6, 0.95}),
                 "step");
    tsri_certify(
        c, CLAIM(TSRI_AT_MOST, 2, 3, .of = t2, .where = "(6)", .seen = tsri_saw(4, 60, "samples")),
        "radius");
    tsri_certify(c, CLAIM(TSRI_AT_MOST, 2, 3, ALL, .of = t3), "rate");
    tsri_certify_number(c, t3, 0.023, "lambda_0");
    tsri_certify_note(c, "constants are taken as %d", 1);
    assert_ok(tsri_certificate_end(c));
}

static void test_text(void **state)
{
    (void)state;
    tsri_certificate c;
    tsri_text text = {0};
    fill(&c);
    assert_false(tsri_certificate_holds(&c));
    assert_string_equal(tsri_certificate_worst(&c)->quantity, "width m");
    assert_ok(tsri_certificate_text(&text, &c));
    const char *const lines[] = {
        "masked-neurons, after round 7",
        "  Theorem 2, with probability 1 - delta = 0.9, assumes no weight decay\n",
        "  Theorem 3 assumes no momentum\n",
        "  broken: no momentum (momentum is 0.9)\n",
        "required at least 410000: fails by a factor of 4.1e+03",
        "0.5 [0.4, 0.6] at 95 %, required at most 1: holds",
        "2, required at most 3: open: 4 of 60 samples were looked at",
        "2, required at most 3: does not apply: momentum is 0.9",
        "note: constants are taken as 1",
        "1 holds, 1 fails, 0 are vacuous, 1 is open, 1 does not apply"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_non_null(strstr(text.data, lines[i]));
    tsri_text_fini(&text);
    tsri_certificate_fini(&c);
}

static const char *word(const tsri_json_value *row, const char *key)
{
    const char *text = NULL;
    return tsri_json_as_text(tsri_json_get(row, key), &text) ? text : "-";
}

static void test_json(void **state)
{
    (void)state;
    tsri_certificate c;
    tsri_json w = {0};
    tsri_json_value *root = NULL;
    double k = 0;
    int64_t n = 0;
    fill(&c);
    tsri_json_open(&w, '{');
    tsri_certificate_json(&w, &c);
    tsri_json_close(&w, '}');
    assert_ok(tsri_json_end(&w));
    assert_ok(tsri_json_parse(&root, w.text.data, w.text.length, "json"));
    const tsri_json_value *rows = tsri_json_get(root, "rows");
    assert_int_equal(tsri_json_length(rows), 5);
    assert_true(tsri_json_as_real(tsri_json_get(tsri_json_at(rows, 0), "factor"), &k));
    assert_true(fabs(k - 4100) < 1e-9);
    assert_true(tsri_json_as_real(tsri_json_get(tsri_json_at(rows, 0), "probability"), &k));
    assert_true(k == 0.9);
    assert_string_equal(word(tsri_json_at(rows, 1), "verdict"), "holds");
    assert_string_equal(word(tsri_json_at(rows, 2), "where"), "(6)");
    assert_string_equal(word(tsri_json_at(rows, 2), "theorem"), "Theorem 2");
    assert_string_equal(word(tsri_json_at(rows, 3), "verdict"), "does not apply");
    assert_string_equal(word(tsri_json_at(rows, 3), "reason"), "momentum is 0.9");
    assert_string_equal(word(tsri_json_at(rows, 4), "verdict"), "-");
    const tsri_json_value *counts = tsri_json_get(root, "counts");
    assert_true(tsri_json_as_int(tsri_json_get(counts, "does not apply"), &n) && n == 1);
    assert_true(tsri_json_as_int(tsri_json_get(counts, "vacuous"), &n) && n == 0);
    tsri_json_destroy(root);
    tsri_json_fini(&w);
    tsri_certificate_fini(&c);
}

/* Rounds that nobody looked at are missed, not passed over. */
static void test_past(void **state)
{
    (void)state;
    tsri_past past = {0};
    const double loss[] = {4, 2, 3};
    for (int64_t round = 0; round < 5; round++) {
        tsri_past_begin(&past, round);
        if (round < 3)
            assert_ok(tsri_past_keep(&past, "loss", loss[round]));
        assert_ok(tsri_past_keep(&past, "radius", (double)round));
    }
    assert_true(tsri_past_least(&past, "loss") == 2 && tsri_past_most(&past, "loss") == 4);
    assert_true(tsri_past_sum(&past, "loss") == 9 && tsri_past_at(&past, 2, "loss") == 3);
    assert_true(isnan(tsri_past_now(&past, "loss")) && isnan(tsri_past_most(&past, "none")));
    tsri_seen some = tsri_past_seen(&past, "loss"), all = tsri_past_seen(&past, "radius");
    assert_int_equal(some.sight, TSRI_EXTREME);
    assert_int_equal(some.part, 3);
    assert_int_equal(some.whole, 5);
    assert_int_equal(all.sight, TSRI_ALL);
    tsri_past_fini(&past);
}

static void test_failures(void **state)
{
    (void)state;
    for (int64_t n = 0; n < 6; n++) {
        tsri_certificate c;
        (void)tsri_alloc_fail_after(n, true);
        tsri_certificate_init(&c, "test");
        for (int i = 0; i < 40; i++) {
            int t = tsri_certify_theorem(&c, &(tsri_theorem){.where = "a", .chance = ""});
            tsri_certify(&c, CLAIM(TSRI_AT_MOST, 1, 2, ALL, .of = t), "b");
            tsri_certify_note(&c, "c");
            tsri_certify_breach(&c, TSRI_NO_DECAY, "d");
        }
        (void)tsri_alloc_fail_after(-1, false);
        assert_int_equal(tsri_certificate_end(&c), TSR_RESOURCES);
        tsri_certificate_fini(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),      cmocka_unit_test(test_part),
        cmocka_unit_test(test_unknown),    cmocka_unit_test(test_vacuous),
        cmocka_unit_test(test_improbable), cmocka_unit_test(test_breach),
        cmocka_unit_test(test_words),      cmocka_unit_test(test_text),
        cmocka_unit_test(test_json),       cmocka_unit_test(test_past),
        cmocka_unit_test(test_failures),   cmocka_unit_test(test_unmeasured)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
