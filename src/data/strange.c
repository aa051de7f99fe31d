/* strange.c - numbers that a model has never seen the like of. */
#include "data/strange.h"

#include "base/log.h"
#include "base/text.h"
#include "data/normalisation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FAR = 10, TOLD = 3 };

/* ---- Columns of tables, vectors and sequences ----------------------------------------------- */

/* Only the first few that are strange are told. */
typedef struct columns {
    const tsr_data *data;
    bool minmax;
    int64_t told;
} columns;

/* Number k of every sample, or, of sequences, of every position; *n counts them. */
static int64_t count_far(int64_t *n, const tsri_part *part, const tsr_data *data, int64_t k)
{
    int64_t far = 0, step = data->sequences ? data->channels : data->dim;
    for (int64_t i = 0; part->numbers && i < part->n; i++) {
        int64_t used = part->length ? part->length[i] * data->channels : data->dim;
        for (int64_t at = k; at < used; at += step, ++*n)
            far += fabsf(part->numbers[i * data->dim + at]) > (float)FAR;
    }
    return far;
}

/* Column k of the inputs; without a name it is told by its number in the table. */
static void look(columns *c, const char *name, int64_t place, int64_t k)
{
    const tsr_data *data = c->data;
    int64_t n = 0, far = count_far(&n, &data->train, data, k) + count_far(&n, &data->test, data, k);
    char number[32];
    if (2 * far <= n || c->told++ >= TOLD)
        return;
    (void)snprintf(number, sizeof number, "%lld", (long long)(place + 1));
    TSRI_WARN("%s: %s %s: %lld of %lld values are more than %d %s away from those that the "
              "model was trained on, near %.4g: are they in another unit?",
              tsri_quote(data->name), data->sequences ? "coordinate" : "column",
              name ? tsri_quote(name) : number, (long long)far, (long long)n, FAR,
              c->minmax ? "times their range" : "deviations", (double)data->scaling.shift[k]);
}

static void look_at_columns(const tsr_data *data, bool minmax)
{
    columns c = {.data = data, .minmax = minmax};
    int64_t k = 0, groups = data->scaling.groups;
    for (int64_t i = 0; i < data->schema.fields && groups == data->dim; i++) {
        const tsri_field *f = &data->schema.field[i];
        if (!f->word)
            look(&c, f->name, i, k);
        k += f->word ? f->words : 1;
    }
    bool vectors = data->schema.fields == 0 && data->channels == data->dim;
    for (; (vectors || data->sequences) && k < groups && groups == data->channels; k++)
        look(&c, NULL, k, k);
    if (c.told > TOLD)
        TSRI_WARN("%s: the same holds for %lld more columns", tsri_quote(data->name),
                  (long long)(c.told - TOLD));
}

/* ---- Images --------------------------------------------------------------------------------- */

/* Number k of a sample as the network sees it. */
static float seen(const tsr_data *data, const tsri_part *part, int64_t i, int64_t k)
{
    const tsri_scaling *s = &data->scaling;
    int64_t channel = k / (data->height * data->width);
    if (part->numbers)
        return part->numbers[i * data->dim + k];
    return ((float)part->bytes[i * data->dim + k] - s->shift[channel]) * s->scale[channel];
}

/* Most minus least of numbers [from, from + n) of all samples; *far counts those far away. */
static float spread_of(int64_t *far, const tsri_part *part, const tsr_data *data, int64_t from,
                       int64_t n)
{
    float least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < part->n; i++)
        for (int64_t k = from; k < from + n; k++) {
            float x = seen(data, part, i, k);
            least = fminf(least, x);
            most = fmaxf(most, x);
            *far += fabsf(x) > (float)FAR;
        }
    return most - least;
}

/* Pixels that vary less than this are of another unit. Bytes never are, and of a few images single
 * pixels say nothing. */
static float narrow_of(const tsr_data *data, const tsri_part *part)
{
    enum { FEW = 8 };
    const tsri_normalisation *how = tsri_normalisation_named(data->schema.normalize);
    bool in_ranges = how->range || tsri_normalises_nothing(how);
    bool single = data->scaling.groups == data->dim && part->n < FEW;
    if (part->bytes || single || data->scaling.groups == 0)
        return 0;
    return in_ranges ? 0.02f : 0.1f;
}

/* Does the scaling take no byte far away? Most models of bytes need no look at all of them. */
static bool none_is_far(const tsr_data *data, const tsri_part *part)
{
    const tsri_scaling *s = &data->scaling;
    for (int64_t c = 0; part->bytes && c < s->groups; c++)
        if (fmaxf(s->shift[c], 255 - s->shift[c]) * s->scale[c] > (float)FAR)
            return false;
    return part->bytes;
}

static void look_at_images(const tsr_data *data)
{
    const tsri_part *part = data->test.n > 0 ? &data->test : &data->train;
    if (none_is_far(data, part))
        return;
    int64_t groups = data->scaling.groups > 0 ? data->scaling.groups : data->channels;
    int64_t far = 0, narrows = 0, block = data->dim / groups;
    float narrow = narrow_of(data, part);
    for (int64_t g = 0; g < groups; g++)
        narrows += spread_of(&far, part, data, g * block, block) < narrow;
    bool away = 2 * far > part->n * data->dim;
    if (away || narrows == groups)
        TSRI_WARN("%s: its numbers %s those that the model was trained on: are they in another "
                  "unit, as 0 to 1 instead of 0 to 255?",
                  tsri_quote(data->name), away ? "are far away from" : "vary much less than");
}

/* Without a normalisation pixels of pictures are 0 .. 1; real numbers of arrays may be anything. */
static void look_at_plain_images(const tsr_data *data, const tsri_like *like)
{
    bool real = like->scaling->groups == 0 && like->schema->kind &&
                strcmp(like->schema->kind, "arrays") == 0;
    if (!real)
        look_at_images(data);
    else if (data->of_bytes)
        TSRI_WARN("%s: bytes are divided by 255 for this model, which learned from real numbers as "
                  "they were: were those 0 to 1?",
                  tsri_quote(data->name));
}

void tsri_warn_of_strange(const tsr_data *data, const tsri_like *like)
{
    const tsri_normalisation *how = tsri_normalisation_named(data->schema.normalize);
    bool images = data->height * data->width > 1 && !data->sequences;
    if (images && tsri_normalises_nothing(how))
        look_at_plain_images(data, like);
    else if (images && how->grouping != TSRI_NO_GROUPS)
        look_at_images(data);
    else if (how->grouping != TSRI_NO_GROUPS)
        look_at_columns(data, how->range);
}

/* ---- Targets -------------------------------------------------------------------------------- */

void tsri_warn_of_strange_targets(const tsr_data *data)
{
    const tsri_part *part[] = {&data->train, &data->test};
    int64_t far = 0, n = 0;
    if (strcmp(data->schema.target_scale, "standardize") != 0)
        return;
    for (int p = 0; p < 2; p++)
        for (int64_t k = 0; part[p]->target && k < part[p]->n * data->targets; k++, n++)
            far += fabsf(part[p]->target[k]) > (float)FAR;
    if (2 * far > n)
        TSRI_WARN("%s: %lld of %lld targets are more than %d deviations away from those that the "
                  "model was trained on, near %.4g: are they in another unit?",
                  tsri_quote(data->name), (long long)far, (long long)n, FAR,
                  (double)data->scaling.target_shift);
}
