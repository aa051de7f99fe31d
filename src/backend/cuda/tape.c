/* tape.c - a step recorded once as a CUDA graph, and replayed with one launch.
 *
 * While it is recorded nothing runs. It is recorded on streams of its own, so that what other
 * threads ask for meanwhile does not get into it, and replayed on the device's. Everything it needs
 * must have been taken before: kernels that would take memory, or wait, fail the recording.
 * TESSERA_CUDA_BESIDE=0 puts everything into one stream. */
#include "backend/cuda/cuda.h"

#include <stdlib.h>

static cudaStream_t stream(tsri_device device)
{
    return tsri_cuda_stream(device.stream);
}

static _Thread_local cudaStream_t beside; /* of the recording, or NULL */

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
    (void)device;
    TSR_TRY(tsri_cuda_status(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking),
                             "making a stream"));
    if (!with || *with != '0')
        TSR_TRY(tsri_cuda_status(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking),
                                 "making a stream"));
    TSR_TRY(tsri_cuda_status(cudaStreamBeginCapture(own, cudaStreamCaptureModeThreadLocal),
                             "beginning to record a step"));
    tsri_cuda_record_on(own, beside);
    own = NULL;
done:
    if (own)
        end_streams(own);
    return st;
}

static tsr_status end(void **tape, tsri_device device)
{
    tsr_status st = TSR_OK;
    cudaStream_t own = tsri_cuda_recording();
    cudaGraph_t graph = NULL;
    cudaGraphExec_t made = NULL;
    (void)device;
    *tape = NULL;
    tsr_status settled = tsri_cuda_settle_all();
    TSR_TRY(tsri_cuda_status(cudaStreamEndCapture(own, &graph), "recording a step"));
    TSR_TRY(settled);
    TSR_TRY(tsri_cuda_status(cudaGraphInstantiate(&made, graph, 0), "making a graph of a step"));
    *tape = made;
done:
    if (graph)
        (void)cudaGraphDestroy(graph);
    end_streams(own);
    return st;
}

static tsr_status play(void *tape, tsri_device device)
{
    return tsri_cuda_status(cudaGraphLaunch(tape, stream(device)), "a recorded step");
}

static void forget(void *tape)
{
    if (tape)
        (void)cudaGraphExecDestroy(tape);
}

const tsri_tape_ops tsri_cuda_tape = {.begin = begin, .end = end, .play = play, .forget = forget};

tsr_status tsri_cuda_wait(tsri_device device)
{
    return tsri_cuda_status(cudaStreamSynchronize(stream(device)), "what it was to do");
}
