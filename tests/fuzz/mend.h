/* mend.h - makes the checksums of a container right again, in place.
 *
 * Bytes changed by chance are refused by a checksum before anything of ours sees them. Where a
 * container is otherwise sound its checksums are written anew here; where it is not, nothing is
 * touched: that it is refused is a case too.
 */
#ifndef TSRI_MEND_H
#define TSRI_MEND_H

#include "fuzz.h"

#include <zlib.h>

enum { MEND_MOST = 1 << 20 }; /* bytes that something may unpack to */

static inline uint32_t mend_get(const uint8_t *at, int bytes)
{
    uint32_t value = 0;
    for (int i = bytes; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

static inline void mend_put(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* The checksum of what n deflated bytes unpack to; *used of them and *size of the content are told.
 * false when they do not unpack. */
static inline bool mend_inflate(uint32_t *crc, size_t *used, size_t *size, const uint8_t *bytes,
                                size_t n)
{
    uint8_t block[4096];
    z_stream z = {.next_in = (uint8_t *)(uintptr_t)bytes, .avail_in = (uInt)n};
    int rc = Z_OK;
    MUST(inflateInit2(&z, -15) == Z_OK);
    *crc = 0;
    while (rc == Z_OK && z.total_out < MEND_MOST) {
        z.next_out = block;
        z.avail_out = sizeof block;
        rc = inflate(&z, Z_NO_FLUSH);
        *crc = (uint32_t)crc32(*crc, block, (uInt)(sizeof block - z.avail_out));
    }
    *used = z.total_in;
    *size = z.total_out;
    (void)inflateEnd(&z);
    return rc == Z_STREAM_END;
}

/* ---- PNG: the checksum behind each chunk ---------------------------------------------------- */

static inline void mend_png(uint8_t *file, size_t n)
{
    for (size_t at = 8; at + 12 <= n;) {
        size_t length = (size_t)file[at] << 24 | (size_t)file[at + 1] << 16 |
                        (size_t)file[at + 2] << 8 | file[at + 3];
        if (length > n - at - 12)
            return;
        uint32_t crc = (uint32_t)crc32(0, file + at + 4, (uInt)(length + 4));
        for (int i = 0; i < 4; i++)
            file[at + 8 + length + (size_t)i] = (uint8_t)(crc >> (24 - 8 * i));
        at += 12 + length;
    }
}

/* ---- gzip: checksum and length at its end, of the plain header only ------------------------- */

static inline void mend_gzip(uint8_t *file, size_t n)
{
    uint32_t crc;
    size_t used, size;
    if (n < 18 || memcmp(file, "\x1f\x8b\x08\x00", 4) != 0 ||
        !mend_inflate(&crc, &used, &size, file + 10, n - 10) || used + 18 > n)
        return;
    mend_put(file + 10 + used, crc);
    mend_put(file + 14 + used, (uint32_t)size);
}

/* ---- zip: the checksum of each member, in the directory and in front of or behind the member --
 */

static inline void mend_member(uint8_t *file, size_t n, uint8_t *entry)
{
    size_t at = mend_get(entry + 42, 4), packed = mend_get(entry + 20, 4), used, size;
    uint32_t crc, method = mend_get(entry + 10, 2);
    if (at + 30 > n || memcmp(file + at, "PK\3\4", 4) != 0)
        return;
    uint8_t *local = file + at;
    size_t data = at + 30 + mend_get(local + 26, 2) + mend_get(local + 28, 2);
    if (data > n || packed > n - data)
        return;
    if (method == 8 && mend_inflate(&crc, &used, &size, file + data, packed))
        mend_put(entry + 16, crc);
    else if (method == 0)
        mend_put(entry + 16, (uint32_t)crc32(0, file + data, (uInt)packed));
    uint8_t *behind = file + data + packed;
    if (!(local[6] & 8))
        memcpy(local + 14, entry + 16, 4);
    else if (n - data - packed >= 8)
        memcpy(memcmp(behind, "PK\7\10", 4) == 0 ? behind + 4 : behind, entry + 16, 4);
}

static inline void mend_zip(uint8_t *file, size_t n)
{
    for (size_t at = 0; at + 46 <= n; at++)
        if (memcmp(file + at, "PK\1\2", 4) == 0)
            mend_member(file, n, file + at);
}

/* ---- tar: the sum of a header's bytes ------------------------------------------------------- */

static inline void mend_tar(uint8_t *file, size_t n)
{
    for (size_t at = 0; at + 512 <= n; at += 512) {
        uint8_t *head = file + at;
        unsigned sum = 0;
        char digits[8];
        if (memcmp(head + 257, "ustar", 5) != 0)
            continue;
        memset(head + 148, ' ', 8);
        for (int i = 0; i < 512; i++)
            sum += head[i];
        (void)snprintf(digits, sizeof digits, "%06o", sum & 0777777);
        memcpy(head + 148, digits, 7);
    }
}

static inline void mend(uint8_t *file, size_t n)
{
    if (n >= 8 && memcmp(file, "\x89PNG", 4) == 0)
        mend_png(file, n);
    mend_gzip(file, n);
    mend_zip(file, n);
    mend_tar(file, n);
}

#endif
