/* augment.h - random changes of training images: which there are, and what is drawn for a row.
 *
 * In this order: a crop and a flip (data.augment), RandAugment's operations (data.randaugment) on
 * 8-bit pixels, then, on what the network sees, cutout (DeVries and Taylor, "Improved
 * regularization of convolutional neural networks with cutout", 2017): a square of zeros, which are
 * the mean of each channel under data.normalize: channel.
 *
 * Every choice is a pure function of (seed; AUGMENT, epoch, sample), with replacement of (seed;
 * AUGMENT, step, worker, row): a sample drawn twice is not changed alike. What it is for is the
 * stream's layer, so that more of one thing moves no other:
 *
 *     0, 1         crop and flip      (1: with replacement)
 *     2, 3         cutout
 *     4, 5         RandAugment's first operation
 *     6, 7, ...    its second, ...
 */
#ifndef TSRI_AUGMENT_H
#define TSRI_AUGMENT_H

#include "data/dataset.h"
#include "data/image_ops.h"

typedef struct tsri_augment {
    bool flip;         /* mirror half the images */
    int64_t crop;      /* padding with black, then a random crop; 0 = none */
    int64_t ops;       /* RandAugment: operations on each image; 0 = none */
    int64_t magnitude; /* their strength, 0 .. 30 */
    int64_t cutout;    /* side of the square of zeros; 0 = none */
} tsri_augment;

/* What `data:` asks for. */
tsri_augment tsri_augment_from(const tsr_config *config);

/* Does anything change a sample from one epoch to the next? */
bool tsri_augments(const tsri_augment *a);

/* Is that done by a crop and a flip alone, which a device can draw itself (backend/draw.h)? */
bool tsri_augment_moves_only(const tsri_augment *a);

/* USAGE, after `place`, when the training part is not of images that can be changed so. */
tsr_status tsri_augment_check(const tsri_augment *a, const tsr_data *data, const tsri_part *part,
                              const char *place);

/* A row of a batch. */
typedef struct tsri_spot {
    uint64_t seed;
    bool replacement;
    int64_t worker, step, epoch, row, sample;
} tsri_spot;

/* By how many pixels an image is moved, and whether it is mirrored after that. */
typedef struct tsri_placing {
    int64_t down, right;
    bool flip;
} tsri_placing;

tsri_placing tsri_augment_place(const tsri_augment *a, const tsri_spot *at);

/* RandAugment's operation number k, and whether it goes the other way. */
typedef struct tsri_operation {
    tsri_image_op op;
    bool back;
} tsri_operation;

tsri_operation tsri_augment_operation(const tsri_spot *at, int64_t k);

/* The pixel of the image that is the square's middle: of a side of 4 the third. */
typedef struct tsri_middle {
    int64_t down, right;
} tsri_middle;

tsri_middle tsri_augment_middle(const tsr_data *data, const tsri_spot *at);

/* All operations on `image`, in place; `other` is as large. */
void tsri_augment_pixels(uint8_t *image, uint8_t *other, const tsri_augment *a,
                         const tsri_image_shape *shape, const tsri_spot *at);

/* The square of zeros. */
void tsri_augment_cut(float *x, const tsri_augment *a, const tsr_data *data, const tsri_spot *at);

#endif
