/* sheet.c - a contact sheet: sixteen samples in one picture. */
#include "data/info.h"

#include "base/alloc.h"
#include "base/pieces.h"
#include "data/image.h"

#include <math.h>
#include <string.h>

enum { SIDE = 4, TILE = 128, GAP = 8, SHEET = SIDE * TILE + (SIDE + 1) * GAP };

/* How a sample is laid out: cell (r, c) of the tile shows number at(r, c), or nothing. */
typedef struct plate {
    int64_t rows, columns;
    double *least, *most; /* [numbers that are scaled alike] */
} plate;

/* ---- Which samples ------------------------------------------------------------------------ */

/* Sample number k of the sheet: the (k / classes)-th of class k % classes; without classes, or when
 * a class has no such sample, evenly spread over the set. */
static int64_t choose(const tsr_data *data, int64_t k)
{
    const tsri_part *part = &data->train;
    int64_t skip = data->classes > 0 ? k / data->classes : 0;
    for (int64_t i = 0; part->label && i < part->n; i++)
        if (part->label[i] == k % data->classes && skip-- == 0)
            return i;
    return k * part->n / (SIDE * SIDE);
}

/* ---- Tiles -------------------------------------------------------------------------------- */

static uint8_t shade(double v, double least, double most)
{
    double t = most > least ? (v - least) / (most - least) : 0.5;
    return (uint8_t)(32.0 + 223.0 * (t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t));
}

static bool is_image(const tsr_data *data)
{
    return !data->sequences && data->height * data->width > 1;
}

/* The colour of cell (r, c); false where there is nothing. */
static bool colour(uint8_t rgb[3], const tsr_data *data, const plate *p, int64_t i, int64_t r,
                   int64_t c)
{
    const tsri_part *part = &data->train;
    int64_t plane = data->height * data->width, base = i * data->dim;
    for (int64_t k = 0; k < 3; k++) {
        int64_t at, scale;
        if (is_image(data)) {
            int64_t channel = data->channels >= 3 ? k : 0;
            at = channel * plane + r * data->width + c;
            scale = 0;
        } else if (data->sequences) { /* positions run to the right, coordinates down */
            if (c >= part->length[i])
                return false;
            at = c * data->channels + r;
            scale = r;
        } else {
            at = scale = r * p->columns + c;
            if (at >= data->dim)
                return false;
        }
        rgb[k] = part->bytes
                     ? part->bytes[base + at]
                     : shade((double)part->numbers[base + at], p->least[scale], p->most[scale]);
    }
    return true;
}

/* Each cell becomes a block of whole pixels, the tile stands in the middle of its square; a sample
 * larger than the square is thinned out. */
static void draw(uint8_t *sheet, const tsr_data *data, const plate *p, int64_t k, int64_t i)
{
    int64_t larger = p->rows > p->columns ? p->rows : p->columns;
    int64_t zoom = TILE / larger, thin = zoom > 0 ? 1 : tsri_ceil_div(larger, TILE);
    zoom = zoom > 0 ? zoom : 1;
    int64_t height = p->rows / thin * zoom, width = p->columns / thin * zoom;
    int64_t top = GAP + k / SIDE * (TILE + GAP) + (TILE - height) / 2;
    int64_t left = GAP + k % SIDE * (TILE + GAP) + (TILE - width) / 2;
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++) {
            uint8_t rgb[3];
            if (colour(rgb, data, p, i, y / zoom * thin, x / zoom * thin))
                memcpy(sheet + ((top + y) * SHEET + left + x) * 3, rgb, 3);
        }
}

/* ---- The sheet ---------------------------------------------------------------------------- */

static tsr_status measure(plate *p, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    const tsri_part *part = &data->train;
    int64_t groups = is_image(data) ? 1 : data->sequences ? data->channels : data->dim;
    TSR_TRY(tsri_alloc(&p->least, groups, sizeof *p->least));
    TSR_TRY(tsri_alloc(&p->most, groups, sizeof *p->most));
    for (int64_t g = 0; g < groups; g++) {
        p->least[g] = INFINITY;
        p->most[g] = -INFINITY;
    }
    for (int64_t i = 0; part->numbers && i < part->n; i++) {
        int64_t n = part->length ? part->length[i] * data->channels : data->dim;
        for (int64_t k = 0; k < n; k++) {
            double v = (double)part->numbers[i * data->dim + k];
            p->least[k % groups] = v < p->least[k % groups] ? v : p->least[k % groups];
            p->most[k % groups] = v > p->most[k % groups] ? v : p->most[k % groups];
        }
    }
done:
    return st;
}

tsr_status tsri_sheet_write(const char *path, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    uint8_t *sheet = NULL;
    int64_t square = (int64_t)ceil(sqrt((double)data->dim));
    plate p = {square, square, NULL, NULL};
    if (is_image(data))
        p = (plate){data->height, data->width, NULL, NULL};
    else if (data->sequences)
        p = (plate){data->channels, data->height, NULL, NULL};
    TSR_TRY(measure(&p, data));
    TSR_TRY(tsri_alloc_raw(&sheet, (int64_t)SHEET * SHEET * 3, 1));
    memset(sheet, 24, (size_t)SHEET * SHEET * 3);
    for (int64_t k = 0; k < SIDE * SIDE && k < data->train.n; k++)
        draw(sheet, data, &p, k, choose(data, k));
    TSR_TRY(tsri_png_write(path, sheet, SHEET, SHEET));
done:
    tsri_free(sheet);
    tsri_free(p.least);
    tsri_free(p.most);
    return st;
}
