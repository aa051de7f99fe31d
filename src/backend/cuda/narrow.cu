/* narrow.cu - narrow values number by number: sums, ReLUs, means of images, to floats and back, and
 * the weights of all layers packed in one launch. */
#include "backend/cuda/launch.h"
#include "backend/cuda/narrow.cuh"

enum { MOST = 132 * 8 }; /* blocks along the rows: eight on each multiprocessor of an H200 */

#define LAUNCH_ROWS(kernel, rows, c, stream, ...)                                                  \
    do {                                                                                           \
        if ((rows) > 0)                                                                            \
            LAUNCH(kernel, rows_grid(rows, pitch_of(c) / EIGHT, TSRI_BLOCK, MOST), TSRI_BLOCK,     \
                   stream, __VA_ARGS__);                                                           \
    } while (0)

/* ---- One number from one or two ------------------------------------------------------------- */

/* to = f(to, a, b), eight at a time: what each of these kernels is. */
template <class F>
static __device__ inline void map(uint4 *to, const uint4 *a, const uint4 *b, int64_t rows,
                                  int64_t groups, bool reads, F f)
{
    standing s = standing_of(groups);
    for (EACH_AHEAD(s, row, rows)) {
        uint4 va[AHEAD], vb[AHEAD], was[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            int64_t at = AHEAD_ROW(s, row, k) * groups + s.group;
            if (AHEAD_ROW(s, row, k) >= rows)
                continue;
            va[k] = a[at];
            vb[k] = b ? b[at] : make_uint4(0, 0, 0, 0);
            was[k] = reads ? to[at] : make_uint4(0, 0, 0, 0);
        }
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            if (AHEAD_ROW(s, row, k) >= rows)
                continue;
            eight x = eight_of(va[k]), y = eight_of(vb[k]), z = eight_of(was[k]);
#pragma unroll
            for (int i = 0; i < EIGHT; i++)
                z.v[i] = f(z.v[i], x.v[i], y.v[i]);
            to[AHEAD_ROW(s, row, k) * groups + s.group] = raw_of(z);
        }
    }
}

static __global__ void relu_narrow(uint4 *y, const uint4 *x, int64_t rows, int64_t groups)
{
    map(y, x, (const uint4 *)NULL, rows, groups, false,
        [](float, float v, float) { return v > 0 ? v : 0.0f; });
}

/* dx = dy where y is above 0, added to what is there where `more`; dx may be dy. */
static __global__ void mask_narrow(uint4 *dx, const uint4 *dy, const uint4 *y, int64_t rows,
                                   int64_t groups, bool more)
{
    map(dx, dy, y, rows, groups, more,
        [](float was, float d, float v) { return was + (v > 0 ? d : 0.0f); });
}

static __global__ void copy_narrow(uint4 *to, const uint4 *from, int64_t rows, int64_t groups,
                                   bool more)
{
    map(to, from, (const uint4 *)NULL, rows, groups, more,
        [](float was, float v, float) { return was + v; });
}

cudaError_t tsri_cuda_narrow_relu(cudaStream_t s, tsri_cuda_bf16 *y, const tsri_cuda_bf16 *x,
                                  int64_t rows, int64_t c)
{
    LAUNCH_ROWS(relu_narrow, rows, c, s, (uint4 *)y, (const uint4 *)x, rows, pitch_of(c) / EIGHT);
    return cudaGetLastError();
}

cudaError_t tsri_cuda_narrow_mask(cudaStream_t s, tsri_cuda_bf16 *dx, const tsri_cuda_bf16 *dy,
                                  const tsri_cuda_bf16 *y, int64_t rows, int64_t c, bool more)
{
    LAUNCH_ROWS(mask_narrow, rows, c, s, (uint4 *)dx, (const uint4 *)dy, (const uint4 *)y, rows,
                pitch_of(c) / EIGHT, more);
    return cudaGetLastError();
}

cudaError_t tsri_cuda_narrow_copy(cudaStream_t s, tsri_cuda_bf16 *to, const tsri_cuda_bf16 *from,
                                  int64_t rows, int64_t c, bool more)
{
    LAUNCH_ROWS(copy_narrow, rows, c, s, (uint4 *)to, (const uint4 *)from, rows,
                pitch_of(c) / EIGHT, more);
    return cudaGetLastError();
}

/* ---- To floats and back ---------------------------------------------------------------------- */

static __global__ void narrow_rows(uint4 *to, const float *from, int64_t rows, int64_t c)
{
    int64_t groups = pitch_of(c) / EIGHT;
    standing s = standing_of(groups);
    for (int64_t row = s.row; !s.idle && row < rows; row += s.step)
        to[row * groups + s.group] = raw_of(channels_at(from + row * c, s.group * EIGHT, c));
}

static __global__ void widen_rows(float *to, const uint4 *from, int64_t rows, int64_t c, bool more)
{
    int64_t groups = pitch_of(c) / EIGHT;
    standing s = standing_of(groups);
    for (int64_t row = s.row; !s.idle && row < rows; row += s.step) {
        eight e = eight_of(from[row * groups + s.group]);
        float *at = to + row * c + s.group * EIGHT;
        for (int i = 0; i < EIGHT && s.group * EIGHT + i < c; i++)
            at[i] = (more ? at[i] : 0) + e.v[i];
    }
}

cudaError_t tsri_cuda_narrow_rows(cudaStream_t s, tsri_cuda_bf16 *to, const float *from,
                                  int64_t rows, int64_t c)
{
    LAUNCH_ROWS(narrow_rows, rows, c, s, (uint4 *)to, from, rows, c);
    return cudaGetLastError();
}

cudaError_t tsri_cuda_widen_rows(cudaStream_t s, float *to, const tsri_cuda_bf16 *from,
                                 int64_t rows, int64_t c, bool more)
{
    LAUNCH_ROWS(widen_rows, rows, c, s, to, (const uint4 *)from, rows, c, more);
    return cudaGetLastError();
}

/* ---- Patches --------------------------------------------------------------------------------- */

/* i counts eights: rows are pixels of y, taps outermost in a row. Zeros in the padding and behind
 * the last tap. */
static __global__ void patches(uint4 *to, const float *x, tsri_cuda_window v, int count, int groups)
{
    int taps = v.size * v.size;
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < count;
         i += (int)(gridDim.x * blockDim.x)) {
        int row = i / groups, first = (i - row * groups) * EIGHT;
        int above = row / v.out.w, w = row - above * v.out.w, n = above / v.out.h;
        int top = (above - n * v.out.h) * v.stride - v.pad, left = w * v.stride - v.pad;
        int tap = first / v.in.c, c = first - tap * v.in.c;
        int down = tap / v.size, right = tap - down * v.size;
        eight e;
#pragma unroll
        for (int k = 0; k < EIGHT; k++) {
            int at_h = top + down, at_w = left + right;
            bool inside = tap < taps && at_h >= 0 && at_h < v.in.h && at_w >= 0 && at_w < v.in.w;
            e.v[k] = inside ? x[(((int64_t)n * v.in.h + at_h) * v.in.w + at_w) * v.in.c + c] : 0;
            bool next = ++c == v.in.c; /* on to the next tap, and to the next row of taps */
            c = next ? 0 : c;
            tap += next;
            right += next;
            down += right == v.size;
            right = right == v.size ? 0 : right;
        }
        to[i] = raw_of(e);
    }
}

/* The same for few channels: a thread has a pixel and finds out once for each tap whether it is
 * inside. The rows of a block's pixels meet, and are then written as one piece. */
template <int SIZE, int C>
static __global__ void __launch_bounds__(TSRI_BLOCK)
    patches_of_few(uint4 *to, const float *x, tsri_cuda_window v, int64_t rows)
{
    enum { TAPS = SIZE * SIZE, GROUPS = (TAPS * C + EIGHT - 1) / EIGHT };
    __shared__ uint4 room[TSRI_BLOCK * GROUPS];
    int64_t first = (int64_t)blockIdx.x * TSRI_BLOCK, row = first + threadIdx.x;
    int above = (int)(row / v.out.w), w = (int)(row - (int64_t)above * v.out.w);
    int n = above / v.out.h, top = (above - n * v.out.h) * v.stride - v.pad;
    int left = w * v.stride - v.pad;
    eight e[GROUPS] = {};
#pragma unroll
    for (int tap = 0; tap < TAPS; tap++) {
        int at_h = top + tap / SIZE, at_w = left + tap % SIZE;
        bool inside = row < rows && at_h >= 0 && at_h < v.in.h && at_w >= 0 && at_w < v.in.w;
        const float *from = x + (((int64_t)n * v.in.h + at_h) * v.in.w + at_w) * C;
#pragma unroll
        for (int c = 0; c < C; c++)
            e[(tap * C + c) / EIGHT].v[(tap * C + c) % EIGHT] = inside ? from[c] : 0;
    }
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
        room[(int)threadIdx.x * GROUPS + g] = raw_of(e[g]);
    __syncthreads();
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        int i = g * TSRI_BLOCK + (int)threadIdx.x;
        if (first * GROUPS + i < rows * GROUPS)
            to[first * GROUPS + i] = room[i];
    }
}

cudaError_t tsri_cuda_patches(cudaStream_t s, tsri_cuda_bf16 *to, const float *x,
                              const tsri_cuda_window *window)
{
    const tsri_cuda_window &v = *window;
    int64_t groups = pitch_of((int64_t)v.size * v.size * v.in.c) / EIGHT;
    int64_t rows = (int64_t)v.n * v.out.h * v.out.w, count = rows * groups;
    unsigned blocks = (unsigned)((rows + TSRI_BLOCK - 1) / TSRI_BLOCK);
    if (rows > 0 && v.size == 3 && v.in.c == 3)
        LAUNCH_MEETING((patches_of_few<3, 3>), blocks, TSRI_BLOCK, s, (uint4 *)to, x, v, rows);
    else if (rows > 0 && v.size == 3 && v.in.c == 1)
        LAUNCH_MEETING((patches_of_few<3, 1>), blocks, TSRI_BLOCK, s, (uint4 *)to, x, v, rows);
    else
        LAUNCH_EACH(patches, count, s, (uint4 *)to, x, v, (int)count, (int)groups);
    return cudaGetLastError();
}

/* ---- Means of images ------------------------------------------------------------------------- */

/* A row is an image here: y [n, pitch]. */
static __global__ void global_narrow(uint4 *y, const uint4 *x, int64_t n, int64_t pixels,
                                     int64_t groups)
{
    standing s = standing_of(groups);
    for (int64_t row = s.row; !s.idle && row < n; row += s.step) {
        eight sum = {};
#pragma unroll 8
        for (int64_t p = 0; p < pixels; p++) {
            eight e = eight_of(x[(row * pixels + p) * groups + s.group]);
            for (int i = 0; i < EIGHT; i++)
                sum.v[i] += e.v[i];
        }
        for (int i = 0; i < EIGHT; i++)
            sum.v[i] /= (float)pixels;
        y[row * groups + s.group] = raw_of(sum);
    }
}

static __global__ void global_back_narrow(uint4 *dx, const uint4 *dy, int64_t n, int64_t pixels,
                                          int64_t groups, bool more)
{
    standing s = standing_of(groups);
    for (int64_t row = s.row; !s.idle && row < n * pixels; row += s.step) {
        eight d = eight_of(dy[row / pixels * groups + s.group]);
        eight was = more ? eight_of(dx[row * groups + s.group]) : eight{};
        for (int i = 0; i < EIGHT; i++)
            was.v[i] += d.v[i] / (float)pixels;
        dx[row * groups + s.group] = raw_of(was);
    }
}

cudaError_t tsri_cuda_narrow_global(cudaStream_t s, tsri_cuda_bf16 *y, const tsri_cuda_bf16 *x,
                                    int64_t n, int64_t pixels, int64_t c)
{
    if (n > 0) /* a thread to each image: its pixels are work enough */
        LAUNCH(global_narrow, rows_grid(n * AHEAD, pitch_of(c) / EIGHT, TSRI_BLOCK, MOST),
               TSRI_BLOCK, s, (uint4 *)y, (const uint4 *)x, n, pixels, pitch_of(c) / EIGHT);
    return cudaGetLastError();
}

cudaError_t tsri_cuda_narrow_global_back(cudaStream_t s, tsri_cuda_bf16 *dx,
                                         const tsri_cuda_bf16 *dy, int64_t n, int64_t pixels,
                                         int64_t c, bool more)
{
    LAUNCH_ROWS(global_back_narrow, n * pixels, c, s, (uint4 *)dx, (const uint4 *)dy, n, pixels,
                pitch_of(c) / EIGHT, more);
    return cudaGetLastError();
}

/* ---- Windows of one pixel -------------------------------------------------------------------- */

/* Pixels that no pixel of y stands on have no gradient. */
static __global__ void spread(uint4 *dx, const uint4 *from, tsri_cuda_window v, int64_t rows,
                              int64_t groups)
{
    standing s = standing_of(groups);
    for (int64_t row = s.row; !s.idle && row < rows; row += s.step) {
        int64_t w = row % v.in.w, above = row / v.in.w, h = above % v.in.h, n = above / v.in.h;
        int64_t out_h = h / v.stride, out_w = w / v.stride;
        bool there = h % v.stride == 0 && w % v.stride == 0 && out_h < v.out.h && out_w < v.out.w;
        dx[row * groups + s.group] =
            there ? from[((n * v.out.h + out_h) * v.out.w + out_w) * groups + s.group]
                  : make_uint4(0, 0, 0, 0);
    }
}

/* The others stay as they are. */
static __global__ void spread_more(uint4 *dx, const uint4 *from, tsri_cuda_window v, int64_t rows,
                                   int64_t groups)
{
    standing s = standing_of(groups);
    for (EACH_AHEAD(s, row, rows)) {
        uint4 a[AHEAD], b[AHEAD];
        int64_t to[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            int64_t at = AHEAD_ROW(s, row, k), above = at / v.out.w, n = above / v.out.h;
            if (at >= rows)
                continue;
            int64_t h = above % v.out.h * v.stride, w = at % v.out.w * v.stride;
            to[k] = ((n * v.in.h + h) * v.in.w + w) * groups + s.group;
            a[k] = from[at * groups + s.group];
            b[k] = dx[to[k]];
        }
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            if (AHEAD_ROW(s, row, k) >= rows)
                continue;
            eight e = eight_of(a[k]), was = eight_of(b[k]);
#pragma unroll
            for (int i = 0; i < EIGHT; i++)
                was.v[i] += e.v[i];
            dx[to[k]] = raw_of(was);
        }
    }
}

cudaError_t tsri_cuda_narrow_spread(cudaStream_t s, tsri_cuda_bf16 *dx, const tsri_cuda_bf16 *from,
                                    const tsri_cuda_window *window, bool more)
{
    const tsri_cuda_window &v = *window;
    int64_t groups = pitch_of(v.in.c) / EIGHT, in = (int64_t)v.n * v.in.h * v.in.w,
            out = (int64_t)v.n * v.out.h * v.out.w;
    if (more)
        LAUNCH_ROWS(spread_more, out, v.in.c, s, (uint4 *)dx, (const uint4 *)from, v, out, groups);
    else
        LAUNCH_ROWS(spread, in, v.in.c, s, (uint4 *)dx, (const uint4 *)from, v, in, groups);
    return cudaGetLastError();
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* Each item's own kernel would be a launch for a few microseconds of work. A block has CHUNK eights
 * of one of them: items of all sizes then keep the chip equally busy. */
enum { CHUNK = 4 * TSRI_BLOCK };

typedef struct packing {
    tsri_cuda_packed item[TSRI_CUDA_PACK];
    int last[TSRI_CUDA_PACK];      /* the first block behind an item's */
    bool straight[TSRI_CUDA_PACK]; /* rows have no gaps, and floats are aligned */
} packing;

static int64_t eights_of(const tsri_cuda_packed &v)
{
    return v.rows_to * (pitch_of(v.c) / EIGHT);
}

/* How many blocks there are in all. */
static unsigned divide(packing *to, const tsri_cuda_packing *p, bool packs)
{
    int blocks = 0;
    for (int64_t k = 0; k < p->count; k++) {
        const tsri_cuda_packed &v = p->item[k];
        const void *floats = packs ? v.from : v.to;
        to->item[k] = v;
        blocks += (int)((eights_of(v) + CHUNK - 1) / CHUNK);
        to->last[k] = blocks;
        to->straight[k] =
            v.c % EIGHT == 0 && v.rows == v.rows_to && (uintptr_t)floats % sizeof(float4) == 0;
    }
    return (unsigned)blocks;
}

/* Zeros behind a row's end and in rows that there are not. */
static __global__ void __launch_bounds__(TSRI_BLOCK) pack(packing p)
{
    int item = 0;
    while ((int)blockIdx.x >= p.last[item])
        item++;
    const tsri_cuda_packed v = p.item[item];
    const float *wide = (const float *)v.from;
    int64_t first = ((int)blockIdx.x - (item ? p.last[item - 1] : 0)) * (int64_t)CHUNK;
    int64_t groups = pitch_of(v.c) / EIGHT, count = v.rows_to * groups;
    float4 a[CHUNK / TSRI_BLOCK], b[CHUNK / TSRI_BLOCK];
#pragma unroll
    for (int k = 0; k < CHUNK / TSRI_BLOCK; k++) {
        int64_t i = first + k * TSRI_BLOCK + threadIdx.x;
        if (i >= count)
            continue;
        if (p.straight[item]) {
            a[k] = ((const float4 *)wide)[2 * i];
            b[k] = ((const float4 *)wide)[2 * i + 1];
            continue;
        }
        int64_t row = i / groups;
        eight e = channels_at(row < v.rows ? wide + row * v.c : NULL, i % groups * EIGHT, v.c);
        a[k] = float4{e.v[0], e.v[1], e.v[2], e.v[3]};
        b[k] = float4{e.v[4], e.v[5], e.v[6], e.v[7]};
    }
#pragma unroll
    for (int k = 0; k < CHUNK / TSRI_BLOCK; k++) {
        int64_t i = first + k * TSRI_BLOCK + threadIdx.x;
        if (i < count)
            ((uint4 *)v.to)[i] = make_uint4(pair_of(a[k].x, a[k].y), pair_of(a[k].z, a[k].w),
                                            pair_of(b[k].x, b[k].y), pair_of(b[k].z, b[k].w));
    }
}

static __global__ void __launch_bounds__(TSRI_BLOCK) unpack_all(packing p)
{
    int item = 0;
    while ((int)blockIdx.x >= p.last[item])
        item++;
    const tsri_cuda_packed v = p.item[item];
    float *wide = (float *)v.to;
    int64_t start = ((int)blockIdx.x - (item ? p.last[item - 1] : 0)) * (int64_t)CHUNK;
    int64_t groups = pitch_of(v.c) / EIGHT, count = v.rows_to * groups;
#pragma unroll
    for (int k = 0; k < CHUNK / TSRI_BLOCK; k++) {
        int64_t i = start + k * TSRI_BLOCK + threadIdx.x;
        if (i >= count)
            continue;
        eight e = eight_of(((const uint4 *)v.from)[i]);
        if (p.straight[item]) {
            ((float4 *)wide)[2 * i] = float4{e.v[0], e.v[1], e.v[2], e.v[3]};
            ((float4 *)wide)[2 * i + 1] = float4{e.v[4], e.v[5], e.v[6], e.v[7]};
            continue;
        }
        int64_t row = i / groups, first = i % groups * EIGHT;
        for (int j = 0; j < EIGHT && first + j < v.c && row < v.rows; j++)
            wide[row * v.c + first + j] = e.v[j];
    }
}

cudaError_t tsri_cuda_pack(cudaStream_t s, const tsri_cuda_packing *given)
{
    packing all = {};
    unsigned blocks = divide(&all, given, true);
    if (blocks > 0)
        LAUNCH(pack, blocks, TSRI_BLOCK, s, all);
    return cudaGetLastError();
}

cudaError_t tsri_cuda_unpack_all(cudaStream_t s, const tsri_cuda_packing *given)
{
    packing all = {};
    unsigned blocks = divide(&all, given, false);
    if (blocks > 0)
        LAUNCH(unpack_all, blocks, TSRI_BLOCK, s, all);
    return cudaGetLastError();
}

/* [rows_from >= rows, pitch] of floats or bf16 to [rows, c]. */
static __global__ void unpack(float *to, const float *wide, const uint16_t *narrow, int64_t count,
                              int64_t c)
{
    int64_t pitch = pitch_of(c);
    for (EACH(i, count)) {
        int64_t at = i / c * pitch + i % c;
        to[i] = wide ? wide[at] : __uint_as_float((unsigned)narrow[at] << 16);
    }
}

cudaError_t tsri_cuda_unpack(cudaStream_t s, float *to, const void *from, bool wide, int64_t rows,
                             int64_t c)
{
    LAUNCH_EACH(unpack, rows * c, s, to, wide ? (const float *)from : NULL,
                wide ? NULL : (const uint16_t *)from, rows * c, c);
    return cudaGetLastError();
}

/* ---- Counters -------------------------------------------------------------------------------- */

static __global__ void zero(const tsri_cuda_zeros *zeros)
{
    if ((int64_t)threadIdx.x < zeros->count)
        *zeros->at[threadIdx.x] = 0;
}

cudaError_t tsri_cuda_zero(cudaStream_t s, const tsri_cuda_zeros *zeros)
{
    LAUNCH(zero, 1, TSRI_BLOCK, s, zeros);
    return cudaGetLastError();
}
