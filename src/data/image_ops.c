/* image_ops.c - the operations of RandAugment, each a few lines on bytes.
 *
 * Three kinds: pixels go elsewhere (shear, translate, rotate), a blend of the image with a poorer
 * one or away from it (brightness, color, contrast, sharpness), and a table of 256 bytes for each
 * channel (posterize, solarize, autocontrast, equalize). Places are counted in 65536ths of a pixel
 * and blends in single precision, as in PIL, whose bits these are.
 */
#include "data/image_ops.h"

#include "base/sine.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { LEVELS = 256, WHITE = 255 };

static int64_t plane_of(const tsri_image_shape *s)
{
    return s->height * s->width;
}

/* ---- Magnitudes ----------------------------------------------------------------------------- */

/* Number k of 31 from `from` to `to`. */
static double between(double from, double to, int64_t k)
{
    return from + (to - from) * (double)k / (TSRI_MAGNITUDES - 1);
}

bool tsri_image_signed(tsri_image_op op)
{
    return op >= TSRI_IMAGE_SHEAR_X && op <= TSRI_IMAGE_SHARPNESS;
}

double tsri_image_amount(tsri_image_op op, int64_t magnitude, const tsri_image_shape *shape)
{
    assert(magnitude >= 0 && magnitude < TSRI_MAGNITUDES);
    switch (op) {
    case TSRI_IMAGE_SHEAR_X:
    case TSRI_IMAGE_SHEAR_Y:
        return between(0.0, 0.3, magnitude);
    case TSRI_IMAGE_TRANSLATE_X:
        return between(0.0, 150.0 / 331.0 * (double)shape->width, magnitude);
    case TSRI_IMAGE_TRANSLATE_Y:
        return between(0.0, 150.0 / 331.0 * (double)shape->height, magnitude);
    case TSRI_IMAGE_ROTATE:
        return between(0.0, 30.0, magnitude);
    case TSRI_IMAGE_BRIGHTNESS:
    case TSRI_IMAGE_COLOR:
    case TSRI_IMAGE_CONTRAST:
    case TSRI_IMAGE_SHARPNESS:
        return between(0.0, 0.9, magnitude);
    case TSRI_IMAGE_POSTERIZE:
        return 8.0 - rint((double)magnitude / 7.5);
    case TSRI_IMAGE_SOLARIZE:
        return between(255.0, 0.0, magnitude);
    case TSRI_IMAGE_IDENTITY:
    case TSRI_IMAGE_AUTOCONTRAST:
    case TSRI_IMAGE_EQUALIZE:
    case TSRI_IMAGE_OPS:
        break;
    }
    return 0.0;
}

/* ---- Pixels that go elsewhere ----------------------------------------------------------------- */

enum { PLACE_BITS = 16 };

/* A place, or a step between two, in 65536ths of a pixel. */
static int64_t place(double pixels)
{
    return (int64_t)floor(pixels * (1 << PLACE_BITS) + 0.5);
}

/* Pixel (x, y) of out is the one of `in` that holds the point
 *     (a0 (x + 1/2) + a1 (y + 1/2) + a2, a3 (x + 1/2) + a4 (y + 1/2) + a5),
 * black outside. */
static void map(uint8_t *out, const uint8_t *in, const tsri_image_shape *s, const double a[6])
{
    int64_t H = s->height, W = s->width, plane = plane_of(s);
    int64_t right[2] = {place(a[0]), place(a[3])}, down[2] = {place(a[1]), place(a[4])};
    int64_t row[2] = {place(a[2] + a[0] * 0.5 + a[1] * 0.5), place(a[5] + a[3] * 0.5 + a[4] * 0.5)};
    memset(out, 0, (size_t)(s->channels * plane));
    for (int64_t y = 0; y < H; y++, row[0] += down[0], row[1] += down[1]) {
        int64_t at[2] = {row[0], row[1]};
        for (int64_t x = 0; x < W; x++, at[0] += right[0], at[1] += right[1]) {
            bool inside =
                at[0] >= 0 && at[0] < W << PLACE_BITS && at[1] >= 0 && at[1] < H << PLACE_BITS;
            int64_t from = inside ? (at[1] >> PLACE_BITS) * W + (at[0] >> PLACE_BITS) : 0;
            for (int64_t c = 0; inside && c < s->channels; c++)
                out[c * plane + y * W + x] = in[c * plane + from];
        }
    }
}

/* Counterclockwise, around the middle. */
static void rotate(uint8_t *out, const uint8_t *in, const tsri_image_shape *s, double degrees)
{
    static const double pi = 3.14159265358979323846;
    double t = degrees * pi / 180.0, cosine = tsri_cos(t), sine = tsri_sin(t);
    double x = (double)s->width / 2.0, y = (double)s->height / 2.0;
    map(out, in, s,
        (const double[6]){cosine, -sine, x - cosine * x + sine * y, sine, cosine,
                          y - sine * x - cosine * y});
}

/* ---- Blends ----------------------------------------------------------------------------------- */

/* poor + factor (in - poor), cut off at black and white. */
static uint8_t blend(uint8_t poor, uint8_t in, float factor)
{
    float v = (float)poor + factor * (float)(in - poor);
    return v <= 0.0f ? 0 : v >= (float)WHITE ? WHITE : (uint8_t)v;
}

/* The grey of a pixel. */
static uint8_t luminance(const uint8_t *at, const tsri_image_shape *s)
{
    int64_t plane = plane_of(s);
    if (s->channels < 3)
        return at[0];
    return (uint8_t)((at[0] * 19595 + at[plane] * 38470 + at[2 * plane] * 7471 + (1 << 15)) >> 16);
}

/* All of it blended with one byte. */
static void blend_level(uint8_t *out, const uint8_t *in, const tsri_image_shape *s, uint8_t level,
                        float factor)
{
    uint8_t table[LEVELS];
    for (int v = 0; v < LEVELS; v++)
        table[v] = blend(level, (uint8_t)v, factor);
    for (int64_t k = 0; k < s->channels * plane_of(s); k++)
        out[k] = table[in[k]];
}

static void color(uint8_t *out, const uint8_t *in, const tsri_image_shape *s, float factor)
{
    int64_t plane = plane_of(s);
    for (int64_t k = 0; k < plane; k++) {
        uint8_t grey = luminance(in + k, s);
        for (int64_t c = 0; c < s->channels; c++)
            out[c * plane + k] = blend(grey, in[c * plane + k], factor);
    }
}

static void contrast(uint8_t *out, const uint8_t *in, const tsri_image_shape *s, float factor)
{
    int64_t sum = 0, plane = plane_of(s);
    for (int64_t k = 0; k < plane; k++)
        sum += luminance(in + k, s);
    blend_level(out, in, s, (uint8_t)((double)sum / (double)plane + 0.5), factor);
}

/* A pixel inside, as the mean of the nine around it in which it counts five times. The nearest
 * byte: 13ths are never halfway between two. */
static uint8_t smooth(const uint8_t *at, int64_t W)
{
    int sum = at[-W - 1] + at[-W] + at[-W + 1] + at[-1] + 5 * at[0] + at[1] + at[W - 1] + at[W] +
              at[W + 1];
    return (uint8_t)((2 * sum + 13) / 26);
}

/* Pixels at the edge stay as they are. */
static void sharpness(uint8_t *out, const uint8_t *in, const tsri_image_shape *s, float factor)
{
    int64_t H = s->height, W = s->width, plane = plane_of(s);
    memcpy(out, in, (size_t)(s->channels * plane));
    for (int64_t c = 0; c < s->channels; c++)
        for (int64_t y = 1; y < H - 1; y++)
            for (int64_t x = 1; x < W - 1; x++) {
                int64_t k = c * plane + y * W + x;
                out[k] = blend(smooth(in + k, W), in[k], factor);
            }
}

/* ---- Tables ----------------------------------------------------------------------------------- */

static void look_up(uint8_t *out, const uint8_t *in, int64_t n, const uint8_t table[LEVELS])
{
    for (int64_t k = 0; k < n; k++)
        out[k] = table[in[k]];
}

static void count(int64_t of[LEVELS], const uint8_t *in, int64_t n)
{
    memset(of, 0, LEVELS * sizeof *of);
    for (int64_t k = 0; k < n; k++)
        of[in[k]]++;
}

/* As many of the highest bits as `bits`. */
static void posterize(uint8_t *out, const uint8_t *in, const tsri_image_shape *s, double bits)
{
    uint8_t mask = (uint8_t)(WHITE << (8 - (int)bits));
    for (int64_t k = 0; k < s->channels * plane_of(s); k++)
        out[k] = in[k] & mask;
}

static void solarize(uint8_t *out, const uint8_t *in, const tsri_image_shape *s, double from)
{
    for (int64_t k = 0; k < s->channels * plane_of(s); k++)
        out[k] = (double)in[k] < from ? in[k] : (uint8_t)(WHITE - in[k]);
}

/* A channel's darkest byte becomes black and its brightest one white. */
static void stretch(uint8_t *out, const uint8_t *in, int64_t n)
{
    uint8_t table[LEVELS], least = WHITE, most = 0;
    for (int64_t k = 0; k < n; k++) {
        least = in[k] < least ? in[k] : least;
        most = in[k] > most ? in[k] : most;
    }
    double scale = most > least ? 255.0 / (most - least) : 1.0;
    double offset = most > least ? -least * scale : 0.0;
    for (int v = 0; v < LEVELS; v++) {
        double w = v * scale + offset;
        table[v] = w <= 0.0 ? 0 : w >= WHITE ? WHITE : (uint8_t)w;
    }
    look_up(out, in, n, table);
}

/* A channel's bytes are spread so that all are about equally frequent. One whose bytes below the
 * brightest are fewer than 255 stays as it is. */
static void equalize(uint8_t *out, const uint8_t *in, int64_t n)
{
    int64_t of[LEVELS], brightest = WHITE;
    uint8_t table[LEVELS];
    count(of, in, n);
    while (of[brightest] == 0)
        brightest--;
    int64_t step = (n - of[brightest]) / WHITE, below = step / 2;
    for (int v = 0; v < LEVELS; below += of[v++]) {
        int64_t w = step > 0 ? below / step : v;
        table[v] = (uint8_t)(w < WHITE ? w : WHITE);
    }
    look_up(out, in, n, table);
}

/* ---- All ---------------------------------------------------------------------------------------- */

void tsri_image_change(uint8_t *out, const uint8_t *in, const tsri_image_shape *s, tsri_image_op op,
                       double amount)
{
    int64_t plane = plane_of(s);
    float factor = (float)(1.0 + amount);
    assert(s->channels == 1 || s->channels == 3);
    switch (op) {
    case TSRI_IMAGE_SHEAR_X:
        map(out, in, s, (const double[6]){1, amount, 0, 0, 1, 0});
        break;
    case TSRI_IMAGE_SHEAR_Y:
        map(out, in, s, (const double[6]){1, 0, 0, amount, 1, 0});
        break;
    case TSRI_IMAGE_TRANSLATE_X:
        map(out, in, s, (const double[6]){1, 0, -trunc(amount), 0, 1, 0});
        break;
    case TSRI_IMAGE_TRANSLATE_Y:
        map(out, in, s, (const double[6]){1, 0, 0, 0, 1, -trunc(amount)});
        break;
    case TSRI_IMAGE_ROTATE:
        rotate(out, in, s, amount);
        break;
    case TSRI_IMAGE_BRIGHTNESS:
        blend_level(out, in, s, 0, factor);
        break;
    case TSRI_IMAGE_COLOR:
        color(out, in, s, factor);
        break;
    case TSRI_IMAGE_CONTRAST:
        contrast(out, in, s, factor);
        break;
    case TSRI_IMAGE_SHARPNESS:
        sharpness(out, in, s, factor);
        break;
    case TSRI_IMAGE_POSTERIZE:
        posterize(out, in, s, amount);
        break;
    case TSRI_IMAGE_SOLARIZE:
        solarize(out, in, s, amount);
        break;
    case TSRI_IMAGE_AUTOCONTRAST:
        for (int64_t c = 0; c < s->channels; c++)
            stretch(out + c * plane, in + c * plane, plane);
        break;
    case TSRI_IMAGE_EQUALIZE:
        for (int64_t c = 0; c < s->channels; c++)
            equalize(out + c * plane, in + c * plane, plane);
        break;
    case TSRI_IMAGE_IDENTITY:
    case TSRI_IMAGE_OPS:
        memcpy(out, in, (size_t)(s->channels * plane));
        break;
    }
}
