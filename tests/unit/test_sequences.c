/* Sequences against section 2.1 and Assumption 2.1 of the RNN paper. */
#include "synthetic_testing.h"

#include <math.h>

static double norm_of_difference(const float *x, const float *y, int64_t dim)
{
    double sum = 0.0;
    for (int64_t j = 0; j < dim; j++) {
        double difference = (double)x[j] - (y ? (double)y[j] : 0.0);
        sum += difference * difference;
    }
    return sqrt(sum);
}

static void check_part(const tsri_part *part, int64_t length, int64_t dim, double delta)
{
    int64_t row = length * dim;
    for (int64_t i = 0; i < part->n; i++) {
        const float *x = part->numbers + i * row;
        assert_int_equal(part->length[i], length);
        /* every coordinate is off by half an ulp at most */
        assert_true(fabs(norm_of_difference(x, NULL, dim) - 1.0) < 1.2 * 0x1p-23);
        assert_true(x[dim - 1] == (float)sqrt(0.5));
        for (int64_t l = 1; l < length; l++)
            assert_true(norm_of_difference(x + l * dim, NULL, dim) <= 1.0);
        for (int64_t j = 0; j < i; j++)
            assert_true(norm_of_difference(x, part->numbers + j * row, dim) >= delta);
    }
}

static void assumption_holds(void **state)
{
    (void)state;
    static const struct {
        int64_t n, length, dim, targets;
        double delta;
    } cases[] = {{100, 10, 10, 3, 0.3}, {8, 4, 3, 1, 0.2}, {2, 1, 2, 2, 1.0}, {40, 3, 50, 5, 0.8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_data data = {0};
        tsri_synthetic options = tsri_synthetic_default();
        options.n = cases[i].n;
        options.length = cases[i].length;
        options.dim = cases[i].dim;
        options.targets = cases[i].targets;
        options.phi = cases[i].delta;
        assert_ok(tsri_sequences(&data, &options));
        assert_true(data.sequences);
        assert_int_equal(data.channels, cases[i].dim);
        assert_int_equal(data.height, cases[i].length);
        assert_int_equal(data.width, 1);
        assert_int_equal(data.dim, cases[i].dim * cases[i].length);
        assert_int_equal(data.targets, cases[i].targets * cases[i].length);
        assert_int_equal(data.classes, 0);
        check_part(&data.train, cases[i].length, cases[i].dim, cases[i].delta);
        check_part(&data.test, cases[i].length, cases[i].dim, cases[i].delta);
        made_fini(&data);
    }
}

/* Targets are N(0,1), norms of later positions uniform in (0,1): means and variances within five
 * standard errors. */
static void numbers_have_their_distribution(void **state)
{
    (void)state;
    tsr_data data = {0};
    tsri_synthetic options = tsri_synthetic_default();
    options.n = 1000;
    options.targets = 5;
    assert_ok(tsri_sequences(&data, &options));
    double y1 = 0.0, y2 = 0.0, r1 = 0.0, r2 = 0.0, ny = 50000.0, nr = 9000.0;
    for (int64_t i = 0; i < 50000; i++) {
        double y = (double)data.train.target[i];
        y1 += y;
        y2 += y * y;
    }
    for (int64_t i = 0; i < 1000; i++)
        for (int64_t l = 1; l < 10; l++) {
            double r = norm_of_difference(data.train.numbers + (i * 10 + l) * 10, NULL, 10);
            r1 += r;
            r2 += r * r;
        }
    assert_true(fabs(y1 / ny) < 5.0 / sqrt(ny));
    assert_true(fabs(y2 / ny - 1.0) < 5.0 * sqrt(2.0 / ny));
    assert_true(fabs(r1 / nr - 0.5) < 5.0 * sqrt(1.0 / 12.0 / nr));
    assert_true(fabs(r2 / nr - 1.0 / 3.0) < 5.0 * sqrt(4.0 / 45.0 / nr));
    made_fini(&data);
}

/* The first positions of a sequence do not depend on how long it is. */
static void longer_sequences_begin_alike(void **state)
{
    (void)state;
    tsr_data a = {0}, b = {0};
    tsri_synthetic options = tsri_synthetic_default();
    options.n = 5;
    options.length = 4;
    assert_ok(tsri_sequences(&a, &options));
    options.length = 9;
    assert_ok(tsri_sequences(&b, &options));
    for (int64_t i = 0; i < 5; i++) {
        assert_memory_equal(a.train.numbers + i * 40, b.train.numbers + i * 90, 40 * sizeof(float));
        assert_memory_equal(a.train.target + i * 4, b.train.target + i * 9, 4 * sizeof(float));
    }
    made_fini(&a);
    made_fini(&b);
}

static void pure_and_safe(void **state)
{
    (void)state;
    tsri_synthetic options = tsri_synthetic_default();
    assert_pure(tsri_sequences, options);
    assert_survives(tsri_sequences, options);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    tsri_synthetic o = tsri_synthetic_default();
    o.dim = 1;
    assert_refused(tsri_sequences, o, "last coordinate");
    o.dim = 2; /* only two first positions exist */
    assert_refused(tsri_sequences, o, "at most 2 fit");
    o.dim = 10;
    o.phi = 1.1;
    assert_refused(tsri_sequences, o, "Assumption 2.1");
    o.phi = 0.1;
    o.length = 0;
    assert_refused(tsri_sequences, o, "at least 1");
    o.length = 10;
    o.targets = 0;
    assert_refused(tsri_sequences, o, "at least 1");
    tsr_data data = {0};
    o.targets = INT64_MAX / 2;
    assert_fails(tsri_sequences(&data, &o), TSR_RESOURCES, "targets of a sequence");
    made_fini(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(assumption_holds),
        cmocka_unit_test(numbers_have_their_distribution),
        cmocka_unit_test(longer_sequences_begin_alike),
        cmocka_unit_test(pure_and_safe),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
