/* augment.c - random changes of training images: their settings, what is drawn, what is done. */
#include "data/augment.h"

#include "base/rng.h"

#include <string.h>

/* ---- Settings ----------------------------------------------------------------------------------- */

tsri_augment tsri_augment_from(const tsr_config *config)
{
    const char *moves = tsri_config_text(config, "data.augment");
    return (tsri_augment){.flip = strstr(moves, "flip") != NULL,
                          .crop = strstr(moves, "crop") ? tsri_config_int(config, "data.pad") : 0,
                          .ops = tsri_config_int(config, "data.randaugment"),
                          .magnitude = tsri_config_int(config, "data.magnitude"),
                          .cutout = tsri_config_int(config, "data.cutout")};
}

bool tsri_augment_moves_only(const tsri_augment *a)
{
    return a->ops == 0 && a->cutout == 0;
}

bool tsri_augments(const tsri_augment *a)
{
    return a->flip || a->crop > 0 || !tsri_augment_moves_only(a);
}

tsr_status tsri_augment_check(const tsri_augment *a, const tsr_data *data, const tsri_part *part,
                              const char *place)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(a->crop >= 0 && a->crop < 1 << 20, TSR_USAGE,
              "%sthe padding must be from 0 to %d pixels, not %lld", place, (1 << 20) - 1,
              (long long)a->crop);
    TSR_CHECK(!tsri_augments(a) || (!data->sequences && data->width > 1), TSR_USAGE,
              "%s%s holds no images: data.augment, data.randaugment and data.cutout must be off",
              place, data->name);
    if (a->ops == 0)
        return TSR_OK;
    TSR_CHECK(a->magnitude >= 0 && a->magnitude < TSRI_MAGNITUDES, TSR_USAGE,
              "%sRandAugment has magnitudes from 0 to %d, not %lld", place, TSRI_MAGNITUDES - 1,
              (long long)a->magnitude);
    TSR_CHECK(!part->numbers || part->pixels,
              TSR_USAGE, /* a set that is only described has neither */
              "%sRandAugment changes 8-bit pixels, and the images of %s are real numbers: use "
              "data.augment and data.cutout, or give them as bytes (uint8)",
              place, tsri_quote(data->name));
    TSR_CHECK(data->channels == 1 || data->channels == 3, TSR_USAGE,
              "%sRandAugment is for grey or colour images, and those of %s have %lld channels: use "
              "data.augment and data.cutout",
              place, tsri_quote(data->name), (long long)data->channels);
done:
    return st;
}

/* ---- Draws -------------------------------------------------------------------------------------- */

/* Of each row one block of four numbers. */
static tsri_rng stream(const tsri_spot *at, int64_t what)
{
    if (!at->replacement)
        return tsri_rng_stream(at->seed, TSRI_FOR_AUGMENT, 2 * what, at->epoch, at->sample);
    tsri_rng rng = tsri_rng_stream(at->seed, TSRI_FOR_AUGMENT, 2 * what + 1, at->step, at->worker);
    tsri_rng_seek(&rng, (uint32_t)at->row);
    return rng;
}

/* Three numbers, always drawn in this order. */
tsri_placing tsri_augment_place(const tsri_augment *a, const tsri_spot *at)
{
    tsri_rng rng = stream(at, 0);
    uint32_t places = (uint32_t)(2 * a->crop + 1);
    tsri_placing p;
    p.down = (int64_t)tsri_rng_below(&rng, places) - a->crop;
    p.right = (int64_t)tsri_rng_below(&rng, places) - a->crop;
    p.flip = tsri_rng_u32(&rng) >> 31 && a->flip;
    return p;
}

tsri_middle tsri_augment_middle(const tsr_data *data, const tsri_spot *at)
{
    tsri_rng rng = stream(at, 1);
    tsri_middle m;
    m.down = (int64_t)tsri_rng_below(&rng, (uint32_t)data->height);
    m.right = (int64_t)tsri_rng_below(&rng, (uint32_t)data->width);
    return m;
}

tsri_operation tsri_augment_operation(const tsri_spot *at, int64_t k)
{
    tsri_rng rng = stream(at, 2 + k);
    tsri_operation o;
    o.op = (tsri_image_op)tsri_rng_below(&rng, TSRI_IMAGE_OPS);
    o.back = tsri_rng_u32(&rng) >> 31 && tsri_image_signed(o.op);
    return o;
}

/* ---- Changes ------------------------------------------------------------------------------------ */

void tsri_augment_pixels(uint8_t *image, uint8_t *other, const tsri_augment *a,
                         const tsri_image_shape *shape, const tsri_spot *at)
{
    for (int64_t k = 0; k < a->ops; k++) {
        tsri_operation o = tsri_augment_operation(at, k);
        double amount = tsri_image_amount(o.op, a->magnitude, shape);
        if (o.op == TSRI_IMAGE_IDENTITY)
            continue;
        tsri_image_change(other, image, shape, o.op, o.back ? -amount : amount);
        memcpy(image, other, (size_t)(shape->channels * shape->height * shape->width));
    }
}

static int64_t within(int64_t at, int64_t end)
{
    return at < 0 ? 0 : at > end ? end : at;
}

void tsri_augment_cut(float *x, const tsri_augment *a, const tsr_data *data, const tsri_spot *at)
{
    int64_t H = data->height, W = data->width;
    tsri_middle m = tsri_augment_middle(data, at);
    int64_t top = m.down - a->cutout / 2, left = m.right - a->cutout / 2;
    int64_t first = within(left, W), end = within(left + a->cutout, W);
    for (int64_t c = 0; c < data->channels; c++)
        for (int64_t h = within(top, H); h < within(top + a->cutout, H); h++)
            memset(x + (c * H + h) * W + first, 0, (size_t)(end - first) * sizeof *x);
}
