/* draw.c - batches of resident samples on this machine's processors: the definition. */
#include "backend/draw.h"

#include "backend/backend.h"
#include "base/alloc.h"

#include <string.h>

/* Number k of a sample, in the order of the host. */
static float number_at(const tsri_resident *r, int64_t sample, int64_t k)
{
    int64_t c = k / (r->shape.h * r->shape.w);
    if (!r->bytes)
        return ((const float *)(const void *)r->numbers)[sample * r->dim + k];
    float byte = (float)((const uint8_t *)(const void *)r->bytes)[sample * r->dim + k];
    return (byte - ((const float *)(const void *)r->shift)[c]) *
           ((const float *)(const void *)r->scale)[c];
}

/* The pixel that comes to (h, w) of channel c. */
static float moved_pixel(const tsri_resident *r, int64_t sample, int64_t c, int64_t h, int64_t w,
                         const tsri_move *m)
{
    int64_t H = r->shape.h, W = r->shape.w;
    int64_t from_h = h - m->down, from_w = (m->flip ? W - 1 - w : w) - m->right;
    if (from_h < 0 || from_h >= H || from_w < 0 || from_w >= W)
        return ((const float *)(const void *)r->black)[c];
    return number_at(r, sample, (c * H + from_h) * W + from_w);
}

static void draw_row(float *row, const tsri_resident *r, int64_t sample, const tsri_move *m)
{
    tsri_shape s = r->shape;
    if (sample < 0)
        memset(row, 0, (size_t)r->dim * sizeof *row);
    else if (!m)
        for (int64_t k = 0; k < r->dim; k++)
            row[k] = number_at(r, sample, k);
    else
        for (int64_t c = 0; c < s.c; c++)
            for (int64_t h = 0; h < s.h; h++)
                for (int64_t w = 0; w < s.w; w++)
                    row[(c * s.h + h) * s.w + w] = moved_pixel(r, sample, c, h, w, m);
}

tsr_status tsri_draw_here(const tsri_drawing *drawing, tsri_device device)
{
    tsr_status st = TSR_OK;
    const tsri_resident *r = drawing->from;
    const int64_t *index = (const void *)drawing->index;
    const tsri_move *move = (const void *)drawing->move;
    float *x = NULL;
    TSR_TRY(tsri_alloc_raw(&x, drawing->count * r->dim, sizeof *x));
    for (int64_t i = 0; i < drawing->count; i++)
        draw_row(x + i * r->dim, r, index[i], move ? &move[i] : NULL);
    TSR_TRY(tsri_input_float(drawing->x, x, drawing->count, r->shape, drawing->layout, device));
done:
    tsri_free(x);
    return st;
}
