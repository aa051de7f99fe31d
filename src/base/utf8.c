/* utf8.c - UTF-8 by the table of well-formed sequences (Unicode, table 3-7). */
#include "base/utf8.h"

static bool continues(unsigned char c, unsigned char least, unsigned char most)
{
    return c >= least && c <= most;
}

size_t tsri_utf8_length(const char *bytes, size_t n)
{
    const unsigned char *p = (const unsigned char *)bytes;
    unsigned char c = p[0], least = 0x80, most = 0xBF;
    size_t length;
    if (c < 0x80)
        return 1;
    if (c >= 0xC2 && c <= 0xDF)
        length = 2;
    else if (c >= 0xE0 && c <= 0xEF)
        length = 3;
    else if (c >= 0xF0 && c <= 0xF4)
        length = 4;
    else
        return 0;
    if (n < length)
        return 0;
    if (c == 0xE0) /* no overlong forms, */
        least = 0xA0;
    else if (c == 0xED) /* no surrogates, */
        most = 0x9F;
    else if (c == 0xF0)
        least = 0x90;
    else if (c == 0xF4) /* nothing above U+10FFFF */
        most = 0x8F;
    if (!continues(p[1], least, most))
        return 0;
    for (size_t i = 2; i < length; i++)
        if (!continues(p[i], 0x80, 0xBF))
            return 0;
    return length;
}

size_t tsri_utf8_encode(char out[4], uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 63));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 63));
        out[2] = (char)(0x80 | (code & 63));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 63));
    out[2] = (char)(0x80 | (code >> 6 & 63));
    out[3] = (char)(0x80 | (code & 63));
    return 4;
}
