/* The glyphs: their bytes for ever, their spread, what makes them hard. */
#include "synthetic_testing.h"

#include "io/crc32c.h"

#include <math.h>
#include <time.h>

static uint32_t checksum(const tsri_part *part, int64_t dim)
{
    uint32_t crc = tsri_crc32c(0, part->bytes, (size_t)(part->n * dim));
    return tsri_crc32c(crc, part->label, (size_t)part->n * sizeof *part->label);
}

/* Written down when the generator was made: a change of these bytes changes everybody's data. */
static void golden(void **state)
{
    (void)state;
    static const struct {
        int64_t channels;
        uint64_t seed;
        uint32_t train, test;
    } cases[] = {{1, 1, 0x5334e39b, 0xd6840096},
                 {3, 1, 0x5ac96ad8, 0xa250e4a8},
                 {1, 0x123456789abcull, 0x35ade0f9, 0x63d4b4b4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_data data = {0};
        tsri_synthetic options = tsri_synthetic_default();
        options.n = 64;
        options.test_n = 16;
        options.channels = cases[i].channels;
        options.seed = cases[i].seed;
        assert_ok(tsri_glyphs(&data, &options));
        uint32_t train = checksum(&data.train, data.dim), test = checksum(&data.test, data.dim);
        if (train != cases[i].train || test != cases[i].test)
            fail_msg("%d channels, seed %llx: train 0x%08x, test 0x%08x", (int)cases[i].channels,
                     (unsigned long long)cases[i].seed, train, test);
        made_fini(&data);
    }
}

static void shapes_and_names(void **state)
{
    (void)state;
    for (int64_t channels = 1; channels <= 3; channels += 2) {
        tsr_data data = {0};
        tsri_synthetic options = tsri_synthetic_default();
        options.n = 10;
        options.channels = channels;
        assert_ok(tsri_glyphs(&data, &options));
        int64_t side = channels == 1 ? 28 : 32;
        assert_int_equal(data.channels, channels);
        assert_int_equal(data.height, side);
        assert_int_equal(data.width, side);
        assert_int_equal(data.dim, channels * side * side);
        assert_int_equal(data.classes, 10);
        assert_int_equal(data.targets, 0);
        assert_null(data.train.numbers);
        assert_string_equal(data.class_name[0], "ring");
        assert_string_equal(data.class_name[9], "trident");
        made_fini(&data);
    }
}

/* Classes are equally frequent (five deviations of chi-square), no picture is flat. */
static void spread(void **state)
{
    (void)state;
    tsr_data data = {0};
    tsri_synthetic options = tsri_synthetic_default();
    options.n = 5000;
    assert_ok(tsri_glyphs(&data, &options));
    double count[10] = {0}, chi = 0.0;
    for (int64_t i = 0; i < 5000; i++) {
        const uint8_t *x = data.train.bytes + i * 784;
        int least = 255, most = 0;
        for (int j = 0; j < 784; j++) {
            least = x[j] < least ? x[j] : least;
            most = x[j] > most ? x[j] : most;
        }
        assert_true(most - least >=
                    50); /* the pen is at least 60 above the ground, less gradient */
        assert_in_range(data.train.label[i], 0, 9);
        count[data.train.label[i]]++;
    }
    for (int k = 0; k < 10; k++)
        chi += (count[k] - 500.0) * (count[k] - 500.0) / 500.0;
    assert_true(chi < 9.0 + 5.0 * sqrt(18.0));
    made_fini(&data);
}

/* mean[k] = the mean picture of class k in the training part. */
static void class_means(double mean[10][784], const tsri_part *part)
{
    double count[10] = {0};
    memset(mean, 0, 10 * 784 * sizeof(double));
    for (int64_t i = 0; i < part->n; i++) {
        int k = part->label[i];
        count[k]++;
        for (int j = 0; j < 784; j++)
            mean[k][j] += (double)part->bytes[i * 784 + j];
    }
    for (int k = 0; k < 10; k++)
        for (int j = 0; j < 784; j++)
            mean[k][j] /= count[k];
}

static int nearest_mean(double mean[10][784], const uint8_t *x)
{
    double best = INFINITY;
    int which = 0;
    for (int k = 0; k < 10; k++) {
        double sum = 0.0;
        for (int j = 0; j < 784; j++)
            sum += ((double)x[j] - mean[k][j]) * ((double)x[j] - mean[k][j]);
        if (sum < best) {
            best = sum;
            which = k;
        }
    }
    return which;
}

/* The nearest class mean is a linear model: better than chance, for there is something to learn,
 * and far from 90 %. (tools/measure_glyphs.py measures trained models.) */
static void hard_for_a_linear_model(void **state)
{
    (void)state;
    tsr_data data = {0};
    tsri_synthetic options = tsri_synthetic_default();
    static double mean[10][784];
    options.n = 5000;
    assert_ok(tsri_glyphs(&data, &options));
    class_means(mean, &data.train);
    double right = 0.0;
    for (int64_t i = 0; i < data.test.n; i++)
        right += nearest_mean(mean, data.test.bytes + i * 784) == data.test.label[i];
    print_message("nearest class mean: %.1f %%\n", 100.0 * right / (double)data.test.n);
    assert_true(right > 0.13 * (double)data.test.n); /* chance: 10 %, deviation 1 % */
    assert_true(right < 0.60 * (double)data.test.n);
    made_fini(&data);
}

static void pure_and_safe(void **state)
{
    (void)state;
    tsri_synthetic options = tsri_synthetic_default();
    assert_pure(tsri_glyphs, options);
    assert_survives(tsri_glyphs, options);
    options.channels = 3;
    assert_pure(tsri_glyphs, options);
    for (options.channels = 0; options.channels <= 4; options.channels += 2)
        assert_refused(tsri_glyphs, options, "say 1 for 28x28 grey or 3 for 32x32 colour");
    options.channels = 1;
    options.n = 0;
    assert_refused(tsri_glyphs, options, "data.n is 0");
}

/* 20,000 took 0.4 s of one core; the bound leaves room for sanitizers and slow machines. */
static void quick(void **state)
{
    (void)state;
    tsr_data data = {0};
    tsri_synthetic options = tsri_synthetic_default();
    options.n = 20000;
    options.test_n = 1;
    clock_t start = clock();
    assert_ok(tsri_glyphs(&data, &options));
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    print_message("20000 glyphs: %.2f s\n", seconds);
    assert_true(seconds < 20.0);
    made_fini(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),        cmocka_unit_test(shapes_and_names),
        cmocka_unit_test(spread),        cmocka_unit_test(hard_for_a_linear_model),
        cmocka_unit_test(pure_and_safe), cmocka_unit_test(quick),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
