/* late.c - gradients of weights beside the chain of gradients of inputs (cuda.h).
 *
 * While a step is recorded there are two streams, and what is put beside becomes a branch of the
 * graph. What it reads is remembered: who overwrites it (a gradient that is added to in place, or
 * memory that the plan uses again) waits for the branch up to there. All this happens when a step is
 * recorded; replayed, it costs nothing. Of one stream everything is in order, so that waiting for
 * one piece of work is waiting for all before it.
 */
#include "backend/cuda/cuda.h"

enum { MOST = 256 }; /* pieces of work that nobody waited for yet */

typedef struct piece {
    cudaEvent_t done;
    const char *from[2], *to[2]; /* what it reads */
} piece;

static _Thread_local struct {
    cudaStream_t stream, beside;
    piece piece[MOST];
    int first, count;         /* those before `first` were waited for */
    tsri_cuda_packing packed; /* gradients that are still bf16 */
    tsri_cuda_work work;      /* what waits for room, or NULL */
    const tsri_op *op;
} recorded;

void tsri_cuda_record_on(cudaStream_t stream, cudaStream_t beside)
{
    recorded.stream = stream;
    recorded.beside = beside;
    recorded.first = recorded.count = 0;
    recorded.packed.count = 0;
    recorded.work = NULL;
}

cudaStream_t tsri_cuda_recording(void)
{
    return recorded.stream;
}

/* All pieces before `end` are waited for, at once: the last of them stands for all. */
static tsr_status wait_until(int end)
{
    if (end <= recorded.first)
        return TSR_OK;
    cudaError_t error = cudaStreamWaitEvent(recorded.stream, recorded.piece[end - 1].done, 0);
    for (int i = recorded.first; i < end; i++)
        (void)cudaEventDestroy(recorded.piece[i].done);
    recorded.first = end;
    if (recorded.first == recorded.count)
        recorded.first = recorded.count = 0;
    return tsri_cuda_status(error, "waiting for gradients of weights");
}

tsr_status tsri_cuda_settle_all(void)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_cuda_late_now(recorded.stream));
    TSR_TRY(wait_until(recorded.count));
    TSR_TRY(tsri_cuda_status(tsri_cuda_unpack_all(recorded.stream, &recorded.packed),
                             "gradients of weights"));
    recorded.packed.count = 0;
done:
    return st;
}

tsr_status tsri_cuda_unpack_late(const tsri_cuda_packed *gradient, cudaStream_t stream)
{
    tsr_status st = TSR_OK;
    tsri_cuda_packing alone = {.item = {*gradient}, .count = 1};
    if (!recorded.stream)
        return tsri_cuda_status(tsri_cuda_unpack_all(stream, &alone), "a gradient of weights");
    if (recorded.packed.count == TSRI_CUDA_PACK)
        TSR_TRY(tsri_cuda_settle_all());
    recorded.packed.item[recorded.packed.count++] = *gradient;
done:
    return st;
}

static bool overlaps(const piece *p, const char *low, const char *high)
{
    return (low < p->to[0] && p->from[0] < high) || (low < p->to[1] && p->from[1] < high);
}

tsr_status tsri_cuda_settle(const void *to, int64_t bytes)
{
    const char *low = to;
    int end = recorded.count;
    while (to && end > recorded.first && !overlaps(&recorded.piece[end - 1], low, low + bytes))
        end--;
    return to ? wait_until(end) : TSR_OK;
}

tsr_status tsri_cuda_settle_op(const tsri_op *op)
{
    tsr_status st = TSR_OK;
    if (op->need_dx)
        TSR_TRY(tsri_cuda_settle(op->dx, tsri_cuda_bytes_in(op)));
    TSR_TRY(tsri_cuda_settle(op->dadd, tsri_cuda_bytes_out(op)));
    if (op->relu)
        TSR_TRY(tsri_cuda_settle(op->dy, tsri_cuda_bytes_out(op)));
done:
    return st;
}

cudaStream_t tsri_cuda_stream_packed(void *own, tsri_cuda_packing *packed)
{
    *packed = recorded.packed;
    if (!recorded.stream)
        packed->count = 0;
    recorded.packed.count = 0;
    return tsri_cuda_stream(own);
}

cudaStream_t tsri_cuda_stream(void *own)
{
    if (!recorded.stream)
        return tsri_cuda_lane_of(own)->stream;
    (void)tsri_cuda_settle_all(); /* a failure here fails the recording */
    return recorded.stream;
}

cudaStream_t tsri_cuda_op_stream(const tsri_op *op)
{
    return recorded.stream ? recorded.stream : tsri_cuda_lane_of(op->stream)->stream;
}

static tsr_status mark(cudaEvent_t *event, cudaStream_t stream)
{
    tsr_status st = TSR_OK;
    *event = NULL;
    TSR_TRY(tsri_cuda_status(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "an event"));
    TSR_TRY(tsri_cuda_status(cudaEventRecord(*event, stream), "an event"));
done:
    return st;
}

tsr_status tsri_cuda_late_begin(cudaStream_t *beside, cudaStream_t here)
{
    tsr_status st = TSR_OK;
    cudaEvent_t ready = NULL;
    *beside = here;
    if (!recorded.beside)
        return TSR_OK;
    if (recorded.count == MOST)
        TSR_TRY(tsri_cuda_settle_all());
    *beside = recorded.beside;
    TSR_TRY(mark(&ready, here));
    TSR_TRY(tsri_cuda_status(cudaStreamWaitEvent(*beside, ready, 0), "beginning beside"));
done:
    if (ready)
        (void)cudaEventDestroy(ready);
    return st;
}

tsr_status tsri_cuda_late_end(const void *x, int64_t x_bytes, const void *y, int64_t y_bytes)
{
    tsr_status st = TSR_OK;
    piece *p = &recorded.piece[recorded.count];
    if (!recorded.beside)
        return TSR_OK;
    TSR_TRY(mark(&p->done, recorded.beside));
    p->from[0] = x;
    p->to[0] = p->from[0] + x_bytes;
    p->from[1] = y;
    p->to[1] = p->from[1] + y_bytes;
    recorded.count++;
done:
    return st;
}

tsr_status tsri_cuda_late_postpone(tsri_cuda_work work, const tsri_op *op)
{
    tsr_status st = TSR_OK;
    cudaStream_t here = tsri_cuda_op_stream(op);
    if (!recorded.beside)
        return work(op, here);
    TSR_TRY(tsri_cuda_late_now(here)); /* one at a time */
    recorded.work = work;
    recorded.op = op;
done:
    return st;
}

tsr_status tsri_cuda_late_now(cudaStream_t here)
{
    tsr_status st = TSR_OK;
    tsri_cuda_work work = recorded.work;
    const tsri_op *op = recorded.op;
    cudaStream_t beside = here;
    recorded.work = NULL;
    if (!work)
        return TSR_OK;
    TSR_TRY(tsri_cuda_late_begin(&beside, here));
    TSR_TRY(work(op, beside));
    TSR_TRY(tsri_cuda_late_end(op->x, tsri_cuda_bytes_in(op), op->late, op->late_bytes));
done:
    return st;
}
