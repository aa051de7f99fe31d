/* Our sine and cosine against libm's. */
#include "testing.h"

#include "base/rng.h"
#include "base/sine.h"

#include <math.h>

/* libm is within one ulp (1.1e-16 at 1); the header promises 3e-16 and 1e-14. */
static void near_libm(void **state)
{
    (void)state;
    tsri_rng rng = tsri_rng_stream(1, TSRI_FOR_TEST, 0, 0, 0);
    for (int i = 0; i < 200000; i++) {
        double u = 2.0 * tsri_rng_uniform53(&rng) - 1.0;
        assert_true(fabs(tsri_sin(100.0 * u) - sin(100.0 * u)) <= 3e-16 + 1.2e-16);
        assert_true(fabs(tsri_cos(100.0 * u) - cos(100.0 * u)) <= 3e-16 + 1.2e-16);
        assert_true(fabs(tsri_sin(1e5 * u) - sin(1e5 * u)) <= 1e-14);
        assert_true(fabs(tsri_cos(1e5 * u) - cos(1e5 * u)) <= 1e-14);
    }
}

static void exact_where_it_must_be(void **state)
{
    (void)state;
    assert_true(tsri_sin(0.0) == 0.0);
    assert_true(tsri_cos(0.0) == 1.0);
    for (double x = 0.0; x < 50.0; x += 0.37) {
        assert_true(tsri_sin(-x) == -tsri_sin(x));
        assert_true(tsri_cos(-x) == tsri_cos(x));
    }
    assert_true(tsri_sin(1e-300) == 1e-300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_libm),
        cmocka_unit_test(exact_where_it_must_be),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
