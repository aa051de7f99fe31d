/* image_ops.h - the operations of RandAugment on 8-bit images.
 *
 * Cubuk, Zoph, Shlens, Le, "RandAugment: Practical automated data augmentation with a reduced
 * search space", 2020. The list, the meaning of a magnitude and the bits are those of torchvision
 * (transforms.RandAugment on PIL images, 31 magnitudes, nearest neighbours, black where nothing
 * is): tests/golden/make_randaugment.py. Only the amounts differ, in the eighth digit: torchvision
 * counts them up in single precision, as its machine's vectors do.
 *
 *     double amount = tsri_image_amount(TSRI_IMAGE_ROTATE, 9, &shape);      9 degrees
 *     tsri_image_change(out, in, &shape, TSRI_IMAGE_ROTATE, -amount);
 */
#ifndef TSRI_IMAGE_OPS_H
#define TSRI_IMAGE_OPS_H

#include "base/status.h"

/* In torchvision's order. The values are drawn at random, and traces hold them: append only. */
typedef enum tsri_image_op {
    TSRI_IMAGE_IDENTITY,
    TSRI_IMAGE_SHEAR_X,
    TSRI_IMAGE_SHEAR_Y,
    TSRI_IMAGE_TRANSLATE_X,
    TSRI_IMAGE_TRANSLATE_Y,
    TSRI_IMAGE_ROTATE,
    TSRI_IMAGE_BRIGHTNESS,
    TSRI_IMAGE_COLOR,
    TSRI_IMAGE_CONTRAST,
    TSRI_IMAGE_SHARPNESS,
    TSRI_IMAGE_POSTERIZE,
    TSRI_IMAGE_SOLARIZE,
    TSRI_IMAGE_AUTOCONTRAST,
    TSRI_IMAGE_EQUALIZE,
    TSRI_IMAGE_OPS
} tsri_image_op;

enum { TSRI_MAGNITUDES = 31 };

/* [channels][height][width] bytes, one channel (grey) or three (red, green, blue). */
typedef struct tsri_image_shape {
    int64_t channels, height, width;
} tsri_image_shape;

/* Does it also go the other way, by minus the amount? */
bool tsri_image_signed(tsri_image_op op);

/* What a magnitude of 0 .. 30 means: a slope, pixels, degrees, how much is added to or taken from
 * a factor of 1, bits that stay, the byte from which on a channel is inverted; 0 where there is no
 * strength. */
double tsri_image_amount(tsri_image_op op, int64_t magnitude, const tsri_image_shape *shape);

/* out = the image `in`, changed; the two do not overlap. */
void tsri_image_change(uint8_t *out, const uint8_t *in, const tsri_image_shape *shape,
                       tsri_image_op op, double amount);

#endif
