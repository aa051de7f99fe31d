/* base64.c - bytes as letters (RFC 4648). */
#include "base/base64.h"

#include "base/alloc.h"

#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

tsr_status tsri_text_base64(tsri_text *out, const uint8_t *bytes, size_t n)
{
    tsr_status st = TSR_OK;
    for (size_t i = 0; i < n; i += 3) {
        unsigned a = bytes[i], b = i + 1 < n ? bytes[i + 1] : 0, c = i + 2 < n ? bytes[i + 2] : 0;
        char four[4] = {letters[a >> 2], letters[(a & 3) << 4 | b >> 4],
                        i + 1 < n ? letters[(b & 15) << 2 | c >> 6] : '=',
                        i + 2 < n ? letters[c & 63] : '='};
        TSR_TRY(tsri_text_add_bytes(out, four, 4));
    }
done:
    return st;
}

tsr_status tsri_base64_bytes(uint8_t **out, int64_t *n, const char *text)
{
    tsr_status st = TSR_OK;
    size_t length = strlen(text), used = strcspn(text, "=");
    uint32_t bits = 0;
    *out = NULL;
    *n = 0;
    TSR_CHECK(length % 4 == 0 && length - used <= 2 && strspn(text + used, "=") == length - used,
              TSR_BAD_FILE, "a text of %zu characters is not base64", length);
    TSR_TRY(tsri_alloc(out, (int64_t)length / 4 * 3 + 1, 1));
    for (size_t i = 0; i < used; i++) {
        const char *at = strchr(letters, text[i]);
        TSR_CHECK(at, TSR_BAD_FILE, "character %zu does not belong to base64", i + 1);
        bits = bits << 6 | (uint32_t)(at - letters);
        if (i % 4 > 0)
            (*out)[(*n)++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
done:
    if (st != TSR_OK)
        TSRI_FREE(*out);
    return st;
}
