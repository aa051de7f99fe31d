/* dnn.c - finding engines of cuDNN and running them (dnn.h). */
#include "backend/cuda/dnn.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<cudnn.h>)

/* Attributes that later versions do without, and 9.14 needs. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <cudnn.h>

#define CALLS(X)                                                                                   \
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

typedef cudnnBackendDescriptor_t descriptor;

enum {
    MAJOR = 9,
    MOST_MADE = 16,    /* descriptors of one convolution */
    MOST_ENGINES = 32, /* that are looked at */
    ALIGNED = 16
};

/* Engines of a list that may ask for so much are taken. */
static const int64_t most_workspace = (int64_t)1 << 30;

struct tsri_cuda_dnn {
    tsri_cuda_dnn_shape shape;
    bool fit;
    descriptor plan;
    int64_t workspace, engine, place; /* place: in the list of those that are fit */
    double seconds;                   /* where it was timed */
    tsri_cuda_dnn *next;
};

static struct {
    pthread_mutex_t lock;
    bool tried;
    char lacks[256]; /* "" = nothing */
    cudnnHandle_t handle;
    tsri_cuda_dnn *found;
#define X(name) __typeof__(&name) name;
    CALLS(X)
#undef X
} dnn = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- The library --------------------------------------------------------------------------- */

/* What is missing, in dnn.lacks. */
static bool load(void)
{
    const char *named = secure_getenv("TESSERA_CUDNN"), *missing = NULL;
    const char *path = named ? named : "libcudnn.so.9";
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        (void)snprintf(dnn.lacks, sizeof dnn.lacks, "cuDNN cannot be loaded (%.160s)", dlerror());
        return false;
    }
#define X(name)                                                                                    \
    *(void **)&dnn.name = dlsym(library, #name);                                                   \
    missing = missing || dnn.name ? missing : #name;
    CALLS(X)
#undef X
    if (missing)
        (void)snprintf(dnn.lacks, sizeof dnn.lacks, "%.160s has no %s: it is not cuDNN %d", path,
                       missing, MAJOR);
    else if (dnn.cudnnGetVersion() / 10000 != MAJOR)
        (void)snprintf(dnn.lacks, sizeof dnn.lacks, "%.160s is version %zu, not cuDNN %d", path,
                       dnn.cudnnGetVersion(), MAJOR);
    return dnn.lacks[0] == 0;
}

static void start(void)
{
    dnn.tried = true;
    if (!load())
        return;
    cudnnStatus_t status = dnn.cudnnCreate(&dnn.handle);
    if (status != CUDNN_STATUS_SUCCESS)
        (void)snprintf(dnn.lacks, sizeof dnn.lacks, "cuDNN failed at its start: %.160s",
                       dnn.cudnnGetErrorString(status));
}

const char *tsri_cuda_dnn_lacks(void)
{
    pthread_mutex_lock(&dnn.lock);
    if (!dnn.tried)
        start();
    pthread_mutex_unlock(&dnn.lock);
    return dnn.lacks[0] ? dnn.lacks : NULL;
}

int64_t tsri_cuda_dnn_version(void)
{
    return tsri_cuda_dnn_lacks() ? 0 : (int64_t)dnn.cudnnGetVersion();
}

/* ---- Describing ---------------------------------------------------------------------------- */

/* Descriptors of one convolution. The first failure stays, and what follows does nothing. */
typedef struct maker {
    descriptor made[MOST_MADE];
    int count;
    cudnnStatus_t status;
} maker;

static void note(maker *m, cudnnStatus_t status)
{
    if (m->status == CUDNN_STATUS_SUCCESS)
        m->status = status;
}

static descriptor make(maker *m, cudnnBackendDescriptorType_t type)
{
    descriptor d = NULL;
    note(m, dnn.cudnnBackendCreateDescriptor(type, &d));
    if (d)
        m->made[m->count++] = d;
    return d;
}

static void set(maker *m, descriptor d, cudnnBackendAttributeName_t name,
                cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
    if (m->status == CUDNN_STATUS_SUCCESS)
        note(m, dnn.cudnnBackendSetAttribute(d, name, type, count, values));
}

static void finish(maker *m, descriptor d)
{
    if (m->status == CUDNN_STATUS_SUCCESS)
        note(m, dnn.cudnnBackendFinalize(d));
}

static void forget(maker *m)
{
    while (m->count > 0)
        (void)dnn.cudnnBackendDestroyDescriptor(m->made[--m->count]);
}

/* [a, b, h, w] with b innermost, whose number in variant packs is `name`. */
static descriptor tensor(maker *m, int64_t name, bool bf16, int64_t a, int64_t b, int64_t h,
                         int64_t w)
{
    descriptor d = make(m, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    cudnnDataType_t type = bf16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
    const int64_t size[] = {a, b, h, w}, step[] = {b * h * w, 1, b * w, b}, aligned = ALIGNED;
    set(m, d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &name);
    set(m, d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    set(m, d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, size);
    set(m, d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, step);
    set(m, d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &aligned);
    finish(m, d);
    return d;
}

static descriptor window(maker *m, const tsri_cuda_dnn_shape *s)
{
    descriptor d = make(m, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    cudnnDataType_t sums = CUDNN_DATA_FLOAT;
    cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    const int64_t dims = 2, pad[] = {s->pad, s->pad}, step[] = {s->stride, s->stride},
                  dense[] = {1, 1};
    set(m, d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &dims);
    set(m, d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &sums);
    set(m, d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    set(m, d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, pad);
    set(m, d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, pad);
    set(m, d, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, dense);
    set(m, d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, step);
    finish(m, d);
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

/* A graph of one operation. */
static descriptor graph_of(maker *m, const tsri_cuda_dnn_shape *s)
{
    names n = names_of((tsri_cuda_pass)s->pass);
    const float one = 1, zero = 0;
    descriptor x = tensor(m, 'x', s->bf16, s->n, s->c, s->h, s->w);
    descriptor w = tensor(m, 'w', s->bf16 && !s->wide, s->k, s->c, s->size, s->size);
    descriptor y = tensor(m, 'y', s->bf16, s->n, s->k, s->out_h, s->out_w);
    descriptor around = window(m, s), op = make(m, n.operation);
    set(m, op, n.window, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &around);
    set(m, op, n.x, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &x);
    set(m, op, n.w, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &w);
    set(m, op, n.y, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &y);
    set(m, op, n.alpha, CUDNN_TYPE_FLOAT, 1, &one);
    set(m, op, n.beta, CUDNN_TYPE_FLOAT, 1, &zero);
    finish(m, op);
    descriptor graph = make(m, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set(m, graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &dnn.handle);
    set(m, graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &op);
    finish(m, graph);
    return graph;
}

/* ---- Running ------------------------------------------------------------------------------- */

static cudnnStatus_t execute(const tsri_cuda_dnn *d, const void *x, const void *w, const void *y,
                             void *workspace, cudaStream_t stream)
{
    const int64_t name[] = {'x', 'w', 'y'};
    const void *at[] = {x, w, y};
    maker m = {0};
    descriptor pack = make(&m, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    set(&m, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, name);
    set(&m, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, at);
    set(&m, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    finish(&m, pack);
    note(&m, dnn.cudnnSetStream(dnn.handle, stream));
    if (m.status == CUDNN_STATUS_SUCCESS)
        note(&m, dnn.cudnnBackendExecute(dnn.handle, d->plan, pack));
    forget(&m);
    return m.status;
}

tsr_status tsri_cuda_dnn_run(const tsri_cuda_dnn *d, const void *x, const void *w, const void *y,
                             void *workspace, cudaStream_t stream)
{
    pthread_mutex_lock(&dnn.lock); /* a handle is for one thread at a time */
    cudnnStatus_t status = execute(d, x, w, y, workspace, stream);
    pthread_mutex_unlock(&dnn.lock);
    return status == CUDNN_STATUS_SUCCESS
               ? TSR_OK
               : tsri_fail(TSR_FAILURE, "cuDNN failed at a convolution (engine %lld): %s",
                           (long long)d->engine, dnn.cudnnGetErrorString(status));
}

/* ---- Timing -------------------------------------------------------------------------------- */

/* A recording of runs of one engine, as many at once as there are streams, on memory of their own. */
enum { MOST_STREAMS = 4, TIMED = 10 };

typedef struct trial {
    const tsri_cuda_dnn *dnn;
    int streams;
    cudaStream_t stream[MOST_STREAMS];
    char *memory[MOST_STREAMS];
    int64_t at[3]; /* where w, y and the workspace lie in it */
    unsigned *slot[MOST_STREAMS * TIMED];
    tsri_cuda_zeros *zeros;
    cudaGraph_t graph;
    cudaGraphExec_t made;
    cudaEvent_t event; /* for waiting inside the recording */
    bool right;
} trial;

static void must(trial *t, cudaError_t error)
{
    t->right = t->right && error == cudaSuccess;
}

static void trial_begin(trial *t)
{
    const tsri_cuda_dnn_shape *s = &t->dnn->shape;
    const int64_t pad = 256, x = s->n * s->h * s->w * s->c * 4 + pad,
                  w = s->k * s->size * s->size * s->c * 4 + pad,
                  y = s->n * s->out_h * s->out_w * s->k * 4 + pad;
    t->at[0] = x / pad * pad;
    t->at[1] = (x + w) / pad * pad;
    t->at[2] = (x + w + y) / pad * pad;
    size_t bytes = (size_t)(t->at[2] + t->dnn->workspace + pad);
    t->right = true;
    must(t, cudaEventCreateWithFlags(&t->event, cudaEventDisableTiming));
    for (int i = 0; i < t->streams; i++) {
        must(t, cudaStreamCreateWithFlags(&t->stream[i], cudaStreamNonBlocking));
        must(t, cudaMalloc((void **)&t->memory[i], bytes));
        if (t->right) /* small numbers */
            must(t, cudaMemsetAsync(t->memory[i], 0x3c, bytes, t->stream[i]));
        must(t, cudaStreamSynchronize(t->stream[i]));
    }
    for (int i = 0; i < t->streams * TIMED && t->dnn->workspace > 0; i++)
        t->slot[i] = t->dnn->workspace <= TSRI_CUDA_SLOT ? tsri_cuda_slot_take() : NULL;
}

static void trial_end(trial *t)
{
    if (t->made)
        (void)cudaGraphExecDestroy(t->made);
    if (t->graph)
        (void)cudaGraphDestroy(t->graph);
    if (t->event)
        (void)cudaEventDestroy(t->event);
    for (int i = 0; i < t->streams; i++) {
        if (t->stream[i])
            (void)cudaStreamDestroy(t->stream[i]);
        (void)cudaFree(t->memory[i]);
    }
    for (int i = 0; i < t->streams * TIMED; i++)
        if (t->slot[i])
            tsri_cuda_slot_drop(t->slot[i]);
    (void)cudaFree(t->zeros);
}

/* What `second` is given from now on waits for what `first` was given. */
static void order(trial *t, cudaStream_t second, cudaStream_t first)
{
    must(t, cudaEventRecord(t->event, first));
    must(t, cudaStreamWaitEvent(second, t->event, 0));
}

static void trial_record(trial *t)
{
    if (!t->right || tsri_cuda_zeros_begin(&t->zeros, t->stream[0]) != TSR_OK) {
        t->right = false;
        return;
    }
    for (int i = 1; i < t->streams; i++)
        order(t, t->stream[i], t->stream[0]);
    for (int k = 0; k < TIMED; k++)
        for (int i = 0; i < t->streams && t->right; i++) {
            char *m = t->memory[i];
            void *slot = t->slot[k * t->streams + i];
            t->right = execute(t->dnn, m, m + t->at[0], m + t->at[1], slot ? slot : m + t->at[2],
                               t->stream[i]) == CUDNN_STATUS_SUCCESS;
        }
    for (int i = 1; i < t->streams; i++)
        order(t, t->stream[0], t->stream[i]);
    cudaError_t ended = cudaStreamEndCapture(t->stream[0], &t->graph);
    must(t, ended);
    t->right = t->right && tsri_cuda_zeros_end(t->zeros, t->graph, t->stream[0]) == TSR_OK;
    if (t->right)
        must(t, cudaGraphInstantiate(&t->made, t->graph, 0));
}

/* Seconds of one run, `streams` of them at once; infinity where it cannot be told. */
static double time_engine(const tsri_cuda_dnn *d, int streams)
{
    enum { LAUNCHES = 3 };
    trial t = {.dnn = d, .streams = streams};
    cudaEvent_t begin = NULL, end = NULL;
    double best = HUGE_VAL;
    trial_begin(&t);
    trial_record(&t);
    must(&t, cudaEventCreateWithFlags(&begin, 0));
    must(&t, cudaEventCreateWithFlags(&end, 0));
    for (int i = 0; i < LAUNCHES && t.right; i++) {
        float ms = 0;
        must(&t, cudaEventRecord(begin, t.stream[0]));
        must(&t, cudaGraphLaunch(t.made, t.stream[0]));
        must(&t, cudaEventRecord(end, t.stream[0]));
        must(&t, cudaEventSynchronize(end));
        must(&t, cudaEventElapsedTime(&ms, begin, end));
        double one = (double)ms / 1e3 / (TIMED * streams);
        best = t.right && i > 0 && one < best ? one : best;
    }
    if (begin)
        (void)cudaEventDestroy(begin);
    if (end)
        (void)cudaEventDestroy(end);
    trial_end(&t);
    (void)cudaGetLastError();
    return best;
}

/* ---- Engines ------------------------------------------------------------------------------- */

/* cuDNN's list for a graph, best first: `engine` [MOST_ENGINES] are made, *count are of use. */
static void list_engines(maker *m, descriptor *engine, int64_t *count, descriptor graph,
                         cudnnBackendHeurMode_t mode)
{
    descriptor rules = make(m, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    set(m, rules, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph);
    set(m, rules, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    finish(m, rules);
    *count = 0;
    for (int i = 0; i < MOST_ENGINES; i++)
        note(m, dnn.cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &engine[i]));
    if (m->status == CUDNN_STATUS_SUCCESS)
        note(m, dnn.cudnnBackendGetAttribute(rules, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                             CUDNN_TYPE_BACKEND_DESCRIPTOR, MOST_ENGINES, count,
                                             engine));
    *count = m->status == CUDNN_STATUS_SUCCESS ? *count : 0;
}

/* The same bits every time, of the numbers as they are? */
static bool is_fit(descriptor config, int64_t *number, bool bf16)
{
    descriptor engine = NULL;
    cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    int64_t count = 0, one = 0;
    bool fit =
        dnn.cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine) ==
            CUDNN_STATUS_SUCCESS &&
        dnn.cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE,
                                     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &one,
                                     &engine) == CUDNN_STATUS_SUCCESS &&
        dnn.cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                     CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT,
                                     &count, notes) == CUDNN_STATUS_SUCCESS &&
        dnn.cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1,
                                     &one, number) == CUDNN_STATUS_SUCCESS;
    for (int64_t i = 0; fit && i < count; i++) {
        cudnnBackendNumericalNote_t n = notes[i];
        fit = n == CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP ||
              (bf16 && n == CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
    }
    if (engine)
        (void)dnn.cudnnBackendDestroyDescriptor(engine);
    return fit;
}

/* Makes it a plan, where cuDNN can and does not ask for too much. */
static bool try_engine(tsri_cuda_dnn *d, descriptor config)
{
    int64_t one = 0;
    descriptor plan = NULL;
    maker m = {0};
    note(&m, dnn.cudnnBackendCreateDescriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &plan));
    set(&m, plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &dnn.handle);
    set(&m, plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
        &config);
    finish(&m, plan);
    if (m.status == CUDNN_STATUS_SUCCESS)
        note(&m, dnn.cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                              CUDNN_TYPE_INT64, 1, &one, &d->workspace));
    if (m.status == CUDNN_STATUS_SUCCESS && d->workspace <= most_workspace) {
        d->plan = plan;
        return true;
    }
    if (plan)
        (void)dnn.cudnnBackendDestroyDescriptor(plan);
    return false;
}

/* Where TESSERA_CUDNN_TELL is set: what was found for each shape. */
static void tell(const tsri_cuda_dnn *d)
{
    static const char *const pass[] = {"forward", "input", "weight"};
    const tsri_cuda_dnn_shape *s = &d->shape;
    if (secure_getenv("TESSERA_CUDNN_TELL"))
        tsri_cuda_warn("cudnn %s %lld x %lld x %lld x %lld to %lld, window %lld / %lld, %s%s: "
                       "place %lld, engine %lld, workspace %lld, %.1f us%s",
                       pass[s->pass], (long long)s->n, (long long)s->h, (long long)s->w,
                       (long long)s->c, (long long)s->k, (long long)s->size, (long long)s->stride,
                       s->bf16 ? "bf16" : "f32", s->wide ? " to f32" : "", (long long)d->place,
                       d->fit ? (long long)d->engine : -1LL, (long long)d->workspace,
                       d->seconds * 1e6, s->crowd ? ", four at once" : "");
}

/* TESSERA_CUDNN_TUNE=1: of the engines that are fit, the one that is fastest now. Which one that is
 * may change from run to run, and with it the bits. */
static bool tunes(void)
{
    const char *text = secure_getenv("TESSERA_CUDNN_TUNE");
    return text && *text == '1';
}

static void take_faster(tsri_cuda_dnn *best, const tsri_cuda_dnn *other)
{
    bool better = !best->fit || other->seconds < best->seconds;
    descriptor loser = better ? best->plan : other->plan;
    if (better)
        *best = *other;
    if (loser)
        (void)dnn.cudnnBackendDestroyDescriptor(loser);
}

/* All that are fit, by the clock. */
static void take_fastest(tsri_cuda_dnn *d, const descriptor *config, const int64_t *engine,
                         int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        tsri_cuda_dnn other = {.shape = d->shape, .engine = engine[i], .place = i};
        if (!try_engine(&other, config[i]))
            continue;
        other.fit = true;
        other.seconds = time_engine(&other, d->shape.crowd ? MOST_STREAMS : 1);
        tell(&other);
        take_faster(d, &other);
    }
}

static void take_first(tsri_cuda_dnn *d, const descriptor *config, const int64_t *engine,
                       int64_t count, int64_t only)
{
    for (int64_t i = 0; i < count && !d->fit; i++)
        if (only < 0 || engine[i] == only) {
            d->engine = engine[i];
            d->place = i;
            d->fit = try_engine(d, config[i]);
        }
}

/* The engine that is listed most often. */
static int64_t usual(const int64_t *engine, int64_t count)
{
    int64_t best = -1, most = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t times = 0;
        for (int64_t k = 0; k < count; k++)
            times += engine[k] == engine[i];
        best = times > most ? engine[i] : best;
        most = times > most ? times : most;
    }
    return best;
}

/* The one that was fastest on a chip of this kind (engines.c). */
static void take_measured(tsri_cuda_dnn *d, const descriptor *config, const int64_t *engine,
                          int64_t count)
{
    tsri_cuda_place known = tsri_cuda_measured(&d->shape, (int64_t)dnn.cudnnGetVersion());
    if (known.place < 0 || known.place >= count || engine[known.place] != known.engine)
        return;
    d->engine = known.engine;
    d->place = known.place;
    d->fit = try_engine(d, config[known.place]);
}

/* An engine that wants as much memory as x has brings x into another order first; the usual one
 * then is faster (1x1 convolutions of stride 2 on an H200: 13 us, not 60). */
static void take_by_rule(tsri_cuda_dnn *d, const descriptor *config, const int64_t *engine,
                         int64_t count)
{
    const tsri_cuda_dnn_shape *s = &d->shape;
    tsri_cuda_dnn other = {.shape = *s};
    take_measured(d, config, engine, count);
    if (d->fit)
        return;
    take_first(d, config, engine, count, -1);
    if (!d->fit || d->workspace < s->n * s->h * s->w * s->c)
        return;
    take_first(&other, config, engine, count, usual(engine, count));
    if (other.fit && other.workspace < d->workspace) {
        (void)dnn.cudnnBackendDestroyDescriptor(d->plan);
        *d = other;
    }
}

static void choose(tsri_cuda_dnn *d, descriptor graph, cudnnBackendHeurMode_t mode)
{
    descriptor config[MOST_ENGINES] = {0}, fit[MOST_ENGINES];
    int64_t engine[MOST_ENGINES], count = 0, fits = 0;
    maker m = {0};
    list_engines(&m, config, &count, graph, mode);
    for (int64_t i = 0; i < count; i++)
        if (is_fit(config[i], &engine[fits], d->shape.bf16))
            fit[fits++] = config[i];
    (tunes() ? take_fastest : take_by_rule)(d, fit, engine, fits);
    for (int i = 0; i < MOST_ENGINES; i++)
        if (config[i])
            (void)dnn.cudnnBackendDestroyDescriptor(config[i]);
    forget(&m);
}

static tsri_cuda_dnn *describe(const tsri_cuda_dnn_shape *shape)
{
    tsri_cuda_dnn *d = calloc(1, sizeof *d); /* for the process: no run owns it */
    maker m = {0};
    if (!d)
        return NULL;
    d->shape = *shape;
    descriptor graph = graph_of(&m, shape);
    if (m.status == CUDNN_STATUS_SUCCESS)
        choose(d, graph, CUDNN_HEUR_MODE_A);
    if (m.status == CUDNN_STATUS_SUCCESS && !d->fit)
        choose(d, graph, CUDNN_HEUR_MODE_FALLBACK);
    if (!d->fit)
        forget(&m); /* what a plan was made of stays with it */
    tell(d);
    return d;
}

const tsri_cuda_dnn *tsri_cuda_dnn_find(const tsri_cuda_dnn_shape *shape)
{
    if (tsri_cuda_dnn_lacks())
        return NULL;
    pthread_mutex_lock(&dnn.lock);
    tsri_cuda_dnn *d = dnn.found;
    while (d && memcmp(&d->shape, shape, sizeof *shape) != 0)
        d = d->next;
    if (!d && (d = describe(shape)) != NULL) {
        d->next = dnn.found;
        dnn.found = d;
    }
    pthread_mutex_unlock(&dnn.lock);
    return d && d->fit ? d : NULL;
}

int64_t tsri_cuda_dnn_bytes(const tsri_cuda_dnn *d)
{
    return d ? d->workspace : 0;
}

#else

const char *tsri_cuda_dnn_lacks(void)
{
    return "this module was built without cuDNN's headers";
}

int64_t tsri_cuda_dnn_version(void)
{
    return 0;
}

const tsri_cuda_dnn *tsri_cuda_dnn_find(const tsri_cuda_dnn_shape *shape)
{
    (void)shape;
    return NULL;
}

int64_t tsri_cuda_dnn_bytes(const tsri_cuda_dnn *d)
{
    (void)d;
    return 0;
}

tsr_status tsri_cuda_dnn_run(const tsri_cuda_dnn *d, const void *x, const void *w, const void *y,
                             void *workspace, cudaStream_t stream)
{
    (void)d, (void)x, (void)w, (void)y, (void)workspace, (void)stream;
    return tsri_fail(TSR_FAILURE, "%s", tsri_cuda_dnn_lacks());
}

#endif
