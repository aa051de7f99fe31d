/* sealed.h - a safetensors file around fuzzed bytes, with the right length and right checksums.
 *
 * A mutated file is refused by its checksums before anything else looks at it. So here the input is
 * the header's text, a zero byte, and the data; the file is made from them and sealed. What is
 * fuzzed is all that reads a file which somebody made on purpose.
 */
#ifndef TSRI_SEALED_H
#define TSRI_SEALED_H

#include "fuzz.h"

#include "io/crc32c.h"
#include "io/safetensors.h"

#include <inttypes.h>

enum { SEALED_ROOM = 1 << 16 };

/* Where `text` begins in [from, to), or NULL. */
static inline char *sealed_find(char *from, const char *to, const char *text)
{
    return from ? memmem(from, (size_t)(to - from), text, strlen(text)) : NULL;
}

static inline void sealed_write(char *digits, uint32_t crc)
{
    char text[9];
    (void)snprintf(text, sizeof text, "%08" PRIx32, crc);
    memcpy(digits, text, 8);
}

/* The checksum of the tensor whose name begins at `name` and has n bytes. */
static inline bool sealed_tensor(uint32_t *crc, char *header, char *data, char *end,
                                 const char *name, size_t n)
{
    char key[128];
    long long from = 0, to = 0;
    if (n + 8 > sizeof key)
        return false;
    (void)snprintf(key, sizeof key, "\"%.*s\":{", (int)n, name);
    char *at = sealed_find(sealed_find(header, data, key), data, "\"data_offsets\":[");
    if (!at || sscanf(at + 16, "%lld,%lld", &from, &to) != 2 || from < 0 || to < from ||
        to > end - data)
        return false;
    *crc = tsri_crc32c(0, data + from, (size_t)(to - from));
    return true;
}

/* Each tensor's: "tessera.crc32c":"{\"a\":\"00000000\",...}". */
static inline void sealed_tensors(char *header, char *data, char *end)
{
    char *at = sealed_find(header, data, "\"" TSRI_META_CRC "\":\"{");
    for (at = at ? at + strlen(TSRI_META_CRC) + 5 : NULL;
         at && data - at > 16 && memcmp(at, "\\\"", 2) == 0;) {
        uint32_t crc = 0;
        char *name = at + 2, *behind = sealed_find(name, data, "\\\":\\\"");
        if (!behind || data - behind < 6 + 10)
            return;
        if (sealed_tensor(&crc, header, data, end, name, (size_t)(behind - name)))
            sealed_write(behind + 5, crc);
        at = behind + 5 + 8 + 2;
        at += *at == ',';
    }
}

static inline void sealed_header(char *header, char *data)
{
    char *at = sealed_find(header, data, "\"" TSRI_META_HEADER_CRC "\":\"");
    at = at ? at + strlen(TSRI_META_HEADER_CRC) + 4 : NULL;
    if (!at || data - at < 8)
        return;
    memcpy(at, "00000000", 8);
    sealed_write(at, tsri_crc32c(0, header, (size_t)(data - header)));
}

/* file = the sealed file of the input; its size is returned, 0 when it is too large. */
static inline size_t sealed_make(char file[SEALED_ROOM], const uint8_t *bytes, size_t n)
{
    const uint8_t *zero = memchr(bytes, 0, n);
    size_t header = zero ? (size_t)(zero - bytes) : n, behind = zero ? n - header - 1 : 0;
    if (8 + header + behind > SEALED_ROOM)
        return 0;
    for (int i = 0; i < 8; i++)
        file[i] = (char)(header >> (8 * i));
    memcpy(file + 8, bytes, header);
    if (behind > 0)
        memcpy(file + 8 + header, zero + 1, behind);
    char *data = file + 8 + header;
    sealed_tensors(file + 8, data, data + behind);
    sealed_header(file + 8, data);
    return 8 + header + behind;
}

#endif
