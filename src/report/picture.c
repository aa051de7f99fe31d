/* picture.c - small pictures inside a page, as BMP: a head of 54 bytes and the rows, from the
 * bottom up. Every browser reads it, and it needs no library. */
#include "report/picture.h"

#include "base/alloc.h"
#include "base/base64.h"

enum { HEAD = 54, MOST_SIDE = 4096 };

static void put32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static void bmp_head(uint8_t *at, uint32_t size, uint32_t width, uint32_t height)
{
    at[0] = 'B';
    at[1] = 'M';
    put32(at + 2, size);
    put32(at + 10, HEAD); /* where the rows begin */
    put32(at + 14, 40);   /* the size of the rest of the head */
    put32(at + 18, width);
    put32(at + 22, height);
    put32(at + 26, 1 | 24U << 16); /* one plane, 24 bits a pixel */
    put32(at + 34, size - HEAD);
}

static tsr_status bmp(uint8_t **out, int64_t *size, const uint8_t *pixel, int64_t channels,
                      int64_t height, int64_t width)
{
    tsr_status st = TSR_OK;
    int64_t row = (3 * width + 3) / 4 * 4, plane = height * width;
    *size = HEAD + row * height;
    TSR_TRY(tsri_alloc(out, *size, 1));
    bmp_head(*out, (uint32_t)*size, (uint32_t)width, (uint32_t)height);
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++)
            for (int64_t c = 0; c < 3; c++) /* blue, green, red */
                (*out)[HEAD + row * (height - 1 - y) + 3 * x + c] =
                    pixel[(channels >= 3 ? 2 - c : 0) * plane + y * width + x];
done:
    return st;
}

void tsri_picture(tsri_markup *m, const uint8_t *pixel, int64_t channels, int64_t height,
                  int64_t width, const char *alt)
{
    uint8_t *file = NULL;
    int64_t size = 0;
    if (channels < 1 || height < 1 || width < 1 || height > MOST_SIDE || width > MOST_SIDE)
        return;
    if (m->st == TSR_OK)
        m->st = bmp(&file, &size, pixel, channels, height, width);
    tsri_markup_add(m, "<img class=\"pixels\" width=\"%lld\" height=\"%lld\" alt=\"",
                    (long long)width, (long long)height);
    tsri_markup_text(m, alt);
    tsri_markup_add(m, "\" src=\"data:image/bmp;base64,");
    if (m->st == TSR_OK)
        m->st = tsri_text_base64(&m->text, file, (size_t)size);
    tsri_markup_add(m, "\"/>");
    tsri_free(file);
}
