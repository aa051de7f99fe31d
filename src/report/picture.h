/* picture.h - small pictures of pixels inside a page: samples of images, filters of a layer. */
#ifndef TSRI_PICTURE_H
#define TSRI_PICTURE_H

#include "report/markup.h"

/* One <img> with the pixels [channels, height, width] of 0 .. 255 in it, drawn with sharp edges;
 * one channel is grey, of more the first three are red, green and blue. `alt` says what it
 * shows. */
void tsri_picture(tsri_markup *m, const uint8_t *pixel, int64_t channels, int64_t height,
                  int64_t width, const char *alt);

#endif
