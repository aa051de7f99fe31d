/* Photographs are read upright. A model was shown what the sensor saw, not what people see: a
 * photograph taken with the camera on its side was answered wrongly, without a word. */
#include "data_testing.h"

#include "data/exif.h"

#include <jpeglib.h>

enum { W = 3, H = 2 }; /* of the upright picture, whose pixels are all different */

/* TIFF: on which side of the upright picture row 0 and column 0 of the stored one are. */
static const char side[9][2] = {{0, 0},     {'t', 'l'}, {'t', 'r'}, {'b', 'r'}, {'b', 'l'},
                                {'l', 't'}, {'r', 't'}, {'r', 'b'}, {'l', 'b'}};

static void follow(int64_t *x, int64_t *y, char from, int64_t i)
{
    if (from == 't' || from == 'b')
        *y = from == 't' ? i : H - 1 - i;
    else
        *x = from == 'l' ? i : W - 1 - i;
}

/* The upright picture as a camera stores it. */
static tsri_image stored(int orientation)
{
    bool lies = orientation >= 5;
    tsri_image image = {lies ? H : W, lies ? W : H, NULL, false};
    assert_ok(tsri_alloc(&image.rgb, W * H * 3, 1));
    for (int64_t r = 0; r < image.height; r++)
        for (int64_t c = 0; c < image.width; c++) {
            int64_t x = 0, y = 0;
            follow(&x, &y, side[orientation][0], r);
            follow(&x, &y, side[orientation][1], c);
            for (int64_t k = 0; k < 3; k++)
                image.rgb[(r * image.width + c) * 3 + k] = (uint8_t)(10 * (y * W + x) + k);
        }
    return image;
}

static void all_orientations(void **state)
{
    (void)state;
    for (int o = 1; o <= 8; o++) {
        tsri_image image = stored(o);
        assert_ok(tsri_image_upright(&image, o));
        assert_true(image.width == W && image.height == H);
        for (int i = 0; i < W * H * 3; i++)
            assert_int_equal(image.rgb[i], 10 * (i / 3) + i % 3);
        tsri_free(image.rgb);
    }
}

static const uint8_t little[] = {'I', 'I', '*', 0, 8, 0,    0, 0, 2, 0, 0x0F, 1, 2, 0, 0, 0, 0,
                                 0,   0,   0,   0, 0, 0x12, 1, 3, 0, 1, 0,    0, 0, 6, 0, 0, 0};
static const uint8_t big[] = {'M',  'M', 0, '*', 0, 0, 0, 8, 0, 1, 1,
                              0x12, 0,   3, 0,   0, 0, 1, 0, 8, 0, 0};

static void notes(void **state)
{
    (void)state;
    assert_int_equal(tsri_tiff_orientation(little, sizeof little), 6);
    assert_int_equal(tsri_tiff_orientation(big, sizeof big), 8);
    for (int64_t n = 0; n < (int64_t)sizeof little; n++) { /* in memory of its own, for ASan */
        uint8_t *part = NULL;
        assert_ok(tsri_alloc(&part, n + 1, 1));
        memcpy(part, little, (size_t)n);
        int o = tsri_tiff_orientation(part, n);
        assert_true(o == 1 || (n >= 34 && o == 6));
        tsri_free(part);
    }
    uint8_t wrong[sizeof little];
    static const struct {
        size_t at;
        uint8_t value;
    } damage[] = {{0, 'X'}, {4, 7}, {7, 255}, {30, 9}, {30, 0}, {24, 4}};
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        memcpy(wrong, little, sizeof wrong);
        wrong[damage[i].at] = damage[i].value;
        assert_int_equal(tsri_tiff_orientation(wrong, sizeof wrong), 1);
    }
}

/* 32 x 16 as stored, its left half white, with that note. */
static void put_photograph(const char *name, const uint8_t *note, size_t n)
{
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    FILE *f = fopen(scratch_path(name), "wb");
    uint8_t line[32 * 3], block[64] = "Exif\0";
    JSAMPROW row = line;
    for (int i = 0; i < 32 * 3; i++)
        line[i] = i < 16 * 3 ? 255 : 0;
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    jpeg_stdio_dest(&info, f);
    info.image_width = 32;
    info.image_height = 16;
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, 100, TRUE);
    jpeg_start_compress(&info, TRUE);
    memcpy(block + 6, note, n);
    jpeg_write_marker(&info, JPEG_APP0 + 1, block, (unsigned)(n + 6));
    while (info.next_scanline < 16)
        (void)jpeg_write_scanlines(&info, &row, 1);
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    (void)fclose(f);
}

static void photographs(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    put_folder("photos/a");
    put_folder("photos/b");
    put_photograph("photos/a/1.jpg", little, sizeof little); /* turned right: its top is white */
    put_photograph("photos/b/2.jpg", big, sizeof big);       /* turned left: its bottom */
    assert_ok(load_settings(&data, SETTINGS("data.path=photos", "data.split=0")));
    assert_true(data->width == 16 && data->height == 32);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 16 * 32; k++) {
            int top = data->train.bytes[i * data->dim + k];
            assert_true(((k < 16 * 16) == (i == 0)) == (top > 127));
        }
    tsr_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_orientations),
        cmocka_unit_test(notes),
        cmocka_unit_test(photographs),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
