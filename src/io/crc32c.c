/* crc32c.c - CRC-32C (Castagnoli), by the processor's own instruction where there is one.
 *
 * The tables take eight bytes at a time ("slicing by 8", Kounavis and Berry, 2005): table k holds
 * what a byte does to the remainder when k more bytes follow it.
 */
#include "io/crc32c.h"

#include <pthread.h>
#include <string.h>

#define POLYNOMIAL 0x82F63B78u /* 0x1EDC6F41, bits reversed */

static uint32_t table[8][256];
static pthread_once_t tables_made = PTHREAD_ONCE_INIT;

static void make_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++)
            c = (c >> 1) ^ ((c & 1) ? POLYNOMIAL : 0);
        table[0][i] = c;
    }
    for (int k = 1; k < 8; k++)
        for (int i = 0; i < 256; i++)
            table[k][i] = (table[k - 1][i] >> 8) ^ table[0][table[k - 1][i] & 255];
}

static uint32_t load32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint32_t tsri_crc32c_tables(uint32_t crc, const void *bytes, size_t n)
{
    (void)pthread_once(&tables_made, make_tables);
    const unsigned char *p = bytes;
    uint32_t c = ~crc;
    for (; n >= 8; n -= 8, p += 8) {
        uint32_t a = load32(p) ^ c, b = load32(p + 4);
        c = table[7][a & 255] ^ table[6][a >> 8 & 255] ^ table[5][a >> 16 & 255] ^
            table[4][a >> 24] ^ table[3][b & 255] ^ table[2][b >> 8 & 255] ^
            table[1][b >> 16 & 255] ^ table[0][b >> 24];
    }
    for (; n > 0; n--, p++)
        c = (c >> 8) ^ table[0][(c ^ *p) & 255];
    return ~c;
}

#if defined(__x86_64__) && defined(__GNUC__)

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const void *bytes,
                                                                 size_t n)
{
    const unsigned char *p = bytes;
    uint64_t c = ~crc;
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        c = __builtin_ia32_crc32di(c, word);
    }
    uint32_t d = (uint32_t)c;
    for (; n > 0; n--, p++)
        d = __builtin_ia32_crc32qi(d, *p);
    return ~d;
}

uint32_t tsri_crc32c(uint32_t crc, const void *bytes, size_t n)
{
    return __builtin_cpu_supports("sse4.2") ? by_instruction(crc, bytes, n)
                                            : tsri_crc32c_tables(crc, bytes, n);
}

#else

uint32_t tsri_crc32c(uint32_t crc, const void *bytes, size_t n)
{
    return tsri_crc32c_tables(crc, bytes, n);
}

#endif
