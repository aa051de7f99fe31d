/* Points on the sphere: their norms, distances, labels; what is refused. */
#include "synthetic_testing.h"

#include <math.h>
#include <time.h>

static double norm_of(const float *x, int64_t dim)
{
    double sum = 0.0;
    for (int64_t j = 0; j < dim; j++)
        sum += (double)x[j] * (double)x[j];
    return sqrt(sum);
}

static double distance_of(const float *x, const float *y, int64_t dim)
{
    double sum = 0.0;
    for (int64_t j = 0; j < dim; j++)
        sum += ((double)x[j] - (double)y[j]) * ((double)x[j] - (double)y[j]);
    return sqrt(sum);
}

/* By all pairs, not by the generator's grid. Norms: each of dim coordinates is off by at most half
 * an ulp, so the norm by 2^-24 at most, a little more for the sum's own rounding. */
static void check_part(const tsri_part *part, int64_t dim, double phi)
{
    for (int64_t i = 0; i < part->n; i++) {
        assert_true(fabs(norm_of(part->numbers + i * dim, dim) - 1.0) < 1.2 * 0x1p-24);
        for (int64_t j = 0; j < i; j++)
            assert_true(distance_of(part->numbers + i * dim, part->numbers + j * dim, dim) >= phi);
    }
}

/* From a crowded circle to a high dimension where one cell holds all. */
static void points_keep_their_distance(void **state)
{
    (void)state;
    static const struct {
        int64_t n, dim;
        double phi;
    } cases[] = {{12, 2, 0.3},    {700, 2, 0.005}, {150, 3, 0.18}, {1500, 3, 0.05},
                 {1000, 4, 0.1},  {1000, 10, 0.4}, {300, 20, 0.9}, {200, 100, 1.25},
                 {50, 300, 1.35}, {1, 2, 2.0},     {500, 3, 0.0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_data data = {0};
        tsri_synthetic options = tsri_synthetic_default();
        options.n = cases[i].n;
        options.dim = cases[i].dim;
        options.phi = cases[i].phi;
        options.test_n = cases[i].n / 3 + 1;
        options.test_n = options.test_n > options.n ? options.n : options.test_n;
        assert_ok(tsri_sphere(&data, &options));
        assert_int_equal(data.channels, cases[i].dim);
        assert_int_equal(data.dim, cases[i].dim);
        assert_int_equal(data.height * data.width, 1);
        check_part(&data.train, data.dim, cases[i].phi);
        check_part(&data.test, data.dim, cases[i].phi);
        made_fini(&data);
    }
}

/* A distance that would have been refused by chance alone: without the check, 1500 points in three
 * dimensions come nearer than 0.05 many times over. */
static void chance_would_fail(void **state)
{
    (void)state;
    tsr_data data = {0};
    tsri_synthetic options = tsri_synthetic_default();
    options.n = 1500;
    options.dim = 3;
    assert_ok(tsri_random_labels(&data, &options));
    int64_t near = 0;
    for (int64_t i = 0; i < 1500; i++)
        for (int64_t j = 0; j < i; j++)
            near += distance_of(data.train.numbers + i * 3, data.train.numbers + j * 3, 3) < 0.05;
    /* n(n-1)/2 pairs, each near with probability phi^2/4 = 0.000625: 702 expected */
    assert_in_range(near, 500, 900);
    made_fini(&data);
}

/* Uniform: every coordinate has mean 0 and variance 1/d, within five standard errors. */
static void directions_are_uniform(void **state)
{
    (void)state;
    tsr_data data = {0};
    tsri_synthetic options = tsri_synthetic_default();
    enum { N = 20000, D = 5 };
    options.n = N;
    options.dim = D;
    options.regress = true;
    assert_ok(tsri_random_labels(&data, &options));
    double y1 = 0.0, y2 = 0.0, xy = 0.0;
    for (int64_t j = 0; j < D; j++) {
        double m1 = 0.0, m2 = 0.0;
        for (int64_t i = 0; i < N; i++) {
            double x = (double)data.train.numbers[i * D + j];
            m1 += x;
            m2 += x * x;
        }
        assert_true(fabs(m1 / N) < 5.0 * sqrt(1.0 / D / N));
        /* var x^2 = 3/(d(d+2)) - 1/d^2 */
        assert_true(fabs(m2 / N - 1.0 / D) < 5.0 * sqrt((3.0 / (D * (D + 2)) - 1.0 / (D * D)) / N));
    }
    for (int64_t i = 0; i < N; i++) {
        double y = (double)data.train.target[i];
        y1 += y;
        y2 += y * y;
        xy += y * (double)data.train.numbers[i * D];
    }
    assert_true(fabs(y1 / N) < 5.0 / sqrt(N));
    assert_true(fabs(y2 / N - 1.0) < 5.0 * sqrt(2.0 / N));
    assert_true(fabs(xy / N) < 5.0 * sqrt(1.0 / D / N)); /* the target did not look */
    made_fini(&data);
}

static void random_labels_are_even(void **state)
{
    (void)state;
    tsr_data data = {0};
    tsri_synthetic options = tsri_synthetic_default();
    options.n = 20000;
    options.classes = 7;
    assert_ok(tsri_random_labels(&data, &options));
    assert_int_equal(data.classes, 7);
    assert_null(data.train.target);
    double count[7] = {0}, chi = 0.0, each = 20000.0 / 7.0;
    for (int64_t i = 0; i < 20000; i++) {
        assert_in_range(data.train.label[i], 0, 6);
        count[data.train.label[i]]++;
    }
    for (int k = 0; k < 7; k++)
        chi += (count[k] - each) * (count[k] - each) / each;
    assert_true(chi < 6.0 + 5.0 * sqrt(12.0));
    made_fini(&data);
}

/* Labels are the sign of the real target, half each; the target has variance d/(d+2). */
static void sphere_labels_are_signs(void **state)
{
    (void)state;
    tsr_data labels = {0}, reals = {0};
    tsri_synthetic options = tsri_synthetic_default();
    enum { N = 8000, D = 10 };
    options.n = N;
    options.dim = D;
    assert_ok(tsri_sphere(&labels, &options));
    options.regress = true;
    assert_ok(tsri_sphere(&reals, &options));
    assert_int_equal(labels.classes, 2);
    assert_string_equal(labels.class_name[0], "-1");
    assert_string_equal(labels.class_name[1], "+1");
    assert_int_equal(reals.classes, 0);
    assert_int_equal(reals.targets, 1);
    double positive = 0.0, square = 0.0, fourth = 0.0;
    for (int64_t i = 0; i < N; i++) {
        double y = (double)reals.train.target[i];
        assert_int_equal(labels.train.label[i], y >= 0.0);
        positive += y >= 0.0;
        square += y * y;
        fourth += y * y * y * y;
    }
    assert_true(fabs(positive / N - 0.5) < 5.0 * 0.5 / sqrt(N));
    double mean = square / N, variance = fourth / N - mean * mean;
    assert_true(fabs(mean - D / (D + 2.0)) < 5.0 * sqrt(variance / N));
    made_fini(&labels);
    made_fini(&reals);
}

static void pure_functions(void **state)
{
    (void)state;
    tsri_synthetic options = tsri_synthetic_default();
    assert_pure(tsri_sphere, options);
    assert_pure(tsri_random_labels, options);
    options.regress = true;
    options.dim = 3;
    options.phi = 0.2; /* crowded, so that candidates are refused on the way */
    assert_pure(tsri_sphere, options);
    assert_pure(tsri_random_labels, options);
}

static void allocations_fail(void **state)
{
    (void)state;
    tsri_synthetic options = tsri_synthetic_default();
    assert_survives(tsri_sphere, options);
    assert_survives(tsri_random_labels, options);
    options.regress = true;
    assert_survives(tsri_sphere, options);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    tsri_synthetic o = tsri_synthetic_default();
    o.dim = 1;
    assert_refused(tsri_sphere, o, "at least 2 dimensions");
    o.dim = 3;
    o.phi = 1.0; /* caps of 30 degrees: 1/0.067 */
    assert_refused(tsri_sphere, o, "at most 14 fit; lower data.n");
    o.phi = 1.5; /* beyond a right angle: a simplex, d + 1 */
    assert_refused(tsri_sphere, o, "at most 4 fit");
    o.phi = sqrt(2.0);
    assert_refused(tsri_sphere, o, "at most 6 fit");
    o.phi = 2.5;
    assert_refused(tsri_sphere, o, "between 0 and 2");
    o.phi = NAN;
    assert_refused(tsri_sphere, o, "between 0 and 2");
    o.n = 11; /* twelve fit on an icosahedron, but not by chance */
    o.phi = 1.05;
    assert_refused(tsri_sphere, o, "found no place 1.05 away");
    o = tsri_synthetic_default();
    o.classes = 1;
    assert_refused(tsri_random_labels, o, "at least 2");
    o.classes = 2;
    o.dim = 0;
    assert_refused(tsri_random_labels, o, "data.dim is 0");
    o.dim = 2;
    o.n = 0;
    assert_refused(tsri_random_labels, o, "data.n is 0");
    tsr_data data = {0};
    o.n = UINT32_MAX;
    o.dim = INT64_MAX / 2;
    assert_fails(tsri_random_labels(&data, &o), TSR_RESOURCES, "synthetic inputs");
    made_fini(&data);
}

/* Large sets take seconds of one core, not minutes, in low and in high dimension. The bounds are
 * ten times what a slow core needed, so that only a change of order fails. */
static void large_sets_are_quick(void **state)
{
    (void)state;
    static const struct {
        int64_t n, dim;
        double phi;
    } cases[] = {{20000, 3, 0.01}, {20000, 10, 0.1}, {8000, 64, 0.3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_data data = {0};
        tsri_synthetic options = tsri_synthetic_default();
        options.n = cases[i].n;
        options.test_n = 1;
        options.dim = cases[i].dim;
        options.phi = cases[i].phi;
        clock_t start = clock();
        assert_ok(tsri_sphere(&data, &options));
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        print_message("sphere %d x %d, phi %g: %.2f s\n", (int)cases[i].n, (int)cases[i].dim,
                      cases[i].phi, seconds);
        assert_true(seconds < 20.0);
        made_fini(&data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_keep_their_distance),
        cmocka_unit_test(chance_would_fail),
        cmocka_unit_test(directions_are_uniform),
        cmocka_unit_test(random_labels_are_even),
        cmocka_unit_test(sphere_labels_are_signs),
        cmocka_unit_test(pure_functions),
        cmocka_unit_test(allocations_fail),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(large_sets_are_quick),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
