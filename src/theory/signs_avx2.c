/* signs_avx2.c - the loops over bits for AVX2 (compiled for it: CMakeLists.txt).
 *
 * Fix row i and four of its units. How many of them another row j has too is a function of j's four
 * bits there: a table of 16 bytes, which is what a shuffle looks up, for 32 rows j at once:
 *
 *     sum[j] += table(i's four bits)[j's four bits]      one shuffle, one addition for 128 pairs of
 *                                                        units
 *
 * The columns' bits are laid out for it once per strip: lane[four units][column], one byte each.
 * Six rows and 2 x 32 columns keep their sums in 12 registers, in bytes; every 31 bytes of a row
 * (248 units: they fit a byte) the sums go into 16 bits, every CHUNK bytes into the result.
 */
#include "theory/signs.h"

#include <immintrin.h>
#include <string.h>

/* In front of a loop: all of it. */
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

/* The sum is in its register now: without this GCC adds up both halves of a byte first, runs out of
 * registers and keeps all sums in memory, at a third of the speed. */
#define KEEP(x) __asm__("" : "+x"(x))

enum {
    TALL = 6,
    WIDE = TSRI_BIT_COLUMNS / 32,
    SAFE = 31,         /* bytes of a row whose units a byte can count */
    CHUNK = 16 * SAFE, /* bytes of a row laid out at a time */
    TABLE = 256 * 16   /* one table of 16 for each byte of a row */
};

/* What the loops share: the tables for the low and the high four units of a byte, the columns. */
typedef struct desk {
    uint8_t low[TABLE], high[TABLE];
    uint8_t lane[CHUNK][2][TSRI_BIT_COLUMNS];
} desk;

_Static_assert(sizeof(desk) <= TSRI_BIT_SCRATCH, "the desk fits the scratch");

static void make_tables(desk *d)
{
    for (int x = 0; x < 256; x++)
        for (int v = 0; v < 16; v++) {
            d->low[x * 16 + v] = (uint8_t)__builtin_popcount((unsigned)(x & 15 & v));
            d->high[x * 16 + v] = (uint8_t)__builtin_popcount((unsigned)((x >> 4) & v));
        }
}

static void lay_out(desk *d, const uint8_t *b, int64_t columns, int64_t stride, int64_t bytes)
{
    if (columns < TSRI_BIT_COLUMNS)
        memset(d->lane, 0, sizeof d->lane);
    for (int64_t j = 0; j < columns; j++)
        for (int64_t k = 0; k < bytes; k++) {
            uint8_t x = b[j * stride + k];
            d->lane[k][0][j] = x & 15;
            d->lane[k][1][j] = x >> 4;
        }
}

typedef struct sums {
    __m256i at[TALL][WIDE][2]; /* 16 bits each */
} sums;

static inline __attribute__((always_inline)) __m256i table_at(const uint8_t *table, uint8_t x)
{
    return _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(table + (size_t)x * 16)));
}

/* At most SAFE bytes of TALL rows against all columns, added to `s`. */
static inline __attribute__((always_inline)) void add_bytes(sums *s, const desk *d,
                                                            const uint8_t *const row[TALL],
                                                            int64_t from, int64_t to)
{
    __m256i acc[TALL][WIDE];
    UNROLL
    for (int i = 0; i < TALL; i++) {
        UNROLL
        for (int v = 0; v < WIDE; v++)
            acc[i][v] = _mm256_setzero_si256();
    }
    for (int64_t k = from; k < to; k++) {
        UNROLL
        for (int half = 0; half < 2; half++) {
            const __m256i *lane = (const __m256i *)d->lane[k][half];
            __m256i column[WIDE];
            UNROLL
            for (int v = 0; v < WIDE; v++)
                column[v] = _mm256_load_si256(lane + v);
            UNROLL
            for (int i = 0; i < TALL; i++) {
                __m256i table = table_at(half ? d->high : d->low, row[i][k]);
                UNROLL
                for (int v = 0; v < WIDE; v++) {
                    acc[i][v] = _mm256_add_epi8(acc[i][v], _mm256_shuffle_epi8(table, column[v]));
                    KEEP(acc[i][v]);
                }
            }
        }
    }
    UNROLL
    for (int i = 0; i < TALL; i++) {
        UNROLL
        for (int v = 0; v < WIDE; v++) {
            __m256i low = _mm256_cvtepu8_epi16(_mm256_castsi256_si128(acc[i][v]));
            __m256i high = _mm256_cvtepu8_epi16(_mm256_extracti128_si256(acc[i][v], 1));
            s->at[i][v][0] = _mm256_add_epi16(s->at[i][v][0], low);
            s->at[i][v][1] = _mm256_add_epi16(s->at[i][v][1], high);
        }
    }
}

/* Row i of the sums into the result: written by the first chunk, added to by the others. */
static void put_sums(uint32_t *count, const sums *s, int i, bool first)
{
    uint16_t line[TSRI_BIT_COLUMNS];
    memcpy(line, s->at[i], sizeof line);
    for (int j = 0; j < TSRI_BIT_COLUMNS; j++)
        count[j] = (first ? 0 : count[j]) + line[j];
}

static void strip(uint32_t *count, const uint64_t *a, int64_t rows, const uint64_t *b,
                  int64_t columns, int64_t words, void *scratch)
{
    desk *d = scratch;
    int64_t stride = words * 8;
    make_tables(d);
    for (int64_t from = 0; from < stride; from += CHUNK) {
        int64_t bytes = stride - from < CHUNK ? stride - from : CHUNK;
        lay_out(d, (const uint8_t *)b + from, columns, stride, bytes);
        for (int64_t i = 0; i < rows; i += TALL) {
            const uint8_t *row[TALL];
            sums s;
            memset(&s, 0, sizeof s);
            for (int64_t r = 0; r < TALL; r++) /* after the last row: the last one again */
                row[r] = (const uint8_t *)a + (i + r < rows ? i + r : rows - 1) * stride + from;
            for (int64_t k = 0; k < bytes; k += SAFE)
                add_bytes(&s, d, row, k, k + SAFE < bytes ? k + SAFE : bytes);
            for (int64_t r = 0; r < TALL && i + r < rows; r++)
                put_sums(count + (i + r) * TSRI_BIT_COLUMNS, &s, (int)r, from == 0);
        }
    }
}

static void sign(uint64_t *to, const float *z, int64_t count)
{
    const __m256 zero = _mm256_setzero_ps();
    int64_t whole = count / 64;
    for (int64_t w = 0; w < whole; w++) {
        uint64_t word = 0;
        for (int k = 0; k < 8; k++) {
            __m256 ge = _mm256_cmp_ps(_mm256_loadu_ps(z + w * 64 + k * 8), zero, _CMP_GE_OQ);
            word |= (uint64_t)(uint32_t)_mm256_movemask_ps(ge) << (8 * k);
        }
        to[w] = word;
    }
    if (count % 64)
        tsri_bit_loop_base.sign(to + whole, z + whole * 64, count % 64);
}

const tsri_bit_loop tsri_bit_loop_avx2 = {.name = "avx2", .strip = strip, .sign = sign};
