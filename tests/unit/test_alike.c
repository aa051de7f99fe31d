/* Texts that people take for the same are two words all the same, and must be found. */
#include "testing.h"

#include "data/alike.h"
#include "data/data_schema.h"
#include "data/resolution.h"

#include <math.h>

static void pairs(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"True", "true", true},
        {"New York", "New  York", true},
        {"New York", "New\u00a0York", true},
        {"x", "\u200bx", true},
        {"K\u00f6ln", "Ko\u0308ln", true},
        {"K\u00d6LN", "koln", true},
        {"\u0141\u00f3d\u017a", "\u0142\u00f3dz", false}, /* L with a stroke: a letter of its own */
        {"\u00e6", "ae", false},
        {"\u6771\u4eac", "\u6771\u4eac", true},
        {"\u6771\u4eac", "\u4eac\u90fd", false},
        {"a", "b", false},
        {"a", "", false},
        {"", " ", true},
        {"\xff\xfe", "\xff\xfe", true}, /* no UTF-8: bytes */
        {"1.0", "1", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool same;
        assert_ok(tsri_alike(&same, cases[i].a, cases[i].b));
        assert_int_equal(same, cases[i].same);
        assert_ok(tsri_alike(&same, cases[i].b, cases[i].a));
        assert_int_equal(same, cases[i].same);
    }
}

static tsr_status find(int64_t *first, int64_t *second)
{
    static char a[] = "no", b[] = "yes", c[] = "No ", d[] = "Yes";
    char *const word[] = {a, b, c, d};
    return tsri_alike_pair(first, second, word, 4);
}

static void first_two(void **state)
{
    (void)state;
    int64_t first, second;
    for (int64_t n = 0;; n++) { /* without memory at every moment */
        (void)tsri_alloc_fail_after(n, false);
        tsr_status st = find(&first, &second);
        (void)tsri_alloc_fail_after(-1, false);
        if (st == TSR_OK)
            break;
        assert_int_equal(st, TSR_RESOURCES);
    }
    assert_true(first == 0 && second == 2);
    assert_ok(tsri_alike_pair(&first, &second, NULL, 0));
    assert_true(first == -1 && second == -1);
}

/* From the least deviation that floats near 1.7e9 still show to one that they do not. */
static void resolution(void **state)
{
    (void)state;
    for (double step = 1; step < 1e6; step *= 3) {
        tsri_resolution r = {0};
        for (int i = 0; i < 100; i++)
            tsri_resolution_see(&r, 1.7e9 + step * i);
        /* Deviation 28.9 steps; rounding changes a number by 64 at most. */
        if (0.289 * step < 50 || 0.289 * step > 70)
            assert_int_equal(tsri_resolution_lost(&r), 0.289 * step < 60);
    }
    tsri_resolution equal = {0}, none = {0};
    for (int i = 0; i < 10; i++)
        tsri_resolution_see(&equal, 16777217); /* no float, but all the same */
    tsri_resolution_see(&none, (double)NAN);
    assert_false(tsri_resolution_lost(&equal) || tsri_resolution_lost(&none));
}

/* Dates of a data set that a program had read became numbers when it was trained on. */
static void copied_dates(void **state)
{
    (void)state;
    tsri_field field[2] = {{.dates = 1}, {.dates = -1}};
    tsri_data_schema copy, from = {.kind = "table", .field = field, .fields = 2};
    assert_ok(tsri_data_schema_copy(&copy, &from));
    assert_true(copy.field[0].dates == 1 && copy.field[1].dates == -1);
    tsri_data_schema_fini(&copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs),
        cmocka_unit_test(first_two),
        cmocka_unit_test(resolution),
        cmocka_unit_test(copied_dates),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
