/* text.c - a growing string, and small helpers for sentences that people read. */
#include "base/text.h"

#include "base/alloc.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- The growing string ------------------------------------------------------------------- */

static tsr_status make_room(tsri_text *text, int64_t more)
{
    int64_t need = text->length + more + 1;
    if (text->data && need <= text->capacity)
        return TSR_OK;
    int64_t capacity = text->capacity > 0 ? text->capacity * 2 : 256;
    if (capacity < need)
        capacity = need;
    tsr_status st = tsri_realloc(&text->data, capacity, 1);
    if (st == TSR_OK)
        text->capacity = capacity;
    return st;
}

tsr_status tsri_text_add(tsri_text *text, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    tsr_status st = n < 0 ? tsri_fail(TSR_FAILURE, "cannot format a text") : make_room(text, n);
    if (st == TSR_OK) {
        (void)vsnprintf(text->data + text->length, (size_t)n + 1, fmt, again);
        text->length += n;
    }
    va_end(again);
    return st;
}

tsr_status tsri_text_add_bytes(tsri_text *text, const char *bytes, size_t n)
{
    tsr_status st = make_room(text, (int64_t)n);
    if (st == TSR_OK) {
        memcpy(text->data + text->length, bytes, n);
        text->length += (int64_t)n;
        text->data[text->length] = '\0';
    }
    return st;
}

tsr_status tsri_text_add_field(tsri_text *text, const char *field)
{
    tsr_status st = TSR_OK;
    if (!strpbrk(field, ",\"\r\n"))
        return tsri_text_add_bytes(text, field, strlen(field));
    TSR_TRY(tsri_text_add_bytes(text, "\"", 1));
    for (; *field; field++) {
        if (*field == '"')
            TSR_TRY(tsri_text_add_bytes(text, field, 1));
        TSR_TRY(tsri_text_add_bytes(text, field, 1));
    }
    TSR_TRY(tsri_text_add_bytes(text, "\"", 1));
done:
    return st;
}

void tsri_text_fini(tsri_text *text)
{
    tsri_free(text->data);
    *text = (tsri_text){0};
}

tsr_status tsri_text_give(char **out, tsri_text *text)
{
    tsr_status st = TSR_OK;
    if (!text->data)
        TSR_TRY(tsri_text_add_bytes(text, "", 0));
    *out = text->data;
    *text = (tsri_text){0};
done:
    return st;
}

/* ---- Words in messages -------------------------------------------------------------------- */

enum { RING = 8, SLOT = 256 };

static char *next_slot(void)
{
    static _Thread_local char ring[RING][SLOT];
    static _Thread_local int turn;
    turn = (turn + 1) % RING;
    return ring[turn];
}

/* Characters of UTF-8 that a terminal obeys or does not show: C1 controls, the marks that turn
 * text around, line and paragraph separators, and the byte-order mark. */
static bool hidden(const char *bytes, size_t length)
{
    const unsigned char *b = (const unsigned char *)bytes;
    if (length == 2)
        return b[0] == 0xC2 && b[1] < 0xA0;
    if (length != 3)
        return false;
    unsigned code = (b[0] & 0x0FU) << 12 | (b[1] & 0x3FU) << 6 | (b[2] & 0x3FU);
    return code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

/* Bytes of the character that may be shown as it is, or 0 for a byte that must not. */
static size_t shown(const char *bytes, size_t n)
{
    unsigned char c = (unsigned char)bytes[0];
    if (c < 0x80)
        return c >= 0x20 && c < 0x7f;
    size_t length = tsri_utf8_length(bytes, n);
    return hidden(bytes, length) ? 0 : length;
}

const char *tsri_printable(const char *bytes, size_t n)
{
    char *slot = next_slot();
    size_t used = 0;
    for (size_t i = 0; i < n;) {
        size_t length = shown(bytes + i, n - i);
        if (used > SLOT - 8) { /* as a sum it could wrap, for all the compiler knows */
            memcpy(slot + used, "...", 4);
            return slot;
        }
        if (length == 0)
            used += (size_t)snprintf(slot + used, 5, "\\x%02x", (unsigned char)bytes[i]);
        memcpy(slot + used, bytes + i, length);
        used += length;
        i += length > 0 ? length : 1;
    }
    slot[used] = '\0';
    return slot;
}

const char *tsri_quote(const char *text)
{
    return tsri_printable(text, strlen(text));
}

const char *tsr_quote(const char *text)
{
    return tsri_quote(text ? text : "");
}

/* Bytes of a tab or a line end here, or 0. A carriage return alone goes back to the line's
 * start. */
static size_t tab_or_end(const char *s)
{
    if (*s == '\t' || *s == '\n')
        return 1;
    return s[0] == '\r' && s[1] == '\n' ? 2 : 0;
}

tsr_status tsri_text_add_shown(tsri_text *text, const char *words)
{
    tsr_status st = TSR_OK;
    for (size_t i = 0, n = strlen(words), length; i<n; i += length> 0 ? length : 1) {
        length = tab_or_end(words + i);
        if (length == 0)
            length = shown(words + i, n - i);
        TSR_TRY(length > 0 ? tsri_text_add_bytes(text, words + i, length)
                           : tsri_text_add(text, "\\x%02x", (unsigned char)words[i]));
    }
done:
    return st;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Levenshtein distance, one row at a time; words longer than the row are never near. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[64], n = strlen(a), m = strlen(b);
    if (m + 1 > sizeof row / sizeof *row || n > 200)
        return SIZE_MAX;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t above = row[j];
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            row[j] = least(change, least(above, row[j - 1]) + 1);
            diagonal = above;
        }
    }
    return row[m];
}

tsri_near tsri_near_to(const char *word)
{
    return (tsri_near){.word = word, .distance = strlen(word) / 3 + 2};
}

void tsri_near_try(tsri_near *near, const char *name)
{
    size_t distance = edit_distance(near->word, name);
    if (distance < near->distance) {
        near->distance = distance;
        near->best = name;
    }
}

const char *tsri_near_ask(const tsri_near *near, const char *otherwise)
{
    if (!near->best)
        return otherwise;
    char *slot = next_slot();
    (void)snprintf(slot, SLOT, "did you mean %s?", near->best);
    return slot;
}

const char *tsri_nearest(const char *word, const char *const *words, int64_t count)
{
    tsri_near near = tsri_near_to(word);
    for (int64_t i = 0; i < count; i++)
        tsri_near_try(&near, words[i]);
    return near.best;
}

const char *tsr_nearest(const char *word, const char *const *words, int64_t count)
{
    return word && words ? tsri_nearest(word, words, count) : NULL;
}

const char *tsri_bytes_text(double bytes)
{
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    char *slot = next_slot();
    int u = 0;
    while (bytes >= 1000.0 && u < 5) {
        bytes /= 1000.0;
        u++;
    }
    (void)snprintf(slot, SLOT, bytes < 10.0 && u > 0 ? "%.2f %s" : "%.0f %s", bytes, unit[u]);
    return slot;
}
