/* strange.c - numbers that a model has never seen the like of. */
#include "data/strange.h"

#include "base/log.h"
#include "base/text.h"
#include "data/normalisation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FAR = 10, TOLD = 3 };

static int64_t count_far(const tsri_part *part, int64_t dim, int64_t k)
{
    int64_t far = 0;
    for (int64_t i = 0; part->numbers && i < part->n; i++)
        far += fabsf(part->numbers[i * dim + k]) > (float)FAR;
    return far;
}

/* Column k of the inputs. Only the first few strange ones are named. */
static void look(const tsr_data *data, const char *name, int64_t k, bool range, int64_t *told)
{
    int64_t n = data->train.n + data->test.n;
    int64_t far = count_far(&data->train, data->dim, k) + count_far(&data->test, data->dim, k);
    char number[32];
    if (2 * far <= n || (*told)++ >= TOLD)
        return;
    (void)snprintf(number, sizeof number, "%lld", (long long)(k + 1));
    TSRI_WARN("%s: column %s: %lld of %lld values are more than %d %s away from those that the "
              "model was trained on, near %.4g: are they in another unit?",
              tsri_quote(data->name), name ? tsri_quote(name) : number, (long long)far,
              (long long)n, FAR, range ? "times their range" : "deviations",
              (double)data->scaling.shift[k]);
}

/* The distance from the least to the largest number of a channel; *far counts those far away. */
static float spread_of(int64_t *far, const tsri_part *part, const tsr_data *data, int64_t channel)
{
    int64_t plane = data->height * data->width;
    float least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < part->n; i++)
        for (int64_t k = 0; k < plane; k++) {
            float x = part->numbers[i * data->dim + channel * plane + k];
            least = fminf(least, x);
            most = fmaxf(most, x);
            *far += fabsf(x) > (float)FAR;
        }
    return most - least;
}

/* Arrays of images, scaled by channel. */
static void look_at_images(const tsr_data *data)
{
    static const float narrow = 0.1f;
    const tsri_part *part = data->test.n > 0 ? &data->test : &data->train;
    int64_t far = 0, narrows = 0;
    for (int64_t c = 0; c < data->channels; c++)
        narrows += spread_of(&far, part, data, c) < narrow;
    bool away = 2 * far > part->n * data->dim;
    if (away || narrows == data->channels)
        TSRI_WARN("%s: its numbers %s those that the model was trained on: are they in another "
                  "unit, as 0 to 1 instead of 0 to 255?",
                  tsri_quote(data->name), away ? "are far away from" : "vary much less than");
}

void tsri_warn_of_strange(const tsr_data *data)
{
    const tsri_normalisation *how = tsri_normalisation_named(data->schema.normalize);
    bool images = data->height * data->width > 1 && !data->sequences;
    int64_t k = 0, told = 0;
    if (images && (data->test.n > 0 ? data->test.numbers : data->train.numbers) &&
        how->grouping == TSRI_BY_CHANNEL && !how->range)
        look_at_images(data);
    if (how->grouping != TSRI_BY_COLUMN && !how->range)
        return;
    for (int64_t i = 0; i < data->schema.fields && data->scaling.groups == data->dim; i++) {
        const tsri_field *f = &data->schema.field[i];
        if (!f->word)
            look(data, f->name, k, how->range, &told);
        k += f->word ? f->words : 1;
    }
    bool vectors = data->schema.fields == 0 && data->channels == data->dim;
    for (; vectors && k < data->dim && data->scaling.groups == data->dim; k++)
        look(data, NULL, k, how->range, &told);
    if (told > TOLD)
        TSRI_WARN("%s: the same holds for %lld more columns", tsri_quote(data->name),
                  (long long)(told - TOLD));
}

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
