/* Products that skip zeros against the plain sum in double, for every instruction set this
 * processor has: random and adversarial bits, sizes that are multiples of nothing, all three
 * products of a layer, one thread and three (which must not change a bit). */
#include "testing.h"

#include "backend/cpu/skip.h"
#include "base/alloc.h"
#include "base/rng.h"

#include <math.h>

typedef enum bits_kind {
    RANDOM,
    ALL_ON,
    ALL_OFF,
    ONE_ON,
    ROW_ON,
    COLUMN_ON,
    SAME_ROWS,
    ONE_OF_THREE, /* rows without a common item: nothing to pair with */
    TWO_OF_THREE, /* any two rows have a common item, no item is on for all */
    KINDS
} bits_kind;

typedef struct problem {
    int64_t n, units, cols;
    bool by_units;
    bool turned; /* V is stored with its items innermost */
    bool add;
    double scale;
    tsri_bits bits;
    uint64_t *word;
    float *s, *v, *c, *start;
} problem;

static bool wanted(bits_kind kind, int64_t i, int64_t u, double density, tsri_rng *rng)
{
    bool chance = (double)tsri_rng_uniform(rng) < density;
    switch (kind) {
    case ALL_ON:
        return true;
    case ALL_OFF:
        return false;
    case ONE_ON:
        return i == 1 && u == 2;
    case ROW_ON:
        return i == 3;
    case COLUMN_ON:
        return u == 5;
    case SAME_ROWS:
        return u % 3 == 0;
    case ONE_OF_THREE:
        return u % 3 == i % 3;
    case TWO_OF_THREE:
        return u % 3 != i % 3;
    default:
        return chance;
    }
}

static bool bit(const problem *p, int64_t i, int64_t u)
{
    return p->word[i * p->bits.words + u / 64] >> u % 64 & 1;
}

static int64_t rows(const problem *p)
{
    return p->by_units ? p->units : p->n;
}

static int64_t items(const problem *p)
{
    return p->by_units ? p->n : p->units;
}

static void make(problem *p, bits_kind kind, double density)
{
    tsri_rng rng = tsri_rng_stream(7, TSRI_FOR_TEST, kind, p->n, p->units);
    p->bits = (tsri_bits){p->n, p->units, tsri_bit_words(p->units), NULL};
    assert_int_equal(tsri_alloc(&p->word, p->n * p->bits.words, sizeof *p->word), TSR_OK);
    assert_int_equal(tsri_alloc(&p->s, p->n * p->units, sizeof *p->s), TSR_OK);
    assert_int_equal(tsri_alloc(&p->v, items(p) * p->cols, sizeof *p->v), TSR_OK);
    assert_int_equal(tsri_alloc(&p->c, rows(p) * p->cols, sizeof *p->c), TSR_OK);
    assert_int_equal(tsri_alloc(&p->start, rows(p) * p->cols, sizeof *p->start), TSR_OK);
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t u = 0; u < p->units; u++)
            if (wanted(kind, i, u, density, &rng)) {
                p->word[i * p->bits.words + u / 64] |= (uint64_t)1 << u % 64;
                p->s[i * p->units + u] = (float)tsri_rng_normal(&rng);
            }
    for (int64_t i = 0; i < items(p) * p->cols; i++)
        p->v[i] = (float)tsri_rng_normal(&rng);
    for (int64_t i = 0; i < rows(p) * p->cols; i++)
        p->start[i] = (float)tsri_rng_normal(&rng);
    p->bits.word = p->word;
}

static void drop(problem *p)
{
    tsri_free(p->word);
    tsri_free(p->s);
    tsri_free(p->v);
    tsri_free(p->c);
    tsri_free(p->start);
}

static double s_at(const problem *p, int64_t r, int64_t t)
{
    return (double)(p->by_units ? p->s[t * p->units + r] : p->s[r * p->units + t]);
}

static double v_at(const problem *p, int64_t t, int64_t j)
{
    return (double)(p->turned ? p->v[j * items(p) + t] : p->v[t * p->cols + j]);
}

/* Relative to the sum of absolute values, the scale of any rounding in the sum. */
static void compare(const problem *p)
{
    for (int64_t r = 0; r < rows(p); r++)
        for (int64_t j = 0; j < p->cols; j++) {
            double sum = p->add ? (double)p->start[r * p->cols + j] : 0, size = fabs(sum);
            for (int64_t t = 0; t < items(p); t++) {
                bool on = p->by_units ? bit(p, t, r) : bit(p, r, t);
                double term = on ? p->scale * s_at(p, r, t) * v_at(p, t, j) : 0;
                sum += term;
                size += fabs(term);
            }
            double got = (double)p->c[r * p->cols + j];
            if (!(fabs(got - sum) <= 1e-6 * size))
                fail_msg("row %d column %d: %g, should be %g", (int)r, (int)j, got, sum);
        }
}

static void run(problem *p, const tsri_loops *loops, int threads)
{
    tsri_pattern pattern;
    tsri_pool *pool = NULL;
    void *scratch = NULL;
    assert_int_equal(tsri_pool_create(&pool, threads), TSR_OK);
    assert_int_equal(tsri_pattern_init(&pattern, loops, p->n, p->units, p->by_units), TSR_OK);
    tsri_pattern_inspect(&pattern, &p->bits, pool);
    assert_int_equal(tsri_alloc_raw(&scratch, tsri_skip_scratch(&pattern, threads), 1), TSR_OK);
    for (int64_t i = 0; i < rows(p) * p->cols; i++)
        p->c[i] = p->start[i];
    tsri_skip k = {.pattern = &pattern,
                   .s = p->s,
                   .v = p->v,
                   .v_item = p->turned ? 1 : p->cols,
                   .v_col = p->turned ? items(p) : 1,
                   .c = p->c,
                   .cols = p->cols,
                   .add = p->add,
                   .scale = p->scale,
                   .scratch = scratch};
    tsri_skip_run_all(&k, pool);
    tsri_free(scratch);
    tsri_pattern_fini(&pattern);
    tsri_pool_destroy(pool);
}

static const struct {
    int64_t n, units, cols;
} shapes[] = {{1, 1, 1},     {3, 5, 7},     {4, 8, 16},     {5, 257, 25},
              {66, 70, 131}, {33, 321, 65}, {130, 163, 24}, {12, 1100, 49},
              {523, 37, 35}, {37, 523, 35}}; /* more rows than a chunk has */

static void every_pattern(void **state)
{
    (void)state;
    const tsri_loops *loops;
    for (int l = 0; (loops = tsri_loops_at(l)) != NULL; l++)
        for (size_t q = 0; q < sizeof shapes / sizeof *shapes; q++)
            for (int form = 0; form < 3; form++)
                for (bits_kind kind = RANDOM; kind < KINDS; kind++) {
                    problem p = {.n = shapes[q].n,
                                 .units = shapes[q].units,
                                 .cols = shapes[q].cols,
                                 .by_units = form == 2,
                                 .turned = form == 0,
                                 .add = form == 1,
                                 .scale = form == 2 ? 0.5 : 1};
                    make(&p, kind, 0.5);
                    run(&p, loops, 1);
                    compare(&p);
                    drop(&p);
                }
}

static void every_density(void **state)
{
    (void)state;
    for (int d = 0; d <= 10; d++) {
        problem p = {.n = 37, .units = 517, .cols = 83, .by_units = d % 2, .scale = 1};
        make(&p, RANDOM, d / 10.0);
        run(&p, tsri_loops_best(), 1);
        compare(&p);
        drop(&p);
    }
}

static void threads_change_nothing(void **state)
{
    (void)state;
    problem p = {.n = 61, .units = 600, .cols = 333, .turned = true, .scale = 1};
    float *one = NULL;
    make(&p, RANDOM, 0.5);
    run(&p, tsri_loops_best(), 1);
    one = p.c;
    assert_int_equal(tsri_alloc(&p.c, rows(&p) * p.cols, sizeof *p.c), TSR_OK);
    run(&p, tsri_loops_best(), 3);
    assert_memory_equal(one, p.c, (size_t)(rows(&p) * p.cols) * sizeof *p.c);
    tsri_free(one);
    drop(&p);
}

/* At half density the steps do little more than half of the multiplications. */
static void half_the_work(void **state)
{
    (void)state;
    tsri_pattern pattern;
    tsri_pool *pool = NULL;
    problem p = {.n = 64, .units = 2048, .cols = 1, .scale = 1};
    make(&p, RANDOM, 0.5);
    assert_int_equal(tsri_pool_create(&pool, 1), TSR_OK);
    assert_int_equal(tsri_pattern_init(&pattern, tsri_loops_best(), p.n, p.units, false), TSR_OK);
    tsri_pattern_inspect(&pattern, &p.bits, pool);
    assert_true(tsri_pattern_work(&pattern) > 0.5 && tsri_pattern_work(&pattern) < 0.53);
    tsri_pattern_fini(&pattern);
    tsri_pool_destroy(pool);
    drop(&p);
}

/* Bits of numbers and back. NaN is not above zero. */
static void bits_and_numbers(void **state)
{
    (void)state;
    enum { N = 5, UNITS = 131 };
    float x[N * UNITS], y[N * UNITS];
    uint64_t word[N * 3];
    tsri_pool *pool = NULL;
    tsri_rng rng = tsri_rng_stream(3, TSRI_FOR_TEST, 1, 2, 3);
    for (int i = 0; i < N * UNITS; i++)
        y[i] = x[i] = i == 70 ? NAN : i % 9 ? (float)tsri_rng_normal(&rng) : 0.0f;
    assert_int_equal(tsri_pool_create(&pool, 2), TSR_OK);
    tsri_bits_of(word, x, N, UNITS, pool);
    tsri_bits_mask(y, word, N, UNITS, pool);
    for (int i = 0; i < N * UNITS; i++)
        assert_true(y[i] == (x[i] > 0 ? x[i] : 0));
    for (int i = 0; i < N; i++)
        assert_true(word[3 * i + 2] >> (UNITS - 128) == 0);
    tsri_pool_destroy(pool);
}

static void bits_turned(void **state)
{
    (void)state;
    enum { N = 70, UNITS = 131 };
    uint64_t word[N * 3] = {0}, to[UNITS * 2];
    tsri_pool *pool = NULL;
    tsri_rng rng = tsri_rng_stream(3, TSRI_FOR_TEST, 4, 5, 6);
    for (int i = 0; i < N; i++)
        for (int u = 0; u < UNITS; u++)
            word[3 * i + u / 64] |= (uint64_t)(tsri_rng_uniform(&rng) < 0.5f) << u % 64;
    assert_int_equal(tsri_pool_create(&pool, 2), TSR_OK);
    tsri_bits_turn(to, &(tsri_bits){N, UNITS, 3, word}, pool);
    for (int u = 0; u < UNITS; u++)
        for (int i = 0; i < 128; i++)
            assert_int_equal(to[2 * u + i / 64] >> i % 64 & 1,
                             i < N ? word[3 * i + u / 64] >> u % 64 & 1 : 0);
    tsri_pool_destroy(pool);
}

/* ---- One sample ---------------------------------------------------------------------------- */

enum { WIDEST = 700 };

/* y = relu(scale W x + b) by sums in double: |got - y| within the rounding of n sums. */
static void compare_columns(const tsri_columns *c, const float *w)
{
    for (int64_t o = 0; o < c->outputs; o++) {
        double sum = (double)c->b[o], size = fabs(sum);
        for (int64_t i = 0; i < c->inputs; i++) {
            double term = c->scale * (double)w[o * c->inputs + i] * (double)c->x[i];
            sum += term;
            size += fabs(term);
        }
        sum = c->relu && sum < 0 ? 0 : sum;
        if (!(fabs((double)c->y[o] - sum) <= 1e-7 * (double)(c->inputs + 2) * size))
            fail_msg("output %d: %g, should be %g", (int)o, (double)c->y[o], sum);
    }
}

static void inputs_that_are_zero(void **state)
{
    (void)state;
    static float w[WIDEST * WIDEST], packed[WIDEST * WIDEST], x[WIDEST], b[WIDEST], y[WIDEST];
    static int32_t at[WIDEST + 64];
    static const int64_t sizes[][2] = {{1, 1},     {3, 7},     {64, 65},
                                       {131, 256}, {333, 700}, {700, 300}};
    tsri_pool *pool = NULL;
    tsri_rng rng = tsri_rng_stream(3, TSRI_FOR_TEST, 7, 8, 9);
    assert_int_equal(tsri_pool_create(&pool, 2), TSR_OK);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int d = 0; d <= 4; d++) {
            int64_t in = sizes[k][0], out = sizes[k][1];
            for (int64_t i = 0; i < in * out; i++)
                w[i] = (float)tsri_rng_normal(&rng);
            for (int64_t i = 0; i < in; i++)
                x[i] = tsri_rng_uniform(&rng) * 4 < (float)d ? (float)tsri_rng_normal(&rng) : 0;
            for (int64_t i = 0; i < out; i++)
                b[i] = (float)tsri_rng_normal(&rng);
            tsri_columns c = {in, out, packed, x, b, y, at, 0.5, d % 2 == 1};
            assert_true(tsri_columns_room(in) <= (int64_t)(sizeof at / sizeof *at));
            tsri_columns_pack(packed, w, in, out, pool);
            tsri_columns_run(&c, pool);
            compare_columns(&c, w);
        }
    x[5] = NAN; /* is not taken for a 0 */
    tsri_columns_run(&(tsri_columns){9, 20, packed, x, NULL, y, at, 0, false}, pool);
    for (int i = 0; i < 20; i++)
        assert_true(isnan(y[i]));
    tsri_pool_destroy(pool);
}

/* Every table's loop alone: whole blocks, single vectors, single columns. */
static void sums_of_rows(void **state)
{
    (void)state;
    static float w[40 * 300], x[40], y[300];
    const tsri_loops *loops;
    tsri_rng rng = tsri_rng_stream(3, TSRI_FOR_TEST, 10, 11, 12);
    for (int i = 0; i < 40 * 300; i++)
        w[i] = (float)tsri_rng_normal(&rng);
    for (int i = 0; i < 40; i++)
        x[i] = (float)tsri_rng_normal(&rng);
    for (int l = 0; (loops = tsri_loops_at(l)) != NULL; l++)
        for (int64_t cols = 1; cols <= 300; cols += 23) {
            int32_t at[40];
            int64_t n = 0;
            for (int i = 0; i < 30; i += 1 + i % 3)
                at[n++] = i;
            assert_true(n + loops->ahead <= 40);
            for (int k = 0; k < loops->ahead; k++)
                at[n + k] = 39;
            loops->sums(y, cols, w, 300, x, at, n);
            for (int64_t j = 0; j < cols; j++) {
                double sum = 0, size = 0;
                for (int64_t k = 0; k < n; k++) {
                    sum += (double)x[at[k]] * (double)w[at[k] * 300 + j];
                    size += fabs((double)x[at[k]] * (double)w[at[k] * 300 + j]);
                }
                assert_true(fabs((double)y[j] - sum) <= 1e-7 * (double)(n + 1) * size);
            }
        }
}

static void memory_runs_out(void **state)
{
    (void)state;
    tsri_pattern p;
    for (int n = 0; n < 4; n++) {
        tsri_alloc_fail_after(n, false);
        assert_int_equal(tsri_pattern_init(&p, tsri_loops_best(), 9, 9, true), TSR_RESOURCES);
    }
    tsri_alloc_fail_after(-1, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pattern),          cmocka_unit_test(every_density),
        cmocka_unit_test(threads_change_nothing), cmocka_unit_test(half_the_work),
        cmocka_unit_test(bits_and_numbers),       cmocka_unit_test(bits_turned),
        cmocka_unit_test(inputs_that_are_zero),   cmocka_unit_test(sums_of_rows),
        cmocka_unit_test(memory_runs_out),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
