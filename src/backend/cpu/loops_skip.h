/* loops_skip.h - products that skip zeros; a part of loops_template.h. See skip.h for the words.
 *
 * Four rows of sums, SKIP_VECTORS vectors each, stay in registers over a whole block of items. A
 * step works on all four rows, so that the multipliers always have enough independent sums:
 *
 *     full   one item,  for all four rows
 *     pair   two items, a for the rows of class p and b for the others
 *
 * The steps are sorted by class, so each loop below is straight-line code: no branch, no mask.
 *
 * The panel of one block lies in the first-level cache, its columns SKIP_LINE floats wide, one
 * column behind the other; the last one may be half as wide. A column is a cache line wide where a
 * vector is half a line, because AMD's cache serves two loads of a cycle only from different halves
 * of it or from the same line: with rows of one and a half lines every second pair of loads
 * collides (measured on Zen 3: 66 instead of 100 GFLOP/s in the innermost loop).
 */
enum {
    SKIP_COLS = SKIP_VECTORS * WIDTH,
    SKIP_WHOLE = SKIP_COLS / SKIP_LINE, /* columns of the panel that are not half as wide */
};

/* Vector c of the item at `at` (SKIP_UNIT times its number). */
ALWAYS const float *skip_vector(const float *panel, int64_t at, int c)
{
    const int column = c * WIDTH / SKIP_LINE, within = c * WIDTH % SKIP_LINE;
    const float *line = panel + (int64_t)column * SKIP_LINE * SKIP_ITEMS + within;
    return line + (column < SKIP_WHOLE ? SKIP_LINE / SKIP_UNIT : SKIP_LINE / SKIP_UNIT / 2) * at;
}

/* Kept in a register: GCC would rather load it anew for each use, and loads are what is scarce. */
#define IN_REGISTER(x) __asm__("" : "+x"(x))
#if WIDTH == 16
#undef IN_REGISTER
#define IN_REGISTER(x) __asm__("" : "+v"(x))
#endif

/* Adds item `at` to the rows of mask p. */
ALWAYS void skip_side(vec sum[4][SKIP_VECTORS], const float *panel, int64_t at, const float *s,
                      const int p)
{
    const bool shared = (p & (p - 1)) != 0;
    vec x[4];
    UNROLL for (int r = 0; r < 4; r++) if (p >> r & 1) x[r] = splat(s[r]);
    UNROLL for (int c = 0; c < SKIP_VECTORS; c++)
    {
        vec v = load(skip_vector(panel, at, c));
        if (shared)
            IN_REGISTER(v);
        UNROLL for (int r = 0; r < 4; r++) if (p >> r & 1) sum[r][c] = fma_(x[r], v, sum[r][c]);
    }
}

#define SKIP_CLASS(k, p)                                                                           \
    for (int n = run->pair[k]; n > 0; n--, at += 2, s += 4) {                                      \
        skip_side(sum, panel, at[0], s, p);                                                        \
        skip_side(sum, panel, at[1], s, 15 & ~(p));                                                \
    }

static void skip(float *c, int64_t ldc, const float *panel, const uint16_t *at, const float *s,
                 const tsri_skip_run *run, bool add)
{
    vec sum[4][SKIP_VECTORS];
    UNROLL for (int r = 0; r < 4; r++) UNROLL for (int j = 0; j < SKIP_VECTORS; j++) sum[r][j] =
        add ? load(c + r * ldc + j * WIDTH) : (vec){0};
    for (int n = run->full; n > 0; n--, at++, s += 4) {
#if WIDTH == 16
        skip_side(sum, panel, *at, s, 15);
#else
        skip_side(sum, panel, *at, s, 3); /* two and two: sixteen registers hold no more */
        __asm__ volatile("" ::: "memory");
        skip_side(sum, panel, *at, s, 12);
#endif
    }
    SKIP_CLASS(0, 1)
    SKIP_CLASS(1, 2)
    SKIP_CLASS(2, 4)
    SKIP_CLASS(3, 8)
    SKIP_CLASS(4, 3)
    SKIP_CLASS(5, 5)
    SKIP_CLASS(6, 6)
    UNROLL for (int r = 0; r < 4; r++) UNROLL for (int j = 0; j < SKIP_VECTORS; j++)
        store(c + r * ldc + j * WIDTH, sum[r][j]);
}

/* y[r] = <w[r], x> for four rows at a time: four streams from memory keep it busy, one does not. */
static void dots(float y[4], const float *const w[4], const float *x, int64_t n)
{
    vec sum[4][2];
    int64_t i = 0;
    UNROLL for (int r = 0; r < 4; r++) sum[r][0] = sum[r][1] = (vec){0};
    for (; i + 2 * WIDTH <= n; i += 2 * WIDTH) {
        vec x0 = load(x + i), x1 = load(x + i + WIDTH);
        UNROLL for (int r = 0; r < 4; r++)
        {
            sum[r][0] = fma_(load(w[r] + i), x0, sum[r][0]);
            sum[r][1] = fma_(load(w[r] + i + WIDTH), x1, sum[r][1]);
        }
    }
    for (int r = 0; r < 4; r++) {
        vec total = sum[r][0] + sum[r][1];
        float part[WIDTH];
        store(part, total);
        for (int half = WIDTH / 2; half > 0; half /= 2)
            for (int l = 0; l < half; l++)
                part[l] += part[l + half];
        for (int64_t k = i; k < n; k++)
            part[0] += w[r][k] * x[k];
        y[r] = part[0];
    }
}
