/* recurrent.cu - a whole recurrence under bf16 in one launch.
 *
 *     forward     y_l  = max(s W y_(l-1) + x_l, 0)             0 behind a sequence's end
 *     backward    dx_l = [y_l > 0] (dy_l + s W^T dx_(l+1))
 *
 * Positions follow each other, samples do not: a group of blocks takes eight samples through all
 * positions. Each of its blocks keeps the weights of 64 units in registers, as the operands of
 * matrix instructions, so that W is read once; its warps share out what is summed over.
 *
 * Blocks of a group hear of each other through `narrow`, where states are kept anyway. Before the
 * launch every word of it is NOTHING, two bf16 that no sum is rounded to; whoever needs a state reads
 * it until it is something else. So what a position waits for is one store and one load, without
 * flags, fences or barriers between blocks: the word that is awaited is the word that is used. (Clusters
 * of 16 blocks would do the same in shared memory: an H200 has room for 7 of them, where 64 samples
 * want 8, and 16 KB a position take longer through that network than through the cache.)
 *
 * Who waits must not keep out whom it waits for. Blocks take their places in the order in which they
 * begin, so only the last group of a launch can lack some, and it holds 15 multiprocessors at most;
 * recurrent_bf16.c asks for no more launches at once than leave one free.
 *
 * What a position adds is asked for STAGES - 1 positions ahead; results go to memory last.
 *
 * A launch may begin anywhere. tests/cuda/, whose blocks run one after the other, take one position
 * at a time.
 */
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
    CHUNKS = DEPTH / 32, /* of 16 bytes, for two steps each: what a thread reads of a sample */
    STAGES = 4           /* positions whose numbers are on their way */
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
 * lane % 4 = q takes units 32 k + 8 q to + 7, so that one load of four threads is 64 bytes in a row:
 * what the cache gives comes by 32, and each load on its own. */
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

/* Both ways behind each other, each with its tickets. */
static __host__ __device__ inline int64_t packed_words(int64_t blocks)
{
    return words_of(blocks) + 1;
}

static __global__ void pack(tsri_cuda_recurrence r, int64_t blocks)
{
    int64_t words = words_of(blocks);
    for (EACH(e, 2 * words)) {
        bool back = e >= words;
        uint4 *to = (uint4 *)r.packed + (back ? packed_words(blocks) : 0);
        to[e - (back ? words : 0)] = words_at(r, back, e - (back ? words : 0));
        if (e == 0 || e == words)
            to[words] = make_uint4(0, 0, 0, 0);
    }
}

static __global__ void clear(uint4 *narrow, int64_t chunks)
{
    for (EACH(e, chunks))
        narrow[e] = make_uint4(NOTHING, NOTHING, NOTHING, NOTHING);
}

/* ---- States of others ------------------------------------------------------------------------------ */

/* What a thread multiplies at a position: eights of units of sample `row`, 32 from one to the next. */
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

/* Where a thread finds its operand in a position, every fourth chunk, and how many of them there are. */
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

/* Again at those of chunk `first` and later that were not there; all at once, since each look takes as
 * long as the way to the cache and back. */
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

/* Until the last chunk of every sample is there: the others come with it, more or less, and 16 KB for
 * each block and each look are more than the cache can give while others write to it. */
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

/* What the four lanes of row `row` bring to a sum with sample `column`, where the instructions find it. */
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

/* ---- What a block has in its shared memory ------------------------------------------------------ */

/* What a position adds, for a thread's two samples; back, what says where the ReLU was on. */
typedef struct ahead {
    float start[2], mask[2];
} ahead;

typedef struct desk {
    float2 part[2][WARPS][UNITS]
               [SAMPLES / 2];        /* the sums of each warp; of two positions by turns */
    ahead ahead_of[STAGES][THREADS]; /* each thread its own */
    int64_t ticket;
} desk;

/* A thread's two samples of one unit. */
typedef struct own {
    int64_t unit, sample; /* in the block, in the group */
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

static __device__ inline int64_t position_at(const tsri_cuda_recurrence &r, int64_t s)
{
    return r.back ? r.t - 1 - s : s;
}

/* Where a position's numbers lie; from one to the next they move by the same. Nothing has to be
 * multiplied while others wait. */
typedef struct walk {
    const float *start, *mask; /* of the position that is asked for next, a thread's first sample */
    float *to;                 /* of this one */
    tsri_cuda_bf16 *tell;      /* of this one, the thread's two units of sample `row` */
    const uint4 *heard;        /* of the one before, the thread's first chunk */
    int64_t numbers, narrow;   /* from position to position */
    bool tells;
} walk;

static __device__ inline walk walk_from(const tsri_cuda_recurrence &r, const own &o, place p,
                                        int64_t s)
{
    int64_t pitch = pitch_of(r.c), l = position_at(r, s), way = r.back ? -1 : 1;
    int64_t n = p.sample + p.row, c = p.first + p.warp * EIGHT + p.column;
    walk k;
    k.numbers = way * r.n * r.c;
    k.narrow = way * r.n * pitch;
    k.start = r.start + l * r.n * r.c + o.at[0];
    k.mask = (r.back ? r.mask : r.start) + l * r.n * r.c + o.at[0];
    k.to = r.to + l * r.n * r.c + o.at[0];
    k.tell = r.narrow + (l * r.n + n) * pitch + c;
    k.heard = (const uint4 *)(const void *)(r.narrow + l * r.n * pitch - k.narrow);
    k.tells = n < r.n && c < pitch;
    return k;
}

/* ---- Numbers asked for ahead -------------------------------------------------------------------- */

static __device__ inline void ask(float *to, const float *from)
{
#ifdef __CUDA_ARCH__
    asm volatile(
        "cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
        "l"(from)
        : "memory");
#else
    *to = *from;
#endif
}

/* What the next position that nobody has asked for will add; one group of copies, also where there is
 * none. */
static __device__ inline void ask_ahead(desk &d, const tsri_cuda_recurrence &r, const own &o,
                                        walk &k, int s, bool more)
{
    ahead *f = &d.ahead_of[s % STAGES][threadIdx.x];
#pragma unroll
    for (int e = 0; e < 2; e++)
        if (more && o.there[e]) {
            ask(&f->start[e], k.start + e * r.c);
            if (r.back)
                ask(&f->mask[e], k.mask + e * r.c);
        }
    k.start += k.numbers;
    k.mask += k.numbers;
#ifdef __CUDA_ARCH__
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

static __device__ inline ahead take_ahead(const desk &d, int s)
{
#ifdef __CUDA_ARCH__
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
#endif
    return d.ahead_of[s % STAGES][threadIdx.x];
}

/* ---- A position ------------------------------------------------------------------------------ */

/* The sum of all warps for a thread's two samples, in the order of the warps. */
static __device__ inline float2 gather_parts(float2 (*part)[UNITS][SAMPLES / 2],
                                             float sum[TILES][4], const own &o, place p)
{
    float2 all = make_float2(0, 0);
#pragma unroll
    for (int i = 0; i < TILES; i++)
#pragma unroll
        for (int half = 0; half < 2; half++)
            part[p.warp][i * 16 + p.row + half * 8][p.column / 2] =
                make_float2(sum[i][2 * half], sum[i][2 * half + 1]);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < WARPS; k++) {
        float2 one = part[k][o.unit][o.sample / 2];
        all.x += one.x;
        all.y += one.y;
    }
    return all;
}

static __device__ inline float state_of(const tsri_cuda_recurrence &r, const own &o, const ahead &f,
                                        int e, float sum, int64_t l)
{
    float v = r.scale * sum + f.start[e];
    bool on = o.there[e] && (r.back ? f.mask[e] > 0 : v > 0 && l < o.end[e]);
    return on ? v : 0;
}

/* To who waits for it. A warp has eight units of eight samples; turned, a thread has two units of the
 * sample lane / 4, and four threads the eight of a chunk. */
static __device__ inline void tell(const tsri_cuda_recurrence &r, const own &o, place p,
                                   const walk &k, float2 v)
{
#ifdef __CUDA_ARCH__
    unsigned pair = pair_of(v.x, v.y), turned;
    (void)r, (void)o, (void)p;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(pair));
    if (k.tells)
        asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(k.tell), "r"(turned) : "memory");
#else
    const float both[2] = {v.x, v.y};
    int64_t pitch = pitch_of(r.c), c = p.first + o.unit;
    tsri_cuda_bf16 *position =
        k.tell - (p.sample + p.row) * pitch - p.first - p.warp * EIGHT - p.column;
    for (int e = 0; e < 2; e++)
        if (p.sample + o.sample + e < r.n && c < pitch)
            position[(p.sample + o.sample + e) * pitch + c] = (uint16_t)pair_of(both[e], 0);
#endif
}

static __device__ inline void keep(const tsri_cuda_recurrence &r, const own &o, const walk &k,
                                   float2 v)
{
    if (o.there[0])
        k.to[0] = v.x;
    if (o.there[1])
        k.to[r.c] = v.y;
}

static __device__ inline void go_on(walk &k)
{
    k.to += k.numbers;
    k.tell += k.narrow;
    k.heard += k.narrow / EIGHT;
}

/* The number of this block among those that have begun. The last one lays out new tickets. */
static __device__ inline int64_t take_ticket(desk &d, const tsri_cuda_recurrence &r, int64_t blocks)
{
#ifdef __CUDA_ARCH__
    if (threadIdx.x == 0) {
        unsigned *tickets = (unsigned *)((uint4 *)r.packed + words_of(blocks));
        d.ticket = atomicAdd(tickets, 1u);
        if (d.ticket == gridDim.x - 1)
            *tickets = 0;
    }
    __syncthreads();
    return d.ticket;
#else
    (void)d, (void)r, (void)blocks;
    return blockIdx.x;
#endif
}

/* Positions in their order, the first to be done is `from`, the end `to`. */
static __global__ __launch_bounds__(THREADS, 1) void recurrence(tsri_cuda_recurrence r, int from,
                                                                int to, int64_t blocks)
{
    SHARED_ROOM(room, sizeof(desk));
    desk &d = *(desk *)room;
    place p = place_of(take_ticket(d, r, blocks), blocks);
    own o = own_of(r, p);
    reading before = reading_of(r, p);
    walk k = walk_from(r, o, p, from);
    weights w;
    for (int i = 0; i < STAGES; i++)
        d.ahead_of[i][threadIdx.x] = ahead{{0, 0}, {1, 1}};
    for (int i = 0; i < STAGES - 1; i++)
        ask_ahead(d, r, o, k, from + i, from + i < to);
    take_weights(w, r, p);
    for (int s = from; s < to; s++) {
        float2 v = make_float2(0, 0);
        ahead f = take_ahead(d, s);
        if (s > 0) {
            float sum[TILES][4] = {{0}};
            multiply(sum, w, r, k.heard, before, p);
            v = gather_parts(d.part[s & 1], sum, o, p);
        }
        v.x = state_of(r, o, f, 0, v.x, position_at(r, s));
        v.y = state_of(r, o, f, 1, v.y, position_at(r, s));
        tell(r, o, p, k, v);
        keep(r, o, k, v);
        go_on(k);
        ask_ahead(d, r, o, k, s + STAGES - 1, s + STAGES - 1 < to);
    }
}

static int64_t blocks_of(int64_t c)
{
    return (c + UNITS - 1) / UNITS;
}

int64_t tsri_cuda_recurrent_bytes(int64_t c)
{
    return 2 * packed_words(blocks_of(c)) * (int64_t)sizeof(uint4);
}

cudaError_t tsri_cuda_recurrent_pack(cudaStream_t s, void *to, const float *w, int64_t c)
{
    tsri_cuda_recurrence r = {};
    r.w = w;
    r.c = c;
    r.packed = to;
    LAUNCH_EACH(pack, 2 * words_of(blocks_of(c)), s, r, blocks_of(c));
    return cudaGetLastError();
}

cudaError_t tsri_cuda_recurrent_clear(cudaStream_t s, const tsri_cuda_recurrence *r)
{
    int64_t chunks = r->t * r->n * pitch_of(r->c) / EIGHT;
    LAUNCH_EACH(clear, chunks, s, (uint4 *)r->narrow, chunks);
    return cudaGetLastError();
}

cudaError_t tsri_cuda_recurrent_run(cudaStream_t s, const tsri_cuda_recurrence *given)
{
    tsri_cuda_recurrence r = *given;
    int64_t blocks = blocks_of(r.c), grid = blocks * ((r.n + SAMPLES - 1) / SAMPLES);
    if (r.n == 0 || r.t == 0)
        return cudaSuccess;
    r.packed = (uint4 *)r.packed + (r.back ? packed_words(blocks) : 0);
#ifdef __CUDACC__
    LAUNCH_ROOM(recurrence, (unsigned)grid, THREADS, sizeof(desk), s, r, 0, (int)r.t, blocks);
#else
    for (int i = 0; i < (int)r.t; i++)
        LAUNCH_ROOM(recurrence, (unsigned)grid, THREADS, sizeof(desk), s, r, i, i + 1, blocks);
#endif
    return cudaGetLastError();
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
