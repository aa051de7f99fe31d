/* dnn_time.c - how long an engine of cuDNN takes: a recording of many runs of it, launched and
 * timed. */
#include "backend/cuda/dnn_parts.h"

#ifdef TSRI_CUDA_HAS_DNN

#include <math.h>

/* A recording of runs of one engine, as many at once as there are streams, on memory of their
 * own. */
enum { TIMED = 10 };

typedef struct trial {
    const tsri_cuda_dnn *dnn;
    int streams;
    cudaStream_t stream[TSRI_DNN_STREAMS];
    char *memory[TSRI_DNN_STREAMS];
    int64_t at[3]; /* where w, y and the workspace lie in it */
    unsigned *slot[TSRI_DNN_STREAMS * TIMED];
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
            t->right =
                tsri_dnn_execute(t->dnn, m, m + t->at[0], m + t->at[1], slot ? slot : m + t->at[2],
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

double tsri_dnn_seconds(const tsri_cuda_dnn *d, int streams)
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

#endif
