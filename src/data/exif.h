/* exif.h - which way up a photograph is.
 *
 * A camera stores pixels as its sensor saw them and notes how it was held; programs that show the
 * picture turn it. A model must see what people see: otherwise the same photograph would lie on its
 * side until somebody saves it again, and be upright after that.
 */
#ifndef TSRI_EXIF_H
#define TSRI_EXIF_H

#include "data/image.h"

/* The orientation, 1 to 8, that a JPEG notes, or the TIFF block of n bytes that such notes are made
 * of (PNG's eXIf). 1, as it is stored, when there is no note or one that cannot be read. */
int tsri_jpeg_orientation(const uint8_t *bytes, int64_t n);
int tsri_tiff_orientation(const uint8_t *bytes, int64_t n);

/* Turns and mirrors the picture so that it is upright. */
tsr_status tsri_image_upright(tsri_image *image, int orientation);

#endif
