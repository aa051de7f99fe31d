/* sample.c - one sample as the network sees it, as it is or changed at random. */
#include "data/sample.h"

#include "base/alloc.h"

#include <assert.h>
#include <string.h>

/* ---- As it is ----------------------------------------------------------------------------------- */

static void convert(float *restrict x, const uint8_t *restrict bytes, int64_t n, float shift,
                    float scale)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = ((float)bytes[i] - shift) * scale;
}

static void convert_all(float *x, const tsr_data *data, const uint8_t *bytes)
{
    int64_t plane = data->height * data->width;
    for (int64_t c = 0; c < data->channels; c++)
        convert(x + c * plane, bytes + c * plane, plane, data->scaling.shift[c],
                data->scaling.scale[c]);
}

void tsri_sample(float *x, const tsr_data *data, const tsri_part *part, int64_t i)
{
    if (part->numbers) {
        memcpy(x, part->numbers + i * data->dim, (size_t)data->dim * sizeof *x);
        return;
    }
    convert_all(x, data, part->bytes + i * data->dim);
}

float tsri_black(const tsr_data *data, const tsri_part *part, int64_t c)
{
    return part->numbers ? 0.0f : (0.0f - data->scaling.shift[c]) * data->scaling.scale[c];
}

/* ---- Moved -------------------------------------------------------------------------------------- */

/* Pixels [from, from + n) of channel c, counted over the channel's plane. */
static void pixels(float *x, const tsr_data *data, const tsri_part *part, int64_t i, int64_t c,
                   int64_t from, int64_t n)
{
    int64_t at = i * data->dim + c * data->height * data->width + from;
    if (part->numbers)
        memcpy(x, part->numbers + at, (size_t)n * sizeof *x);
    else
        convert(x, part->bytes + at, n, data->scaling.shift[c], data->scaling.scale[c]);
}

static void mirror(float *row, int64_t n)
{
    for (int64_t a = 0, b = n - 1; a < b; a++, b--) {
        float t = row[a];
        row[a] = row[b];
        row[b] = t;
    }
}

/* The image moved by (down, right) pixels, black where nothing is: what is left of padding it on
 * all sides and cutting out a window of the old size. Black is the byte 0, as torchvision pads
 * before it normalises. */
static void moved(float *x, const tsr_data *data, const tsri_part *part, int64_t i, int64_t down,
                  int64_t right, bool flip)
{
    int64_t H = data->height, W = data->width;
    int64_t first = right > 0 ? right : 0, end = right < 0 ? W + right : W;
    for (int64_t c = 0; c < data->channels; c++) {
        float black = tsri_black(data, part, c);
        for (int64_t h = 0; h < H; h++, x += W) {
            bool inside = h - down >= 0 && h - down < H && first < end;
            for (int64_t w = 0; w < W; w++)
                if (!inside || w < first || w >= end)
                    x[w] = black;
            if (inside)
                pixels(x + first, data, part, i, c, (h - down) * W + first - right, end - first);
            if (flip)
                mirror(x, W);
        }
    }
}

/* The bytes of the same. */
static void moved_bytes(uint8_t *to, const tsr_data *data, const uint8_t *from,
                        const tsri_placing *p)
{
    int64_t H = data->height, W = data->width;
    for (int64_t c = 0; c < data->channels; c++, from += H * W)
        for (int64_t h = 0; h < H; h++)
            for (int64_t w = 0; w < W; w++) {
                int64_t y = h - p->down, x = (p->flip ? W - 1 - w : w) - p->right;
                *to++ = y >= 0 && y < H && x >= 0 && x < W ? from[y * W + x] : 0;
            }
}

/* ---- Changed ------------------------------------------------------------------------------------ */

tsr_status tsri_changer_init(tsri_changer *c, const tsr_data *data, const tsri_part *part,
                             const tsri_augment *how)
{
    const int64_t shape[] = {data->channels, data->height, data->width};
    *c = (tsri_changer){.data = data, .part = part, .how = *how};
    if (how->ops == 0)
        return TSR_OK;
    c->scaling = tsri_row_scaling_of(&data->scaling, &data->schema, shape, false, data->patch);
    return tsri_alloc(&c->image, 2 * data->dim, sizeof *c->image);
}

void tsri_changer_fini(tsri_changer *c)
{
    TSRI_FREE(c->image);
}

/* Pixels of the training set as training changed them, as the network sees them. */
static void seen(float *x, const tsri_changer *c)
{
    const tsr_data *data = c->data;
    if (c->part->bytes) {
        convert_all(x, data, c->image);
        return;
    }
    for (int64_t k = 0; k < data->dim; k++)
        x[k] = (float)c->image[k];
    tsr_status st = tsri_scale_row(x, data->dim, &c->scaling);
    assert(st == TSR_OK); /* bytes, whose scale has been found to be finite */
    (void)st;
}

static void operated(float *x, const tsri_changer *c, const tsri_placing *p, const tsri_spot *at)
{
    const tsr_data *data = c->data;
    const tsri_image_shape shape = {data->channels, data->height, data->width};
    const uint8_t *bytes = c->part->bytes ? c->part->bytes : c->part->pixels;
    moved_bytes(c->image, data, bytes + at->sample * data->dim, p);
    tsri_augment_pixels(c->image, c->image + data->dim, &c->how, &shape, at);
    seen(x, c);
}

void tsri_sample_changed(float *x, const tsri_changer *c, const tsri_spot *at)
{
    tsri_placing p = tsri_augment_place(&c->how, at);
    if (c->how.ops > 0)
        operated(x, c, &p, at);
    else
        moved(x, c->data, c->part, at->sample, p.down, p.right, p.flip);
    if (c->how.cutout > 0)
        tsri_augment_cut(x, &c->how, c->data, at);
}
