/* narrow_sums.cuh - sums over the rows of narrow values, of each channel, in one launch.
 *
 *     SHARED_ROOM(ring, ROOM);
 *     standing s = standing_in(slab_of(c), groups);
 *     each_row<RING>(ring, from, s, rows, groups, [&](int64_t at, const uint4 *v) { ... sum ... });
 *     const double *total = add_up(sum, norm, ring);
 *     if (total)
 *         ... the last block of a slab: [SUMS][channels of the slab] ...
 *
 * A block has a slab of channels and a band of rows. It sums in float and writes its sums down; the
 * last block of a slab to do so adds up the bands in double, in order, so which block comes last
 * changes no bit. Slabs are narrow, so that this end of the pass is short.
 */
#ifndef TSRI_CUDA_NARROW_SUMS_CUH
#define TSRI_CUDA_NARROW_SUMS_CUH

#include "backend/cuda/launch.h"
#include "backend/cuda/narrow.cuh"

enum {
    TALL = 512,   /* threads of a block */
    SUMS = 2,     /* that a pass makes of each channel */
    SLAB = 8,     /* eights of channels in a slab, 128 bytes of a row, or more: */
    BLOCKS = 132, /* of a pass: one on each multiprocessor of an H200, or of a large tensor two: */
    LARGE = 1 << 24,
    RING = 12 /* eights on their way to a thread, of all that it reads */
};

/* Where other networks run at once: a quarter of the chip keeps its memory busy, and the rest of it
 * multiplies. */
enum {
    CROWDED = 33,  /* blocks of a pass */
    FEW = RING / 2 /* eights on their way: room for a second block beside it */
};

/* Shared memory of a pass: the ring, then room for the sums of its threads. */
enum { ROOM = RING * TALL * 16, LITTLE_ROOM = FEW * TALL * 16 };

typedef tsri_cuda_narrow_norm normed;

/* ---- Rows on their way ------------------------------------------------------------------------ */

/* A thread copies what it reads into places of shared memory that are its own, R of them, and
 * so far ahead that memory is never waited for: registers would hold a third of it. Nobody else
 * reads these places, so that nobody waits for anybody. */
static __device__ inline void fetch(uint4 *to, const uint4 *from)
{
#ifdef __CUDA_ARCH__
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
#else
    *to = *from;
#endif
}

/* What was fetched until now is a group. */
static __device__ inline void fetched(void)
{
#ifdef __CUDA_ARCH__
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* All groups but the last N are there. */
template <int N> static __device__ inline void wait_for(void)
{
#ifdef __CUDA_ARCH__
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

/* use(at, v) for each row of the thread, v being what stands there in the tensors `from`. From the
 * last row to the first: of a large tensor the second half is what its maker has just left in the
 * cache, and the second pass, which goes upwards, then finds the first. */
template <int R, int TENSORS, class USE>
static __device__ inline void each_row(uint4 *ring, const uint4 *const (&from)[TENSORS],
                                       const standing &s, int64_t rows, int64_t groups, USE use)
{
    enum { STAGES = R / TENSORS };
    uint4 *mine = ring + threadIdx.x;
    int count = s.idle || s.row >= rows ? 0 : (int)((rows - 1 - s.row) / s.step) + 1;
    int64_t at = (rows - 1 - s.row) * groups + s.group, step = s.step * groups, ahead = at;
    int put = 0, take = 0;
    for (int i = 1 - STAGES; i < count; i++) {
        if (i + STAGES - 1 < count) {
#pragma unroll
            for (int k = 0; k < TENSORS; k++)
                if (from[k])
                    fetch(mine + (put * TENSORS + k) * TALL, from[k] + ahead);
            ahead -= step;
            put = put + 1 == STAGES ? 0 : put + 1;
        }
        fetched();
        if (i < 0)
            continue;
        wait_for<STAGES - 1>();
        uint4 v[TENSORS];
#pragma unroll
        for (int k = 0; k < TENSORS; k++)
            v[k] = from[k] ? mine[(take * TENSORS + k) * TALL] : make_uint4(0, 0, 0, 0);
        use(at, v);
        at -= step;
        take = take + 1 == STAGES ? 0 : take + 1;
    }
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* A slab has at least SLAB eights, and there are no more than TSRI_CUDA_SLABS of them. */
static __host__ __device__ inline tiling slab_of(int64_t c)
{
    int64_t groups = pitch_of(c) / EIGHT, least = (groups + TSRI_CUDA_SLABS - 1) / TSRI_CUDA_SLABS;
    int64_t lanes = SLAB;
    lanes = least > lanes ? least : lanes;
    return tiling_of(lanes < groups ? lanes : groups, TALL);
}

static dim3 slabs_grid(int64_t rows, int64_t c, int crowd)
{
    tiling t = slab_of(c);
    int64_t slabs = (pitch_of(c) / EIGHT + t.lanes - 1) / t.lanes;
    int64_t blocks = crowd > 1 ? (int)CROWDED : (int)BLOCKS;
    int64_t most = (rows * pitch_of(c) < LARGE ? blocks : 2 * blocks) / slabs;
    int64_t bands = rows / ((int64_t)t.per * AHEAD);
    bands = bands < most ? bands : most;
    return dim3((unsigned)(bands < 1 ? 1 : bands), (unsigned)slabs, 1);
}

/* to [SUMS][channels of the slab] = the sums of a block's threads, in order: first those of every
 * `parts`-th row of threads, then the parts. All threads of the block must come here; `room` is
 * ROOM bytes that nobody reads any more when all are here. */
static __device__ inline void meet(float *to, const eight sum[SUMS], tiling t, float *room)
{
    const int values = SUMS * EIGHT, me = (int)threadIdx.x, columns = values * t.lanes;
    int parts = TALL / columns < t.per ? TALL / columns : t.per;
    float *half = room + values * TALL;
    parts = parts < 1 ? 1 : parts;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < values; i++)
        room[i * TALL + me] = sum[i / EIGHT].v[i % EIGHT];
    __syncthreads();
    for (int k = me; k < columns * parts; k += TALL) {
        int lane = k % t.lanes, above = k / t.lanes, part = above % parts, value = above / parts;
        float all = 0;
#pragma unroll 4
        for (int r = part; r < t.per; r += parts)
            all += room[value * TALL + r * t.lanes + lane];
        half[k] = all;
    }
    __syncthreads();
    for (int k = me; k < columns; k += TALL) {
        int lane = k % t.lanes, value = k / t.lanes;
        float all = 0;
        for (int part = 0; part < parts; part++)
            all += half[(value * parts + part) * t.lanes + lane];
        to[(value / EIGHT * t.lanes + lane) * EIGHT + value % EIGHT] = all;
    }
}

/* total [columns] = the sums of the bands: a thread takes four columns and every `parts`-th band;
 * then the parts are added up, in order. `room`: 4 TALL doubles. */
static __device__ inline void add_bands(double *total, double *room, const float *bands,
                                        int columns)
{
    int fours = columns / 4, me = (int)threadIdx.x;
    int wide = fours < TALL ? fours : TALL, parts = TALL / wide;
    for (int base = 0; base < fours; base += wide) {
        int column = base + me % wide;
        double sum[4] = {0, 0, 0, 0};
        if (column < fours && me / wide < parts)
#pragma unroll 8
            for (unsigned band = (unsigned)(me / wide); band < gridDim.x; band += (unsigned)parts) {
                float4 v = __ldcg((const float4 *)(bands + (int64_t)band * columns) + column);
                sum[0] += (double)v.x;
                sum[1] += (double)v.y;
                sum[2] += (double)v.z;
                sum[3] += (double)v.w;
            }
        __syncthreads();
        for (int i = 0; i < 4; i++)
            room[me * 4 + i] = sum[i];
        __syncthreads();
        for (int i = me; i < 4 * wide; i += TALL) {
            double all = 0;
            for (int part = 0; part < parts; part++)
                all += room[part * wide * 4 + i];
            if (4 * base + i < columns)
                total[4 * base + i] = all;
        }
    }
    __syncthreads();
}

/* Writes the block's sums down. For the last block of a slab the sums of all bands, [SUMS][channels
 * of the slab]; NULL for the others. */
static __device__ inline const double *add_up(const eight sum[SUMS], const normed &v, void *room)
{
    __shared__ bool last;
    tiling t = slab_of(v.c);
    int columns = SUMS * EIGHT * t.lanes;
    float *bands = (float *)v.scratch + (int64_t)blockIdx.y * gridDim.x * columns;
    meet(bands + (int64_t)blockIdx.x * columns, sum, t, (float *)room);
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence(); /* of what all threads wrote: they have met */
        last = atomicInc(v.counter + blockIdx.y, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last)
        return NULL;
    double *part = (double *)room, *total = part + 4 * TALL; /* of 2048 columns at most */
    add_bands(total, part, bands, columns);
    return total;
}

/* The channel of a slab's end that is this thread's k-th; c and more: there is none. */
static __device__ inline int64_t channel_of(const normed &v, int k)
{
    int wide = slab_of(v.c).lanes * EIGHT, i = (int)threadIdx.x + k * TALL;
    return i < wide ? (int64_t)blockIdx.y * wide + i : v.c;
}

/* What the end of a pass needs of a thread's first channel, asked for before the rows are: the last
 * block would wait for it with nothing else to do. */
static __device__ inline float4 early_of(const normed &v, const float *a, const float *b,
                                         const float *c, const float *d)
{
    int64_t i = channel_of(v, 0);
    return i < v.c ? float4{a[i], b[i], c[i], d[i]} : float4{0, 0, 0, 0};
}

#endif
