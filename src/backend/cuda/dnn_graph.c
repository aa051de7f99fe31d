/* dnn_graph.c - cuDNN, loaded when it is first needed, and a convolution described to it. */
#include "backend/cuda/dnn_parts.h"

#ifdef TSRI_CUDA_HAS_DNN

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAJOR = 9, ALIGNED = 16 };

tsri_dnn_library tsri_dnn = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- The library --------------------------------------------------------------------------- */

/* What is missing, in tsri_dnn.lacks. */
static bool load(void)
{
    const char *named = secure_getenv("TESSERA_CUDNN"), *missing = NULL;
    const char *path = named ? named : "libcudnn.so.9";
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        (void)snprintf(tsri_dnn.lacks, sizeof tsri_dnn.lacks, "cuDNN cannot be loaded (%.160s)",
                       dlerror());
        return false;
    }
#define X(name)                                                                                    \
    *(void **)&tsri_dnn.name = dlsym(library, #name);                                              \
    missing = missing || tsri_dnn.name ? missing : #name;
    TSRI_DNN_CALLS(X)
#undef X
    if (missing)
        (void)snprintf(tsri_dnn.lacks, sizeof tsri_dnn.lacks,
                       "%.160s has no %s: it is not cuDNN %d", path, missing, MAJOR);
    else if (tsri_dnn.cudnnGetVersion() / 10000 != MAJOR)
        (void)snprintf(tsri_dnn.lacks, sizeof tsri_dnn.lacks, "%.160s is version %zu, not cuDNN %d",
                       path, tsri_dnn.cudnnGetVersion(), MAJOR);
    return tsri_dnn.lacks[0] == 0;
}

static void start(void)
{
    tsri_dnn.tried = true;
    if (!load())
        return;
    cudnnStatus_t status = tsri_dnn.cudnnCreate(&tsri_dnn.handle);
    if (status != CUDNN_STATUS_SUCCESS)
        (void)snprintf(tsri_dnn.lacks, sizeof tsri_dnn.lacks, "cuDNN failed at its start: %.160s",
                       tsri_dnn.cudnnGetErrorString(status));
}

const char *tsri_cuda_dnn_lacks(void)
{
    tsri_cuda_use_gpu(); /* cuDNN works for the GPU of the thread that asks */
    pthread_mutex_lock(&tsri_dnn.lock);
    if (!tsri_dnn.tried)
        start();
    pthread_mutex_unlock(&tsri_dnn.lock);
    return tsri_dnn.lacks[0] ? tsri_dnn.lacks : NULL;
}

int64_t tsri_cuda_dnn_version(void)
{
    return tsri_cuda_dnn_lacks() ? 0 : (int64_t)tsri_dnn.cudnnGetVersion();
}

/* ---- Describing ---------------------------------------------------------------------------- */

void tsri_dnn_note(tsri_dnn_maker *m, cudnnStatus_t status)
{
    if (m->status == CUDNN_STATUS_SUCCESS)
        m->status = status;
}

tsri_dnn_descriptor tsri_dnn_make(tsri_dnn_maker *m, cudnnBackendDescriptorType_t type)
{
    tsri_dnn_descriptor d = NULL;
    tsri_dnn_note(m, tsri_dnn.cudnnBackendCreateDescriptor(type, &d));
    if (d)
        m->made[m->count++] = d;
    return d;
}

void tsri_dnn_set(tsri_dnn_maker *m, tsri_dnn_descriptor d, cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
    if (m->status == CUDNN_STATUS_SUCCESS)
        tsri_dnn_note(m, tsri_dnn.cudnnBackendSetAttribute(d, name, type, count, values));
}

void tsri_dnn_finish(tsri_dnn_maker *m, tsri_dnn_descriptor d)
{
    if (m->status == CUDNN_STATUS_SUCCESS)
        tsri_dnn_note(m, tsri_dnn.cudnnBackendFinalize(d));
}

void tsri_dnn_forget(tsri_dnn_maker *m)
{
    while (m->count > 0)
        (void)tsri_dnn.cudnnBackendDestroyDescriptor(m->made[--m->count]);
}

/* [a, b, h, w] with b innermost, whose number in variant packs is `name`. */
static tsri_dnn_descriptor tensor(tsri_dnn_maker *m, int64_t name, bool bf16, int64_t a, int64_t b,
                                  int64_t h, int64_t w)
{
    tsri_dnn_descriptor d = tsri_dnn_make(m, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    cudnnDataType_t type = bf16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
    const int64_t size[] = {a, b, h, w}, step[] = {b * h * w, 1, b * w, b}, aligned = ALIGNED;
    tsri_dnn_set(m, d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &name);
    tsri_dnn_set(m, d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    tsri_dnn_set(m, d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, size);
    tsri_dnn_set(m, d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, step);
    tsri_dnn_set(m, d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &aligned);
    tsri_dnn_finish(m, d);
    return d;
}

static tsri_dnn_descriptor window(tsri_dnn_maker *m, const tsri_cuda_dnn_shape *s)
{
    tsri_dnn_descriptor d = tsri_dnn_make(m, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    cudnnDataType_t sums = CUDNN_DATA_FLOAT;
    cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    const int64_t dims = 2, pad[] = {s->pad, s->pad}, step[] = {s->stride, s->stride},
                  dense[] = {1, 1};
    tsri_dnn_set(m, d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &dims);
    tsri_dnn_set(m, d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &sums);
    tsri_dnn_set(m, d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    tsri_dnn_set(m, d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, pad);
    tsri_dnn_set(m, d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, pad);
    tsri_dnn_set(m, d, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, dense);
    tsri_dnn_set(m, d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, step);
    tsri_dnn_finish(m, d);
    return d;
}

/* The names of a pass's attributes. */
typedef struct names {
    cudnnBackendDescriptorType_t operation;
    cudnnBackendAttributeName_t window, x, w, y, alpha, beta;
} names;

static names names_of(tsri_cuda_pass pass)
{
    static const names all[] = {
        [TSRI_CUDA_FORWARD] = {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                               CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                               CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                               CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                               CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                               CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                               CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
        [TSRI_CUDA_INPUT] = {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
        [TSRI_CUDA_WEIGHT] = {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA}};
    return all[pass];
}

tsri_dnn_descriptor tsri_dnn_graph(tsri_dnn_maker *m, const tsri_cuda_dnn_shape *s)
{
    names n = names_of((tsri_cuda_pass)s->pass);
    const float one = 1, zero = 0;
    tsri_dnn_descriptor x = tensor(m, 'x', s->bf16, s->n, s->c, s->h, s->w);
    tsri_dnn_descriptor w = tensor(m, 'w', s->bf16 && !s->wide, s->k, s->c, s->size, s->size);
    tsri_dnn_descriptor y = tensor(m, 'y', s->bf16, s->n, s->k, s->out_h, s->out_w);
    tsri_dnn_descriptor around = window(m, s), op = tsri_dnn_make(m, n.operation);
    tsri_dnn_set(m, op, n.window, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &around);
    tsri_dnn_set(m, op, n.x, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &x);
    tsri_dnn_set(m, op, n.w, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &w);
    tsri_dnn_set(m, op, n.y, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &y);
    tsri_dnn_set(m, op, n.alpha, CUDNN_TYPE_FLOAT, 1, &one);
    tsri_dnn_set(m, op, n.beta, CUDNN_TYPE_FLOAT, 1, &zero);
    tsri_dnn_finish(m, op);
    tsri_dnn_descriptor graph = tsri_dnn_make(m, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    tsri_dnn_set(m, graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1,
                 &tsri_dnn.handle);
    tsri_dnn_set(m, graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &op);
    tsri_dnn_finish(m, graph);
    return graph;
}

#endif
