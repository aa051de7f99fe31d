/* narrow.cuh - rows of bf16, eight channels at a time.
 *
 * A narrow value is [rows, pitch]: `pitch` channels, a multiple of 8, zeros behind the last one that
 * there is. A thread takes eight channels of a row as one load of 16 bytes and computes in float.
 * Threads of a block lie as `per` rows of `lanes` groups of eight channels, so that each keeps its
 * channels, and what belongs to them, for all the rows it comes to.
 */
#ifndef TSRI_CUDA_NARROW_CUH
#define TSRI_CUDA_NARROW_CUH

#include "backend/cuda/grid.cuh"

enum { EIGHT = 8, AHEAD = 4 }; /* rows whose loads are on their way at once */

typedef struct eight {
    float v[EIGHT];
} eight;

static __host__ __device__ inline int64_t pitch_of(int64_t c)
{
    return (c + EIGHT - 1) / EIGHT * EIGHT;
}

/* ---- Numbers ------------------------------------------------------------------------------- */

static __device__ inline eight eight_of(uint4 raw)
{
    const unsigned word[4] = {raw.x, raw.y, raw.z, raw.w};
    eight e;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        e.v[2 * i] = __uint_as_float(word[i] << 16);
        e.v[2 * i + 1] = __uint_as_float(word[i] & 0xffff0000u);
    }
    return e;
}

/* Two floats to the nearest bf16, ties to even; the first in the lower half. */
static __device__ inline unsigned pair_of(float low, float high)
{
#ifdef __CUDA_ARCH__
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
#else
    unsigned bits[2] = {__float_as_uint(low), __float_as_uint(high)};
    for (int i = 0; i < 2; i++)
        bits[i] = (bits[i] & 0x7fffffff) > 0x7f800000
                      ? 0x7fff
                      : (bits[i] + 0x7fff + (bits[i] >> 16 & 1)) >> 16;
    return bits[0] | bits[1] << 16;
#endif
}

static __device__ inline uint4 raw_of(const eight &e)
{
    return make_uint4(pair_of(e.v[0], e.v[1]), pair_of(e.v[2], e.v[3]), pair_of(e.v[4], e.v[5]),
                      pair_of(e.v[6], e.v[7]));
}

/* Channels `first` to first + 7 of a vector of c floats; zeros behind its end, and of NULL. */
static __device__ inline eight channels_at(const float *p, int64_t first, int64_t c)
{
    eight e;
#pragma unroll
    for (int i = 0; i < EIGHT; i++)
        e.v[i] = p && first + i < c ? p[first + i] : 0;
    return e;
}

/* ---- Rows ---------------------------------------------------------------------------------- */

/* How `threads` of a block lie on rows of eights: `lanes` of them, on `per` rows at once. */
typedef struct tiling {
    int lanes, per;
} tiling;

static __host__ __device__ inline tiling tiling_of(int64_t groups, int threads)
{
    int lanes = groups < threads ? (int)groups : threads;
    return tiling{lanes, threads / lanes};
}

/* Where a thread stands. */
typedef struct standing {
    int64_t group, row, step; /* its eight channels, its first row, from row to row */
    bool idle;
} standing;

static __device__ inline standing standing_in(tiling t, int64_t groups)
{
    int lane = (int)threadIdx.x % t.lanes, r = (int)threadIdx.x / t.lanes;
    standing s = {(int64_t)blockIdx.y * t.lanes + lane, (int64_t)blockIdx.x * t.per + r,
                  (int64_t)gridDim.x * t.per, false};
    s.idle = r >= t.per || s.group >= groups;
    return s;
}

static __device__ inline standing standing_of(int64_t groups)
{
    return standing_in(tiling_of(groups, (int)blockDim.x), groups);
}

/* Blocks for [rows, groups], `most` at most along the rows, AHEAD rows for each thread. */
static inline dim3 rows_grid(int64_t rows, int64_t groups, int threads, int64_t most)
{
    tiling t = tiling_of(groups, threads);
    int64_t wanted = (rows + (int64_t)t.per * AHEAD - 1) / ((int64_t)t.per * AHEAD);
    wanted = wanted < most ? wanted : most;
    return dim3((unsigned)(wanted < 1 ? 1 : wanted), (unsigned)((groups + t.lanes - 1) / t.lanes),
                1);
}

/* for (its rows, AHEAD at a time) { FETCH first, then use }: `k` counts inside. */
#define EACH_AHEAD(s, row_, rows)                                                                  \
    int64_t row_ = (s).row;                                                                        \
    !(s).idle &&row_ < (rows);                                                                     \
    row_ += AHEAD * (s).step

#define AHEAD_ROW(s, row_, k) ((row_) + (k) * (s).step)

#endif
