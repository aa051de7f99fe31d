/* normalize.c - inputs brought to scale (data.normalize).
 *
 * Numbers of a group are shifted and scaled alike (groups.h), or each row is divided by its norm;
 * normalisation.h says which way does what. Images keep their bytes: their shift and scale are
 * applied when a batch is gathered.
 */
#include "data/prepare.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/text.h"
#include "data/groups.h"
#include "data/part.h"
#include "data/row_scaling.h"

#include <stdio.h>
#include <string.h>

/* What people call number k of a sample. The text lives until the next call. */
static const char *input_name(const tsr_data *data, int64_t k)
{
    static _Thread_local char text[160];
    int64_t plane = data->height * data->width;
    const char *name = data->column && !data->sequences ? data->column[k] : NULL;
    if (data->sequences)
        (void)snprintf(text, sizeof text, "coordinate %lld", (long long)(k % data->channels + 1));
    else if (plane > 1)
        (void)snprintf(text, sizeof text, "channel %lld", (long long)(k / plane + 1));
    else
        (void)snprintf(text, sizeof text, name ? "input %lld (%.100s)" : "input %lld",
                       (long long)(k + 1), name ? tsri_quote(name) : "");
    return text;
}

/* ---- Groups ------------------------------------------------------------------------------- */

/* What lies after the end of a sequence stays zero. */
static tsr_status apply(tsri_part *part, const tsr_data *data, tsri_groups shape)
{
    const tsri_scaling *s = &data->scaling;
    for (int64_t i = 0; i < part->n; i++) {
        float *first = part->numbers + i * data->dim, *x = first;
        const float *end = x + tsri_part_used(data, part, i);
        while (x < end)
            for (int64_t c = 0; c < shape.count; c++)
                for (int64_t b = 0; b < shape.block; b++, x++) {
                    float y = tsri_scaled(*x, s->shift[c], s->scale[c]);
                    if (isinf(y))
                        return tsri_scaled_too_far(data, part, i, input_name(data, x - first), *x);
                    *x = y;
                }
    }
    return TSR_OK;
}

static tsr_status new_groups(tsri_scaling *s, int64_t count)
{
    tsr_status st = TSR_OK;
    TSRI_FREE(s->shift);
    TSRI_FREE(s->scale);
    s->groups = 0;
    TSR_TRY(tsri_alloc(&s->shift, count, sizeof *s->shift));
    TSR_TRY(tsri_alloc(&s->scale, count, sizeof *s->scale));
    s->groups = count;
done:
    return st;
}

/* Shift and scale of every group, from the training part or, where they fit, those of `like`. */
static tsr_status choose_scaling(tsr_data *data, tsri_groups shape, bool range,
                                 const tsri_scaling *like)
{
    tsr_status st = TSR_OK;
    tsri_scaling *s = &data->scaling;
    tsri_group *g = NULL;
    TSR_TRY(new_groups(s, shape.count));
    if (like && like->groups == shape.count) {
        memcpy(s->shift, like->shift, (size_t)shape.count * sizeof *s->shift);
        memcpy(s->scale, like->scale, (size_t)shape.count * sizeof *s->scale);
        goto done;
    }
    TSR_TRY(tsri_measure_inputs(&g, shape, data));
    for (int64_t c = 0; c < shape.count; c++) {
        const tsri_affine_goal goal = {
            .range = range, .what = input_name(data, c * shape.block), .key = "data.normalize"};
        TSR_TRY(tsri_affine_of(&s->shift[c], &s->scale[c], &g[c], &goal, data));
    }
done:
    tsri_free(g);
    return st;
}

static tsr_status scale_groups(tsr_data *data, const tsri_normalisation *how,
                               const tsri_scaling *like)
{
    tsr_status st = TSR_OK;
    tsri_groups shape = tsri_groups_of(how->grouping, data);
    TSR_TRY(choose_scaling(data, shape, how->range, like));
    if (data->train.numbers) {
        TSR_TRY(apply(&data->train, data, shape));
        TSR_TRY(apply(&data->test, data, shape));
    }
done:
    return st;
}

/* ---- Rows --------------------------------------------------------------------------------- */

/* Of a sequence each position is a row. */
static void scale_rows(tsri_part *part, const tsr_data *data, double length)
{
    int64_t n = data->sequences ? data->channels : data->dim;
    for (int64_t row = 0; part->numbers && row < part->n * (data->dim / n); row++)
        tsri_scale_to_length(part->numbers + row * n, n, length);
}

/* ---- All of it ---------------------------------------------------------------------------- */

static tsr_status to_numbers(tsr_data *data)
{
    tsr_status st = tsri_part_to_numbers(&data->train, data, data->keeps_pixels);
    return st != TSR_OK ? st : tsri_part_to_numbers(&data->test, data, false);
}

/* Warns of inputs whose squares overflow a float: hardly any network has a finite loss then, and
 * the learning rate is not to blame. */
static void warn_of_huge(const tsr_data *data)
{
    static const float huge = 1e18f;
    const tsri_part *part = &data->train;
    for (int64_t k = 0; part->numbers && k < part->n * data->dim; k++)
        if (fabsf(part->numbers[k]) > huge) {
            TSRI_WARN("%s: sample %lld: %s is %g as the network sees it, too large to "
                      "compute with: scale the inputs (data.normalize)",
                      tsri_quote(data->name), (long long)tsri_part_row(part, k / data->dim),
                      input_name(data, k % data->dim), (double)part->numbers[k]);
            return;
        }
}

/* A model whose inputs were not normalised must see the same inputs in the same numbers, whatever
 * their type. So numbers are divided by 255 for a model of bytes, and bytes become plain numbers
 * for a model of vectors. (Images stay bytes / 255: real ones may well be 0 .. 1.) */
static tsr_status as_not_normalised(tsr_data *data, const tsri_scaling *like)
{
    tsr_status st = TSR_OK;
    const tsri_normalisation as_bytes = {.grouping = TSRI_BY_CHANNEL};
    if (like->groups == tsri_groups_of(TSRI_BY_CHANNEL, data).count && !data->train.bytes)
        TSR_TRY(scale_groups(data, &as_bytes, like));
    else if (like->groups == 0 && data->train.bytes && data->height * data->width == 1)
        TSR_TRY(to_numbers(data));
done:
    return st;
}

/* Bytes are divided by 255 unless something else is measured. */
static tsr_status scale_bytes(tsr_data *data)
{
    tsr_status st = TSR_OK;
    TSR_TRY(new_groups(&data->scaling, data->channels));
    for (int64_t c = 0; c < data->channels; c++)
        data->scaling.scale[c] = 1.0f / 255.0f;
done:
    return st;
}

tsr_status tsri_normalize(tsr_data *data, const tsri_normalisation *how, const tsri_scaling *like,
                          double length)
{
    tsr_status st = TSR_OK;
    if (like && tsri_normalises_nothing(how))
        TSR_TRY(as_not_normalised(data, like));
    if (data->train.bytes)
        TSR_TRY(scale_bytes(data));
    if (how->each_row || how->grouping == TSRI_BY_COLUMN)
        TSR_TRY(to_numbers(data));
    if (how->each_row) {
        scale_rows(&data->train, data, how->wanted_length ? length : 1);
        scale_rows(&data->test, data, how->wanted_length ? length : 1);
    }
    if (how->grouping != TSRI_NO_GROUPS)
        TSR_TRY(scale_groups(data, how, like));
    warn_of_huge(data);
done:
    return st;
}
