/* batch.c - what a step does beside its layers: the batch comes in, the loss, the update. */
#include "backend/cuda/cuda.h"

#include <stddef.h>

static cudaStream_t stream(tsri_device device)
{
    return tsri_cuda_stream(device.stream);
}

/* ---- Batches ------------------------------------------------------------------------------- */

/* As it comes, then brought into the layout by a kernel; the first copy's memory goes back in the
 * order of the stream. */
static tsr_status turned_input(tsri_mem *to, const float *x, int64_t n, tsri_shape s,
                               tsri_layout layout, cudaStream_t queue)
{
    tsr_status st = TSR_OK;
    int64_t pixels = s.h * s.w;
    size_t bytes = (size_t)(n * s.c * pixels) * sizeof *x;
    float *as_given = NULL;
    TSR_TRY(tsri_cuda_status(cudaMallocAsync((void **)&as_given, bytes, queue), "a batch"));
    TSR_TRY(tsri_cuda_status(cudaMemcpyAsync(as_given, x, bytes, cudaMemcpyHostToDevice, queue),
                             "a batch"));
    if (layout == TSRI_CHANNELS_LAST)
        TSR_TRY(tsri_cuda_status(
            tsri_cuda_turn(queue, tsri_mem_bind(to), as_given, n, s.c, pixels, false), "a batch"));
    else
        TSR_TRY(tsri_cuda_status(
            tsri_cuda_swap(queue, tsri_mem_bind(to), as_given, n, pixels, s.c, false), "a batch"));
done:
    if (as_given)
        (void)cudaFreeAsync(as_given, queue);
    return st;
}

tsr_status tsri_cuda_input(tsri_mem *to, const float *x, int64_t n, tsri_shape s,
                           tsri_layout layout, tsri_device device)
{
    size_t bytes = (size_t)(n * tsri_shape_count(s)) * sizeof *x;
    if (bytes == 0)
        return TSR_OK;
    if (layout != TSRI_AS_GIVEN)
        return turned_input(to, x, n, s, layout, stream(device));
    return tsri_cuda_status(
        cudaMemcpyAsync(tsri_mem_bind(to), x, bytes, cudaMemcpyHostToDevice, stream(device)),
        "a batch");
}

tsr_status tsri_cuda_draw_batch(const tsri_drawing *drawing, tsri_device device)
{
    _Static_assert(sizeof(tsri_move) == 3 * sizeof(int32_t), "as draw.cu reads it");
    const tsri_resident *r = drawing->from;
    tsri_shape s = r->shape;
    int64_t pixels = s.h * s.w;
    tsri_cuda_drawing d = {.count = drawing->count,
                           .dim = r->dim,
                           .c = s.c,
                           .h = s.h,
                           .w = s.w,
                           .bytes = tsri_mem_bind(r->bytes),
                           .numbers = tsri_mem_bind(r->numbers),
                           .shift = tsri_mem_bind(r->shift),
                           .scale = tsri_mem_bind(r->scale),
                           .black = tsri_mem_bind(r->black),
                           .index = tsri_mem_bind(drawing->index),
                           .move = tsri_mem_bind(drawing->move),
                           .x = tsri_mem_bind(drawing->x),
                           .per_sample = pixels * s.c,
                           .per_channel = pixels,
                           .per_pixel = 1};
    if (drawing->layout == TSRI_CHANNELS_LAST) {
        d.per_channel = 1;
        d.per_pixel = s.c;
    } else if (drawing->layout == TSRI_POSITIONS_FIRST) {
        d.inside = true;
        d.per_sample = s.c;
        d.per_channel = 1;
        d.per_pixel = drawing->count * s.c;
    }
    return tsri_cuda_status(tsri_cuda_draw(stream(device), &d), "drawing a batch");
}

tsr_status tsri_cuda_count_batch(tsri_mem *counter, tsri_device device)
{
    return tsri_cuda_status(tsri_cuda_count(stream(device), tsri_mem_bind(counter)), "a count");
}

/* ---- Loss ---------------------------------------------------------------------------------- */

tsr_status tsri_cuda_loss_batch(const tsri_loss *loss, tsri_device device)
{
    tsr_status st = TSR_OK;
    _Static_assert(offsetof(tsri_tally, hits) == sizeof(double), "as loss.cu writes it");
    int kind = tsri_cuda_loss_number(loss->kind);
    TSR_CHECK(
        kind >= 0, TSR_USAGE,
        "loss %s is not there yet with backend: cuda (src/backend/cuda/loss.cu): use backend: "
        "cpu",
        loss->kind->name);
    tsri_cuda_loss v = {.kind = kind,
                        .sum = loss->kind->sum,
                        .margins = loss->kind->margin != NULL,
                        .n = loss->n,
                        .valid = loss->valid,
                        .outputs = loss->outputs,
                        .positions = loss->positions ? loss->positions : 1,
                        .first = loss->first,
                        .length = loss->length,
                        .label = loss->label,
                        .x = loss->x,
                        .target = loss->target,
                        .weight = loss->weight,
                        .weight_mean = loss->weight_mean,
                        .smoothing = loss->smoothing,
                        .dx = loss->dx,
                        .tally = tsri_mem_bind(loss->tally),
                        .part = tsri_cuda_lane_of(device.stream)->parts};
    TSR_TRY(tsri_cuda_status(tsri_cuda_loss_of(stream(device), &v), "the loss"));
done:
    return st;
}

/* ---- Vectors of parameters ----------------------------------------------------------------- */

_Static_assert(sizeof(tsri_cuda_dials) == sizeof(tsri_dials) &&
                   offsetof(tsri_cuda_dials, adam_rate) == offsetof(tsri_dials, adam.rate) &&
                   offsetof(tsri_cuda_dials, epsilon) == offsetof(tsri_dials, adam.epsilon),
               "kernels read a tsri_dials");

tsr_status tsri_cuda_update_vector(const tsri_update *u, tsri_device device)
{
    tsri_cuda_packing packed;
    cudaStream_t s = tsri_cuda_stream_packed(device.stream, &packed);
    const tsri_cuda_sgd sgd = {.w = tsri_mem_bind(u->w),
                               .v = tsri_mem_bind(u->v),
                               .dw = tsri_mem_bind(u->dw),
                               .count = u->count,
                               .dials = tsri_mem_bind(u->dials),
                               .momentum = (float)u->momentum,
                               .decay = (float)u->decay,
                               .nesterov = u->nesterov};
    return tsri_cuda_status(tsri_cuda_update(s, &sgd, &packed), "an update");
}

tsr_status tsri_cuda_adam_vector(const tsri_adam *a, tsri_device device)
{
    return tsri_cuda_status(tsri_cuda_adam(stream(device), tsri_mem_bind(a->w), tsri_mem_bind(a->v),
                                           tsri_mem_bind(a->s), tsri_mem_bind(a->dw), a->count,
                                           tsri_mem_bind(a->dials)),
                            "an update");
}

static tsr_status clip(tsri_mem *g, int64_t count, double longest, tsri_device device)
{
    return tsri_cuda_status(tsri_cuda_clip(stream(device), tsri_mem_bind(g), count, longest,
                                           tsri_cuda_lane_of(device.stream)->parts),
                            "clipping");
}

static tsr_status blend(tsri_mem *a, const tsri_mem *w, int64_t count, double part,
                        tsri_device device)
{
    return tsri_cuda_status(
        tsri_cuda_blend(stream(device), tsri_mem_bind(a), tsri_mem_bind(w), count, part),
        "an average");
}

static tsr_status gather(tsri_mem *sum, tsri_mem *g, int64_t count, bool first, bool last,
                         float scale, tsri_device device)
{
    return tsri_cuda_status(tsri_cuda_gather(stream(device), tsri_mem_bind(sum), tsri_mem_bind(g),
                                             count, first, last, scale),
                            "a sum of micro-batches");
}

const tsri_vector_ops tsri_cuda_vectors = {.clip = clip, .blend = blend, .gather = gather};
