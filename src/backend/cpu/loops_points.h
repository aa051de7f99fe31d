/* loops_points.h - Winograd's transforms of one row or column; a part of loops_template.h.
 *
 * F(2x2) interpolates at 0, 1, -1, infinity. F(4x4) does at 0, 3/4, -3/4, 3/2, -3/2, infinity: as
 * many operations as the usual 0, 1, -1, 2, -2, every constant of B and A exact in f32, and half of
 * the rounding error (docs/convolution.md). m is 2 or 4 and known when these are inlined.
 */
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
