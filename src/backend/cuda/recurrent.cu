/* recurrent.cu - a whole recurrence under bf16 in one launch.
 *
 *     forward     y_l  = max(s W y_(l-1) + x_l, 0)             0 behind a sequence's end
 *     backward    dx_l = [y_l > 0] (dy_l + s W^T dx_(l+1))
 *
 * Positions follow each other, samples do not: a group of blocks takes eight samples through all
 * positions. Each of its blocks keeps the weights of 64 units in registers, as the operands of
 * matrix instructions, so that W is read once; its warps share out what is summed over.
 *
 * Blocks of a group hear of each other through `narrow`, where states are kept anyway
 * (recurrent.cuh).
 *
 * A block that waits must not keep out those it waits for. Blocks take their places in the order in which they
 * begin, so only the last group of a launch can lack some, and it holds 15 multiprocessors at most;
 * recurrent_bf16.c asks for no more launches at once than leave one free.
 *
 * What a position adds is asked for STAGES - 1 positions ahead; results go to memory last.
 *
 * A launch may begin anywhere. tests/cuda/, whose blocks run one after the other, take one position
 * at a time.
 */
#include "backend/cuda/recurrent.cuh"

enum { STAGES = 4 }; /* positions whose numbers are on their way */

/* ---- Before a launch ----------------------------------------------------------------------------- */

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

/* What the next position that nobody has asked for will add; one group of copies, also where there
 * is none. */
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

/* To who waits for it. A warp has eight units of eight samples; turned, a thread has two units of
 * the sample lane / 4, and four threads the eight of a chunk. */
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
