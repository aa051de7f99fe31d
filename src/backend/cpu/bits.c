/* bits.c - gates as bits: from numbers, and onto numbers. */
#include "backend/cpu/skip.h"

#include "base/pieces.h"
#include "base/simd.h"

typedef struct sheet {
    uint64_t *word;
    const uint64_t *gate;
    float *x;
    const float *from;
    int64_t units, words;
    bool nonzero;
} sheet;

TSRI_CLONES
static void compare(uint64_t *word, const float *x, int64_t units, bool nonzero)
{
    for (int64_t u = 0; u < units; u += 64, word++) {
        int64_t n = units - u < 64 ? units - u : 64;
        unsigned char on[64] = {0};
        for (int64_t i = 0; i < n; i++)
            on[i] = x[u + i] > 0;
        for (int64_t i = 0; nonzero && i < n; i++)
            on[i] = x[u + i] != 0;
        uint64_t bits = 0;
        for (int k = 0; k < 8; k++) { /* eight bytes of 0 or 1 to one byte of bits */
            uint64_t eight = 0;
            for (int i = 0; i < 8; i++)
                eight |= (uint64_t)on[8 * k + i] << 8 * i;
            bits |= (eight * 0x0102040810204080u >> 56) << 8 * k;
        }
        *word = bits;
    }
}

/* Half a word at a time: shifts of 32 bits by a variable are what vector units have. */
TSRI_CLONES
static void mask(float *x, const uint64_t *word, int64_t units)
{
    for (int64_t u = 0; u < units; u += 32) {
        uint32_t on = (uint32_t)(word[u / 64] >> u % 64);
        int64_t n = units - u < 32 ? units - u : 32;
        for (int64_t i = 0; i < n; i++)
            x[u + i] = on >> i & 1 ? x[u + i] : 0;
    }
}

static void compare_row(void *context, int64_t i, int thread)
{
    (void)thread;
    const sheet *s = context;
    compare(s->word + i * s->words, s->from + i * s->units, s->units, s->nonzero);
}

static void mask_row(void *context, int64_t i, int thread)
{
    (void)thread;
    const sheet *s = context;
    mask(s->x + i * s->units, s->gate + i * s->words, s->units);
}

void tsri_bits_of(uint64_t *word, const float *x, int64_t n, int64_t units, tsri_pool *pool)
{
    sheet s = {.word = word, .from = x, .units = units, .words = tsri_bit_words(units)};
    tsri_pool_run(pool, compare_row, &s, n);
}

void tsri_bits_nonzero(uint64_t *word, const float *x, int64_t n, int64_t units, tsri_pool *pool)
{
    sheet s = {
        .word = word, .from = x, .units = units, .words = tsri_bit_words(units), .nonzero = true};
    tsri_pool_run(pool, compare_row, &s, n);
}

void tsri_bits_mask(float *x, const uint64_t *word, int64_t n, int64_t units, tsri_pool *pool)
{
    sheet s = {.gate = word, .x = x, .units = units, .words = tsri_bit_words(units)};
    tsri_pool_run(pool, mask_row, &s, n);
}

/* ---- Turning ------------------------------------------------------------------------------- */

typedef struct turning {
    uint64_t *to;
    const tsri_bits *bits;
} turning;

/* Bit j of word i becomes bit i of word j: quarters swapped, then their quarters, ... */
static void turn_square(uint64_t x[64])
{
    uint64_t mask = 0xffffffffu;
    for (int step = 32; step > 0; step /= 2, mask ^= mask << step)
        for (int i = 0; i < 64; i = (i + step + 1) & ~step) {
            uint64_t swap = (x[i] >> step ^ x[i + step]) & mask;
            x[i] ^= swap << step;
            x[i + step] ^= swap;
        }
}

/* 64 units of all samples. */
static void turn_units(void *context, int64_t w, int thread)
{
    (void)thread;
    const turning *t = context;
    const tsri_bits *bits = t->bits;
    int64_t words = tsri_bit_words(bits->n), units = tsri_min(64, bits->units - 64 * w);
    for (int64_t i = 0; i < bits->n; i += 64) {
        uint64_t x[64] = {0};
        for (int64_t k = 0; k < tsri_min(64, bits->n - i); k++)
            x[k] = bits->word[(i + k) * bits->words + w];
        turn_square(x);
        for (int64_t u = 0; u < units; u++)
            t->to[(64 * w + u) * words + i / 64] = x[u];
    }
}

void tsri_bits_turn(uint64_t *to, const tsri_bits *bits, tsri_pool *pool)
{
    turning t = {to, bits};
    tsri_pool_run(pool, turn_units, &t, tsri_bit_words(bits->units));
}
