/* image.h - pictures in and out: JPEG and PNG, through the two vendors' libraries.
 *
 * Size is looked at before anything is decoded: more than 32 million pixels are refused. Damaged
 * and cut-off files are refused, never filled with grey.
 */
#ifndef TSRI_IMAGE_H
#define TSRI_IMAGE_H

#include "base/status.h"

typedef struct tsri_image {
    int64_t width, height;
    uint8_t *rgb; /* [height, width, 3]; free with tsri_free */
    bool clear;   /* parts of it were transparent */
} tsri_image;

/* JPEG or PNG by its first bytes, upright (exif.h); grey and CMYK become RGB, 16 bits become 8,
 * transparency is dropped, an animation is refused. A JPEG may come out smaller (by 2, 4 or 8) as
 * long as its shorter side stays at least `least`; 0 = full size. BAD_FILE with `name`. */
tsr_status tsri_image_decode(tsri_image *out, const void *bytes, int64_t n, int64_t least,
                             const char *name);

/* planes[3, height, width] = the middle of the image, resized so that it just covers the window.
 * Each new pixel is a triangle-weighted mean of the old ones under it. */
tsr_status tsri_image_fit(uint8_t *planes, const tsri_image *image, int64_t height, int64_t width);

/* Writes rgb[height, width, 3] as a PNG file, atomically. */
tsr_status tsri_png_write(const char *path, const uint8_t *rgb, int64_t width, int64_t height);

#endif
