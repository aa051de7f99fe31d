/* What is said of a data set: means, duplicates, conflicts, phi; its sheet; its arrays. */
#include "data_testing.h"

#include "data/image.h"
#include "data/info.h"

#include <math.h>

static void facts_of_a_small_table(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    tsri_data_info info;
    put_text("t.csv", "a,b,y\n3,4,p\n6,8,q\n3,4,p\n3,4,q\n0,0,p\n4,3,q\n");
    assert_ok(
        load_settings(&data, SETTINGS("data.path=t.csv", "data.split=0", "data.normalize=none")));
    assert_ok(tsri_data_info_of(&info, data));
    assert_int_equal(info.duplicates, 2); /* rows 2 and 3 equal row 0 */
    assert_int_equal(info.conflicts, 1);
    assert_true(info.conflict[0] == 0 && info.conflict[1] == 3);
    assert_int_equal(info.count[0], 3);
    assert_int_equal(info.phi_rows, 5); /* the row of zeros has no direction */
    assert_true(info.phi == 0.0);
    assert_true(fabs(info.channel[0].mean - 19.0 / 6) < 1e-12 && info.channel[1].most == 8.0);
    assert_true(fabs(info.channel[0].deviation - sqrt(79.0 / 6 - 361.0 / 36)) < 1e-12);
    tsri_data_info_fini(&info);
    tsr_data_destroy(data);
}

static void phi_is_the_least_distance(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    tsri_data_info info;
    put_text("p.csv", "a,b,y\n1,0,0.5\n0,2,1.5\n-3,0.3,2.5\n");
    assert_ok(load_settings(&data, SETTINGS("data.path=p.csv", "data.split=0",
                                            "data.normalize=none", "data.target_scale=none")));
    assert_ok(tsri_data_info_of(&info, data));
    double c = 0.3 / sqrt(9.09); /* cosine of the second and the third */
    assert_true(fabs(info.phi - sqrt(2.0 - 2.0 * c)) < 1e-6);
    assert_true(info.phi_pair[0] + info.phi_pair[1] == 3);
    assert_true(info.target.mean == 1.5 && info.target.least == 0.5);
    tsri_data_info_fini(&info);
    tsr_data_destroy(data);

    /* the generator promises a distance; the sample keeps it */
    assert_ok(load_settings(&data, SETTINGS("data.name=sphere", "data.n=200", "data.phi=0.4")));
    assert_ok(tsri_data_info_of(&info, data));
    assert_true(info.phi >= 0.4 - 1e-6 && info.phi < 0.8);
    assert_int_equal(info.phi_rows, 200);
    tsri_data_info_fini(&info);
    tsr_data_destroy(data);
}

static void lengths_count_only_what_is_there(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    tsri_data_info info;
    put_text("s.train", "1 10\n3 10\n\n5 40\n\n");
    put_text("size_s.train", "1 1");
    assert_ok(
        load_settings(&data, SETTINGS("data.path=s.train", "data.split=0", "data.normalize=none")));
    assert_ok(tsri_data_info_of(&info, data));
    assert_true(info.shortest == 1 && info.longest == 2);
    assert_true(info.channel[0].mean == 3.0 && info.channel[1].mean == 20.0);
    assert_true(info.channel[0].least == 1.0);
    tsri_data_info_fini(&info);
    tsr_data_destroy(data);
}

/* The tile of sample k begins 8 + (128 + 8) * (k % 4) pixels from the left. */
static const uint8_t *tile(const tsri_image *sheet, int64_t k, int64_t y, int64_t x)
{
    int64_t row = 8 + 136 * (k / 4) + y, column = 8 + 136 * (k % 4) + x;
    return sheet->rgb + (row * sheet->width + column) * 3;
}

static void a_sheet_shows_the_samples(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    tsri_image sheet = {0};
    char *bytes = NULL;
    int64_t n = 0;
    assert_ok(load_settings(&data, SETTINGS("data.name=glyphs", "data.n=200", "data.channels=3")));
    assert_ok(tsri_sheet_write(scratch_path("sheet.png"), data));
    assert_ok(tsri_file_read(&bytes, &n, scratch_path("sheet.png"), 1 << 24));
    assert_ok(tsri_image_decode(&sheet, bytes, n, 0, "sheet.png"));
    assert_true(sheet.width == 4 * 128 + 5 * 8 && sheet.height == sheet.width);
    /* 32 x 32 pixels are shown four times as large; the first tile is the first of class 0 */
    int64_t i = 0;
    while (data->train.label[i] != 0)
        i++;
    for (int64_t h = 0; h < 32; h++)
        for (int64_t w = 0; w < 32; w++)
            for (int64_t c = 0; c < 3; c++)
                assert_int_equal(tile(&sheet, 0, 4 * h + 1, 4 * w + 2)[c],
                                 data->train.bytes[i * 3072 + c * 1024 + h * 32 + w]);
    tsri_free(sheet.rgb);
    tsri_free(bytes);
    tsr_data_destroy(data);

    static const char *const others[] = {"data.name=sphere", "data.name=sequences",
                                         "data.name=ackley"};
    for (int k = 0; k < 3; k++) {
        assert_ok(load_settings(&data, SETTINGS(others[k], "data.n=7")));
        assert_ok(tsri_sheet_write(scratch_path("sheet.png"), data));
        tsr_data_destroy(data);
    }
}

/* Written as arrays and read again, a set is the same to the bit. */
static void arrays_come_back(void **state)
{
    (void)state;
    static const char *const names[] = {"data.name=glyphs", "data.name=sphere", "data.name=ackley",
                                        "data.name=sequences", "data.name=random-labels"};
    for (int k = 0; k < 5; k++) {
        tsr_data *data = NULL, *back = NULL;
        char path[64];
        assert_ok(load_settings(&data, SETTINGS(names[k], "data.n=40", "data.normalize=none",
                                                "data.target_scale=none", "data.phi=0.05")));
        (void)snprintf(path, sizeof path, "out%d", k);
        assert_ok(tsri_data_export(data, scratch_path(path)));
        (void)snprintf(path, sizeof path, "data.path=out%d", k);
        assert_ok(
            load_settings(&back, SETTINGS(path, "data.normalize=none", "data.target_scale=none")));
        assert_int_equal(back->hash, data->hash);
        assert_int_equal(back->test.n, data->test.n);
        tsr_data_destroy(data);
        tsr_data_destroy(back);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    assert_ok(load_settings(&data, SETTINGS("data.name=sequences", "data.n=20")));
    for (int64_t n = 0;; n++) {
        tsri_data_info info;
        int64_t before = tsri_alloc_blocks();
        (void)tsri_alloc_fail_after(n, false);
        tsr_status st = tsri_data_info_of(&info, data);
        if (st == TSR_OK)
            st = tsri_sheet_write(scratch_path("x.png"), data);
        if (st == TSR_OK)
            st = tsri_data_export(data, scratch_path("x"));
        int64_t calls = tsri_alloc_fail_after(-1, false);
        tsri_data_info_fini(&info);
        assert_int_equal(tsri_alloc_blocks(), before);
        if (calls <= n) {
            assert_int_equal(st, TSR_OK);
            break;
        }
        assert_int_equal(st, TSR_RESOURCES);
    }
    tsr_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_of_a_small_table),
        cmocka_unit_test(phi_is_the_least_distance),
        cmocka_unit_test(lengths_count_only_what_is_there),
        cmocka_unit_test(a_sheet_shows_the_samples),
        cmocka_unit_test(arrays_come_back),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
