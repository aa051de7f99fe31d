/* loops_skip.h - products that skip zeros; a part of loops_template.h. See skip.h for the words.
 *
 * Three rows of sums, four vectors each, stay in registers over a whole block of items. A step
 * works on all three rows, so that the multipliers always have enough independent sums:
 *
 *     full   one item,  for all three rows
 *     pair   two items, a for row k and b for the others
 *
 * The steps are sorted by class, so each loop below is straight-line code: no branch, no mask.
 *
 * The panel of one block lies in the first-level cache, an item's columns side by side: whole cache
 * lines, because AMD's cache serves two loads of a cycle only from different halves of it or from
 * the same line, and with rows of one and a half lines every second pair of loads collides.
 */
enum { SKIP_VECTORS = 4, SKIP_COLS = SKIP_VECTORS * WIDTH };

/* Kept in a register: GCC would rather load it anew for each use, and loads are what is scarce. */
#if WIDTH == 16
#define IN_REGISTER(x) __asm__("" : "+v"(x))
#elif WIDTH == 8
#define IN_REGISTER(x) __asm__("" : "+x"(x))
#else
#define IN_REGISTER(x) ((void)0)
#endif

/* Adds item `at` to the rows of mask p. */
ALWAYS void skip_side(vec acc[3][SKIP_VECTORS], const char *panel, int64_t at, const float *s,
                      const int p)
{
    const float *v = (const float *)(const void *)(panel + at);
    const bool shared = (p & (p - 1)) != 0;
    vec x[3];
    UNROLL for (int r = 0; r < 3; r++) if (p >> r & 1) x[r] = splat(s[r]);
    UNROLL for (int c = 0; c < SKIP_VECTORS; c++)
    {
        vec y = load(v + c * WIDTH);
        if (shared)
            IN_REGISTER(y);
        UNROLL for (int r = 0; r < 3; r++) if (p >> r & 1) acc[r][c] = fma_(x[r], y, acc[r][c]);
    }
}

/* Two items in one load: loads are what is scarce. */
typedef uint32_t two_items __attribute__((aligned(2), may_alias));

#define SKIP_CLASS(k)                                                                              \
    for (int n = run->pair[k]; n > 0; n--, at += 2, s += 3) {                                      \
        uint32_t two = *(const two_items *)at;                                                     \
        skip_side(acc, items, two & 0xffff, s, 1 << (k));                                          \
        skip_side(acc, items, two >> 16, s, 7 & ~(1 << (k)));                                      \
    }

static void skip(float *const sum[3], bool fresh, const float *panel, const uint16_t *at,
                 const float *s, const tsri_skip_run *run)
{
    const char *items = (const char *)panel;
    vec acc[3][SKIP_VECTORS], zero = {0};
    UNROLL for (int r = 0; r < 3; r++) UNROLL for (int c = 0; c < SKIP_VECTORS; c++) acc[r][c] =
        fresh ? zero : load(sum[r] + c * WIDTH);
    for (int n = run->full; n > 0; n--, at++, s += 3)
        skip_side(acc, items, *at, s, 7);
    SKIP_CLASS(0)
    SKIP_CLASS(1)
    SKIP_CLASS(2)
    UNROLL for (int r = 0; r < 3; r++) UNROLL for (int c = 0; c < SKIP_VECTORS; c++)
        store(sum[r] + c * WIDTH, acc[r][c]);
}

/* ---- Packing --------------------------------------------------------------------------------- */

/* A panel of whole rows: rows of V so far apart that each is another page. */
static void skip_rows(float *panel, const float *v, int64_t stride, int64_t items)
{
    for (int64_t t = 0; t < items; t++)
        UNROLL for (int c = 0; c < SKIP_VECTORS; c++)
            store(panel + t * SKIP_COLS + c * WIDTH, load(v + t * stride + c * WIDTH));
}

/* A strip's sums to C. Past the caches: lines of C are not read before they are written; only whole
 * vectors can go that way. */
static void skip_out(float *to, int64_t stride, const float *strip, int64_t rows, bool past)
{
    enum { AHEAD = 12 };
    bool whole = ((uintptr_t)to | (uintptr_t)(stride * 4)) % (WIDTH * 4) == 0;
    for (int64_t r = 0; r < rows; r++, to += stride, strip += SKIP_COLS) {
        if (past && whole) {
            UNROLL for (int c = 0; c < SKIP_VECTORS; c++)
                stream(to + c * WIDTH, load(strip + c * WIDTH));
        } else {
            UNROLL for (int c = 0; c < SKIP_VECTORS; c++)
            {
                if (r + AHEAD < rows)
                    __builtin_prefetch(to + AHEAD * stride + c * WIDTH, 1, 3);
                store(to + c * WIDTH, load(strip + c * WIDTH));
            }
        }
    }
    if (past && whole)
        streamed();
}

/* ---- Turning ------------------------------------------------------------------------------- */

typedef float oct __attribute__((vector_size(32)));
typedef float oct_any __attribute__((vector_size(32), aligned(4), may_alias));

#define JOIN(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)

/* Eight rows of eight numbers. */
ALWAYS void turn_eight(float *to, int64_t to_row, const float *from, int64_t from_row)
{
    oct x[8], y[8];
    UNROLL for (int i = 0; i < 8; i++) x[i] = *(const oct_any *)(from + i * from_row);
    UNROLL for (int i = 0; i < 8; i += 2)
    {
        y[i] = JOIN(x[i], x[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        y[i + 1] = JOIN(x[i], x[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    UNROLL for (int i = 0; i < 8; i += 4) UNROLL for (int k = 0; k < 2; k++)
    {
        x[i + 2 * k] = JOIN(y[i + k], y[i + 2 + k], 0, 1, 8, 9, 4, 5, 12, 13);
        x[i + 2 * k + 1] = JOIN(y[i + k], y[i + 2 + k], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    UNROLL for (int i = 0; i < 4; i++)
    {
        *(oct_any *)(to + i * to_row) = JOIN(x[i], x[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        *(oct_any *)(to + (i + 4) * to_row) = JOIN(x[i], x[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

/* In squares of 16: rows a power of two apart fall upon one set of the cache, which holds eight
 * lines; so a line is used up before it is lost. */
static void turn(float *to, int64_t to_row, const float *from, int64_t from_row, int64_t rows,
                 int64_t cols)
{
    int64_t whole_rows = rows / 8 * 8, whole_cols = cols / 8 * 8;
    for (int64_t i = 0; i < whole_rows; i += 16)
        for (int64_t j = 0; j < whole_cols; j += 16)
            for (int64_t k = i; k < i + 16 && k < whole_rows; k += 8)
                for (int64_t l = j; l < j + 16 && l < whole_cols; l += 8)
                    turn_eight(to + l * to_row + k, to_row, from + k * from_row + l, from_row);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = i < whole_rows ? whole_cols : 0; j < cols; j++)
            to[j * to_row + i] = from[i * from_row + j];
}

/* ---- One sample ---------------------------------------------------------------------------- */

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

enum {
    ACROSS = WIDTH == 16 ? 16 : 8, /* vectors of sums: as many as registers leave room for */
    SOON = 8                       /* rows that are fetched before they are needed */
};

ALWAYS void sum_block(float *y, int vectors, const float *w, int64_t stride, const float *x,
                      const int32_t *at, int64_t n)
{
    vec sum[ACROSS];
    UNROLL for (int v = 0; v < vectors; v++) sum[v] = (vec){0};
    for (int64_t k = 0; k < n; k++) {
        const float *row = w + at[k] * stride, *soon = w + at[k + SOON] * stride;
        vec s = splat(x[at[k]]);
        UNROLL for (int v = 0; v < vectors; v++)
        {
            if (v * WIDTH % 16 == 0)
                __builtin_prefetch(soon + v * WIDTH, 0, 3);
            sum[v] = fma_(load(row + v * WIDTH), s, sum[v]);
        }
    }
    UNROLL for (int v = 0; v < vectors; v++) store(y + v * WIDTH, sum[v]);
}

/* The rows of W that count, added up block after block of columns, each block's sums in
 * registers. */
static void sums(float *y, int64_t cols, const float *w, int64_t stride, const float *x,
                 const int32_t *at, int64_t n)
{
    int64_t j = 0;
    for (; j + ACROSS * WIDTH <= cols; j += ACROSS * WIDTH)
        sum_block(y + j, ACROSS, w + j, stride, x, at, n);
    for (; j + WIDTH <= cols; j += WIDTH)
        sum_block(y + j, 1, w + j, stride, x, at, n);
    for (; j < cols; j++) {
        float sum = 0;
        for (int64_t k = 0; k < n; k++)
            sum += w[at[k] * stride + j] * x[at[k]];
        y[j] = sum;
    }
}
