/* Equal rows: minus zero, three alike, none, a search that ends early or fails. */
#include "testing.h"

#include "data/twins.h"

#include <string.h>

typedef struct table {
    const float *x; /* [.., 2] */
    int64_t pair[4][2], count, most;
    tsr_status ends_with;
} table;

static void row(float *x, const void *context, int64_t i)
{
    memcpy(x, ((const table *)context)->x + 2 * i, 2 * sizeof *x);
}

static tsr_status twin(void *context, int64_t i, int64_t j, bool *enough)
{
    table *t = context;
    t->pair[t->count][0] = i;
    t->pair[t->count++][1] = j;
    *enough = t->count == t->most;
    return t->ends_with;
}

static tsr_status find(table *t, int64_t n)
{
    return tsri_row_twins_find(
        &(tsri_row_twins){.n = n, .dim = 2, .row = row, .twin = twin, .context = t});
}

static void test_pairs(void **state)
{
    (void)state;
    static const float x[] = {0, 1, 3, 4, -0.0f, 1, 5, 6, 0, 1, 4, 3};
    table t = {.x = x, .most = -1};
    assert_ok(find(&t, 6)); /* rows 0, 2 and 4 are one point */
    assert_int_equal(t.count, 2);
    assert_int_equal(t.pair[0][0], 0);
    assert_int_equal(t.pair[0][1], 2);
    assert_int_equal(t.pair[1][0], 2);
    assert_int_equal(t.pair[1][1], 4);
    t = (table){.x = x, .most = -1};
    assert_ok(find(&t, 2));
    assert_int_equal(t.count, 0);
    assert_ok(find(&t, 0));
}

static void test_ends(void **state)
{
    (void)state;
    static const float x[] = {1, 1, 1, 1, 1, 1};
    table t = {.x = x, .most = 1};
    assert_ok(find(&t, 3));
    assert_int_equal(t.count, 1);
    t = (table){.x = x, .most = -1, .ends_with = TSR_BAD_FILE};
    assert_int_equal(find(&t, 3), TSR_BAD_FILE);
    assert_int_equal(t.count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs), cmocka_unit_test(test_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
