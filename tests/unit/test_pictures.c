/* Pictures: folders and archives of them, every kind of file, sizes, links, lists. */
#include "data_testing.h"

#include "data/image.h"
#include "data/walk.h"

#include <archive.h>
#include <archive_entry.h>

#include <jpeglib.h>
#include <png.h>

/* ---- Pictures ----------------------------------------------------------------------------- */

static void put_png(const char *name, int64_t w, int64_t h, uint8_t r, uint8_t g, uint8_t b)
{
    uint8_t *rgb = NULL;
    assert_ok(tsri_alloc(&rgb, w * h * 3, 1));
    for (int64_t i = 0; i < w * h; i++) {
        rgb[3 * i] = r;
        rgb[3 * i + 1] = g;
        rgb[3 * i + 2] = b;
    }
    assert_ok(tsri_png_write(scratch_path(name), rgb, w, h));
    tsri_free(rgb);
}

enum { SCANS = 130 };
static jpeg_scan_info *scans; /* [SCANS] of the next JPEG, or NULL: one */
static bool plain_inks; /* the next of four inks says how much of them lies, not Adobe's way */

/* One colour, in as many components as `space` has. */
static void put_jpeg(const char *name, unsigned w, unsigned h, J_COLOR_SPACE space, int components,
                     const uint8_t *colour)
{
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    FILE *f = fopen(scratch_path(name), "wb");
    uint8_t line[512];
    JSAMPROW row = line;
    for (size_t i = 0; i < sizeof line; i++)
        line[i] = colour[i % (size_t)components];
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    jpeg_stdio_dest(&info, f);
    info.image_width = w;
    info.image_height = h;
    info.input_components = components;
    info.in_color_space = space;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, 100, TRUE);
    info.write_Adobe_marker = space != JCS_CMYK || !plain_inks;
    info.scan_info = scans;
    info.num_scans = scans ? SCANS : 0;
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < h)
        (void)jpeg_write_scanlines(&info, &row, 1);
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    (void)fclose(f);
}

static void put_grey_jpeg(const char *name, unsigned w, unsigned h, uint8_t value)
{
    put_jpeg(name, w, h, JCS_GRAYSCALE, 1, &value);
}

static void put_pictures(void)
{
    static const char *const folders[] = {"pics/train/b", "pics/train/a/images", "pics/val/b",
                                          "pics/val/a"};
    for (int i = 0; i < 4; i++)
        put_folder(folders[i]);
    put_png("pics/train/a/images/1.png", 8, 8, 10, 20, 30);
    put_grey_jpeg("pics/train/b/2.JPEG", 16, 8, 77);
    put_png("pics/train/b/1.png", 4, 12, 200, 100, 50);
    put_png("pics/val/a/x.png", 8, 8, 1, 2, 3);
    put_grey_jpeg("pics/val/b/y.jpg", 8, 8, 99);
    put_text("pics/train/b/notes.txt", "not a picture");
    put_text("pics/README", "nor this");
}

static void check_pictures(const tsr_data *data)
{
    assert_true(data->channels == 3 && data->height == 8 && data->width == 8);
    assert_int_equal(data->train.n, 3);
    assert_int_equal(data->test.n, 2);
    assert_int_equal(data->classes, 2);
    assert_string_equal(data->class_name[0], "a");
    static const int32_t label[] = {0, 1, 1};
    static const uint8_t pixel[3][3] = {{10, 20, 30}, {200, 100, 50}, {77, 77, 77}};
    assert_memory_equal(data->train.label, label, sizeof label);
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 64; k++) /* a JPEG of one grey is exact at quality 100 */
                assert_int_equal(data->train.bytes[(i * 3 + c) * 64 + k], pixel[i][c]);
    assert_int_equal(data->test.bytes[64], 2);
    assert_int_equal(data->test.bytes[192 + 128], 99);
}

/* Four inks and 16 bits were refused as damaged, or read as linear light: both become 8-bit RGB. */
static void pictures_of_other_kinds(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    put_folder("kinds/a");
    put_folder("kinds/b");
    /* libjpeg writes Adobe's marker with CMYK: numbers say how much paper shows. */
    static const uint8_t inks[] = {200, 100, 50, 128};
    put_jpeg("kinds/a/1.jpg", 8, 8, JCS_CMYK, 4, inks);
    uint16_t deep[8 * 8 * 3];
    for (int i = 0; i < 8 * 8 * 3; i++)
        deep[i] = (uint16_t)((i % 3 == 0 ? 10 : i % 3 == 1 ? 128 : 250) * 257);
    FILE *f = fopen(scratch_path("kinds/b/1.png"), "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, f);
    png_set_IHDR(png, info, 8, 8, 16, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    png_set_swap(png); /* files are big-endian */
    for (int r = 0; r < 8; r++)
        png_write_row(png, (png_const_bytep)(deep + r * 24));
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    (void)fclose(f);
    assert_ok(load_settings(&data, SETTINGS("data.path=kinds", "data.split=0")));
    for (int c = 0; c < 3; c++) {
        int light = (inks[c] * inks[3] + 127) / 255;
        static const int eight[] = {10, 128, 250};
        /* A JPEG of one colour is exact at quality 100, up to one step of its own conversion. */
        assert_true(abs((int)data->train.bytes[c * 64] - light) <= 1);
        assert_int_equal(data->train.bytes[192 + c * 64], eight[c]);
    }
    tsr_data_destroy(data);
}

static void inks_without_adobes_marker(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    static const uint8_t inks[] = {55, 155, 205, 127};
    put_folder("inks/a");
    put_folder("inks/b");
    plain_inks = true;
    put_jpeg("inks/a/1.jpg", 32, 32, JCS_CMYK, 4, inks);
    put_jpeg("inks/b/1.jpg", 32, 32, JCS_CMYK, 4, inks);
    plain_inks = false;
    /* A quarter as wide as the file: libjpeg makes it smaller while it decodes. */
    assert_ok(load_settings(&data, SETTINGS("data.path=inks", "data.split=0", "data.size=8")));
    for (int c = 0; c < 3; c++) {
        int light = ((255 - inks[c]) * (255 - inks[3]) + 127) / 255;
        assert_true(abs((int)data->train.bytes[c * 64] - light) <= 1);
    }
    tsr_data_destroy(data);
}

/* Each scan is a pass over the whole picture: a small file could ask for very many. */
static void scans_without_end(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    static jpeg_scan_info many[SCANS];
    /* The mean first, then coefficients one by one, each in two steps of precision. */
    many[0] = (jpeg_scan_info){1, {0}, 0, 0, 0, 0};
    for (int i = 1; i < SCANS; i++) {
        int band = 1 + (i - 1) / 3, step = (i - 1) % 3;
        many[i] = (jpeg_scan_info){1, {0}, band, band, step == 0 ? 0 : 3 - step, 2 - step};
    }
    put_folder("scans/a");
    scans = many;
    put_grey_jpeg("scans/a/1.jpg", 16, 16, 77);
    scans = NULL;
    assert_fails(load_settings(&data, SETTINGS("data.path=scans")), TSR_BAD_FILE,
                 "more than 100 scans");
}

static void test_parts_and_giants(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    put_folder("one/a");
    put_folder("two/a");
    put_png("one/a/1.png", 8, 8, 10, 20, 30);
    put_png("two/a/1.png", 8, 8, 1, 2, 3);
    assert_ok(load_settings(&data, SETTINGS("data.path=one", "data.test_path=two")));
    assert_true(data->train.n == 1 && data->test.n == 1 && data->test.bytes[0] == 1);
    tsr_data_destroy(data);
    put_png("one/a/1.png", 4097, 1, 10, 20, 30);
    assert_fails(load_settings(&data, SETTINGS("data.path=one")), TSR_BAD_FILE,
                 "is 4097 x 1; set data.size");
}

static void animations_are_refused(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    char *bytes = NULL;
    int64_t n = 0;
    /* An acTL chunk behind the header of a PNG; its checksum is not looked at before it is refused.
     */
    static const char animated[] = "\0\0\0\10acTL\0\0\0\2\0\0\0\0\0\0\0\0";
    put_folder("moving/a");
    put_png("still.png", 8, 8, 1, 2, 3);
    assert_ok(tsri_file_read(&bytes, &n, scratch_path("still.png"), 1 << 20));
    char *text = NULL;
    int64_t more = (int64_t)sizeof animated - 1, header = 8 + 25;
    assert_ok(tsri_alloc(&text, n + more, 1));
    memcpy(text, bytes, (size_t)header);
    memcpy(text + header, animated, (size_t)more);
    memcpy(text + header + more, bytes + header, (size_t)(n - header));
    (void)scratch_put("moving/a/1.png", text, (size_t)(n + more));
    assert_fails(load_settings(&data, SETTINGS("data.path=moving")), TSR_BAD_FILE,
                 "an animated PNG");
    tsri_free(text);
    tsri_free(bytes);
}

/* One picture of 4096 x 4096 took the memory of 64. */
static void one_large_picture(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    put_folder("large/a");
    put_folder("large/b");
    put_png("large/a/1.png", 2048, 2048, 1, 2, 3);
    put_png("large/b/1.png", 2048, 2048, 3, 2, 1);
    assert_ok(load_settings(&data, SETTINGS("data.path=large", "data.split=0")));
    /* Two pictures of 12.6 MB: in the album, in the data set, one being decoded. 64 are 805 MB. */
    assert_true(tsr_memory_peak() < 150000000);
    tsr_data_destroy(data);
}

/* Packs the named files of the scratch folder, in this order. */
static void put_tar(const char *name, const char *const *files, int count)
{
    struct archive *a = archive_write_new();
    assert_int_equal(archive_write_set_format_ustar(a), ARCHIVE_OK);
    assert_int_equal(archive_write_add_filter_xz(a), ARCHIVE_OK);
    assert_int_equal(archive_write_open_filename(a, scratch_path(name)), ARCHIVE_OK);
    for (int i = 0; i < count; i++) {
        char *bytes = NULL;
        int64_t n = 0;
        assert_ok(tsri_file_read(&bytes, &n, scratch_path(files[i]), 1 << 20));
        struct archive_entry *e = archive_entry_new();
        archive_entry_set_pathname(e, files[i]);
        archive_entry_set_filetype(e, AE_IFREG);
        archive_entry_set_perm(e, 0644);
        archive_entry_set_size(e, n);
        assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
        assert_int_equal(archive_write_data(a, bytes, (size_t)n), n);
        archive_entry_free(e);
        tsri_free(bytes);
    }
    assert_int_equal(archive_write_close(a), ARCHIVE_OK);
    assert_int_equal(archive_write_free(a), ARCHIVE_OK);
}

static void picture_folders_and_their_archives(void **state)
{
    (void)state;
    tsr_data *folder = NULL, *archive = NULL;
    put_pictures();
    assert_ok(load_settings(&folder, SETTINGS("data.path=pics")));
    check_pictures(folder);
    /* another order in the archive, the same data */
    put_tar("pics.tar.xz",
            (const char *const[]){"pics/train/a/images/1.png", "pics/val/b/y.jpg",
                                  "pics/train/b/2.JPEG", "pics/val/a/x.png", "pics/README",
                                  "pics/train/b/1.png"},
            6);
    assert_ok(load_settings(&archive, SETTINGS("data.path=pics.tar.xz")));
    check_pictures(archive);
    assert_int_equal(folder->hash, archive->hash);
    tsr_data_destroy(folder);
    tsr_data_destroy(archive);
    assert_ok(load_settings(&folder, SETTINGS("data.path=pics", "data.size=5")));
    assert_true(folder->height == 5 && folder->width == 5);
    assert_int_equal(folder->train.bytes[74], 30);
    tsr_data_destroy(folder);
}

static tsr_status count_files(void *context, const char *path, const char *name, bool *enough)
{
    (void)path, (void)name, (void)enough;
    ++*(int64_t *)context;
    return TSR_OK;
}

/* 14 links to the folder they are in were followed 14^8 times. Links elsewhere are followed. */
static void links_that_lead_back(void **state)
{
    (void)state;
    char name[64];
    tsr_data *data = NULL;
    put_folder("loop/b");
    put_png("loop/b/1.png", 8, 8, 10, 20, 30);
    assert_int_equal(symlink(scratch_path("loop/b"), scratch_path("loop/c")), 0);
    assert_ok(load_settings(&data, SETTINGS("data.path=loop", "data.split=0")));
    assert_true(data->train.n == 2 && data->classes == 2);
    tsr_data_destroy(data);
    for (int i = 0; i < 64; i++) { /* before the picture: whoever looks for one meets them first */
        (void)snprintf(name, sizeof name, "loop/a%d", i);
        assert_int_equal(symlink(i % 2 ? "." : "../loop", scratch_path(name)), 0);
    }
    assert_fails(load_settings(&data, SETTINGS("data.path=loop", "data.format=imagefolder")),
                 TSR_BAD_FILE, "loop/a0 leads back to a folder that it is in");
    assert_fails(load_settings(&data, SETTINGS("data.path=loop")), TSR_BAD_FILE, "data.format");

    /* No way back, and yet 4^6 ways down. */
    int64_t files = 0;
    tsri_walk few = {.depth = 8, .folders = 100, .visit = count_files, .context = &files};
    for (int level = 0; level < 6; level++) {
        (void)snprintf(name, sizeof name, "down%d", level);
        put_folder(name);
        for (int i = 0; i < 4; i++) {
            char to[64];
            (void)snprintf(name, sizeof name, "down%d/%d", level, i);
            (void)snprintf(to, sizeof to, "../down%d", level + 1);
            assert_int_equal(symlink(to, scratch_path(name)), 0);
        }
    }
    put_folder("down6");
    put_text("down6/file", "x");
    assert_ok(tsri_walk_folder(scratch_path("down0"), &few));
    assert_true(files > 0 && files < 100);
    few.strict = true;
    assert_fails(tsri_walk_folder(scratch_path("down0"), &few), TSR_BAD_FILE,
                 "more than 100 folders");
}

static void check_listed(const tsr_data *data)
{
    assert_int_equal(data->train.n, 2);
    assert_int_equal(data->test.n, 3); /* that of test/ has no class */
    assert_int_equal(data->classes, 2);
    assert_string_equal(data->class_name[1], "n2");
    static const int32_t label[] = {1, 0, 1};
    static const uint8_t red[] = {10, 20, 30};
    assert_memory_equal(data->test.label, label, sizeof label);
    for (int i = 0; i < 3; i++)
        assert_int_equal(data->test.bytes[i * 192], red[i]);
}

/* Tiny-ImageNet as it is given out: val/images and a list, test/images without one. */
static void validation_pictures_with_a_list(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    static const char *const folders[] = {"tin/train/n1/images", "tin/train/n2/images",
                                          "tin/val/images", "tin/test/images"};
    for (int i = 0; i < 4; i++)
        put_folder(folders[i]);
    put_png("tin/train/n1/images/n1_0.png", 8, 8, 1, 2, 3);
    put_png("tin/train/n2/images/n2_0.png", 8, 8, 4, 5, 6);
    put_png("tin/val/images/1.png", 8, 8, 10, 2, 3);
    put_png("tin/val/images/2.png", 8, 8, 20, 2, 3);
    put_png("tin/val/images/3.png", 8, 8, 30, 2, 3);
    put_png("tin/test/images/1.png", 8, 8, 40, 2, 3);
    put_text("tin/val/val_annotations.txt",
             "2.png\tn1\t0\t0\t63\t63\r\n1.png\tn2\t0\n\n3.png\tn2\n9.png\tn7\t0\n");
    put_text("tin/train/n1/n1_boxes.txt", "n1_0.png\t0\t0\t63\t63\n");
    assert_ok(load_settings(&data, SETTINGS("data.path=tin")));
    check_listed(data);
    uint64_t hash = data->hash;
    tsr_data_destroy(data);
    /* in an archive the list may come first or last */
    put_tar("tin.tar.xz",
            (const char *const[]){"tin/val/images/3.png", "tin/val/images/1.png",
                                  "tin/train/n2/images/n2_0.png", "tin/val/val_annotations.txt",
                                  "tin/val/images/2.png", "tin/test/images/1.png",
                                  "tin/train/n1/images/n1_0.png"},
            7);
    assert_ok(load_settings(&data, SETTINGS("data.path=tin.tar.xz")));
    check_listed(data);
    assert_int_equal(data->hash, hash);
    tsr_data_destroy(data);
    put_text("tin/val/val_annotations.txt", "1.png\tn2\n2.png\tn1\n1.png\tn1\n");
    assert_fails(load_settings(&data, SETTINGS("data.path=tin")), TSR_BAD_FILE,
                 "line 3 gives val/1.png a second class");
    put_text("tin/val/val_annotations.txt", "1.png\tn2\n2.png n1\n");
    assert_fails(load_settings(&data, SETTINGS("data.path=tin")), TSR_BAD_FILE,
                 "line 2 does not read FILE, tab, CLASS");
    put_text("tin/val/val_annotations.txt", "1.png\tn2\n2.png\tn1\n3.png\tn2\n");
}

/* A ramp stays a ramp: halves, doubles, and the middle of a wide picture. */
static void pictures_are_resized_evenly(void **state)
{
    (void)state;
    enum { W = 32, H = 16 };
    uint8_t rgb[H * W * 3], out[3 * 64 * 64];
    tsri_image image = {W, H, rgb, false};
    for (int h = 0; h < H; h++)
        for (int w = 0; w < W; w++) {
            rgb[(h * W + w) * 3] = (uint8_t)(8 * w);
            rgb[(h * W + w) * 3 + 1] = (uint8_t)(16 * h);
            rgb[(h * W + w) * 3 + 2] = 9;
        }
    assert_ok(tsri_image_fit(out, &image, 8, 16)); /* half: means of pairs, 8 (2k + 1/2) */
    for (int k = 1; k < 15; k++)
        assert_int_equal(out[3 * 16 + k], 8 * 2 * k + 4);
    assert_ok(tsri_image_fit(out, &image, 16, 16)); /* the middle 16 columns, unchanged */
    for (int k = 0; k < 16; k++)
        assert_int_equal(out[5 * 16 + k], 8 * (k + 8));
    assert_int_equal(out[256 + 5 * 16 + 3], 16 * 5);
    assert_int_equal(out[512 + 77], 9);
    assert_ok(tsri_image_fit(out, &image, 32, 64)); /* twice: quarter steps between */
    assert_int_equal(out[10 * 64 + 21], 8 * 10 + 2);
    assert_int_equal(out[10 * 64 + 22], 8 * 11 - 2);
}

/* ---- Memory ------------------------------------------------------------------------------- */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    walk_failures(SETTINGS("data.path=pics", "data.size=5"));
    walk_failures(SETTINGS("data.path=tin.tar.xz"));
    walk_failures(SETTINGS("data.path=tin"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_of_other_kinds),
        cmocka_unit_test(inks_without_adobes_marker),
        cmocka_unit_test(scans_without_end),
        cmocka_unit_test(test_parts_and_giants),
        cmocka_unit_test(animations_are_refused),
        cmocka_unit_test(one_large_picture),
        cmocka_unit_test(picture_folders_and_their_archives),
        cmocka_unit_test(links_that_lead_back),
        cmocka_unit_test(validation_pictures_with_a_list),
        cmocka_unit_test(pictures_are_resized_evenly),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
