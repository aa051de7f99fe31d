/* image.c - pictures in and out: libjpeg, libpng, and a resize of our own.
 *
 * libjpeg reports errors by a longjmp into ours; everything that lives across it is in one struct,
 * freed in one place.
 */
#include "data/image.h"

#include "base/alloc.h"
#include "base/text.h"
#include "data/exif.h"
#include "io/file.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>
#include <png.h>

enum {
    PIXELS_MAX = 32000000,
    SCANS_MAX = 100 /* of a progressive JPEG: each costs a pass over the whole picture */
};

static tsr_status check_size(int64_t width, int64_t height, const char *name)
{
    if (width >= 1 && height >= 1 && width <= PIXELS_MAX / height)
        return TSR_OK;
    return tsri_fail(TSR_BAD_FILE,
                     "%s: header: a picture of %lld x %lld; at most %d million pixels are read, "
                     "make it smaller or remove it",
                     tsri_quote(name), (long long)width, (long long)height, PIXELS_MAX / 1000000);
}

/* ---- JPEG --------------------------------------------------------------------------------- */

typedef struct jpeg {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf out;
    uint8_t *inks; /* a row of a picture in four inks */
    char message[JMSG_LENGTH_MAX];
} jpeg;

static void jpeg_failed(j_common_ptr info)
{
    jpeg *j = info->client_data;
    info->err->format_message(info, j->message);
    longjmp(j->out, 1);
}

/* A warning means that data is missing or corrupt where libjpeg would go on with grey; stray bytes
 * between markers are harmless. */
static void jpeg_message(j_common_ptr info, int level)
{
    if (level < 0 && info->err->msg_code != JWRN_EXTRANEOUS_DATA)
        jpeg_failed(info);
}

static void jpeg_progress(j_common_ptr info)
{
    jpeg *j = info->client_data;
    if (j->info.input_scan_number > SCANS_MAX) {
        (void)snprintf(j->message, sizeof j->message, "more than %d scans", SCANS_MAX);
        longjmp(j->out, 1);
    }
}

static tsr_status jpeg_header(jpeg *j, int64_t least, const char *name)
{
    (void)jpeg_read_header(&j->info, TRUE);
    tsr_status st = check_size(j->info.image_width, j->info.image_height, name);
    int64_t side =
        j->info.image_width < j->info.image_height ? j->info.image_width : j->info.image_height;
    bool inks = j->info.jpeg_color_space == JCS_CMYK || j->info.jpeg_color_space == JCS_YCCK;
    j->info.out_color_space = inks ? JCS_CMYK : JCS_RGB;
    j->info.dct_method = JDCT_ISLOW; /* the exact integer one: the same pixels on every machine */
    j->info.scale_num = 1;
    while (least > 0 && j->info.scale_denom < 8 && side / (2 * j->info.scale_denom) >= least)
        j->info.scale_denom *= 2;
    return st;
}

/* Light that four inks let through. Adobe writes how much paper shows, others how much ink lies. */
static void light_of(uint8_t *rgb, const uint8_t *inks, int64_t pixels, bool paper)
{
    for (int64_t i = 0; i < pixels; i++) {
        int black = paper ? inks[4 * i + 3] : 255 - inks[4 * i + 3];
        for (int c = 0; c < 3; c++) {
            int ink = paper ? inks[4 * i + c] : 255 - inks[4 * i + c];
            rgb[3 * i + c] = (uint8_t)((ink * black + 127) / 255);
        }
    }
}

/* Four inks, read row by row into j->inks (which outlives a longjmp), become colours. */
static tsr_status ink_rows(jpeg *j, tsri_image *out)
{
    tsr_status st = tsri_alloc(&j->inks, out->width * 4, 1);
    while (st == TSR_OK && j->info.output_scanline < j->info.output_height) {
        uint8_t *rgb = out->rgb + (int64_t)j->info.output_scanline * out->width * 3;
        JSAMPROW row = j->inks;
        (void)jpeg_read_scanlines(&j->info, &row, 1);
        light_of(rgb, j->inks, out->width, j->info.saw_Adobe_marker);
    }
    return st;
}

static tsr_status jpeg_rows(jpeg *j, tsri_image *out)
{
    (void)jpeg_start_decompress(&j->info);
    out->width = j->info.output_width;
    out->height = j->info.output_height;
    tsr_status st = tsri_alloc(&out->rgb, out->width * out->height * 3, 1);
    if (st == TSR_OK && j->info.out_color_space == JCS_CMYK)
        st = ink_rows(j, out);
    while (st == TSR_OK && j->info.output_scanline < j->info.output_height) {
        JSAMPROW row = out->rgb + (int64_t)j->info.output_scanline * out->width * 3;
        (void)jpeg_read_scanlines(&j->info, &row, 1);
    }
    if (st == TSR_OK)
        (void)jpeg_finish_decompress(&j->info);
    return st;
}

static tsr_status decode_jpeg(tsri_image *out, const void *bytes, int64_t n, int64_t least,
                              const char *name)
{
    tsr_status st = TSR_OK;
    jpeg *j = NULL;
    TSR_TRY(tsri_alloc(&j, 1, sizeof *j));
    j->info.err = jpeg_std_error(&j->errors);
    j->info.client_data = j;
    j->errors.error_exit = jpeg_failed;
    j->errors.emit_message = jpeg_message;
    j->progress.progress_monitor = jpeg_progress;
    if (setjmp(j->out)) {
        jpeg_destroy_decompress(&j->info);
        TSR_CHECK(false, TSR_BAD_FILE, "%s: damaged JPEG (%s); fetch it again or remove it",
                  tsri_quote(name), tsri_quote(j->message));
    }
    jpeg_create_decompress(&j->info);
    j->info.client_data = j;
    j->info.progress = &j->progress;
    jpeg_mem_src(&j->info, bytes, (unsigned long)n);
    st = jpeg_header(j, least, name);
    if (st == TSR_OK)
        st = jpeg_rows(j, out);
    jpeg_destroy_decompress(&j->info);
done:
    if (j)
        tsri_free(j->inks);
    tsri_free(j);
    return st;
}

/* ---- PNG ---------------------------------------------------------------------------------- */

/* The content of the chunk of that name before the picture itself, or NULL. */
static const uint8_t *png_chunk(int64_t *length, const uint8_t *bytes, int64_t n, const char *name)
{
    for (int64_t at = 8; at + 8 <= n; at += *length + 12) {
        *length =
            (int64_t)bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3];
        if (memcmp(bytes + at + 4, name, 4) == 0)
            return bytes + at + 8;
        if (memcmp(bytes + at + 4, "IDAT", 4) == 0)
            return NULL;
    }
    return NULL;
}

static int png_orientation(const uint8_t *bytes, int64_t n)
{
    int64_t length;
    const uint8_t *note = png_chunk(&length, bytes, n, "eXIf");
    return note && length <= bytes + n - note ? tsri_tiff_orientation(note, length) : 1;
}

static tsr_status decode_png(tsri_image *out, const void *bytes, int64_t n, const char *name)
{
    tsr_status st = TSR_OK;
    png_image png = {.version = PNG_IMAGE_VERSION};
    uint8_t *rgba = NULL;
    int64_t length;
    TSR_CHECK(!png_chunk(&length, bytes, n, "acTL"), TSR_BAD_FILE,
              "%s: an animated PNG, which is more than one picture; save one of its frames",
              tsri_quote(name));
    bool good = png_image_begin_read_from_memory(&png, bytes, (size_t)n);
    if (good)
        TSR_TRY(check_size(png.width, png.height, name));
    if (good) {
        out->width = png.width;
        out->height = png.height;
        int64_t pixels = out->width * out->height;
        png.format = PNG_FORMAT_RGBA;
        png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB; /* 16 bits are 8 finer ones, not linear light */
        TSR_TRY(tsri_alloc(&rgba, pixels * 4, 1));
        TSR_TRY(tsri_alloc_raw(&out->rgb, pixels * 3, 1));
        good = png_image_finish_read(&png, NULL, rgba, 0, NULL);
        for (int64_t i = 0; i < pixels; i++) {
            memcpy(out->rgb + 3 * i, rgba + 4 * i, 3);
            out->clear = out->clear || rgba[4 * i + 3] < 255;
        }
    }
    TSR_CHECK(good && !(png.warning_or_error & PNG_IMAGE_ERROR), TSR_BAD_FILE,
              "%s: damaged PNG (%s); fetch it again or remove it", tsri_quote(name),
              tsri_quote(png.message));
done:
    png_image_free(&png);
    tsri_free(rgba);
    return st;
}

tsr_status tsri_png_write(const char *path, const uint8_t *rgb, int64_t width, int64_t height)
{
    tsr_status st = TSR_OK;
    png_image png = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)width,
                     .height = (png_uint_32)height,
                     .format = PNG_FORMAT_RGB};
    png_alloc_size_t n = 0;
    char *bytes = NULL;
    bool good = png_image_write_to_memory(&png, NULL, &n, 0, rgb, 0, NULL);
    if (good) {
        TSR_TRY(tsri_alloc_raw(&bytes, (int64_t)n, 1));
        good = png_image_write_to_memory(&png, bytes, &n, 0, rgb, 0, NULL);
    }
    TSR_CHECK(good, TSR_FAILURE, "%s: cannot make a PNG: %s", tsri_quote(path), png.message);
    tsri_piece piece = {bytes, (int64_t)n};
    TSR_TRY(tsri_file_write(path, &piece, 1));
done:
    png_image_free(&png);
    tsri_free(bytes);
    return st;
}

/* ---- Both --------------------------------------------------------------------------------- */

tsr_status tsri_image_decode(tsri_image *out, const void *bytes, int64_t n, int64_t least,
                             const char *name)
{
    tsr_status st = TSR_OK;
    bool is_jpeg = n >= 3 && memcmp(bytes, "\xFF\xD8\xFF", 3) == 0;
    bool png = n >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0;
    *out = (tsri_image){0};
    TSR_CHECK(is_jpeg || png, TSR_BAD_FILE,
              "%s: byte 0: neither a JPEG nor a PNG file; convert or remove it", tsri_quote(name));
    TSR_TRY(is_jpeg ? decode_jpeg(out, bytes, n, least, name) : decode_png(out, bytes, n, name));
    TSR_TRY(tsri_image_upright(out, is_jpeg ? tsri_jpeg_orientation(bytes, n)
                                            : png_orientation(bytes, n)));
done:
    if (st != TSR_OK)
        TSRI_FREE(out->rgb);
    return st;
}

/* ---- Resize ------------------------------------------------------------------------------- */

/* Weighted mean of one line: old pixels `stride` apart, n of them; the triangle is as wide as a new
 * pixel, at least as an old one. */
static double weigh(const float *old, int64_t n, int64_t stride, double centre, double step)
{
    double reach = step > 1.0 ? step : 1.0, sum = 0.0, weights = 0.0;
    int64_t first = (int64_t)ceil(centre - reach), last = (int64_t)floor(centre + reach);
    for (int64_t k = first < 0 ? 0 : first; k <= last && k < n; k++) {
        double w = 1.0 - fabs((double)k - centre) / reach;
        sum += w * (double)old[k * stride];
        weights += w;
    }
    return sum / weights;
}

/* No resize needed: only from pixels to planes. */
static void to_planes(uint8_t *planes, const tsri_image *image)
{
    int64_t pixels = image->width * image->height;
    for (int64_t c = 0; c < 3; c++)
        for (int64_t k = 0; k < pixels; k++)
            planes[c * pixels + k] = image->rgb[3 * k + c];
}

tsr_status tsri_image_fit(uint8_t *planes, const tsri_image *image, int64_t height, int64_t width)
{
    tsr_status st = TSR_OK;
    int64_t w = image->width, h = image->height;
    float *line = NULL, *wide = NULL; /* one old row; all rows at the new width */
    double across = (double)w / (double)width, down = (double)h / (double)height;
    double step = across < down ? across : down; /* the picture just covers the window */
    /* New pixel i has its centre at old pixel left + i step, and so downwards. */
    double left = ((double)w - step * (double)width) / 2.0 + 0.5 * step - 0.5;
    double top = ((double)h - step * (double)height) / 2.0 + 0.5 * step - 0.5;
    if (w == width && h == height) {
        to_planes(planes, image);
        goto done;
    }
    TSR_TRY(tsri_alloc_raw(&line, w * 3, sizeof *line));
    TSR_TRY(tsri_alloc_raw(&wide, h * width * 3, sizeof *wide)); /* [h, width, 3] */
    for (int64_t r = 0; r < h; r++) {
        for (int64_t k = 0; k < w * 3; k++)
            line[k] = (float)image->rgb[r * w * 3 + k];
        for (int64_t k = 0; k < width * 3; k++) {
            int64_t column = k / 3;
            wide[r * width * 3 + k] =
                (float)weigh(line + k % 3, w, 3, left + (double)column * step, step);
        }
    }
    for (int64_t c = 0; c < 3; c++)
        for (int64_t r = 0; r < height; r++)
            for (int64_t k = 0; k < width; k++) {
                double v = weigh(wide + k * 3 + c, h, width * 3, top + (double)r * step, step);
                planes[(c * height + r) * width + k] = (uint8_t)(v + 0.5);
            }
done:
    tsri_free(line);
    tsri_free(wide);
    return st;
}
