/* conv.cu - convolutions in f32 as matrix products whose first factor is never stored.
 *
 *     forward   y  [pixels of y, out]      = x around each pixel [., taps x in]   w^T [taps x in, out]
 *     input     dx [pixels of x, in]       = dy around each      [., taps x out]  w turned
 *     weight    dw^T [taps x in, out]      = x around, turned    [., pixels of y] dy
 *
 * One kernel computes all three: a block makes a tile of ROWS x COLUMNS, in steps of DEPTH along the
 * sum, and the three differ in how they fetch a number of each factor. Filters lie as
 * [out, size, size, in], so that w and dw are matrices as they are. A norm in front and its ReLU are
 * applied to x as it is fetched. Under bf16 numbers are rounded as they are fetched: a product of
 * two is then exact, and the result is what backend/bf16.h defines.
 *
 * Every sum is one thread's, in order of the taps. That of `weight` is long and its matrices are
 * small, so it is cut into slices (by the shape alone) that are added up in order afterwards.
 */
#include "backend/cuda/grid.cuh"
#include "backend/cuda/launch.h"

typedef tsri_cuda_window window;
typedef tsri_cuda_conv conv;

enum { DEPTH = 8, SIDE = 16, OUTSIDE = -(1 << 28), MOST_SLICES = 264 };

/* ---- The three products -------------------------------------------------------------------- */

/* A pixel of an image, as rows and steps of the products see it: `base` of the image, and where a
 * window on it begins. */
typedef struct corner {
    int64_t base;
    int h, w;
} corner;

/* To the nearest bf16, ties to even, where that is wanted. */
static __device__ inline float operand(const conv &v, float x)
{
    unsigned bits = __float_as_uint(x);
    if (!v.round || (bits & 0x7fffffff) > 0x7f800000)
        return x;
    return __uint_as_float((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u);
}

static __device__ inline float activated(const conv &v, int64_t at, int c)
{
    float x = v.x[at];
    if (v.pre) {
        x = v.pre[c] * x + v.pre[v.window.in.c + c];
        x = x > 0 ? x : 0;
    }
    return operand(v, x);
}

/* The corner of window `pixel` of y in x. */
static __device__ inline corner corner_of(const window &w, int pixel, int pixels)
{
    if (pixel >= pixels)
        return corner{0, OUTSIDE, OUTSIDE};
    int column = pixel % w.out.w, row = pixel / w.out.w % w.out.h, n = pixel / w.out.w / w.out.h;
    return corner{(int64_t)n * w.in.h * w.in.w * w.in.c, row * w.stride - w.pad,
                  column * w.stride - w.pad};
}

/* x under tap (r, s) of a window, 0 in the padding. */
static __device__ inline float tapped(const conv &v, corner at, int r, int s, int c)
{
    const window &w = v.window;
    int h = at.h + r, column = at.w + s;
    if (h < 0 || h >= w.in.h || column < 0 || column >= w.in.w)
        return 0;
    return activated(v, at.base + ((int64_t)h * w.in.w + column) * w.in.c + c, c);
}

struct forward {
    static constexpr bool A_ALONG_SUM = true, B_ALONG_SUM = true;
    typedef corner row; /* what a row of the first factor is known by */

    static __device__ int rows(const window &w)
    {
        return w.n * w.out.h * w.out.w;
    }
    static __device__ int columns(const window &w)
    {
        return w.out.c;
    }
    static __device__ int depth(const window &w)
    {
        return w.size * w.size * w.in.c;
    }

    static __device__ row row_of(const conv &v, int m)
    {
        return corner_of(v.window, m, rows(v.window));
    }

    static __device__ float a(const conv &v, row at, int k)
    {
        const window &w = v.window;
        int tap = k / w.in.c;
        return tapped(v, at, tap / w.size, tap % w.size, k - tap * w.in.c);
    }

    static __device__ float b(const conv &v, int k, int n)
    {
        return operand(v, v.w[(int64_t)n * depth(v.window) + k]);
    }

    static __device__ void put(const conv &v, int m, int n, float sum, int)
    {
        int64_t at = (int64_t)m * v.window.out.c + n;
        float y = v.b ? sum + v.b[n] : sum;
        y = v.add ? y + v.add[at] : y;
        v.y[at] = v.relu && y < 0 ? 0 : y;
    }
};

struct input {
    static constexpr bool A_ALONG_SUM = true, B_ALONG_SUM = false;
    typedef corner row;

    static __device__ int rows(const window &w)
    {
        return w.n * w.in.h * w.in.w;
    }
    static __device__ int columns(const window &w)
    {
        return w.in.c;
    }
    static __device__ int depth(const window &w)
    {
        return w.size * w.size * w.out.c;
    }

    static __device__ row row_of(const conv &v, int m)
    {
        const window &w = v.window;
        if (m >= rows(w))
            return corner{0, OUTSIDE, OUTSIDE};
        int column = m % w.in.w, line = m / w.in.w % w.in.h, n = m / w.in.w / w.in.h;
        return corner{(int64_t)n * w.out.h * w.out.w * w.out.c, line + w.pad, column + w.pad};
    }

    /* dy of the window whose tap k lies on the pixel. */
    static __device__ float a(const conv &v, row at, int k)
    {
        const window &w = v.window;
        int tap = k / w.out.c, h = at.h - tap / w.size, column = at.w - tap % w.size;
        if (h < 0 || column < 0 || h % w.stride != 0 || column % w.stride != 0)
            return 0;
        h /= w.stride;
        column /= w.stride;
        if (h >= w.out.h || column >= w.out.w)
            return 0;
        int64_t pixel = at.base + ((int64_t)h * w.out.w + column) * w.out.c;
        return operand(v, v.dy[pixel + k - tap * w.out.c]);
    }

    static __device__ float b(const conv &v, int k, int n)
    {
        const window &w = v.window;
        int tap = k / w.out.c, out = k - tap * w.out.c;
        return operand(v, v.w[((int64_t)out * w.size * w.size + tap) * w.in.c + n]);
    }

    static __device__ void put(const conv &v, int m, int n, float sum, int)
    {
        int64_t at = (int64_t)m * v.window.in.c + n;
        v.dx[at] = v.more ? v.dx[at] + sum : sum;
    }
};

struct weight {
    static constexpr bool A_ALONG_SUM = false, B_ALONG_SUM = false;
    typedef struct row {
        int r, s, c; /* r = OUTSIDE: no such row */
    } row;

    static __device__ int rows(const window &w)
    {
        return w.size * w.size * w.in.c;
    }
    static __device__ int columns(const window &w)
    {
        return w.out.c;
    }
    static __device__ int depth(const window &w)
    {
        return w.n * w.out.h * w.out.w;
    }

    static __device__ row row_of(const conv &v, int m)
    {
        const window &w = v.window;
        int tap = m / w.in.c;
        return m < rows(w) ? row{tap / w.size, tap % w.size, m - tap * w.in.c} : row{OUTSIDE, 0, 0};
    }

    static __device__ float a(const conv &v, row at, int k)
    {
        return tapped(v, corner_of(v.window, k, depth(v.window)), at.r, at.s, at.c);
    }

    static __device__ float b(const conv &v, int k, int n)
    {
        return operand(v, v.dy[(int64_t)k * v.window.out.c + n]);
    }

    /* A slice of the sum: into dw, or beside the other slices. */
    static __device__ void put(const conv &v, int m, int n, float sum, int slice)
    {
        int64_t at = (int64_t)n * rows(v.window) + m;
        float *to = gridDim.z == 1 ? v.dw : (float *)v.scratch;
        to[(int64_t)slice * rows(v.window) * v.window.out.c + at] = sum;
    }
};

/* ---- The kernel ---------------------------------------------------------------------------- */

/* Which number of a tile the e-th of a thread is: neighbours in memory go to neighbours. */
template <bool ALONG_SUM, int WIDE> static __device__ inline int in_tile(int e)
{
    int t = (int)threadIdx.x;
    return ALONG_SUM ? t / DEPTH + e * (TSRI_BLOCK / DEPTH) : t % WIDE;
}

template <bool ALONG_SUM, int WIDE> static __device__ inline int in_depth(int e)
{
    int t = (int)threadIdx.x;
    return ALONG_SUM ? t % DEPTH : t / WIDE + e * (TSRI_BLOCK / WIDE);
}

/* The i-th row (or column) of a thread's part of a tile, PER of them: in fours, which are read at
 * once. */
template <int PER> static __device__ inline int own(int thread, int i)
{
    return PER < 4 ? thread * PER + i : i / 4 * 4 * SIDE + thread * 4 + i % 4;
}

/* What a thread fetches of both factors for the steps from k on; 0 behind the end. */
template <class P, int ROWS, int COLUMNS> struct share {
    static constexpr int A = ROWS * DEPTH / TSRI_BLOCK, B = COLUMNS * DEPTH / TSRI_BLOCK;
    typename P::row row[A];
    float a[A], b[B];

    __device__ void begin(const conv &v, int first_row)
    {
#pragma unroll
        for (int e = 0; e < A; e++)
            row[e] = P::row_of(v, first_row + in_tile<P::A_ALONG_SUM, ROWS>(e));
    }

    __device__ void fetch(const conv &v, int from, int end, int first_column, int columns)
    {
#pragma unroll
        for (int e = 0; e < A; e++) {
            int k = from + in_depth<P::A_ALONG_SUM, ROWS>(e);
            a[e] = k < end ? P::a(v, row[e], k) : 0;
        }
#pragma unroll
        for (int e = 0; e < B; e++) {
            int k = from + in_depth<P::B_ALONG_SUM, COLUMNS>(e);
            int n = first_column + in_tile<P::B_ALONG_SUM, COLUMNS>(e);
            b[e] = k < end && n < columns ? P::b(v, k, n) : 0;
        }
    }

    __device__ void store(float (*as)[ROWS + 4], float (*bs)[COLUMNS + 4])
    {
#pragma unroll
        for (int e = 0; e < A; e++)
            as[in_depth<P::A_ALONG_SUM, ROWS>(e)][in_tile<P::A_ALONG_SUM, ROWS>(e)] = a[e];
#pragma unroll
        for (int e = 0; e < B; e++)
            bs[in_depth<P::B_ALONG_SUM, COLUMNS>(e)][in_tile<P::B_ALONG_SUM, COLUMNS>(e)] = b[e];
    }
};

/* What was fetched is stored, the next is fetched, and while that is on its way the stored is
 * multiplied. */
template <class P, int ROWS, int COLUMNS>
static __global__ void __launch_bounds__(TSRI_BLOCK) product(conv v, int slice_depth)
{
    constexpr int TALL = ROWS / SIDE, WIDE = COLUMNS / SIDE;
    __shared__ __align__(16) float as[DEPTH][ROWS + 4];
    __shared__ __align__(16) float bs[DEPTH][COLUMNS + 4];
    int first_row = (int)blockIdx.x * ROWS, first_column = (int)blockIdx.y * COLUMNS;
    int rows = P::rows(v.window), columns = P::columns(v.window), end = P::depth(v.window);
    int from = (int)blockIdx.z * slice_depth;
    int ty = (int)threadIdx.x / SIDE, tx = (int)threadIdx.x % SIDE;
    share<P, ROWS, COLUMNS> mine;
    float sum[TALL][WIDE] = {{0}};
    end = end - from < slice_depth ? end : from + slice_depth;
    mine.begin(v, first_row);
    mine.fetch(v, from, end, first_column, columns);
    for (int k0 = from; k0 < end; k0 += DEPTH) {
        __syncthreads();
        mine.store(as, bs);
        __syncthreads();
        mine.fetch(v, k0 + DEPTH, end, first_column, columns);
#pragma unroll
        for (int k = 0; k < DEPTH; k++)
#pragma unroll
            for (int i = 0; i < TALL; i++)
#pragma unroll
                for (int j = 0; j < WIDE; j++)
                    sum[i][j] = fmaf(as[k][own<TALL>(ty, i)], bs[k][own<WIDE>(tx, j)], sum[i][j]);
    }
#pragma unroll
    for (int i = 0; i < TALL; i++)
#pragma unroll
        for (int j = 0; j < WIDE; j++) {
            int m = first_row + own<TALL>(ty, i), n = first_column + own<WIDE>(tx, j);
            if (m < rows && n < columns)
                P::put(v, m, n, sum[i][j], (int)blockIdx.z);
        }
}

/* ---- Choosing tiles ------------------------------------------------------------------------ */

typedef struct tiling {
    int rows, columns; /* of a tile */
    dim3 grid;
} tiling;

static int parts(int whole, int part)
{
    return (whole + part - 1) / part;
}

/* Wide tiles use each number most often; small ones where there would be too few for all
 * multiprocessors. */
static tiling tiling_of(int rows, int columns)
{
    tiling t = {128, columns <= 32 ? 32 : columns <= 64 ? 64 : 128, dim3(1, 1, 1)};
    if (t.columns > 32 && (int64_t)parts(rows, t.rows) * parts(columns, t.columns) < MOST_SLICES)
        t.rows = t.columns = 64;
    t.grid = dim3((unsigned)parts(rows, t.rows), (unsigned)parts(columns, t.columns), 1);
    return t;
}

template <class P> static void launch(cudaStream_t s, const conv &v, tiling t, int slice_depth)
{
    if (t.grid.x == 0 || t.grid.y == 0)
        return;
    if (t.rows == 64)
        LAUNCH_MEETING((product<P, 64, 64>), t.grid, TSRI_BLOCK, s, v, slice_depth);
    else if (t.columns == 32)
        LAUNCH_MEETING((product<P, 128, 32>), t.grid, TSRI_BLOCK, s, v, slice_depth);
    else if (t.columns == 64)
        LAUNCH_MEETING((product<P, 128, 64>), t.grid, TSRI_BLOCK, s, v, slice_depth);
    else
        LAUNCH_MEETING((product<P, 128, 128>), t.grid, TSRI_BLOCK, s, v, slice_depth);
}

cudaError_t tsri_cuda_conv_forward(cudaStream_t s, const conv *v)
{
    const window *w = &v->window;
    int depth = w->size * w->size * w->in.c;
    launch<forward>(s, *v, tiling_of(w->n * w->out.h * w->out.w, w->out.c), depth);
    return cudaGetLastError();
}

cudaError_t tsri_cuda_conv_input(cudaStream_t s, const conv *v)
{
    const window *w = &v->window;
    int depth = w->size * w->size * w->out.c;
    launch<input>(s, *v, tiling_of(w->n * w->in.h * w->in.w, w->in.c), depth);
    return cudaGetLastError();
}

/* ---- Weights ------------------------------------------------------------------------------- */

/* Slices of at least 512 pixels, and no more than fill the chip twice. */
static int slices_of(const window *w)
{
    int pixels = w->n * w->out.h * w->out.w;
    tiling t = tiling_of(w->size * w->size * w->in.c, w->out.c);
    int wanted = MOST_SLICES / (int)(t.grid.x * t.grid.y), most = parts(pixels, 512);
    wanted = wanted < most ? wanted : most;
    return wanted < 1 ? 1 : wanted;
}

static __global__ void add_slices(float *dw, const float *slice, int64_t count, int slices)
{
    for (EACH(i, count)) {
        float sum = 0;
        for (int k = 0; k < slices; k++)
            sum += slice[k * count + i];
        dw[i] = sum;
    }
}

int64_t tsri_cuda_conv_bytes(const window *w)
{
    int64_t weights = (int64_t)w->size * w->size * w->in.c * w->out.c;
    return slices_of(w) > 1 ? slices_of(w) * weights * (int64_t)sizeof(float) : 0;
}

cudaError_t tsri_cuda_conv_weight(cudaStream_t s, const conv *v)
{
    const window *w = &v->window;
    int slices = slices_of(w), pixels = w->n * w->out.h * w->out.w;
    int64_t weights = (int64_t)w->size * w->size * w->in.c * w->out.c;
    tiling t = tiling_of(w->size * w->size * w->in.c, w->out.c);
    t.grid.z = (unsigned)slices;
    launch<weight>(s, *v, t, pixels > 0 ? parts(pixels, slices) : 1);
    if (slices > 1)
        LAUNCH_EACH(add_slices, weights, s, v->dw, (const float *)v->scratch, weights, slices);
    return cudaGetLastError();
}
