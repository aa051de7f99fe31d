/* dnn_parts.h - what the files of cuDNN's convolutions share; private to dnn*.c, and empty where
 * cuDNN's headers are missing.
 *
 *     dnn.c          which engine is taken, and running it
 *     dnn_graph.c    the library; a convolution described to it
 *     dnn_time.c     how long an engine takes
 */
#ifndef TSRI_CUDA_DNN_PARTS_H
#define TSRI_CUDA_DNN_PARTS_H

#include "backend/cuda/dnn.h"

#if __has_include(<cudnn.h>)

#define TSRI_CUDA_HAS_DNN 1

#include <pthread.h>

/* Attributes that later versions do without, and 9.14 needs. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <cudnn.h>

#define TSRI_DNN_CALLS(X)                                                                          \
    X(cudnnGetVersion)                                                                             \
    X(cudnnGetErrorString)                                                                         \
    X(cudnnCreate)                                                                                 \
    X(cudnnSetStream)                                                                              \
    X(cudnnBackendCreateDescriptor)                                                                \
    X(cudnnBackendDestroyDescriptor)                                                               \
    X(cudnnBackendSetAttribute)                                                                    \
    X(cudnnBackendGetAttribute)                                                                    \
    X(cudnnBackendFinalize)                                                                        \
    X(cudnnBackendExecute)

typedef cudnnBackendDescriptor_t tsri_dnn_descriptor;

enum {
    TSRI_DNN_MADE = 16,  /* descriptors of one convolution, the most */
    TSRI_DNN_STREAMS = 4 /* runs of one engine at once, the most */
};

struct tsri_cuda_dnn {
    tsri_cuda_dnn_shape shape;
    bool fit;
    tsri_dnn_descriptor plan;
    int64_t workspace, engine, place; /* place: in the list of those that are fit */
    double seconds;                   /* where it was timed */
    tsri_cuda_dnn *next;
};

/* The library, and what was found with it. */
typedef struct tsri_dnn_library {
    pthread_mutex_t lock; /* a handle is for one thread at a time */
    bool tried;
    char lacks[256]; /* "" = nothing */
    cudnnHandle_t handle;
    tsri_cuda_dnn *found;
#define X(name) __typeof__(&name) name;
    TSRI_DNN_CALLS(X)
#undef X
} tsri_dnn_library;

extern tsri_dnn_library tsri_dnn;

/* ---- dnn_graph.c ------------------------------------------------------------------------------- */

/* Descriptors of one convolution. The first failure stays, and what follows does nothing. */
typedef struct tsri_dnn_maker {
    tsri_dnn_descriptor made[TSRI_DNN_MADE];
    int count;
    cudnnStatus_t status;
} tsri_dnn_maker;

void tsri_dnn_note(tsri_dnn_maker *m, cudnnStatus_t status);
tsri_dnn_descriptor tsri_dnn_make(tsri_dnn_maker *m, cudnnBackendDescriptorType_t type);
void tsri_dnn_set(tsri_dnn_maker *m, tsri_dnn_descriptor d, cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t type, int64_t count, const void *values);
void tsri_dnn_finish(tsri_dnn_maker *m, tsri_dnn_descriptor d);
void tsri_dnn_forget(tsri_dnn_maker *m); /* all that it made */

/* A graph of one operation. */
tsri_dnn_descriptor tsri_dnn_graph(tsri_dnn_maker *m, const tsri_cuda_dnn_shape *s);

/* ---- dnn.c: with the lock held ------------------------------------------------------------------- */

cudnnStatus_t tsri_dnn_execute(const tsri_cuda_dnn *d, const void *x, const void *w, const void *y,
                               void *workspace, cudaStream_t stream);

/* ---- dnn_time.c ---------------------------------------------------------------------------------- */

/* Seconds of one run, `streams` of them at once; infinity where it cannot be told. */
double tsri_dnn_seconds(const tsri_cuda_dnn *d, int streams);

#endif
#endif
