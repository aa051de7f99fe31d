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

/* i counts eights: rows are pixels of y, taps outermost in a row. Zeros in the padding and behind the
 * last tap. */
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

cudaError_t tsri_cuda_patches(cudaStream_t s, tsri_cuda_bf16 *to, const float *x,
                              const tsri_cuda_window *window)
{
    const tsri_cuda_window &v = *window;
    int64_t groups = pitch_of((int64_t)v.size * v.size * v.in.c) / EIGHT;
    int64_t count = (int64_t)v.n * v.out.h * v.out.w * groups;
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
    LAUNCH_ROWS(global_narrow, n, c, s, (uint4 *)y, (const uint4 *)x, n, pixels,
                pitch_of(c) / EIGHT);
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

/* ---- Weights --------------------------------------------------------------------------------- */

/* A block's part of the item blockIdx.y: eight numbers of a row at a time, zeros behind its end and
 * in rows that there are not. */
static __global__ void pack(tsri_cuda_packing p)
{
    const tsri_cuda_packed v = p.item[blockIdx.y];
    int64_t groups = pitch_of(v.c) / EIGHT, count = v.rows_to * groups;
    for (EACH(i, count)) {
        int64_t row = i / groups, first = i % groups * EIGHT;
        const float *from = v.from + row * v.c;
        bool there = row < v.rows;
        ((uint4 *)v.to)[i] = raw_of(channels_at(there ? from : NULL, first, v.c));
    }
}

/* Each item's own kernel would be a launch for a few microseconds of work. */
cudaError_t tsri_cuda_pack(cudaStream_t s, const tsri_cuda_packing *packing)
{
    enum { BLOCKS = 64 }; /* for an item, of which there are some twenty */
    if (packing->count > 0)
        LAUNCH(pack, dim3(BLOCKS, (unsigned)packing->count, 1), TSRI_BLOCK, s, *packing);
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
