/* The GReLU paper's target against the formula written out with libm. */
#include "synthetic_testing.h"

#include <math.h>

static void follows_the_formula(void **state)
{
    (void)state;
    tsr_data data = {0};
    tsri_synthetic options = tsri_synthetic_default();
    options.n = 100; /* the paper's size */
    options.dim = 200;
    assert_ok(tsri_ackley(&data, &options));
    assert_int_equal(data.targets, 1);
    assert_int_equal(data.classes, 0);
    assert_int_equal(data.dim, 200);
    for (int64_t i = 0; i < 100; i++) {
        const float *row = data.train.numbers + i * 200;
        double y = 0.0, size = 0.0;
        for (int d = 1; d <= 200; d++) { /* counted from 1, as the paper does */
            double x = (double)row[d - 1], mirror = (double)row[200 + 1 - d - 1];
            double term = mirror * (log(fabs(x)) * (cos(x) + pow(x, 3.0) * sin(x)) + sqrt(fabs(x)));
            y += term;
            size += fabs(term);
        }
        /* rounding to float, and 200 terms each good to a few 1e-16 */
        assert_true(fabs((double)data.train.target[i] - y) <= fabs(y) * 0x1p-24 + size * 1e-14);
    }
    made_fini(&data);
}

/* By hand: one coordinate x gives x (log|x| (cos x + x^3 sin x) + sqrt|x|). */
static void one_coordinate(void **state)
{
    (void)state;
    tsr_data data = {0};
    tsri_synthetic options = tsri_synthetic_default();
    options.dim = 1;
    assert_ok(tsri_ackley(&data, &options));
    double x = (double)data.train.numbers[0];
    double y = x * (log(fabs(x)) * (cos(x) + x * x * x * sin(x)) + sqrt(fabs(x)));
    assert_true(fabs((double)data.train.target[0] - y) <= fabs(y) * 1e-7);
    made_fini(&data);
}

/* Inputs are N(0,1): mean and variance within five standard errors. */
static void inputs_are_normal(void **state)
{
    (void)state;
    tsr_data data = {0};
    tsri_synthetic options = tsri_synthetic_default();
    options.n = 5000;
    options.dim = 20;
    assert_ok(tsri_ackley(&data, &options));
    double m1 = 0.0, m2 = 0.0, n = 100000.0;
    for (int64_t i = 0; i < 100000; i++) {
        double x = (double)data.train.numbers[i];
        assert_true(x != 0.0);
        m1 += x;
        m2 += x * x;
    }
    assert_true(fabs(m1 / n) < 5.0 / sqrt(n));
    assert_true(fabs(m2 / n - 1.0) < 5.0 * sqrt(2.0 / n));
    made_fini(&data);
}

static void pure_and_safe(void **state)
{
    (void)state;
    tsri_synthetic options = tsri_synthetic_default();
    assert_pure(tsri_ackley, options);
    assert_survives(tsri_ackley, options);
    options.dim = 0;
    assert_refused(tsri_ackley, options, "data.dim is 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_formula),
        cmocka_unit_test(one_coordinate),
        cmocka_unit_test(inputs_are_normal),
        cmocka_unit_test(pure_and_safe),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
