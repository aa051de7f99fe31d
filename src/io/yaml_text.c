/* yaml_text.c - which characters a YAML text may hold, and how a scalar is written with them.
 *
 * libyaml refuses the same characters but names only a byte offset; a person wants line and column,
 * so the text is looked at before libyaml sees it. The writer escapes exactly what the reader
 * would refuse or fold.
 */
#include "io/yaml.h"

#include "base/utf8.h"

#include <string.h>

/* Decodes one character of at most n bytes; returns its bytes, or 0 when it is not UTF-8. */
static int64_t decode(const char *text, int64_t n, uint32_t *out)
{
    size_t length = tsri_utf8_length(text, (size_t)n);
    if (length == 0)
        return 0;
    uint32_t c = (unsigned char)text[0] & (length == 1 ? 0x7fu : 0x7fu >> length);
    for (size_t i = 1; i < length; i++)
        c = c << 6 | ((unsigned char)text[i] & 0x3fu);
    *out = c;
    return (int64_t)length;
}

/* YAML's printable characters, less the marks that only start a stream. */
static bool allowed(uint32_t c)
{
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c <= 0x7e) || c == 0x85 ||
           (c >= 0xa0 && c <= 0xfffd && c != 0xfeff) || c >= 0x10000;
}

bool tsri_yaml_characters(const char *text, int64_t n, tsri_mark *mark, const char **problem)
{
    *mark = (tsri_mark){1, 1};
    for (int64_t i = 0; i < n;) {
        uint32_t c = 0;
        int64_t length = decode(text + i, n - i, &c);
        if (length == 0)
            *problem = "the bytes are not UTF-8; save the file as UTF-8";
        else if (!allowed(c))
            *problem = c == 0 ? "there is a zero byte" : "there is a control character; remove it";
        if (length == 0 || !allowed(c))
            return false;
        bool breaks = c == '\n' || (c == '\r' && (i + 1 == n || text[i + 1] != '\n'));
        mark->line += breaks;
        mark->column = breaks ? 1 : mark->column + 1;
        i += length;
    }
    return true;
}

/* Characters that a reader would take for a line break, or refuse. */
static bool must_escape(uint32_t c)
{
    return c < 0x20 || c == '"' || c == '\\' || (c >= 0x7f && c < 0xa0) || c == 0x2028 ||
           c == 0x2029 || !allowed(c);
}

tsr_status tsri_yaml_quote(tsri_text *out, const char *text)
{
    tsr_status st = TSR_OK;
    int64_t n = (int64_t)strlen(text);
    TSR_TRY(tsri_text_add_bytes(out, "\"", 1));
    for (int64_t i = 0; i < n;) {
        uint32_t c = 0;
        int64_t length = decode(text + i, n - i, &c);
        TSR_CHECK(length > 0, TSR_USAGE, "'%s' is not UTF-8", tsri_quote(text));
        if (c == '"' || c == '\\')
            TSR_TRY(tsri_text_add(out, "\\%c", (char)c));
        else if (must_escape(c))
            TSR_TRY(tsri_text_add(out, "\\u%04x", (unsigned)c));
        else
            TSR_TRY(tsri_text_add_bytes(out, text + i, (size_t)length));
        i += length;
    }
    TSR_TRY(tsri_text_add_bytes(out, "\"", 1));
done:
    return st;
}
