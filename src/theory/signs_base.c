/* signs_base.c - the loops over bits in plain C: their definition, and what runs where no vector
 * unit is known; and the choice between all three. */
#include "theory/signs.h"

static void strip(uint32_t *count, const uint64_t *a, int64_t rows, const uint64_t *b,
                  int64_t columns, int64_t words, void *scratch)
{
    (void)scratch;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            int64_t sum = 0;
            for (int64_t k = 0; k < words; k++)
                sum += __builtin_popcountll(a[i * words + k] & b[j * words + k]);
            count[i * TSRI_BIT_COLUMNS + j] = (uint32_t)sum;
        }
}

static void sign(uint64_t *to, const float *z, int64_t count)
{
    for (int64_t from = 0; from < count; from += 64) {
        uint64_t word = 0;
        for (int64_t k = 0; k < 64 && from + k < count; k++)
            word |= (uint64_t)(z[from + k] >= 0) << k;
        to[from / 64] = word;
    }
}

const tsri_bit_loop tsri_bit_loop_base = {.name = "base", .strip = strip, .sign = sign};

const tsri_bit_loop *tsri_bit_loop_at(int i)
{
    const tsri_bit_loop *all[3] = {&tsri_bit_loop_base};
    int count = 1;
#ifdef __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2"))
        all[count++] = &tsri_bit_loop_avx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vpopcntdq"))
        all[count++] = &tsri_bit_loop_avx512;
#endif
    return i < count ? all[i] : NULL;
}
