/* narrow_norm.cu - batch normalisation of narrow values, two passes each way.
 *
 *     forward    1. what stands behind a product (bias, sum, ReLU) and the sums of y and y^2
 *                2. y = relu(scale x + shift + add)
 *     backward   1. sums of g and g (x - mu), g being dy where the ReLU was on
 *                2. dx = along g + across x + level
 *
 * In a first pass a block has a slab of channels and a band of rows. It sums in float and writes its
 * sums down; the last block of a slab to do so adds up the bands in double, in order, and makes of
 * them what the second pass needs of each channel: so which block comes last changes no bit, and
 * there is no third launch. Slabs are narrow, so that this end of the pass is short. Sums are of
 * the numbers as they are stored. A variance loses 1e-6 (mean/deviation)^2 of itself.
 */
#include "backend/cuda/launch.h"
#include "backend/cuda/narrow.cuh"

enum {
    TALL = 512,   /* threads of a block */
    SUMS = 2,     /* that a pass makes of each channel */
    SLAB = 8,     /* eights of channels in a slab, 128 bytes of a row, or more: */
    BLOCKS = 132, /* of a pass: one on each multiprocessor of an H200, or of a large tensor two: */
    LARGE = 1 << 24,
    MOST = 132 * 8, /* of a second pass, along the rows */
    RING = 12       /* eights on their way to a thread, of all that it reads */
};

/* Where other networks run at once: a quarter of the chip keeps its memory busy, and the rest of it
 * multiplies. */
enum {
    CROWDED = 33,       /* blocks of a first pass */
    CROWDED_APPLY = 44, /* of a second pass, of TALL threads each */
    FEW = RING / 2      /* eights on their way: room for a second block beside it */
};

/* Shared memory of a first pass: the ring, then room for the sums of its threads. */
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

int64_t tsri_cuda_narrow_norm_bytes(int64_t rows, int64_t c)
{
    dim3 grid = slabs_grid(rows, c, 1); /* the larger one */
    return (int64_t)grid.x * grid.y * SUMS * EIGHT * slab_of(c).lanes * (int64_t)sizeof(float);
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

/* ---- Forward --------------------------------------------------------------------------------- */

/* What the second pass needs, of the statistics that there are. */
static __device__ inline void describe(const normed &v, int64_t i, float mu, float s2, float w,
                                       float b)
{
    float r = 1.0f / sqrtf(s2 + (float)v.eps);
    v.saved[i] = r * w;
    v.saved[v.c + i] = b - mu * r * w;
    v.saved[2 * v.c + i] = mu;
    v.saved[3 * v.c + i] = r;
}

/* early: running mean and variance, w, b. */
static __device__ inline void end_statistics(const normed &v, const double *total, float4 early)
{
    int wide = slab_of(v.c).lanes * EIGHT;
    double a = v.momentum;
    for (int k = 0; k * TALL < wide; k++) {
        int64_t i = channel_of(v, k);
        if (i >= v.c)
            continue;
        int64_t at = i - (int64_t)blockIdx.y * wide;
        if (k > 0)
            early = float4{v.mean[i], v.var[i], v.w[i], v.b[i]};
        double mean = total[at] * v.part;
        double squared = total[wide + at] - (double)v.rows * mean * mean;
        squared = squared > 0 ? squared : 0;
        describe(v, i, (float)mean, (float)(squared * v.part), early.z, early.w);
        v.mean[i] = (float)((1 - a) * (double)early.x + a * mean);
        v.var[i] = (float)((1 - a) * (double)early.y + a * (squared * v.part_less));
    }
    if (threadIdx.x == 0 && blockIdx.y == 0 && v.tracked)
        *v.tracked += 1;
}

/* a = relu(a + bias + b), as it is stored. */
static __device__ inline uint4 finished(uint4 a, uint4 b, const eight &bias, bool relu)
{
    eight e = eight_of(a), d = eight_of(b);
#pragma unroll
    for (int i = 0; i < EIGHT; i++) {
        e.v[i] += bias.v[i] + d.v[i];
        e.v[i] = relu && e.v[i] < 0 ? 0 : e.v[i];
    }
    return raw_of(e);
}

/* y = relu(y + b + add) where there is any of these. */
static __global__ void __launch_bounds__(TSRI_BLOCK) finish(tsri_cuda_finish f)
{
    int64_t groups = pitch_of(f.c) / EIGHT;
    standing s = standing_of(groups);
    uint4 *y = (uint4 *)f.y;
    const uint4 *add = (const uint4 *)f.add;
    eight bias = channels_at(s.idle ? NULL : f.b, s.group * EIGHT, f.c);
    for (EACH_AHEAD(s, row, f.rows)) {
        uint4 a[AHEAD], b[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            int64_t at = AHEAD_ROW(s, row, k) * groups + s.group;
            if (AHEAD_ROW(s, row, k) >= f.rows)
                continue;
            a[k] = y[at];
            b[k] = add ? add[at] : make_uint4(0, 0, 0, 0);
        }
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            if (AHEAD_ROW(s, row, k) < f.rows)
                y[AHEAD_ROW(s, row, k) * groups + s.group] = finished(a[k], b[k], bias, f.relu);
    }
}

/* The same, and the sums of what is then there: of what is stored. */
template <bool MAKES, int R>
static __global__ void __launch_bounds__(TALL) finish_sums(tsri_cuda_finish f, normed v)
{
    SHARED_ROOM(ring, ROOM);
    int64_t groups = pitch_of(f.c) / EIGHT;
    standing s = standing_in(slab_of(f.c), groups);
    uint4 *y = (uint4 *)f.y;
    eight bias = channels_at(MAKES && !s.idle ? f.b : NULL, s.group * EIGHT, f.c);
    float4 early = early_of(v, v.mean, v.var, v.w, v.b);
    eight sum[SUMS] = {};
    auto count = [&](uint4 raw) {
        eight e = eight_of(raw);
#pragma unroll
        for (int i = 0; i < EIGHT; i++) {
            sum[0].v[i] += e.v[i];
            sum[1].v[i] = fmaf(e.v[i], e.v[i], sum[1].v[i]);
        }
    };
    if (MAKES) {
        const uint4 *const from[2] = {y, (const uint4 *)f.add};
        each_row<R>(ring, from, s, f.rows, groups, [&](int64_t at, const uint4 *raw) {
            uint4 made = finished(raw[0], raw[1], bias, f.relu);
            y[at] = made;
            count(made);
        });
    } else {
        const uint4 *const from[1] = {y};
        each_row<R>(ring, from, s, f.rows, groups,
                    [&](int64_t, const uint4 *raw) { count(raw[0]); });
    }
    const double *total = add_up(sum, v, ring);
    if (total)
        end_statistics(v, total, early);
}

template <bool MAKES>
static cudaError_t launch_sums(cudaStream_t s, dim3 grid, const tsri_cuda_finish *f,
                               const normed *feeds)
{
    if (feeds->crowd > 1)
        LAUNCH_ROOM((finish_sums<MAKES, FEW>), grid, TALL, LITTLE_ROOM, s, *f, *feeds);
    else
        LAUNCH_ROOM((finish_sums<MAKES, RING>), grid, TALL, ROOM, s, *f, *feeds);
    return cudaGetLastError();
}

cudaError_t tsri_cuda_narrow_finish(cudaStream_t s, const tsri_cuda_finish *f, const normed *feeds)
{
    bool makes = f->add || f->b || f->relu;
    dim3 grid = slabs_grid(f->rows, f->c, feeds ? feeds->crowd : 1);
    if (f->rows == 0 || (!makes && !feeds))
        return cudaSuccess;
    if (!feeds)
        LAUNCH(finish, rows_grid(f->rows, pitch_of(f->c) / EIGHT, TSRI_BLOCK, MOST), TSRI_BLOCK, s,
               *f);
    else
        return makes ? launch_sums<true>(s, grid, f, feeds) : launch_sums<false>(s, grid, f, feeds);
    return cudaGetLastError();
}

/* Of running statistics. */
static __global__ void describe_running(normed v)
{
    for (EACH(i, v.c))
        describe(v, i, v.mean[i], v.var[i], v.w[i], v.b[i]);
}

static int apply_threads(const normed &v)
{
    return v.crowd > 1 ? (int)TALL : (int)TSRI_BLOCK;
}

static dim3 apply_grid(const normed &v)
{
    int64_t groups = pitch_of(v.c) / EIGHT;
    tiling t = tiling_of(groups, apply_threads(v));
    int64_t slabs = (groups + t.lanes - 1) / t.lanes;
    int64_t most = v.crowd > 1 ? CROWDED_APPLY / slabs : (int64_t)MOST;
    return rows_grid(v.rows, groups, apply_threads(v), most < 1 ? 1 : most);
}

static __global__ void __launch_bounds__(TALL) apply(normed v)
{
    int64_t groups = pitch_of(v.c) / EIGHT;
    standing s = standing_of(groups);
    if (s.idle)
        return;
    const uint4 *x = (const uint4 *)v.x, *add = (const uint4 *)v.add;
    uint4 *y = (uint4 *)v.y;
    eight scale = channels_at(v.saved, s.group * EIGHT, v.c);
    eight shift = channels_at(v.saved + v.c, s.group * EIGHT, v.c);
    for (EACH_AHEAD(s, row, v.rows)) {
        uint4 a[AHEAD], b[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            int64_t at = AHEAD_ROW(s, row, k) * groups + s.group;
            if (AHEAD_ROW(s, row, k) >= v.rows)
                continue;
            a[k] = x[at];
            b[k] = add ? add[at] : make_uint4(0, 0, 0, 0);
        }
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            if (AHEAD_ROW(s, row, k) >= v.rows)
                continue;
            eight e = eight_of(a[k]), d = eight_of(b[k]);
#pragma unroll
            for (int i = 0; i < EIGHT; i++) {
                float z = fmaf(scale.v[i], e.v[i], shift.v[i]) + d.v[i];
                e.v[i] = v.relu && z < 0 ? 0 : z;
            }
            y[AHEAD_ROW(s, row, k) * groups + s.group] = raw_of(e);
        }
    }
}

cudaError_t tsri_cuda_narrow_norm_forward(cudaStream_t s, const normed *v, bool fed)
{
    tsri_cuda_finish as_it_is = {(tsri_cuda_bf16 *)v->x, NULL, NULL, v->rows, v->c, false};
    if (v->batch && !fed && v->rows > 0) {
        cudaError_t error = tsri_cuda_narrow_finish(s, &as_it_is, v);
        if (error != cudaSuccess)
            return error;
    }
    if (!v->batch || v->rows == 0) /* a batch of nothing has no statistics */
        LAUNCH_EACH(describe_running, v->c, s, *v);
    if (v->rows > 0)
        LAUNCH(apply, apply_grid(*v), apply_threads(*v), s, *v);
    return cudaGetLastError();
}

/* ---- Backward -------------------------------------------------------------------------------- */

/* db, dw, and dx as a function of g and x:
 *     dx = w r (g - mean g - xh mean(g xh)),   xh = (x - mu) r
 * early: mu, r, w. */
static __device__ inline void end_gradients(const normed &v, const double *total, float4 early)
{
    int wide = slab_of(v.c).lanes * EIGHT;
    for (int k = 0; k * TALL < wide; k++) {
        int64_t i = channel_of(v, k);
        if (i >= v.c)
            continue;
        int64_t at = i - (int64_t)blockIdx.y * wide;
        if (k > 0)
            early = float4{v.saved[2 * v.c + i], v.saved[3 * v.c + i], v.w[i], 0};
        double mu = (double)early.x, r = (double)early.y;
        double sum = total[at], dot = total[wide + at] * r;
        double along = (double)early.z * r, part = v.batch ? v.part : 0;
        if (v.db)
            v.db[i] = (float)sum;
        if (v.dw)
            v.dw[i] = (float)dot;
        v.saved[4 * v.c + i] = (float)along;
        v.saved[5 * v.c + i] = (float)(-along * r * (dot * part));
        v.saved[6 * v.c + i] = (float)(along * (mu * r * (dot * part) - sum * part));
    }
}

/* dy where the ReLU was on. With a sum fused into the norm y says so, and dy stays masked: whoever
 * shares its memory reads it so. Without one the sign of what the norm gave does. */
template <bool ADDED>
static __device__ inline void mask_eight(eight &g, const normed &v, const eight &x, const eight &y,
                                         const eight &scale, const eight &shift)
{
#pragma unroll
    for (int i = 0; i < EIGHT; i++) {
        float made = ADDED ? y.v[i] : fmaf(scale.v[i], x.v[i], shift.v[i]);
        g.v[i] = v.relu && !(made > 0) ? 0 : g.v[i];
    }
}

template <bool ADDED, int R> static __global__ void __launch_bounds__(TALL) back_sums(normed v)
{
    SHARED_ROOM(ring, ROOM);
    int64_t groups = pitch_of(v.c) / EIGHT;
    standing s = standing_in(slab_of(v.c), groups);
    int64_t first = s.idle ? v.c : s.group * EIGHT;
    uint4 *dy = (uint4 *)v.dy;
    eight scale = channels_at(v.saved, first, v.c), shift = channels_at(v.saved + v.c, first, v.c);
    eight mu = channels_at(v.saved + 2 * v.c, first, v.c);
    float4 early = early_of(v, v.saved + 2 * v.c, v.saved + 3 * v.c, v.w, v.w);
    eight sum[SUMS] = {};
    auto count = [&](const eight &g, const eight &x) {
#pragma unroll
        for (int i = 0; i < EIGHT; i++) {
            sum[0].v[i] += g.v[i];
            sum[1].v[i] = fmaf(g.v[i], x.v[i] - mu.v[i], sum[1].v[i]);
        }
    };
    if (ADDED) {
        const uint4 *const from[3] = {(const uint4 *)v.x, dy, v.relu ? (const uint4 *)v.y : NULL};
        each_row<R>(ring, from, s, v.rows, groups, [&](int64_t at, const uint4 *raw) {
            eight x = eight_of(raw[0]), g = eight_of(raw[1]);
            mask_eight<true>(g, v, x, eight_of(raw[2]), scale, shift);
            if (v.relu)
                dy[at] = raw_of(g);
            count(g, x);
        });
    } else {
        const uint4 *const from[2] = {(const uint4 *)v.x, dy};
        each_row<R>(ring, from, s, v.rows, groups, [&](int64_t, const uint4 *raw) {
            eight x = eight_of(raw[0]), g = eight_of(raw[1]);
            mask_eight<false>(g, v, x, x, scale, shift);
            count(g, x);
        });
    }
    const double *total = add_up(sum, v, ring);
    if (total)
        end_gradients(v, total, early);
}

/* dy is masked already where a sum is fused. */
template <bool ADDED> static __global__ void __launch_bounds__(TALL) back_apply(normed v)
{
    int64_t groups = pitch_of(v.c) / EIGHT;
    standing s = standing_of(groups);
    if (s.idle)
        return;
    int64_t first = s.group * EIGHT;
    const uint4 *x = (const uint4 *)v.x, *dy = (const uint4 *)v.dy;
    uint4 *dx = (uint4 *)v.dx;
    eight scale = channels_at(v.saved, first, v.c), shift = channels_at(v.saved + v.c, first, v.c);
    eight along = channels_at(v.saved + 4 * v.c, first, v.c);
    eight across = channels_at(v.saved + 5 * v.c, first, v.c);
    eight level = channels_at(v.saved + 6 * v.c, first, v.c);
    for (EACH_AHEAD(s, row, v.rows)) {
        uint4 a[AHEAD], b[AHEAD], c[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            int64_t at = AHEAD_ROW(s, row, k) * groups + s.group;
            if (AHEAD_ROW(s, row, k) >= v.rows)
                continue;
            a[k] = x[at];
            b[k] = dy[at];
            c[k] = v.more ? dx[at] : make_uint4(0, 0, 0, 0);
        }
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            if (AHEAD_ROW(s, row, k) >= v.rows)
                continue;
            eight e = eight_of(a[k]), g = eight_of(b[k]), was = eight_of(c[k]);
            if (!ADDED)
                mask_eight<false>(g, v, e, e, scale, shift);
#pragma unroll
            for (int i = 0; i < EIGHT; i++)
                was.v[i] += fmaf(along.v[i], g.v[i], fmaf(across.v[i], e.v[i], level.v[i]));
            dx[AHEAD_ROW(s, row, k) * groups + s.group] = raw_of(was);
        }
    }
}

template <bool ADDED> static cudaError_t backward(cudaStream_t s, const normed *v)
{
    if (v->rows == 0)
        return cudaSuccess;
    dim3 grid = slabs_grid(v->rows, v->c, v->crowd);
    if (v->crowd > 1)
        LAUNCH_ROOM((back_sums<ADDED, FEW>), grid, TALL, LITTLE_ROOM, s, *v);
    else
        LAUNCH_ROOM((back_sums<ADDED, RING>), grid, TALL, ROOM, s, *v);
    if (v->dx)
        LAUNCH((back_apply<ADDED>), apply_grid(*v), apply_threads(*v), s, *v);
    return cudaGetLastError();
}

cudaError_t tsri_cuda_narrow_norm_backward(cudaStream_t s, const normed *v)
{
    return v->add ? backward<true>(s, v) : backward<false>(s, v);
}

/* ---- Sums of columns, for biases ------------------------------------------------------------- */

static __global__ void sum_channel(float *to, const uint16_t *x, int64_t rows, int64_t c)
{
    __shared__ double part[TSRI_BLOCK];
    double sum = 0;
    for (int64_t r = threadIdx.x; r < rows; r += TSRI_BLOCK)
        sum += (double)__uint_as_float((unsigned)x[r * pitch_of(c) + blockIdx.x] << 16);
    part[threadIdx.x] = sum;
    for (int half = TSRI_BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        to[blockIdx.x] = (float)part[0];
}

cudaError_t tsri_cuda_narrow_column_sums(cudaStream_t s, float *to, const tsri_cuda_bf16 *x,
                                         int64_t rows, int64_t c)
{
    LAUNCH_MEETING(sum_channel, dim3((unsigned)c, 1, 1), TSRI_BLOCK, s, to, x, rows, c);
    return cudaGetLastError();
}
