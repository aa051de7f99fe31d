/* exif.c - which way up a photograph is. */
#include "data/exif.h"

#include "base/alloc.h"

#include <string.h>

enum { ORIENTATION = 0x0112, SHORT = 3, ENTRY = 12 };

/* ---- The note ------------------------------------------------------------------------------- */

/* A number of 2 or 4 bytes of a TIFF block, which says itself in which order they stand. */
static int64_t number(const uint8_t *at, int bytes, bool big)
{
    int64_t v = 0;
    for (int i = 0; i < bytes; i++)
        v = v << 8 | at[big ? i : bytes - 1 - i];
    return v;
}

int tsri_tiff_orientation(const uint8_t *bytes, int64_t n)
{
    if (n < 8 || (memcmp(bytes, "II*\0", 4) != 0 && memcmp(bytes, "MM\0*", 4) != 0))
        return 1;
    bool big = bytes[0] == 'M';
    int64_t list = number(bytes + 4, 4, big);
    if (list < 8 || list > n - 2)
        return 1;
    int64_t entries = number(bytes + list, 2, big);
    for (int64_t i = 0, at = list + 2; i < entries && at + ENTRY <= n; i++, at += ENTRY) {
        int64_t value = number(bytes + at + 8, 2, big);
        if (number(bytes + at, 2, big) == ORIENTATION)
            return number(bytes + at + 2, 2, big) == SHORT && value >= 1 && value <= 8 ? (int)value
                                                                                       : 1;
    }
    return 1;
}

/* Segments before the picture itself: FF, a kind, a length that counts itself, the content. */
int tsri_jpeg_orientation(const uint8_t *bytes, int64_t n)
{
    for (int64_t at = 2; at + 4 <= n && bytes[at] == 0xFF;) {
        int kind = bytes[at + 1];
        if (kind == 0xFF) { /* a byte that fills */
            at++;
            continue;
        }
        int64_t length = number(bytes + at + 2, 2, true);
        if (kind == 0xDA || length < 2 || at + 2 + length > n)
            break;
        if (kind == 0xE1 && length >= 8 && memcmp(bytes + at + 4, "Exif\0\0", 6) == 0)
            return tsri_tiff_orientation(bytes + at + 10, length - 8);
        at += 2 + length;
    }
    return 1;
}

/* ---- The turn ------------------------------------------------------------------------------- */

/* What each orientation asks for: rows and columns change places, then run backwards. */
typedef struct turn {
    bool swap, down, across;
} turn;

static const turn turns[9] = {
    [2] = {false, false, true}, [3] = {false, true, true}, [4] = {false, true, false},
    [5] = {true, false, false}, [6] = {true, true, false}, [7] = {true, true, true},
    [8] = {true, false, true}};

tsr_status tsri_image_upright(tsri_image *image, int orientation)
{
    tsr_status st = TSR_OK;
    turn t = turns[orientation];
    int64_t w = image->width, h = image->height;
    tsri_image out = {t.swap ? h : w, t.swap ? w : h, NULL, image->clear};
    if (orientation == 1)
        goto done;
    TSR_TRY(tsri_alloc_raw(&out.rgb, w * h * 3, 1));
    for (int64_t r = 0; r < out.height; r++)
        for (int64_t c = 0; c < out.width; c++) {
            int64_t y = t.swap ? c : r, x = t.swap ? r : c; /* where it is stored */
            y = t.down ? h - 1 - y : y;
            x = t.across ? w - 1 - x : x;
            memcpy(out.rgb + (r * out.width + c) * 3, image->rgb + (y * w + x) * 3, 3);
        }
    tsri_free(image->rgb);
    *image = out;
done:
    return st;
}
