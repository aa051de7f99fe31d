/* loops_product.h - matrix products; a part of loops_template.h.
 *
 * A register tile of ROWS x 2 vectors is held in registers over the whole sum: each step loads two
 * vectors of b, broadcasts ROWS numbers of a and does 2 ROWS fused multiply-adds, so that the
 * multipliers are the bottleneck and not the loads. The drivers store b as panels of 2 WIDTH
 * columns; a is read where it lies. Of a panel whose second half is padding only the first is
 * multiplied.
 */
ALWAYS void product(float *c, int64_t ldc, const float *a, int64_t a_row, int64_t a_step,
                    const float *b, int rows, int vectors, int64_t l, bool add)
{
    vec acc[ROWS][2];
    UNROLL for (int i = 0; i < rows; i++) acc[i][0] = acc[i][1] = (vec){0};
    for (; l > 0; l--, a += a_step, b += 2 * WIDTH) {
        vec b0 = load(b), b1 = vectors > 1 ? load(b + WIDTH) : b0;
        UNROLL for (int i = 0; i < rows; i++)
        {
            vec x = splat(a[i * a_row]);
            acc[i][0] = fma_(x, b0, acc[i][0]);
            if (vectors > 1)
                acc[i][1] = fma_(x, b1, acc[i][1]);
        }
    }
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int v = 0; v < vectors; v++)
    {
        float *ci = c + i * ldc + v * WIDTH;
        store(ci, add ? acc[i][v] + load(ci) : acc[i][v]);
    }
}

#define ROW_CASE(r, a_row, a_step)                                                                 \
    case r:                                                                                        \
        if (cols > WIDTH)                                                                          \
            product(c, ldc, a, a_row, a_step, b, r, 2, l, add);                                    \
        else                                                                                       \
            product(c, ldc, a, a_row, a_step, b, r, 1, l, add);                                    \
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
                 int cols, int64_t l, bool add)
{
    switch (rows) {
        ROW_CASES(lda, 1)
    }
}

static void gemm_t(float *c, int64_t ldc, const float *a, int64_t lda, const float *b, int rows,
                   int cols, int64_t l, bool add)
{
    switch (rows) {
        ROW_CASES(1, lda)
    }
}
