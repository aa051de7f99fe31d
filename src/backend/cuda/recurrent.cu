/* recurrent.cu - a whole recurrence under bf16 in one launch.
 *
 *     forward     y_l  = max(s W y_(l-1) + x_l, 0)             0 behind a sequence's end
 *     backward    dx_l = [y_l > 0] (dy_l + s W^T dx_(l+1))
 *
 * Positions follow each other, samples do not: a cluster of blocks takes eight samples through all
 * positions. Each of its blocks keeps the weights of 64 units in registers, as the operands of
 * matrix instructions, so that W is read once; its warps share out what is summed over. The new
 * states of a block go straight into the shared memory of all others of the cluster, as bf16, and one
 * barrier of the cluster ends a position. Clusters know nothing of each other.
 *
 * A launch may begin anywhere: it takes the state before from memory. So a chip without clusters, and
 * tests/cuda/, could take one position at a time; only the exchange between blocks is not used then.
 */
#include "backend/cuda/launch.h"
#include "backend/cuda/narrow.cuh"

enum {
    SAMPLES = 8,
    UNITS = 64, /* of a block */
    WARPS = 8,
    THREADS = 32 * WARPS,
    MOST = TSRI_CUDA_RECURRENT_MOST,
    TILES = UNITS / 16,
    DEPTH = MOST / WARPS, /* what a warp sums over */
    STEPS = DEPTH / 16,
    PITCH = MOST + EIGHT, /* rows of states begin in different banks */
    FRESH = UNITS + EIGHT
};

typedef struct place {
    int warp, lane, row,
        column;            /* of a thread's accumulators: rows `row` and row + 8, two columns */
    int64_t first, sample; /* of the block's units, of the cluster's samples */
} place;

static __device__ inline place place_of(int64_t blocks)
{
    int lane = (int)threadIdx.x % 32;
    return place{(int)threadIdx.x / 32,
                 lane,
                 lane / 4,
                 lane % 4 * 2,
                 (int64_t)blockIdx.x % blocks * UNITS,
                 (int64_t)blockIdx.x / blocks * SAMPLES};
}

/* What unit `row` takes of unit k. */
static __device__ inline float weight_at(const tsri_cuda_recurrence &r, int64_t row, int64_t k)
{
    if (row >= r.c || k >= r.c)
        return 0;
    return r.back ? r.w[k * r.c + row] : r.w[row * r.c + k];
}

/* ---- Weights as the matrix instructions read them ------------------------------------------------ */

/* A thread's words of all its tiles, those of a warp's threads side by side:
 * [blocks][WARPS][TILES][STEPS][32] of four words, each two neighbours of a row. */
static __host__ __device__ inline int64_t word_at(int64_t block, int warp, int tile, int step,
                                                  int lane)
{
    return (((block * WARPS + warp) * TILES + tile) * STEPS + step) * 32 + lane;
}

static __global__ void pack(tsri_cuda_recurrence r, int64_t blocks)
{
    for (EACH(e, blocks * WARPS * TILES * STEPS * 32)) {
        int64_t lane = e % 32, step = e / 32 % STEPS, tile = e / 32 / STEPS % TILES;
        int64_t warp = e / 32 / STEPS / TILES % WARPS, block = e / 32 / STEPS / TILES / WARPS;
        unsigned word[4];
        for (int q = 0; q < 4; q++) {
            int64_t row = block * UNITS + tile * 16 + lane / 4 + (q & 1) * 8;
            int64_t k = warp * DEPTH + step * 16 + lane % 4 * 2 + (q >> 1) * 8;
            word[q] = pair_of(weight_at(r, row, k), weight_at(r, row, k + 1));
        }
        ((uint4 *)r.packed)[e] = make_uint4(word[0], word[1], word[2], word[3]);
    }
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define TSRI_CLUSTERS
#endif

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

static __device__ inline void multiply(float sum[TILES][4], const weights &w,
                                       const tsri_cuda_recurrence &r,
                                       const uint16_t (*state)[PITCH], place p)
{
    (void)r;
#pragma unroll
    for (int j = 0; j < STEPS; j++) {
        const uint16_t *b = &state[p.row][p.warp * DEPTH + j * 16 + p.column];
        unsigned b0 = *(const unsigned *)(const void *)b;
        unsigned b1 = *(const unsigned *)(const void *)(b + 8);
#pragma unroll
        for (int i = 0; i < TILES; i++)
            asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                : "+f"(sum[i][0]), "+f"(sum[i][1]), "+f"(sum[i][2]), "+f"(sum[i][3])
                : "r"(w.a[i][j].x), "r"(w.a[i][j].y), "r"(w.a[i][j].z), "r"(w.a[i][j].w), "r"(b0),
                  "r"(b1));
    }
}
#else
typedef struct weights {
    int none;
} weights;

static __device__ inline void take_weights(weights &, const tsri_cuda_recurrence &, place)
{
}

/* Row `row` of a tile and what it takes of number k of a warp, where the instructions find it. */
static __device__ inline float packed_at(const tsri_cuda_recurrence &r, place p, int tile, int row,
                                         int k)
{
    const uint4 v =
        ((const uint4 *)
             r.packed)[word_at(p.first / UNITS, p.warp, tile, k / 16, row % 8 * 4 + k % 8 / 2)];
    const unsigned word[4] = {v.x, v.y, v.z, v.w};
    unsigned pair = word[row / 8 + k % 16 / 8 * 2];
    return __uint_as_float(k % 2 ? pair & 0xffff0000u : pair << 16);
}

/* The accumulators of a thread as the matrix instructions deal them out. */
static __device__ inline void multiply(float sum[TILES][4], const weights &,
                                       const tsri_cuda_recurrence &r,
                                       const uint16_t (*state)[PITCH], place p)
{
    for (int i = 0; i < TILES; i++)
        for (int q = 0; q < 4; q++)
            for (int k = 0; k < DEPTH; k++)
                sum[i][q] +=
                    packed_at(r, p, i, p.row + (q >> 1) * 8, k) *
                    __uint_as_float((unsigned)state[p.column + (q & 1)][p.warp * DEPTH + k] << 16);
}
#endif

/* ---- A position ------------------------------------------------------------------------------ */

typedef struct desk {
    uint16_t state[2][SAMPLES][PITCH];
    float part[WARPS / 2][UNITS][SAMPLES];
    uint16_t fresh[SAMPLES][FRESH];
} desk;

/* part[0 .. 3] = the sums of all warps, in four parts. */
static __device__ inline void gather_parts(desk &d, float sum[TILES][4], place p)
{
    for (int half = 1; half >= 0; half--) {
        if (p.warp / (WARPS / 2) == half)
#pragma unroll
            for (int i = 0; i < TILES; i++)
#pragma unroll
                for (int q = 0; q < 4; q++) {
                    float *at = &d.part[p.warp % (WARPS / 2)][i * 16 + p.row + (q >> 1) * 8]
                                       [p.column + (q & 1)];
                    *at = half ? sum[i][q] : sum[i][q] + *at;
                }
        __syncthreads();
    }
}

/* A thread's two samples of one unit. */
typedef struct own {
    int64_t unit, sample; /* in the block, in the cluster */
    bool there[2];
    int64_t at[2];  /* in [n, c] */
    int64_t end[2]; /* of its sequence */
} own;

static __device__ inline own own_of(const tsri_cuda_recurrence &r, place p)
{
    own o;
    o.unit = threadIdx.x / 4;
    o.sample = threadIdx.x % 4 * 2;
    for (int e = 0; e < 2; e++) {
        int64_t n = p.sample + o.sample + e, c = p.first + o.unit;
        o.there[e] = n < r.n && c < r.c;
        o.at[e] = n * r.c + c;
        o.end[e] = o.there[e] && r.length ? (int64_t)r.length[n] : r.t;
    }
    return o;
}

/* What a position begins with, asked for before the one before it is done. */
typedef struct ahead {
    float start[2], mask[2];
} ahead;

static __device__ inline ahead fetch(const tsri_cuda_recurrence &r, const own &o, int64_t l)
{
    ahead f = {{0, 0}, {1, 1}};
    for (int e = 0; e < 2; e++)
        if (o.there[e]) {
            f.start[e] = r.start[l * r.n * r.c + o.at[e]];
            f.mask[e] = r.back ? r.mask[l * r.n * r.c + o.at[e]] : 1;
        }
    return f;
}

/* The new states of the block, to memory and to `fresh`. */
static __device__ inline void finish(desk &d, const tsri_cuda_recurrence &r, const own &o,
                                     int64_t l, const ahead &f, bool product)
{
    for (int e = 0; e < 2; e++) {
        float sum = 0;
        for (int k = 0; product && k < WARPS / 2; k++)
            sum += d.part[k][o.unit][o.sample + e];
        float v = r.scale * sum + f.start[e];
        bool on = o.there[e] && (r.back ? f.mask[e] > 0 : v > 0 && l < o.end[e]);
        v = on ? v : 0;
        if (o.there[e])
            r.to[l * r.n * r.c + o.at[e]] = v;
        d.fresh[o.sample + e][o.unit] = (uint16_t)pair_of(v, 0);
    }
}

/* 16 bytes of `fresh`: sample q / 8 of the cluster, units from q % 8 * 8. */
static __device__ inline uint4 chunk_of(const desk &d, int q)
{
    uint4 v;
    memcpy(&v, &d.fresh[q / 8][q % 8 * EIGHT], sizeof v);
    return v;
}

static __device__ inline void keep_narrow(const desk &d, const tsri_cuda_recurrence &r, place p,
                                          int64_t l)
{
    int q = (int)threadIdx.x;
    int64_t pitch = pitch_of(r.c), n = p.sample + q / 8, c = p.first + q % 8 * EIGHT;
    if (q < SAMPLES * UNITS / EIGHT && n < r.n && c < pitch)
        *(uint4 *)(void *)&r.narrow[(l * r.n + n) * pitch + c] = chunk_of(d, q);
}

static __device__ inline void take_state(desk &d, const tsri_cuda_recurrence &r, place p, int64_t l,
                                         int now)
{
    int64_t pitch = pitch_of(r.c);
    for (int i = (int)threadIdx.x; i < SAMPLES * PITCH; i += THREADS) {
        int64_t n = p.sample + i / PITCH, c = i % PITCH;
        d.state[1 - now][i / PITCH][c] = 0; /* behind the units of the cluster, too */
        d.state[now][i / PITCH][c] =
            l >= 0 && l < r.t && n < r.n && c < r.c ? r.narrow[(l * r.n + n) * pitch + c] : 0;
    }
    __syncthreads();
}

/* ---- Between blocks --------------------------------------------------------------------------- */

/* `fresh` into the next state of every block of the cluster. */
static __device__ inline void spread(desk &d, place p, int next, int64_t blocks)
{
#ifdef TSRI_CLUSTERS
    int q = (int)threadIdx.x % 64;
    uint4 v = chunk_of(d, q);
    unsigned at = (unsigned)__cvta_generic_to_shared(&d.state[next][q / 8][p.first + q % 8 * 8]);
    for (int to = (int)threadIdx.x / 64; to < blocks; to += THREADS / 64) {
        unsigned there;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(to));
        asm volatile("st.shared::cluster.v4.b32 [%0], {%1,%2,%3,%4};" ::"r"(there), "r"(v.x),
                     "r"(v.y), "r"(v.z), "r"(v.w)
                     : "memory");
    }
#else
    (void)d, (void)p, (void)next, (void)blocks;
#endif
}

static __device__ inline void arrive(void)
{
#ifdef TSRI_CLUSTERS
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}

static __device__ inline void wait(void)
{
#ifdef TSRI_CLUSTERS
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
    __syncthreads();
#endif
}

/* Positions in their order, the first to be done is `from`, the end `to`. */
static __global__ __launch_bounds__(THREADS) void recurrence(tsri_cuda_recurrence r, int64_t from,
                                                             int64_t to, int64_t blocks)
{
    __shared__ __align__(16) desk d;
    place p = place_of(blocks);
    own o = own_of(r, p);
    weights w;
    int64_t last = r.t - 1;
    take_weights(w, r, p);
    take_state(d, r, p, r.back ? last - from + 1 : from - 1, (int)(from & 1));
    ahead f = fetch(r, o, r.back ? last - from : from);
    arrive(); /* nobody writes into a block that has not begun */
    wait();
    for (int64_t s = from; s < to; s++) {
        int64_t l = r.back ? last - s : s;
        float sum[TILES][4] = {{0}};
        if (s > 0) {
            multiply(sum, w, r, d.state[s & 1], p);
            gather_parts(d, sum, p);
        }
        finish(d, r, o, l, f, s > 0);
        __syncthreads();
        spread(d, p, (int)(s + 1) & 1, blocks);
        arrive();
        keep_narrow(d, r, p, l);
        if (s + 1 < to)
            f = fetch(r, o, r.back ? l - 1 : l + 1);
        wait();
    }
}

/* A power of two: sizes that a cluster may have. */
static int64_t blocks_of(int64_t c)
{
    int64_t blocks = 1;
    while (blocks * UNITS < c)
        blocks *= 2;
    return blocks;
}

int64_t tsri_cuda_recurrent_bytes(int64_t c)
{
    return blocks_of(c) * WARPS * TILES * STEPS * 32 * (int64_t)sizeof(uint4);
}

cudaError_t tsri_cuda_recurrent_run(cudaStream_t s, const tsri_cuda_recurrence *r)
{
    int64_t blocks = blocks_of(r->c), grid = blocks * ((r->n + SAMPLES - 1) / SAMPLES);
    if (r->n == 0 || r->t == 0)
        return cudaSuccess;
    LAUNCH_EACH(pack, blocks * WARPS * TILES * STEPS * 32, s, *r, blocks);
#ifdef __CUDACC__
    cudaLaunchConfig_t how = {};
    cudaLaunchAttribute cluster;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = (unsigned)blocks;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    how.gridDim = dim3((unsigned)grid);
    how.blockDim = dim3(THREADS);
    how.stream = s;
    how.attrs = &cluster;
    how.numAttrs = 1;
    cudaError_t error =
        cudaFuncSetAttribute(recurrence, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    return error != cudaSuccess
               ? error
               : cudaLaunchKernelEx(&how, recurrence, *r, (int64_t)0, r->t, blocks);
#else
    for (int64_t i = 0; i < r->t; i++)
        LAUNCH_MEETING(recurrence, (unsigned)grid, THREADS, s, *r, i, i + 1, blocks);
    return cudaGetLastError();
#endif
}

/* ---- Beside products of cuBLAS, where it does not fit ------------------------------------------ */

static __global__ void recur_narrow(tsri_cuda_recurrence r, int64_t l, bool first)
{
    int64_t count = r.n * r.c, pitch = pitch_of(r.c);
    for (EACH(i, r.n * pitch)) {
        int64_t n = i / pitch, c = i % pitch, at = l * count + n * r.c + c;
        float v = 0;
        if (c < r.c) {
            v = (first ? 0 : r.to[at]) + r.start[at];
            bool on = r.back ? r.mask[at] > 0 : v > 0 && (!r.length || l < (int64_t)r.length[n]);
            v = on ? v : 0;
            r.to[at] = v;
        }
        r.narrow[(l * r.n + n) * pitch + c] = (uint16_t)pair_of(v, 0);
    }
}

cudaError_t tsri_cuda_recurrent_step(cudaStream_t s, const tsri_cuda_recurrence *r, int64_t l,
                                     bool first)
{
    LAUNCH_EACH(recur_narrow, r->n * pitch_of(r->c), s, *r, l, first);
    return cudaGetLastError();
}
