/* recurrent.cuh - the product of a position: a block's rows of W, in registers, with the states that
 * all blocks of its group have written down.
 *
 * Blocks of a group hear of each other through `narrow`, where states are kept anyway. Before the
 * launch every word of it is NOTHING, two bf16 that no sum is rounded to; whoever needs a state reads
 * it until it is something else. So what a position waits for is one store and one load, without
 * flags, fences or barriers between blocks: the word that is awaited is the word that is used. (Clusters
 * of 16 blocks would do the same in shared memory: an H200 has room for 7 of them, where 64 samples
 * want 8, and 16 KB a position take longer through that network than through the cache.)
 *
 * tests/cuda/ has no matrix instructions: there the same words are multiplied one by one.
 */
#ifndef TSRI_CUDA_RECURRENT_CUH
#define TSRI_CUDA_RECURRENT_CUH

#include "backend/cuda/launch.h"
#include "backend/cuda/narrow.cuh"

enum {
    SAMPLES = 8,
    UNITS = TSRI_CUDA_RECURRENT_UNITS, /* of a block */
    WARPS = 8,
    THREADS = 32 * WARPS,
    TILES = UNITS / 16,
    DEPTH = TSRI_CUDA_RECURRENT_MOST / WARPS, /* what a warp sums over */
    STEPS = DEPTH / 16,
    CHUNKS = DEPTH / 32 /* of 16 bytes, for two steps each: what a thread reads of a sample */
};

#define NOTHING 0xffffffffu

typedef struct place {
    int warp, lane;
    int row, column;       /* of a thread's accumulators: rows `row` and row + 8, two columns */
    int64_t first, sample; /* of the block's units, of the group's samples */
} place;

static __device__ inline place place_of(int64_t ticket, int64_t blocks)
{
    int lane = (int)threadIdx.x % 32;
    return place{(int)threadIdx.x / 32,    lane, lane / 4, lane % 4 * 2, ticket % blocks * UNITS,
                 ticket / blocks * SAMPLES};
}

/* ---- Weights as the matrix instructions read them ------------------------------------------------ */

/* A thread's words of all its tiles, those of a warp's threads side by side:
 * [blocks][WARPS][TILES][STEPS][32] of four words, each two neighbours of a row. */
static __host__ __device__ inline int64_t word_at(int64_t block, int warp, int tile, int step,
                                                  int lane)
{
    return (((block * WARPS + warp) * TILES + tile) * STEPS + step) * 32 + lane;
}

static __host__ __device__ inline int64_t words_of(int64_t blocks)
{
    return blocks * WARPS * TILES * STEPS * 32;
}

/* Sums may be taken in any order, so long as both operands have the same: of steps 2 k and 2 k + 1,
 * lane % 4 = q takes units 32 k + 8 q to + 7, so that one load of four threads is 64 bytes in a
 * row: what the cache gives comes by 32, and each load on its own. */
static __device__ inline int64_t unit_at(int64_t warp, int64_t step, int64_t lane, int word)
{
    return warp * DEPTH + step / 2 * 32 + lane % 4 * EIGHT + step % 2 * 4 + (word >> 1) * 2;
}

/* What unit `row` takes of unit k, forward or back. */
static __device__ inline float weight_at(const tsri_cuda_recurrence &r, bool back, int64_t row,
                                         int64_t k)
{
    if (row >= r.c || k >= r.c)
        return 0;
    return back ? r.w[k * r.c + row] : r.w[row * r.c + k];
}

static __device__ inline uint4 words_at(const tsri_cuda_recurrence &r, bool back, int64_t e)
{
    int64_t lane = e % 32, step = e / 32 % STEPS, tile = e / 32 / STEPS % TILES;
    int64_t warp = e / 32 / STEPS / TILES % WARPS, block = e / 32 / STEPS / TILES / WARPS;
    unsigned word[4];
    for (int q = 0; q < 4; q++) {
        int64_t row = block * UNITS + tile * 16 + lane / 4 + (q & 1) * 8;
        int64_t k = unit_at(warp, step, lane, q);
        word[q] = pair_of(weight_at(r, back, row, k), weight_at(r, back, row, k + 1));
    }
    return make_uint4(word[0], word[1], word[2], word[3]);
}

/* ---- States of others ------------------------------------------------------------------------------ */

/* What a thread multiplies at a position: eights of units of sample `row`, 32 from one to the
 * next. */
typedef struct operand {
    uint4 chunk[CHUNKS];
} operand;

static __device__ inline bool is_there(uint4 v)
{
    return v.x != NOTHING && v.y != NOTHING && v.z != NOTHING && v.w != NOTHING;
}

/* As it is in memory now, whatever this thread has seen before. */
static __device__ inline uint4 look(const uint4 *at)
{
#ifdef __CUDA_ARCH__
    uint4 v;
    asm volatile("ld.relaxed.gpu.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(at)
                 : "memory");
    return v;
#else
    return *at;
#endif
}

/* Where a thread finds its operand in a position, every fourth chunk, and how many of them there
 * are. */
typedef struct reading {
    int64_t at; /* chunks from the beginning of the position */
    int count;
} reading;

static __device__ inline reading reading_of(const tsri_cuda_recurrence &r, place p)
{
    int64_t groups = pitch_of(r.c) / EIGHT, n = p.sample + p.row;
    int64_t first = p.warp * DEPTH / EIGHT + p.lane % 4;
    int64_t left = n < r.n ? (groups - first + 3) / 4 : 0;
    return reading{n * groups + first, (int)(left < 0 ? 0 : left < CHUNKS ? left : CHUNKS)};
}

/* Again at those of chunk `first` and later that were not there; all at once, since each look takes
 * as long as the way to the cache and back. */
static __device__ inline void look_again(operand &b, const uint4 *position, reading from, int first)
{
#pragma unroll
    for (int i = 0; i < CHUNKS; i++)
        if (i >= first && i < from.count && !is_there(b.chunk[i]))
            b.chunk[i] = look(position + from.at + 4 * i);
}

static __device__ inline operand look_at_all(const uint4 *position, reading from)
{
    operand b;
#pragma unroll
    for (int i = 0; i < CHUNKS; i++)
        b.chunk[i] = i < from.count ? look(position + from.at + 4 * i) : make_uint4(0, 0, 0, 0);
    return b;
}

/* ---- Products ------------------------------------------------------------------------------------- */

#ifdef __CUDA_ARCH__
typedef struct weights {
    uint4 a[TILES][STEPS];
} weights;

static __device__ inline void take_weights(weights &w, const tsri_cuda_recurrence &r, place p)
{
#pragma unroll
    for (int i = 0; i < TILES; i++)
#pragma unroll
        for (int j = 0; j < STEPS; j++)
            w.a[i][j] = ((const uint4 *)r.packed)[word_at(p.first / UNITS, p.warp, i, j, p.lane)];
}

static __device__ inline void multiply_tile(float sum[4], uint4 a, unsigned b0, unsigned b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}

/* Until the last chunk of every sample is there: the others come with it, more or less, and 16 KB
 * for each block and each look are more than the cache can give while others write to it. */
static __device__ inline void wait_for_last(const uint4 *position, reading from, place p)
{
    bool looks = p.lane % 4 == 3 && from.count == CHUNKS;
    uint4 v = make_uint4(0, 0, 0, 0);
    do {
        if (looks)
            v = look(position + from.at + 4 * (CHUNKS - 1));
    } while (!__all_sync(~0u, is_there(v)));
}

/* Chunk by chunk, as they come. */
static __device__ inline void multiply(float sum[TILES][4], const weights &w,
                                       const tsri_cuda_recurrence &r, const uint4 *position,
                                       reading from, place p)
{
    (void)r;
    wait_for_last(position, from, p);
    operand b = look_at_all(position, from);
#pragma unroll
    for (int k = 0; k < CHUNKS; k++) {
        while (!__all_sync(~0u, is_there(b.chunk[k])))
            look_again(b, position, from, k);
#pragma unroll
        for (int i = 0; i < TILES; i++)
            multiply_tile(sum[i], w.a[i][2 * k], b.chunk[k].x, b.chunk[k].y);
#pragma unroll
        for (int i = 0; i < TILES; i++)
            multiply_tile(sum[i], w.a[i][2 * k + 1], b.chunk[k].z, b.chunk[k].w);
    }
}
#else
typedef struct weights {
    int none;
} weights;

static __device__ inline void take_weights(weights &, const tsri_cuda_recurrence &, place)
{
}

static __device__ inline unsigned word_of(uint4 v, int i)
{
    const unsigned word[4] = {v.x, v.y, v.z, v.w};
    return word[i];
}

static __device__ inline float half_of(unsigned pair, int i)
{
    return __uint_as_float(i ? pair & 0xffff0000u : pair << 16);
}

/* What the four lanes of row `row` bring to a sum with sample `column`, where the instructions find
 * it. */
static __device__ inline float multiply_step(const tsri_cuda_recurrence &r, place p, int tile,
                                             int row, int step, int q, uint4 chunk)
{
    const uint4 a =
        ((const uint4 *)r.packed)[word_at(p.first / UNITS, p.warp, tile, step, row % 8 * 4 + q)];
    float sum = 0;
    for (int half = 0; half < 2; half++) {
        unsigned w = word_of(a, row / 8 + half * 2), x = word_of(chunk, step % 2 * 2 + half);
        for (int e = 0; e < 2; e++)
            sum += half_of(w, e) * half_of(x, e);
    }
    return sum;
}

/* The accumulators of a thread as the matrix instructions deal them out. */
static __device__ inline void multiply(float sum[TILES][4], const weights &,
                                       const tsri_cuda_recurrence &r, const uint4 *position,
                                       reading, place p)
{
    for (int e = 0; e < 2; e++)
        for (int q = 0; q < 4; q++) {
            place other = p;
            other.lane = q;
            other.row = p.column + e; /* the sample */
            operand b = look_at_all(position, reading_of(r, other));
            for (int i = 0; i < TILES; i++)
                for (int half = 0; half < 2; half++)
                    for (int j = 0; j < STEPS; j++)
                        sum[i][half * 2 + e] +=
                            multiply_step(r, p, i, p.row + half * 8, j, q, b.chunk[j / 2]);
        }
}
#endif

#endif
