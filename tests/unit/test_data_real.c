/* Real data sets, where they are on this machine: $TESSERA_DATA, else ../shared/data beside the
 * source folder; Fashion-MNIST where Debian puts it. Facts about each are checked against what is
 * known of the set, or was computed from the files with other tools (numpy). */
#include "testing.h"

#include "base/clock.h"
#include "data/loader.h"
#include "data/source.h"
#include "io/file.h"

#include <math.h>
#include <time.h>
#include <unistd.h>

static const char *const roots[] = {"../shared/data", "../../shared/data"};

static bool have(const char *file)
{
    char path[512];
    const char *root = getenv("TESSERA_DATA");
    for (int i = -1; i < 2; i++) {
        const char *r = i < 0 ? root : roots[i];
        if (!r)
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", r, file);
        if (tsri_file_exists(path)) {
            (void)setenv("TESSERA_DATA", r, 1);
            return true;
        }
    }
    print_message("%s is not here (TESSERA_DATA, ../shared/data): skipped\n", file);
    return false;
}

static tsr_data *load(const char *name, const char *setting)
{
    tsr_config *config = NULL;
    tsr_data *data = NULL;
    char text[128];
    (void)snprintf(text, sizeof text, "data.name=%s", name);
    assert_ok(tsr_config_create(&config));
    assert_ok(tsr_config_set(config, text));
    if (setting)
        assert_ok(tsr_config_set(config, setting));
    double start = tsri_clock();
    assert_ok(tsri_data_load(&data, config, &(tsri_wants){0}));
    print_message("%s: %.3f s\n", name, tsri_clock() - start);
    tsr_config_destroy(config);
    return data;
}

static void moments(const tsr_data *data, double *mean, double *deviation)
{
    double sum = 0, squares = 0;
    int64_t total = data->train.n * data->dim;
    for (int64_t k = 0; k < total; k++)
        sum += (double)data->train.numbers[k];
    *mean = sum / (double)total;
    for (int64_t k = 0; k < total; k++) {
        double d = (double)data->train.numbers[k] - *mean;
        squares += d * d;
    }
    *deviation = sqrt(squares / (double)total);
}

static void fashion_mnist(void **state)
{
    (void)state;
    if (!tsri_file_exists("/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz")) {
        print_message("dataset-fashion-mnist is not installed: skipped\n");
        skip();
    }
    clock_t start = clock(); /* of the processor: the machine may have other work */
    tsr_data *data = load("fashion-mnist", NULL);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    assert_int_equal(data->train.n, 60000);
    assert_int_equal(data->test.n, 10000);
    assert_int_equal(data->dim, 784);
    assert_int_equal(data->classes, 10);
    assert_string_equal(data->class_name[9], "Ankle boot");
    int64_t count[10] = {0};
    for (int64_t i = 0; i < 60000; i++)
        count[data->train.label[i]]++;
    for (int c = 0; c < 10; c++)
        assert_int_equal(count[c], 6000);
    assert_int_equal(data->train.label[0], 9); /* the first image is a boot */
    /* mean .2860, standard deviation .3530 of bytes / 255: the constants everyone uses */
    assert_true(fabs((double)data->scaling.shift[0] / 255.0 - 0.2860) < 5e-5);
    assert_true(fabs(1.0 / (double)data->scaling.scale[0] / 255.0 - 0.3530) < 5e-5);
    assert_true(seconds < 3.0); /* it takes 0.5 s */
    tsr_data_destroy(data);
}

static void communities_crime(void **state)
{
    (void)state;
    if (!have("communities-crime/communities.data"))
        skip();
    tsr_data *data = load("communities-crime", "data.split=0");
    assert_int_equal(data->train.n, 1994);
    assert_int_equal(data->test.n, 0);
    assert_int_equal(data->dim, 122);
    assert_int_equal(data->targets, 1);
    assert_int_equal(data->classes, 0);
    assert_int_equal(data->missing_found, 39202);
    assert_int_equal(data->missing, 36851); /* 22 columns of 1675, and one cell */
    assert_string_equal(data->column[0], "column 6");
    double least = 1e9, most = -1e9, mean, deviation;
    for (int64_t i = 0; i < data->train.n; i++) {
        double y = (double)data->train.target[i];
        least = y < least ? y : least;
        most = y > most ? y : most;
    }
    assert_true(least == 0.0 && most == 1.0 && data->scaling.target_scale == 1.0f);
    assert_true(fabs((double)data->train.target[0] - 0.2) < 1e-7);
    moments(data, &mean, &deviation);
    assert_true(fabs(mean) < 1e-6 && fabs(deviation - 1.0) < 1e-5); /* rounding to float */
    tsr_data_destroy(data);

    data = load("communities-crime", "data.limit=100");
    assert_int_equal(data->train.n, 100);
    assert_int_equal(data->test.n, 399); /* round(1994 / 5) */
    tsr_data_destroy(data);
}

static void sgemm(void **state)
{
    (void)state;
    if (!have("sgemm/sgemm_product.csv.xz"))
        skip();
    tsr_data *data = load("sgemm", "data.target_scale=none");
    assert_int_equal(data->train.n + data->test.n, 241600);
    assert_int_equal(data->test.n, 48320);
    assert_int_equal(data->dim, 14);
    assert_int_equal(data->targets, 1);
    assert_int_equal(data->missing_found, 0);
    assert_string_equal(data->column[0], "MWG");
    assert_string_equal(data->column[13], "SB");
    /* run times are 13.25 to 3397 ms */
    for (int64_t i = 0; i < data->train.n; i++)
        assert_true(data->train.target[i] > 2.5f && data->train.target[i] < 8.2f);
    tsr_data_destroy(data);

    tsr_config *config = NULL;
    assert_ok(tsr_config_create(&config));
    assert_ok(tsr_config_set(config, "data.name=sgemm"));
    assert_ok(tsr_config_set(config, "data.split=0"));
    assert_ok(tsr_config_set(config, "data.normalize=none"));
    assert_ok(tsri_data_load(&data, config, &(tsri_wants){0}));
    tsr_config_destroy(config);
    const float first[14] = {16, 16, 16, 8, 8, 8, 8, 2, 1, 1, 0, 0, 0, 0};
    assert_memory_equal(data->train.numbers, first, sizeof first);
    /* log of the mean of 115.26 115.87 118.55 115.8, back from the standardised target */
    double y = (double)data->train.target[0] / (double)data->scaling.target_scale +
               (double)data->scaling.target_shift;
    assert_true(fabs(y - log((115.26 + 115.87 + 118.55 + 115.8) / 4.0)) < 1e-5);
    tsr_data_destroy(data);
}

static void japanese_vowels(void **state)
{
    (void)state;
    if (!have("japanese-vowels/ae.train"))
        skip();
    tsr_data *data = load("japanese-vowels", "data.normalize=none");
    assert_true(data->sequences);
    assert_int_equal(data->train.n, 270);
    assert_int_equal(data->test.n, 370);
    assert_int_equal(data->channels, 12);
    assert_int_equal(data->height, 29);
    assert_int_equal(data->classes, 9);
    static const int sizes[] = {31, 35, 88, 44, 29, 24, 40, 50, 29};
    int count[9] = {0}, least = 1000, most = 0;
    for (int64_t i = 0; i < 370; i++)
        count[data->test.label[i]]++;
    assert_memory_equal(count, sizes, sizeof sizes);
    for (int64_t i = 0; i < 270; i++) {
        int n = data->train.length[i];
        least = n < least ? n : least;
        most = n > most ? n : most;
        const float *x = data->train.numbers + i * data->dim;
        for (int64_t k = n * 12; k < data->dim; k++)
            assert_true(x[k] == 0.0f);
    }
    assert_true(least == 7 && most == 26);
    assert_int_equal(data->train.length[0], 20);
    assert_true(data->train.numbers[0] == 1.860936f && data->train.numbers[12] == 1.891651f);
    tsr_data_destroy(data);
}

static void tiny_imagenet(void **state)
{
    (void)state;
    if (!have("tiny-imagenet-10.tar.xz"))
        skip();
    tsr_data *data = load("tiny-imagenet", NULL);
    assert_int_equal(data->train.n, 2000);
    assert_int_equal(data->test.n, 500);
    assert_int_equal(data->channels, 3);
    assert_int_equal(data->height, 64);
    assert_int_equal(data->width, 64);
    assert_int_equal(data->classes, 10);
    assert_string_equal(data->class_name[0], "n01641577");
    assert_string_equal(data->class_name[9], "n09246464");
    for (int64_t i = 0; i < 2000; i++)
        assert_int_equal(data->train.label[i], i / 200);
    for (int64_t i = 0; i < 500; i++)
        assert_int_equal(data->test.label[i], i / 50);
    int64_t grey = 0;
    for (int64_t i = 0; i < 2000; i++) {
        const uint8_t *x = data->train.bytes + i * data->dim;
        grey += memcmp(x, x + 4096, 4096) == 0 && memcmp(x, x + 8192, 4096) == 0;
    }
    print_message("grey pictures: %lld\n", (long long)grey);
    assert_true(grey > 0 && grey < 200);
    tsr_data_destroy(data);
}

static void cifar10_from_get(void **state)
{
    (void)state;
    char *path = NULL;
    assert_ok(tsri_source_locate(&path, NULL, "cifar10", NULL));
    if (!path) {
        print_message("cifar10 is not here (tessera data get cifar10): skipped\n");
        skip();
    }
    tsri_free(path);
    tsr_data *data = load("cifar10", NULL);
    assert_int_equal(data->train.n, 50000);
    assert_int_equal(data->test.n, 10000);
    static const int32_t labels[] = {6, 9, 9, 4, 1, 1, 2, 7};
    assert_memory_equal(data->train.label, labels, sizeof labels);
    static const int pixel[] = {59, 62, 63};
    static const double mean[] = {.4914, .4822, .4465}, deviation[] = {.2470, .2435, .2616};
    for (int c = 0; c < 3; c++) {
        assert_int_equal(data->train.bytes[c * 1024], pixel[c]);
        assert_true(fabs((double)data->scaling.shift[c] / 255.0 - mean[c]) < 5e-5);
        assert_true(fabs(1.0 / (double)data->scaling.scale[c] / 255.0 - deviation[c]) < 5e-5);
    }
    tsr_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fashion_mnist), cmocka_unit_test(communities_crime),
        cmocka_unit_test(sgemm),         cmocka_unit_test(japanese_vowels),
        cmocka_unit_test(tiny_imagenet), cmocka_unit_test(cifar10_from_get),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
