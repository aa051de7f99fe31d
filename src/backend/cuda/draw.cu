/* draw.cu - a batch made of resident samples: picked, moved, mirrored, normalised and laid out in
 * one pass, with the operations of backend/draw.c: the same bits. */
#include "backend/cuda/grid.cuh"
#include "backend/cuda/launch.h"

/* Number k of a sample, in the order of the host. */
static __device__ inline float number_at(const tsri_cuda_drawing &d, int64_t sample, int64_t k)
{
    if (!d.bytes)
        return d.numbers[sample * d.dim + k];
    int64_t c = k / (d.h * d.w);
    return ((float)d.bytes[sample * d.dim + k] - d.shift[c]) * d.scale[c];
}

/* The pixel that comes to (h, w) of channel c. */
static __device__ inline float moved(const tsri_cuda_drawing &d, int64_t sample, int64_t c,
                                     int64_t h, int64_t w, const int32_t *move)
{
    int64_t from_h = h - move[0], from_w = (move[2] ? d.w - 1 - w : w) - move[1];
    if (from_h < 0 || from_h >= d.h || from_w < 0 || from_w >= d.w)
        return d.black[c];
    return number_at(d, sample, (c * d.h + from_h) * d.w + from_w);
}

/* i counts what is read, in the order of the host: sequences have their channels inside. Divisions
 * of 32 bits (U) take a fraction of the time of those of 64. */
template <typename U> static __global__ void draw(tsri_cuda_drawing d, int64_t count)
{
    const U dim = (U)d.dim, per = (U)(d.inside ? d.c : d.h * d.w);
    for (EACH(i, count)) {
        const U at = (U)i % dim;
        const int64_t row = (U)i / dim, k = at;
        const int64_t c = d.inside ? at % per : at / per, p = d.inside ? at / per : at % per;
        int64_t sample = d.index[row];
        float v = 0;
        if (sample >= 0 && d.move)
            v = moved(d, sample, c, p / d.w, p % d.w, d.move + 3 * row);
        else if (sample >= 0)
            v = number_at(d, sample, k);
        d.x[row * d.per_sample + c * d.per_channel + p * d.per_pixel] = v;
    }
}

cudaError_t tsri_cuda_draw(cudaStream_t s, const tsri_cuda_drawing *drawing)
{
    int64_t count = drawing->count * drawing->dim;
    if (count <= UINT32_MAX)
        LAUNCH_EACH(draw<uint32_t>, count, s, *drawing, count);
    else
        LAUNCH_EACH(draw<uint64_t>, count, s, *drawing, count);
    return cudaGetLastError();
}
