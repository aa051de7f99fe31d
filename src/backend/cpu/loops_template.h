/* loops_template.h - the inner loops of a convolution, written once for every vector width.
 *
 * A loops_<isa>.c sets the target, WIDTH, ROWS, TABLE and NAME and includes this file.
 *
 * Matrix products. A register tile of ROWS x 2 vectors is held in registers over the whole sum:
 * each step loads two vectors of b, broadcasts ROWS numbers of a and does 2 ROWS fused
 * multiply-adds, so that the multipliers are the bottleneck and not the loads. The drivers store b
 * as panels of 2 WIDTH columns; a is read where it lies.
 *
 * Winograd F(m x m, 3 x 3) (Lavin and Gray, arXiv 1509.09308):
 *
 *     Y  = A^T [ (G w G^T) . (B^T x B) ] A          summed over input channels
 *     dw = G^T [ (B^T x B) . (A dY A^T) ] G         summed over tiles: the exact adjoint
 *
 * Each two-dimensional transform is the one-dimensional one on the columns, then on the rows.
 * F(2x2) interpolates at 0, 1, -1, infinity. F(4x4) does at 0, 3/4, -3/4, 3/2, -3/2, infinity: as
 * many operations as the usual 0, 1, -1, 2, -2, every constant of B and A exact in f32, and half of
 * the rounding error (bench/points.py).
 */
#include "backend/cpu/vector.h"

#define UNROLL _Pragma("GCC unroll 32")
#define ROLLED _Pragma("GCC unroll 1")

/* ---- Matrix products ----------------------------------------------------------------------- */

ALWAYS void product(float *c, int64_t ldc, const float *a, int64_t a_row, int64_t a_step,
                    const float *b, int rows, int64_t l, bool add)
{
    vec acc[ROWS][2];
    UNROLL for (int i = 0; i < rows; i++) acc[i][0] = acc[i][1] = (vec){0};
    for (; l > 0; l--, a += a_step, b += 2 * WIDTH) {
        vec b0 = load(b), b1 = load(b + WIDTH);
        UNROLL for (int i = 0; i < rows; i++)
        {
            vec x = splat(a[i * a_row]);
            acc[i][0] = fma_(x, b0, acc[i][0]);
            acc[i][1] = fma_(x, b1, acc[i][1]);
        }
    }
    UNROLL for (int i = 0; i < rows; i++)
    {
        float *ci = c + i * ldc;
        if (add) {
            acc[i][0] += load(ci);
            acc[i][1] += load(ci + WIDTH);
        }
        store(ci, acc[i][0]);
        store(ci + WIDTH, acc[i][1]);
    }
}

#define ROW_CASE(r, a_row, a_step)                                                                 \
    case r:                                                                                        \
        product(c, ldc, a, a_row, a_step, b, r, l, add);                                           \
        break;
#define ROW_CASES_4(a_row, a_step)                                                                 \
    ROW_CASE(1, a_row, a_step)                                                                     \
    ROW_CASE(2, a_row, a_step) ROW_CASE(3, a_row, a_step) ROW_CASE(4, a_row, a_step)
#define ROW_CASES_6(a_row, a_step)                                                                 \
    ROW_CASES_4(a_row, a_step) ROW_CASE(5, a_row, a_step) ROW_CASE(6, a_row, a_step)
#define ROW_CASES_12(a_row, a_step)                                                                \
    ROW_CASES_6(a_row, a_step)                                                                     \
    ROW_CASE(7, a_row, a_step)                                                                     \
    ROW_CASE(8, a_row, a_step)                                                                     \
    ROW_CASE(9, a_row, a_step)                                                                     \
    ROW_CASE(10, a_row, a_step) ROW_CASE(11, a_row, a_step) ROW_CASE(12, a_row, a_step)
#if ROWS == 12
#define ROW_CASES ROW_CASES_12
#elif ROWS == 6
#define ROW_CASES ROW_CASES_6
#else
#define ROW_CASES ROW_CASES_4
#endif

static void gemm(float *c, int64_t ldc, const float *a, int64_t lda, const float *b, int rows,
                 int64_t l, bool add)
{
    switch (rows) {
        ROW_CASES(lda, 1)
    }
}

static void gemm_t(float *c, int64_t ldc, const float *a, int64_t lda, const float *b, int rows,
                   int64_t l, bool add)
{
    switch (rows) {
        ROW_CASES(1, lda)
    }
}

/* ---- One-dimensional transforms: m is 2 or 4 and known when they are inlined --------------- */

/* The points of F(4x4) are 0, +-NEAR, +-FAR, infinity; AT_x is 1 over the product of the
 * differences of the point x to the others. */
#define NEAR    0.75f
#define FAR     1.5f
#define AT_ZERO (1 / (NEAR * NEAR * FAR * FAR))
#define AT_NEAR (1 / (2 * NEAR * NEAR * (NEAR * NEAR - FAR * FAR)))
#define AT_FAR  (1 / (2 * FAR * FAR * (FAR * FAR - NEAR * NEAR)))

/* t = B^T d                    d: n, t: n */
ALWAYS void input_1d(int m, vec *t, const vec *d)
{
    if (m == 2) {
        t[0] = d[0] - d[2];
        t[1] = d[1] + d[2];
        t[2] = d[2] - d[1];
        t[3] = d[3] - d[1];
        return;
    }
    vec aa = splat(-NEAR * NEAR), bb = splat(-FAR * FAR);
    vec sum = splat(-NEAR * NEAR - FAR * FAR), both = splat(NEAR * NEAR * FAR * FAR);
    vec p = fma_(bb, d[2], d[4]), q = fma_(bb, d[1], d[3]);
    vec r = fma_(aa, d[2], d[4]), odd = fma_(aa, d[1], d[3]);
    t[0] = fma_(both, d[0], fma_(sum, d[2], d[4]));
    t[1] = fma_(splat(NEAR), q, p);
    t[2] = fma_(splat(-NEAR), q, p);
    t[3] = fma_(splat(FAR), odd, r);
    t[4] = fma_(splat(-FAR), odd, r);
    t[5] = fma_(both, d[1], fma_(sum, d[3], d[5]));
}

/* y = A^T x                    x: n, y: m */
ALWAYS void output_1d(int m, vec *y, const vec *x)
{
    if (m == 2) {
        y[0] = x[0] + x[1] + x[2];
        y[1] = x[1] - x[2] + x[3];
        return;
    }
    vec s = x[1] + x[2], d = x[1] - x[2], s2 = x[3] + x[4], d2 = x[3] - x[4];
    y[0] = x[0] + s + s2;
    y[1] = fma_(splat(FAR), d2, splat(NEAR) * d);
    y[2] = fma_(splat(FAR * FAR), s2, splat(NEAR * NEAR) * s);
    y[3] = fma_(splat(FAR * FAR * FAR), d2, fma_(splat(NEAR * NEAR * NEAR), d, x[5]));
}

/* x = A y                      y: m, x: n */
ALWAYS void output_adjoint_1d(int m, vec *x, const vec *y)
{
    if (m == 2) {
        x[0] = y[0];
        x[1] = y[0] + y[1];
        x[2] = y[0] - y[1];
        x[3] = y[1];
        return;
    }
    vec s = fma_(splat(NEAR * NEAR), y[2], y[0]), d = fma_(splat(NEAR * NEAR), y[3], y[1]);
    vec s2 = fma_(splat(FAR * FAR), y[2], y[0]), d2 = fma_(splat(FAR * FAR), y[3], y[1]);
    x[0] = y[0];
    x[1] = fma_(splat(NEAR), d, s);
    x[2] = fma_(splat(-NEAR), d, s);
    x[3] = fma_(splat(FAR), d2, s2);
    x[4] = fma_(splat(-FAR), d2, s2);
    x[5] = y[3];
}

/* u = G g                      g: 3, u: n */
ALWAYS void weight_1d(int m, vec *u, const vec *g)
{
    if (m == 2) {
        vec h = splat(0.5f) * (g[0] + g[2]), q = splat(0.5f) * g[1];
        u[0] = g[0];
        u[1] = h + q;
        u[2] = h - q;
        u[3] = g[2];
        return;
    }
    vec p = splat(AT_NEAR) * fma_(splat(NEAR * NEAR), g[2], g[0]), q = splat(AT_NEAR * NEAR) * g[1];
    vec r = splat(AT_FAR) * fma_(splat(FAR * FAR), g[2], g[0]), t = splat(AT_FAR * FAR) * g[1];
    u[0] = splat(AT_ZERO) * g[0];
    u[1] = p + q;
    u[2] = p - q;
    u[3] = r + t;
    u[4] = r - t;
    u[5] = g[2];
}

/* g = G^T u                    u: n, g: 3 */
ALWAYS void weight_adjoint_1d(int m, vec *g, const vec *u)
{
    if (m == 2) {
        vec h = splat(0.5f) * (u[1] + u[2]);
        g[0] = u[0] + h;
        g[1] = splat(0.5f) * (u[1] - u[2]);
        g[2] = h + u[3];
        return;
    }
    vec s = splat(AT_NEAR) * (u[1] + u[2]), d = splat(AT_NEAR * NEAR) * (u[1] - u[2]);
    vec s2 = splat(AT_FAR) * (u[3] + u[4]), d2 = splat(AT_FAR * FAR) * (u[3] - u[4]);
    g[0] = fma_(splat(AT_ZERO), u[0], s + s2);
    g[1] = d + d2;
    g[2] = fma_(splat(NEAR * NEAR), s, fma_(splat(FAR * FAR), s2, u[5]));
}

/* ---- Two-dimensional transforms ------------------------------------------------------------ */

/* The outer loops stay loops: unrolled, the 36 addresses would not fit in registers. */

ALWAYS bool inside(tsri_window in, int i, int j)
{
    return i >= in.r0 && i < in.r1 && j >= in.c0 && j < in.c1;
}

ALWAYS bool whole(tsri_window in, int n)
{
    return in.r0 == 0 && in.c0 == 0 && in.r1 == n && in.c1 == n;
}

/* A tile that sticks out of the image is read through a table: a pixel outside has keep = 0 and
 * points to zeros, so that the loop over channels has no branches. */
typedef struct source {
    const float *at[6][6]; /* [column][row] */
    int32_t keep[6][6];    /* -1 or 0 */
} source;

static const float zeros[WIDTH];

ALWAYS void point_at(source *from, int n, const float *x, int64_t row, int64_t pixel,
                     tsri_window in)
{
    ROLLED for (int j = 0; j < n; j++) ROLLED for (int i = 0; i < n; i++)
    {
        bool ok = inside(in, i, j);
        from->at[j][i] = ok ? x + i * row + j * pixel : zeros;
        from->keep[j][i] = -(int32_t)ok;
    }
}

ALWAYS vec activate(vec v, vec scale, vec shift)
{
    return relu(fma_(scale, v, shift));
}

ALWAYS vec fetch(const source *from, int i, int j, int64_t c, int64_t left, bool pre, vec scale,
                 vec shift)
{
    int32_t keep = from->keep[j][i];
    vec v = load_some(from->at[j][i] + (c & keep), left);
    if (!pre)
        return v;
    return (vec)((bits)activate(v, scale, shift) & (keep - (bits){0}));
}

/* v = B^T x B for one vector of channels; `from` is NULL when the whole tile lies in the image. */
ALWAYS void input_vector(int m, const source *from, float *v, int64_t point, const float *x,
                         int64_t row, int64_t pixel, int64_t c, int64_t left, bool pre,
                         tsri_preop op)
{
    int n = m + 2;
    vec t[6][6], scale = {0}, shift = {0};
    if (pre)
        scale = load_some(op.scale + c, left), shift = load_some(op.shift + c, left);
    x += c;
    ROLLED for (int j = 0; j < n; j++, x += pixel)
    {
        vec d[6], o[6];
        UNROLL for (int i = 0; i < n; i++)
        {
            if (from)
                d[i] = fetch(from, i, j, c, left, pre, scale, shift);
            else if (pre)
                d[i] = activate(load_some(x + i * row, left), scale, shift);
            else
                d[i] = load_some(x + i * row, left);
        }
        input_1d(m, o, d);
        UNROLL for (int i = 0; i < n; i++) t[i][j] = o[i];
    }
    ROLLED for (int i = 0; i < n; i++, v += n * point)
    {
        vec o[6];
        input_1d(m, o, t[i]);
        UNROLL for (int j = 0; j < n; j++) store(v + j * point, o[j]);
    }
}

ALWAYS float *panel_at(float *v, tsri_panels to, int64_t c)
{
    return v + c / to.width * to.stride + c % to.width;
}

ALWAYS void input_tile(int m, const source *from, float *v, tsri_panels to, const float *x,
                       int64_t row, int64_t pixel, int64_t channels, bool pre, tsri_preop op)
{
    int64_t c = 0;
    for (; c + WIDTH <= channels; c += WIDTH)
        input_vector(m, from, panel_at(v, to, c), to.point, x, row, pixel, c, WIDTH, pre, op);
    if (c < channels)
        input_vector(m, from, panel_at(v, to, c), to.point, x, row, pixel, c, channels - c, pre,
                     op);
}

ALWAYS void input_any(int m, float *v, tsri_panels to, const float *x, int64_t row, int64_t pixel,
                      tsri_window in, int64_t channels, tsri_preop op)
{
    source from;
    bool full = whole(in, m + 2);
    if (!full)
        point_at(&from, m + 2, x, row, pixel, in);
    if (full && !op.scale)
        input_tile(m, NULL, v, to, x, row, pixel, channels, false, op);
    else if (full)
        input_tile(m, NULL, v, to, x, row, pixel, channels, true, op);
    else if (!op.scale)
        input_tile(m, &from, v, to, x, row, pixel, channels, false, op);
    else
        input_tile(m, &from, v, to, x, row, pixel, channels, true, op);
}

ALWAYS void output_vector(int m, bool full, float *y, int64_t row, int64_t pixel, tsri_window in,
                          const float *add, const float *mm, int64_t point, int64_t left)
{
    int n = m + 2;
    vec t[4][6];
    ROLLED for (int j = 0; j < n; j++, mm += point)
    {
        vec d[6], o[4];
        UNROLL for (int i = 0; i < n; i++) d[i] = load(mm + i * n * point);
        output_1d(m, o, d);
        UNROLL for (int i = 0; i < m; i++) t[i][j] = o[i];
    }
    ROLLED for (int i = 0; i < m; i++, y += row)
    {
        vec o[4];
        output_1d(m, o, t[i]);
        UNROLL for (int j = 0; j < m; j++) if (full || inside(in, i, j)) store_some(
            y + j * pixel, add ? o[j] + load_some(add + i * row + j * pixel, left) : o[j], left);
    }
}

ALWAYS void output_any(int m, float *y, int64_t row, int64_t pixel, tsri_window in,
                       const float *add, const float *mm, int64_t point, int64_t channels)
{
    int64_t c = 0, all = whole(in, m) ? channels / WIDTH * WIDTH : 0;
    if (!add)
        for (; c < all; c += WIDTH)
            output_vector(m, true, y + c, row, pixel, in, NULL, mm + c, point, WIDTH);
    else
        for (; c < all; c += WIDTH)
            output_vector(m, true, y + c, row, pixel, in, add + c, mm + c, point, WIDTH);
    for (; c < channels; c += WIDTH)
        output_vector(m, false, y + c, row, pixel, in, add ? add + c : NULL, mm + c, point,
                      channels - c);
}

ALWAYS void adjoint_vector(int m, bool full, float *v, int64_t point, const float *dy, int64_t row,
                           int64_t pixel, tsri_window in, int64_t left)
{
    int n = m + 2;
    vec t[6][4];
    ROLLED for (int j = 0; j < m; j++, dy += pixel)
    {
        vec d[4], o[6];
        UNROLL for (int i = 0; i < m; i++) d[i] =
            full || inside(in, i, j) ? load_some(dy + i * row, left) : (vec){0};
        output_adjoint_1d(m, o, d);
        UNROLL for (int i = 0; i < n; i++) t[i][j] = o[i];
    }
    ROLLED for (int i = 0; i < n; i++, v += n * point)
    {
        vec o[6];
        output_adjoint_1d(m, o, t[i]);
        UNROLL for (int j = 0; j < n; j++) store(v + j * point, o[j]);
    }
}

ALWAYS void adjoint_any(int m, float *v, tsri_panels to, const float *dy, int64_t row,
                        int64_t pixel, tsri_window in, int64_t channels)
{
    int64_t c = 0;
    if (whole(in, m))
        for (; c + WIDTH <= channels; c += WIDTH)
            adjoint_vector(m, true, panel_at(v, to, c), to.point, dy + c, row, pixel, in, WIDTH);
    for (; c < channels; c += WIDTH)
        adjoint_vector(m, false, panel_at(v, to, c), to.point, dy + c, row, pixel, in,
                       channels - c);
}

ALWAYS void weight_vector(int m, float *u, int64_t point, const float *w, int64_t tap, int64_t left)
{
    int n = m + 2;
    vec t[6][3];
    ROLLED for (int j = 0; j < 3; j++, w += tap)
    {
        vec g[3], o[6];
        UNROLL for (int i = 0; i < 3; i++) g[i] = load_some(w + i * 3 * tap, left);
        weight_1d(m, o, g);
        UNROLL for (int i = 0; i < n; i++) t[i][j] = o[i];
    }
    ROLLED for (int i = 0; i < n; i++, u += n * point)
    {
        vec o[6];
        weight_1d(m, o, t[i]);
        UNROLL for (int j = 0; j < n; j++) store(u + j * point, o[j]);
    }
}

ALWAYS void weight_any(int m, float *u, int64_t point, const float *w, int64_t tap,
                       int64_t channels)
{
    int64_t c = 0;
    for (; c + WIDTH <= channels; c += WIDTH)
        weight_vector(m, u + c, point, w + c, tap, WIDTH);
    if (c < channels)
        weight_vector(m, u + c, point, w + c, tap, channels - c);
}

ALWAYS void weight_adjoint_vector(int m, float *dw, int64_t tap, const float *u, int64_t point,
                                  int64_t left)
{
    int n = m + 2;
    vec t[3][6];
    ROLLED for (int j = 0; j < n; j++, u += point)
    {
        vec d[6], o[3];
        UNROLL for (int i = 0; i < n; i++) d[i] = load(u + i * n * point);
        weight_adjoint_1d(m, o, d);
        UNROLL for (int i = 0; i < 3; i++) t[i][j] = o[i];
    }
    ROLLED for (int i = 0; i < 3; i++, dw += 3 * tap)
    {
        vec o[3];
        weight_adjoint_1d(m, o, t[i]);
        UNROLL for (int j = 0; j < 3; j++) store_some(dw + j * tap, o[j], left);
    }
}

ALWAYS void weight_adjoint_any(int m, float *dw, int64_t tap, const float *u, int64_t point,
                               int64_t channels)
{
    int64_t c = 0;
    for (; c + WIDTH <= channels; c += WIDTH)
        weight_adjoint_vector(m, dw + c, tap, u + c, point, WIDTH);
    if (c < channels)
        weight_adjoint_vector(m, dw + c, tap, u + c, point, channels - c);
}

/* ---- Passes over pixels: batch norm, ReLU ----------------------------------------- */

enum { STRIP = 4 }; /* vectors of channels kept in registers while the pixels run by */

static void activate_pixels(float *y, const float *x, tsri_preop op, int64_t pixels,
                            int64_t channels)
{
    for (; pixels > 0; pixels--, x += channels, y += channels) {
        int64_t c = 0;
        for (; c + WIDTH <= channels; c += WIDTH)
            store(y + c, activate(load(x + c), load(op.scale + c), load(op.shift + c)));
        if (c < channels) {
            int64_t n = channels - c;
            vec v = activate(load_some(x + c, n), load_some(op.scale + c, n),
                             load_some(op.shift + c, n));
            store_some(y + c, v, n);
        }
    }
}

/* strip: vectors of this strip; left: channels from its first one on */
ALWAYS void moments_strip(float *sum, float *square, const float *x, const float *ref,
                          int64_t pixels, int64_t channels, int strip, int64_t left)
{
    vec s[STRIP], q[STRIP], r[STRIP];
    UNROLL for (int i = 0; i < strip; i++)
    {
        s[i] = q[i] = (vec){0};
        r[i] = load_some(ref + i * WIDTH, left - i * WIDTH);
    }
    for (int64_t p = 0; p < pixels; p++, x += channels)
        UNROLL for (int i = 0; i < strip; i++)
        {
            vec d = load_some(x + i * WIDTH, left - i * WIDTH) - r[i];
            s[i] += d;
            q[i] = fma_(d, d, q[i]);
        }
    UNROLL for (int i = 0; i < strip; i++)
    {
        store_some(sum + i * WIDTH, s[i], left - i * WIDTH);
        store_some(square + i * WIDTH, q[i], left - i * WIDTH);
    }
}

static void moments(float *sums, const float *x, const float *ref, int64_t pixels, int64_t channels)
{
    int64_t c = 0;
    for (; c + STRIP * WIDTH <= channels; c += STRIP * WIDTH)
        moments_strip(sums + c, sums + channels + c, x + c, ref + c, pixels, channels, STRIP,
                      STRIP * WIDTH);
    for (; c < channels; c += WIDTH)
        moments_strip(sums + c, sums + channels + c, x + c, ref + c, pixels, channels, 1,
                      channels - c);
}

/* The gradient that passes the ReLU behind y = scale x + shift. */
ALWAYS vec passed(vec g, vec x, vec scale, vec shift)
{
    return (vec)((bits)g & (bits)(fma_(scale, x, shift) > (vec){0}));
}

ALWAYS void norm_sums_strip(float *sum, float *dot, const float *g, const float *x,
                            const float *mean, const float *scale, const float *shift,
                            int64_t pixels, int64_t channels, int strip, int64_t left)
{
    vec s[STRIP], d[STRIP];
    UNROLL for (int i = 0; i < strip; i++) s[i] = d[i] = (vec){0};
    for (int64_t p = 0; p < pixels; p++, x += channels, g += channels)
        UNROLL for (int i = 0; i < strip; i++)
        {
            int64_t o = i * WIDTH, n = left - o;
            vec v = load_some(x + o, n);
            vec h =
                passed(load_some(g + o, n), v, load_some(scale + o, n), load_some(shift + o, n));
            s[i] += h;
            d[i] = fma_(h, v - load_some(mean + o, n), d[i]);
        }
    UNROLL for (int i = 0; i < strip; i++)
    {
        store_some(sum + i * WIDTH, s[i], left - i * WIDTH);
        store_some(dot + i * WIDTH, d[i], left - i * WIDTH);
    }
}

static void norm_sums(float *sums, const float *g, const float *x, const float *mean, tsri_preop op,
                      int64_t pixels, int64_t channels)
{
    int64_t c = 0;
    for (; c + STRIP * WIDTH <= channels; c += STRIP * WIDTH)
        norm_sums_strip(sums + c, sums + channels + c, g + c, x + c, mean + c, op.scale + c,
                        op.shift + c, pixels, channels, STRIP, STRIP * WIDTH);
    for (; c < channels; c += WIDTH)
        norm_sums_strip(sums + c, sums + channels + c, g + c, x + c, mean + c, op.scale + c,
                        op.shift + c, pixels, channels, 1, channels - c);
}

ALWAYS vec norm_gradient(const float *g, const float *x, const float *coef, tsri_preop op,
                         const float *add, int64_t channels, int64_t c, int64_t n)
{
    vec v = load_some(x + c, n);
    vec h = passed(load_some(g + c, n), v, load_some(op.scale + c, n), load_some(op.shift + c, n));
    vec low = fma_(load_some(coef + c, n), v, load_some(coef + channels + c, n));
    vec r = fma_(load_some(op.scale + c, n), h, low);
    return add ? r + load_some(add + c, n) : r;
}

static void norm_backward(float *dx, const float *g, const float *x, const float *coef,
                          tsri_preop op, const float *add, int64_t pixels, int64_t channels)
{
    for (int64_t p = 0; p < pixels; p++) {
        int64_t c = 0, at = p * channels;
        const float *also = add ? add + at : NULL;
        for (; c + WIDTH <= channels; c += WIDTH)
            store(dx + at + c, norm_gradient(g + at, x + at, coef, op, also, channels, c, WIDTH));
        if (c < channels)
            store_some(dx + at + c,
                       norm_gradient(g + at, x + at, coef, op, also, channels, c, channels - c),
                       channels - c);
    }
}

/* ---- The two forms and the table ----------------------------------------------------------- */

#define FORM(m)                                                                                    \
    static void input##m(float *v, tsri_panels to, const float *x, int64_t row, int64_t pixel,     \
                         tsri_window in, int64_t channels, tsri_preop pre)                         \
    {                                                                                              \
        input_any(m, v, to, x, row, pixel, in, channels, pre);                                     \
    }                                                                                              \
    static void output##m(float *y, int64_t row, int64_t pixel, tsri_window in, const float *add,  \
                          const float *mm, int64_t point, int64_t channels)                        \
    {                                                                                              \
        output_any(m, y, row, pixel, in, add, mm, point, channels);                                \
    }                                                                                              \
    static void output_adjoint##m(float *v, tsri_panels to, const float *dy, int64_t row,          \
                                  int64_t pixel, tsri_window in, int64_t channels)                 \
    {                                                                                              \
        adjoint_any(m, v, to, dy, row, pixel, in, channels);                                       \
    }                                                                                              \
    static void weight##m(float *u, int64_t point, const float *w, int64_t tap, int64_t channels)  \
    {                                                                                              \
        weight_any(m, u, point, w, tap, channels);                                                 \
    }                                                                                              \
    static void weight_adjoint##m(float *dw, int64_t tap, const float *u, int64_t point,           \
                                  int64_t channels)                                                \
    {                                                                                              \
        weight_adjoint_any(m, dw, tap, u, point, channels);                                        \
    }
FORM(2)
FORM(4)

const tsri_loops TABLE = {
    .name = NAME,
    .width = WIDTH,
    .rows = ROWS,
    .cols = 2 * WIDTH,
    .gemm = gemm,
    .gemm_t = gemm_t,
    .activate = activate_pixels,
    .moments = moments,
    .norm_sums = norm_sums,
    .norm_backward = norm_backward,
    .form2 = {2, 4, input2, output2, output_adjoint2, weight2, weight_adjoint2},
    .form4 = {4, 6, input4, output4, output_adjoint4, weight4, weight_adjoint4},
};
