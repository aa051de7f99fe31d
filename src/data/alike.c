/* alike.c - texts that people take for the same. */
#include "data/alike.h"

#include "base/text.h"
#include "data/words.h"

#include <ctype.h>
#include <string.h>

/* U+00C0 to U+017F without their accents (Unicode's decomposition), in lower case; a dot: a letter
 * of its own. */
static const char base[] = "aaaaaa.ceeeeiiii.nooooo..uuuuy..aaaaaa.ceeeeiiii.nooooo..uuuuy.y"
                           "aaaaaaccccccccdd..eeeeeeeeeegggggggghh..iiiiiiiii...jjkk.llllll."
                           "...nnnnnn...oooooo..rrrrrrsssssssstttt..uuuuuuuuuuuuwwyyyzzzzzz.";

/* One character of UTF-8; its bytes are in *n. What is no UTF-8 counts as bytes. */
static unsigned read_character(const unsigned char *s, size_t *n)
{
    bool two = s[0] >= 0xC2 && s[0] < 0xE0 && (s[1] & 0xC0) == 0x80;
    bool three = s[0] >= 0xE0 && s[0] < 0xF0 && (s[1] & 0xC0) == 0x80 && (s[2] & 0xC0) == 0x80;
    *n = two ? 2 : three ? 3 : 1;
    if (two)
        return (s[0] & 0x1Fu) << 6 | (s[1] & 0x3Fu);
    return three ? (s[0] & 0x0Fu) << 12 | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu) : s[0];
}

/* Spaces, marks of no width, and accents that follow their letter. */
static bool is_nothing(unsigned c)
{
    return c == ' ' || c == '\t' || c == 0xA0 || c == 0xAD || (c >= 0x300 && c <= 0x36F) ||
           (c >= 0x2000 && c <= 0x200F) || c == 0x202F || c == 0xFEFF;
}

/* What is left of the word when that is taken away. */
static tsr_status key_of(tsri_text *key, const char *word)
{
    tsr_status st = TSR_OK;
    const unsigned char *at = (const unsigned char *)word;
    size_t n;
    TSR_TRY(tsri_text_add_bytes(key, "", 0));
    for (; *at; at += n) {
        unsigned c = read_character(at, &n);
        char plain = c < 0x80                  ? (char)tolower((int)c)
                     : c >= 0xC0 && c <= 0x17F ? base[c - 0xC0]
                                               : '.';
        if (is_nothing(c))
            continue;
        TSR_TRY(plain == '.' ? tsri_text_add_bytes(key, (const char *)at, n)
                             : tsri_text_add_bytes(key, &plain, 1));
    }
done:
    return st;
}

tsr_status tsri_alike(bool *same, const char *a, const char *b)
{
    tsr_status st = TSR_OK;
    tsri_text one = {0}, two = {0};
    TSR_TRY(key_of(&one, a));
    TSR_TRY(key_of(&two, b));
    *same = one.length == two.length &&
            (one.length == 0 || memcmp(one.data, two.data, (size_t)one.length) == 0);
done:
    tsri_text_fini(&one);
    tsri_text_fini(&two);
    return st;
}

tsr_status tsri_alike_pair(int64_t *first, int64_t *second, char *const *word, int64_t count)
{
    tsr_status st = TSR_OK;
    tsri_words keys = {0};
    tsri_text key = {0};
    *first = *second = -1;
    for (int64_t i = 0; i < count && *second < 0; i++) {
        int64_t number;
        key.length = 0;
        TSR_TRY(key_of(&key, word[i]));
        TSR_TRY(tsri_words_add(&number, &keys, key.data ? key.data : "", (size_t)key.length));
        if (number < i) {
            *first = number;
            *second = i;
        }
    }
done:
    tsri_words_fini(&keys);
    tsri_text_fini(&key);
    return st;
}
