/* draw.h - batches made on the device, from samples that live there.
 *
 * The host says which samples and how each is moved; normalising, moving and mirroring happen where
 * the samples are. What comes out has the bits of the host's loader (data/loader.h).
 */
#ifndef TSRI_DRAW_ROWS_H
#define TSRI_DRAW_ROWS_H

#include "backend/op.h"

/* A part of a data set in the device's memory. */
typedef struct tsri_resident {
    const tsri_heap *heap;
    int64_t n;
    tsri_shape shape;  /* of images; of vectors and sequences the loader's, too */
    int64_t dim;       /* numbers of a sample */
    tsri_mem *bytes;   /* [n, C, H, W], or NULL: */
    tsri_mem *numbers; /* [n, dim] floats */
    tsri_mem *shift;   /* [C] of bytes: a pixel is (byte - shift) scale */
    tsri_mem *scale;   /* [C] */
    tsri_mem *black;   /* [C] what fills the edge that an image was moved away from */
    tsri_mem *target;  /* [n, targets] floats, or NULL */
    int64_t targets;
} tsri_resident;

/* How a sample's image is moved: pixels down and right, then mirrored. */
typedef struct tsri_move {
    int32_t down, right, flip;
} tsri_move;

/* Rows of a batch. */
typedef struct tsri_drawing {
    const tsri_resident *from;
    int64_t count;
    const tsri_mem *index; /* [count] int64 samples; -1: a row of zeros */
    const tsri_mem *move;  /* [count] tsri_move, or NULL: as they are */
    tsri_layout layout;    /* of x */
    tsri_mem *x;           /* [count, dim] in the backend's type */
} tsri_drawing;

/* On this machine's processors, of floats. */
tsr_status tsri_draw_here(const tsri_drawing *drawing, tsri_device device);

#endif
