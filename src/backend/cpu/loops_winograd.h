/* loops_winograd.h - Winograd's transforms of one tile; a part of loops_template.h.
 *
 *     Y  = A^T [ (G w G^T) . (B^T x B) ] A          summed over input channels
 *     dw = G^T [ (B^T x B) . (A dY A^T) ] G         summed over tiles: the exact adjoint
 *
 * Each two-dimensional transform is the one-dimensional one (loops_points.h) on the columns, then
 * on the rows. A tile may stick out of the image, a pointer may not: places outside exist only as
 * offsets.
 */
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

ALWAYS void point_at(source *from, int n, const float *x, int64_t at, int64_t row, int64_t pixel,
                     tsri_window in)
{
    ROLLED for (int j = 0; j < n; j++) ROLLED for (int i = 0; i < n; i++)
    {
        bool ok = inside(in, i, j);
        from->at[j][i] = ok ? x + (at + i * row + j * pixel) : zeros;
        from->keep[j][i] = -(int32_t)ok;
    }
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

/* v = B^T x B for one vector of channels. When the whole tile lies in the image x points at it and
 * `from` is NULL; else x is not used. */
ALWAYS void input_vector(int m, const source *from, float *v, int64_t point, const float *x,
                         int64_t row, int64_t pixel, int64_t c, int64_t left, bool pre,
                         tsri_preop op)
{
    int n = m + 2;
    vec t[6][6], scale = {0}, shift = {0};
    if (pre)
        scale = load_some(op.scale + c, left), shift = load_some(op.shift + c, left);
    ROLLED for (int j = 0; j < n; j++)
    {
        vec d[6], o[6];
        UNROLL for (int i = 0; i < n; i++)
        {
            if (from)
                d[i] = fetch(from, i, j, c, left, pre, scale, shift);
            else if (pre)
                d[i] = activate(load_some(x + (j * pixel + i * row + c), left), scale, shift);
            else
                d[i] = load_some(x + (j * pixel + i * row + c), left);
        }
        input_1d(m, o, d);
        UNROLL for (int i = 0; i < n; i++) t[i][j] = o[i];
    }
    ROLLED for (int i = 0; i < n; i++)
    {
        vec o[6];
        input_1d(m, o, t[i]);
        UNROLL for (int j = 0; j < n; j++) store(v + (i * n + j) * point, o[j]);
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

ALWAYS void input_any(int m, float *v, tsri_panels to, const float *x, int64_t at, int64_t row,
                      int64_t pixel, tsri_window in, int64_t channels, tsri_preop op)
{
    source from;
    bool full = whole(in, m + 2);
    if (!full)
        point_at(&from, m + 2, x, at, row, pixel, in);
    if (full && !op.scale)
        input_tile(m, NULL, v, to, x + at, row, pixel, channels, false, op);
    else if (full)
        input_tile(m, NULL, v, to, x + at, row, pixel, channels, true, op);
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
    ROLLED for (int j = 0; j < n; j++)
    {
        vec d[6], o[4];
        UNROLL for (int i = 0; i < n; i++) d[i] = load(mm + (i * n + j) * point);
        output_1d(m, o, d);
        UNROLL for (int i = 0; i < m; i++) t[i][j] = o[i];
    }
    ROLLED for (int i = 0; i < m; i++)
    {
        vec o[4];
        output_1d(m, o, t[i]);
        UNROLL for (int j = 0; j < m; j++) if (full || inside(in, i, j))
            store_some(y + (i * row + j * pixel),
                       add ? o[j] + load_some(add + (i * row + j * pixel), left) : o[j], left);
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
    ROLLED for (int j = 0; j < m; j++)
    {
        vec d[4], o[6];
        UNROLL for (int i = 0; i < m; i++) d[i] =
            full || inside(in, i, j) ? load_some(dy + (j * pixel + i * row), left) : (vec){0};
        output_adjoint_1d(m, o, d);
        UNROLL for (int i = 0; i < n; i++) t[i][j] = o[i];
    }
    ROLLED for (int i = 0; i < n; i++)
    {
        vec o[6];
        output_adjoint_1d(m, o, t[i]);
        UNROLL for (int j = 0; j < n; j++) store(v + (i * n + j) * point, o[j]);
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
    ROLLED for (int j = 0; j < 3; j++)
    {
        vec g[3], o[6];
        UNROLL for (int i = 0; i < 3; i++) g[i] = load_some(w + (i * 3 + j) * tap, left);
        weight_1d(m, o, g);
        UNROLL for (int i = 0; i < n; i++) t[i][j] = o[i];
    }
    ROLLED for (int i = 0; i < n; i++)
    {
        vec o[6];
        weight_1d(m, o, t[i]);
        UNROLL for (int j = 0; j < n; j++) store(u + (i * n + j) * point, o[j]);
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
    ROLLED for (int j = 0; j < n; j++)
    {
        vec d[6], o[3];
        UNROLL for (int i = 0; i < n; i++) d[i] = load(u + (i * n + j) * point);
        weight_adjoint_1d(m, o, d);
        UNROLL for (int i = 0; i < 3; i++) t[i][j] = o[i];
    }
    ROLLED for (int i = 0; i < 3; i++)
    {
        vec o[3];
        weight_adjoint_1d(m, o, t[i]);
        UNROLL for (int j = 0; j < 3; j++) store_some(dw + (i * 3 + j) * tap, o[j], left);
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

/* ---- The two forms ------------------------------------------------------------------------- */

#define FORM(m)                                                                                    \
    static void input##m(float *v, tsri_panels to, const float *x, int64_t at, int64_t row,        \
                         int64_t pixel, tsri_window in, int64_t channels, tsri_preop pre)          \
    {                                                                                              \
        input_any(m, v, to, x, at, row, pixel, in, channels, pre);                                 \
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
