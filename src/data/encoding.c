/* encoding.c - tables are read as UTF-8; older ones are brought to it. */
#include "data/encoding.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/text.h"
#include "base/utf8.h"

#include <string.h>

static bool is_utf8(const char *text, int64_t n)
{
    size_t length;
    for (int64_t i = 0; i < n; i += (int64_t)length) {
        length = tsri_utf8_length(text + i, (size_t)(n - i));
        if (length == 0)
            return false;
    }
    return true;
}

/* Windows-1252: as Latin-1 but for 0x80 to 0x9F; 0 where it has nothing. */
static uint32_t code_of(unsigned char c)
{
    static const uint16_t high[32] = {
        0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
        0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
        0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};
    return c >= 0x80 && c < 0xA0 ? high[c - 0x80] : c;
}

tsr_status tsri_to_utf8(char **text, int64_t *n, const char *path)
{
    tsr_status st = TSR_OK;
    char *out = NULL;
    int64_t used = 0, line = 1;
    const char *from = *text;
    TSR_CHECK(*n < 2 || (memcmp(from, "\xFF\xFE", 2) != 0 && memcmp(from, "\xFE\xFF", 2) != 0),
              TSR_BAD_FILE, "%s: the file is UTF-16; save it as UTF-8", tsri_quote(path));
    if (memchr(from, '\0', (size_t)*n) || is_utf8(from, *n))
        goto done;
    TSR_TRY(tsri_alloc_raw(&out, 3 * *n + 4, 1)); /* no character of it takes more */
    for (int64_t i = 0; i < *n; i++) {
        uint32_t code = code_of((unsigned char)from[i]);
        line += from[i] == '\n';
        TSR_CHECK(code > 0, TSR_BAD_FILE,
                  "%s: line %lld: byte 0x%02x is neither UTF-8 nor Windows-1252; save the file as "
                  "UTF-8",
                  tsri_quote(path), (long long)line, (unsigned char)from[i]);
        used += (int64_t)tsri_utf8_encode(out + used, code);
    }
    TSRI_INFO("%s is not UTF-8 and was read as Windows-1252 (Latin-1)", tsri_quote(path));
    out[used] = '\0';
    tsri_free(*text);
    *text = out;
    *n = used;
    out = NULL;
done:
    tsri_free(out);
    return st;
}
