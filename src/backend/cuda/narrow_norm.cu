/* narrow_norm.cu - batch normalisation of narrow values, two passes each way.
 *
 *     forward    1. what stands behind a product (bias, sum, ReLU) and the sums of y and y^2
 *                2. y = relu(scale x + shift + add)
 *     backward   1. sums of g and g (x - mu), g being dy where the ReLU was on
 *                2. dx = along g + across x + level
 *
 * In a first pass the last block of a slab (narrow_sums.cuh) makes of the sums what the second pass
 * needs of each channel, so there is no third launch. Sums are of the numbers as they are stored. A
 * variance loses 1e-6 (mean/deviation)^2 of itself.
 */
#include "backend/cuda/narrow_sums.cuh"

enum {
    MOST = 132 * 8,    /* blocks of a second pass, along the rows */
    CROWDED_APPLY = 44 /* of a second pass where other networks run at once, of TALL threads each */
};

int64_t tsri_cuda_narrow_norm_bytes(int64_t rows, int64_t c)
{
    dim3 grid = slabs_grid(rows, c, 1); /* the larger one */
    return (int64_t)grid.x * grid.y * SUMS * EIGHT * slab_of(c).lanes * (int64_t)sizeof(float);
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
