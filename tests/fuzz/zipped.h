/* zipped.h - a zip archive around fuzzed bytes, as torch.save writes it: members stored as they
 * are, with right lengths and checksums.
 *
 * The input is names and contents by turns, each ended by "//"; what is fuzzed is what stands in
 * the members, not the archive (fuzz_archive.c has that).
 */
#ifndef TSRI_ZIPPED_H
#define TSRI_ZIPPED_H

#include "mend.h"

enum { ZIPPED_ROOM = 1 << 17, ZIPPED_MOST = 32 };

/* The bytes up to the next "//", behind which *at then points. */
static inline size_t zipped_piece(const uint8_t **at, const uint8_t *end)
{
    const uint8_t *begin = *at, *cut = memmem(begin, (size_t)(end - begin), "//", 2);
    *at = cut ? cut + 2 : end;
    return (size_t)((cut ? cut : end) - begin);
}

static inline void zipped_u16(uint8_t *at, size_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

/* The fields that a member's own header and its entry in the directory have in common. */
static inline void zipped_fields(uint8_t *at, const uint8_t *content, size_t n, size_t name)
{
    mend_put(at, (uint32_t)crc32(0, content, (uInt)n));
    mend_put(at + 4, (uint32_t)n);
    mend_put(at + 8, (uint32_t)n);
    zipped_u16(at + 12, name);
}

/* file = the archive of the input; its size is returned. */
static inline size_t zipped_make(uint8_t file[ZIPPED_ROOM], const uint8_t *bytes, size_t n)
{
    static uint8_t directory[ZIPPED_ROOM];
    const uint8_t *at = bytes, *end = bytes + n;
    size_t used = 0, listed = 0, members = 0;
    while (at < end && members < ZIPPED_MOST) {
        const uint8_t *name = at;
        size_t name_n = zipped_piece(&at, end);
        const uint8_t *content = at;
        size_t content_n = zipped_piece(&at, end);
        if (name_n > 1024 || used + listed + 200 + 2 * name_n + content_n > ZIPPED_ROOM)
            break;
        uint8_t *local = file + used, *entry = directory + listed;
        memset(local, 0, 30);
        memset(entry, 0, 46);
        memcpy(local, "PK\3\4", 4);
        memcpy(entry, "PK\1\2", 4);
        zipped_fields(local + 14, content, content_n, name_n);
        zipped_fields(entry + 16, content, content_n, name_n);
        mend_put(entry + 42, (uint32_t)used);
        memcpy(local + 30, name, name_n);
        memcpy(entry + 46, name, name_n);
        memcpy(local + 30 + name_n, content, content_n);
        used += 30 + name_n + content_n;
        listed += 46 + name_n;
        members++;
    }
    uint8_t *last = file + used + listed;
    memcpy(file + used, directory, listed);
    memset(last, 0, 22);
    memcpy(last, "PK\5\6", 4);
    zipped_u16(last + 8, members);
    zipped_u16(last + 10, members);
    mend_put(last + 12, (uint32_t)listed);
    mend_put(last + 16, (uint32_t)used);
    return used + listed + 22;
}

#endif
