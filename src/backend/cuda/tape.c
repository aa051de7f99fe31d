/* tape.c - a step recorded once as a CUDA graph, and replayed with one launch.
 *
 * While it is recorded nothing runs. It is recorded on streams of its own, so that what other
 * threads ask for meanwhile does not get into it, and replayed on the device's. Everything it needs
 * must have been taken before: kernels that would take memory, or wait, fail the recording. The
 * chain that everything waits for comes before what is beside it where both are ready; not where
 * several networks run at once: the others' chains would come before its gradients of weights.
 * TESSERA_CUDA_BESIDE=0 puts everything into one stream. */
#include "backend/cuda/cuda.h"
#include "base/alloc.h"

#include <stdlib.h>

static cudaStream_t stream(tsri_device device)
{
    return tsri_cuda_stream(device.stream);
}

typedef struct tape {
    cudaGraphExec_t graph;
    tsri_cuda_zeros *zeros;
    bool gated; /* some of its blocks wait for each other */
} tape;

static _Thread_local cudaStream_t beside; /* of the recording, or NULL */
static _Thread_local tsri_cuda_zeros *zeros;

static void end_streams(cudaStream_t own)
{
    tsri_cuda_record_on(NULL, NULL);
    if (beside)
        (void)cudaStreamDestroy(beside);
    beside = NULL;
    if (own)
        (void)cudaStreamDestroy(own);
}

static tsr_status begin(tsri_device device)
{
    tsr_status st = TSR_OK;
    cudaStream_t own = NULL;
    const char *with = secure_getenv("TESSERA_CUDA_BESIDE");
    int last = 0, first = 0; /* of the priorities that there are: lower ones come first */
    zeros = NULL;
    tsri_cuda_use_gpu();
    TSR_TRY(tsri_cuda_status(cudaDeviceGetStreamPriorityRange(&last, &first), "making a stream"));
    if (device.crowd > 1)
        first = last;
    TSR_TRY(tsri_cuda_status(cudaStreamCreateWithPriority(&own, cudaStreamNonBlocking, first),
                             "making a stream"));
    if (!with || *with != '0')
        TSR_TRY(tsri_cuda_status(cudaStreamCreateWithPriority(&beside, cudaStreamNonBlocking, last),
                                 "making a stream"));
    TSR_TRY(tsri_cuda_zeros_begin(&zeros, own));
    (void)tsri_cuda_gate_recorded();
    tsri_cuda_record_on(own, beside);
    own = NULL;
done:
    if (own) {
        end_streams(own);
        (void)cudaFree(zeros);
        zeros = NULL;
    }
    return st;
}

static void forget(void *made)
{
    tape *t = made;
    if (!t)
        return;
    if (t->graph)
        (void)cudaGraphExecDestroy(t->graph);
    (void)cudaFree(t->zeros);
    tsri_free(t);
}

static tsr_status end(void **made, tsri_device device)
{
    tsr_status st = TSR_OK;
    cudaStream_t own = tsri_cuda_recording();
    cudaGraph_t graph = NULL;
    tape *t = NULL;
    (void)device;
    *made = NULL;
    tsr_status settled = tsri_cuda_settle_all();
    TSR_TRY(tsri_cuda_status(cudaStreamEndCapture(own, &graph), "recording a step"));
    TSR_TRY(settled);
    TSR_TRY(tsri_cuda_zeros_end(zeros, graph, own));
    TSR_TRY(tsri_alloc(&t, 1, sizeof *t));
    TSR_TRY(
        tsri_cuda_status(cudaGraphInstantiate(&t->graph, graph, 0), "making a graph of a step"));
    t->zeros = zeros;
    t->gated = tsri_cuda_gate_recorded();
    zeros = NULL;
    *made = t;
    t = NULL;
done:
    if (graph)
        (void)cudaGraphDestroy(graph);
    forget(t);
    (void)cudaFree(zeros);
    zeros = NULL;
    end_streams(own);
    return st;
}

static tsr_status play(void *made, tsri_device device)
{
    tsr_status st = TSR_OK;
    const tape *t = made;
    cudaStream_t s = stream(device);
    if (t->gated)
        TSR_TRY(tsri_cuda_gate_enter(device.stream, s));
    st = tsri_cuda_status(cudaGraphLaunch(t->graph, s), "a recorded step");
    if (t->gated) {
        tsr_status left = tsri_cuda_gate_leave(device.stream, s);
        st = st == TSR_OK ? left : st;
    }
done:
    return st;
}

const tsri_tape_ops tsri_cuda_tape = {.begin = begin, .end = end, .play = play, .forget = forget};

tsr_status tsri_cuda_wait(tsri_device device)
{
    return tsri_cuda_status(cudaStreamSynchronize(stream(device)), "what it was to do");
}
