/* dnn.h - convolutions by cuDNN 9, through its graph interface.
 *
 * cuDNN is loaded as the module starts, which works without it: TESSERA_CUDNN names the library,
 * else it is libcudnn.so.9. A convolution is described once; cuDNN lists engines for it, best first
 * by its own rules, and the first that is fit is taken. Fit are engines that give the same bits
 * every time and compute with the numbers they are given: no TF32, no transforms that lose bits.
 * What was found for a shape is kept for the process.
 */
#ifndef TSRI_CUDA_DNN_H
#define TSRI_CUDA_DNN_H

#include "backend/cuda/cuda.h"

typedef enum tsri_cuda_pass {
    TSRI_CUDA_FORWARD, /* y of x and w */
    TSRI_CUDA_INPUT,   /* dx of w and dy */
    TSRI_CUDA_WEIGHT,  /* dw of x and dy */
    TSRI_CUDA_PASSES
} tsri_cuda_pass;

/* Images [n, h, w, c], filters [out, size, size, in]; all 64-byte aligned, or 16 where `w` is. */
typedef struct tsri_cuda_dnn_shape {
    int64_t n, c, h, w;        /* of x */
    int64_t k, out_h, out_w;   /* of y */
    int64_t size, stride, pad; /* of the window */
    int64_t pass;              /* tsri_cuda_pass */
    int64_t bf16, wide;        /* numbers are bf16; but dw is floats */
    int64_t crowd;             /* others like it run at once (tsri_device): throughput counts */
} tsri_cuda_dnn_shape;

typedef struct tsri_cuda_dnn tsri_cuda_dnn; /* a convolution that has an engine */

/* Why there is no cuDNN, as a sentence; NULL: there is. */
const char *tsri_cuda_dnn_lacks(void);

/* 90140 is 9.14.0; 0 where there is none. */
int64_t tsri_cuda_dnn_version(void);

/* NULL: no engine is fit. */
const tsri_cuda_dnn *tsri_cuda_dnn_find(const tsri_cuda_dnn_shape *shape);
int64_t tsri_cuda_dnn_bytes(const tsri_cuda_dnn *dnn); /* of its workspace */

/* In the order x, w, y of what the pass reads and writes. */
tsr_status tsri_cuda_dnn_run(const tsri_cuda_dnn *dnn, const void *x, const void *w, const void *y,
                             void *workspace, cudaStream_t stream);

/* ---- engines.c: what was measured --------------------------------------------------------------- */

/* A place in cuDNN's list of engines that are fit, and the engine that stands there. */
typedef struct tsri_cuda_place {
    int place, engine;
} tsri_cuda_place;

/* Of the engine that was fastest on a chip like this one, with this version; place -1: nobody has
 * measured that shape. */
tsri_cuda_place tsri_cuda_measured(const tsri_cuda_dnn_shape *shape, int64_t version);

#endif
