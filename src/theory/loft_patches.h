/* loft_patches.h - the outputs of a cnn1's filters on every patch of the training set.
 *
 * LoFT's lemmas are about <w_r, x^(j)> for all filters r, images i and pixels j: n p m numbers. A
 * pass computes all of them, a few images at a time on the pool, and keeps only sums and extremes:
 *
 *     TSR_TRY(tsri_patches_init(&all, run));
 *     tsri_pass pass = {.w = w, .u = u, .square = square};
 *     tsri_patches_pass(&all, &pass);
 *     tsri_patches_fini(&all);
 *
 * Products are floats, as the network computes them; sums are doubles, in the order of the images:
 * the same numbers for any number of threads.
 */
#ifndef TSRI_LOFT_PATCHES_H
#define TSRI_LOFT_PATCHES_H

#include "data/dataset.h"
#include "net/store.h"

typedef struct tsri_patches {
    const tsri_store *store;
    const tsr_data *data;
    tsri_pool *pool;
    int64_t n, p, d, m;               /* images, pixels, numbers of a patch, filters */
    int64_t rows;                     /* patches of one image that are multiplied at once */
    int64_t group;                    /* images at once */
    float *a;                         /* [p, m] the fixed weights, pixel by pixel */
    float *scratch;                   /* [threads][image, patches, products twice] */
    double *sum;                      /* [group, m] sum over pixels of a_rj relu(<w_r, x^(j)>) */
    struct tsri_image_result *result; /* [group] */
} tsri_patches;

typedef struct tsri_pass {
    const float *w; /* [m, d] filters */
    /* (optional) filters whose patterns are compared with those of w */
    const float *before;
    bool start;    /* w are the first filters: the last four outputs are wanted */
    double radius; /* in that case, how far a filter may move: see `near` */
    /* output, (optional): */
    double *u;      /* [n] sum over r, j of a_rj relu(<w_r, x_i^(j)>), without the factor xi */
    double *square; /* [m] sum over images of the squares of a filter's part of u_i */
    /* output: */
    double flips;       /* filters whose pattern differs from `before`, on the worst patch */
    double near;        /* filters that a move by `radius` can flip, on the worst patch */
    double most_square; /* the largest sum over r of <w_r, x^(j)>^2 on a patch */
    double all_squares; /* the same summed over all patches */
    double energy;      /* sum of the squares of all patches */
} tsri_pass;

/* The store is of model cnn1; it, the data and the pool must outlive the patches. Call fini even on
 * failure. */
tsr_status tsri_patches_init(tsri_patches *all, const tsri_store *store, const tsr_data *data,
                             tsri_pool *pool);
void tsri_patches_fini(tsri_patches *all);

void tsri_patches_pass(tsri_patches *all, tsri_pass *pass);

/* Multiplications and additions of a pass; one more product with `before`. */
double tsri_patches_operations(const tsri_net *net, const tsr_data *data, int products);

/* Filters of a store, [m, d] in the order of the patches. */
tsr_status tsri_patches_filters(float *w, const tsri_store *store);

#endif
