/* normalize.c - missing values filled, inputs and targets brought to scale.
 *
 * Every affine normalisation is one idea: numbers fall into groups (a column, a channel, a
 * coordinate of a sequence), each group has a shift and a scale measured on the training part, and
 * x becomes (x - shift) * scale. Images keep their bytes: their shift and scale are applied when a
 * batch is gathered. Sums run in double precision in the order of the data, so the result is the
 * same everywhere.
 */
#include "data/prepare.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/rng.h"
#include "data/part.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Groups ------------------------------------------------------------------------------- */

/* Number k of a sample (k = 0 .. dim-1) belongs to group k / block % count. */
typedef struct groups {
    int64_t count, block;
} groups;

typedef struct group {
    double sum, squares, least, most;
    int64_t n;
} group;

static groups by_column(const tsr_data *data)
{
    return data->sequences ? (groups){data->channels, 1} : (groups){data->dim, 1};
}

static groups by_channel(const tsr_data *data)
{
    return data->sequences ? (groups){data->channels, 1}
                           : (groups){data->channels, data->height * data->width};
}

/* How many numbers of sample i are there: a sequence ends before the longest one. */
static int64_t used(const tsr_data *data, const tsri_part *part, int64_t i)
{
    return part->length ? part->length[i] * data->channels : data->dim;
}

static void see(group *g, double v)
{
    if (isnan(v))
        return;
    g->sum += v;
    g->least = v < g->least ? v : g->least;
    g->most = v > g->most ? v : g->most;
    g->n++;
}

/* The second pass, around the mean: no cancellation. */
static void see_again(group *g, double v)
{
    double d = v - g->sum / (double)g->n;
    if (!isnan(v))
        g->squares += d * d;
}

static void measure_sample(group *g, groups shape, const float *x, int64_t n,
                           void (*look)(group *, double))
{
    for (int64_t k = 0; k < n;)
        for (int64_t c = 0; c < shape.count; c++)
            for (int64_t b = 0; b < shape.block; b++)
                look(&g[c], (double)x[k++]);
}

static void measure_numbers(group *g, groups shape, const tsr_data *data)
{
    const tsri_part *part = &data->train;
    for (int64_t i = 0; i < part->n; i++)
        measure_sample(g, shape, part->numbers + i * data->dim, used(data, part, i), see);
    for (int64_t i = 0; i < part->n; i++)
        measure_sample(g, shape, part->numbers + i * data->dim, used(data, part, i), see_again);
}

/* Bytes have only 256 values: counting them is exact and one pass. */
static void measure_bytes(group *at, const tsr_data *data, int64_t channel)
{
    int64_t count[256] = {0}, plane = data->height * data->width;
    assert(data->train.bytes);
    for (int64_t i = 0; i < data->train.n; i++) {
        const uint8_t *x = data->train.bytes + i * data->dim + channel * plane;
        for (int64_t k = 0; k < plane; k++)
            count[x[k]]++;
    }
    for (int v = 0; v < 256; v++) {
        at->n += count[v];
        at->sum += (double)count[v] * v;
        if (count[v] > 0) {
            at->least = v < at->least ? v : at->least;
            at->most = v > at->most ? v : at->most;
        }
    }
    for (int v = 0; v < 256; v++) {
        double d = v - at->sum / (double)at->n;
        at->squares += (double)count[v] * d * d;
    }
}

static tsr_status measure(group **out, groups shape, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc(out, shape.count, sizeof **out));
    for (int64_t c = 0; c < shape.count; c++)
        (*out)[c] = (group){.least = INFINITY, .most = -INFINITY};
    if (data->train.numbers) {
        measure_numbers(*out, shape, data);
    } else {
        for (int64_t c = 0; c < shape.count; c++)
            measure_bytes(&(*out)[c], data, c);
    }
done:
    return st;
}

/* ---- Missing values ----------------------------------------------------------------------- */

static void fill_part(tsri_part *part, const tsr_data *data, const float *fill)
{
    for (int64_t i = 0; i < part->n; i++) {
        float *x = part->numbers + i * data->dim;
        for (int64_t k = 0; k < data->dim; k++)
            if (isnan(x[k]))
                x[k] = fill[k];
    }
}

/* The mean of every column of the training part; 0 where it has no value at all. */
static tsr_status column_means(float *fill, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    group *g = NULL;
    int64_t empty = 0;
    TSR_TRY(measure(&g, (groups){data->dim, 1}, data));
    for (int64_t k = 0; k < data->dim; k++) {
        fill[k] = g[k].n > 0 ? (float)(g[k].sum / (double)g[k].n) : 0.0f;
        empty += g[k].n == 0;
    }
    if (empty > 0)
        TSRI_WARN("%s: %lld columns have no value at all in the training part; they are zero",
                  tsri_quote(data->name), (long long)empty);
done:
    tsri_free(g);
    return st;
}

tsr_status tsri_fill_missing(tsr_data *data, const char *how, const tsri_scaling *like)
{
    tsr_status st = TSR_OK;
    tsri_scaling *s = &data->scaling;
    bool table = data->train.numbers && !data->sequences && data->height * data->width == 1;
    if (!table && data->missing == 0)
        goto done;
    TSR_TRY(tsri_alloc(&s->fill, data->dim, sizeof *s->fill));
    s->columns = data->dim;
    if (like && like->columns == s->columns)
        memcpy(s->fill, like->fill, (size_t)s->columns * sizeof *s->fill);
    else if (strcmp(how, "zero") != 0)
        TSR_TRY(column_means(s->fill, data));
    if (data->missing > 0) {
        fill_part(&data->train, data, s->fill);
        fill_part(&data->test, data, s->fill);
    }
done:
    return st;
}

/* ---- Inputs ------------------------------------------------------------------------------- */

/* A group without spread is only centred. `what` names it for BAD_FILE: a spread among the least
 * floats cannot be brought to 1, since the scale would be beyond them all. Targets have to come
 * back, too: a subnormal scale has lost digits that the largest floats need. */
static tsr_status affine_of(float *shift, float *scale, const group *g, bool minmax,
                            const tsr_data *data, const char *what, bool comes_back)
{
    tsr_status st = TSR_OK;
    double mean = g->n > 0 ? g->sum / (double)g->n : 0.0;
    double spread = g->n == 0 ? 0.0 : minmax ? g->most - g->least : sqrt(g->squares / (double)g->n);
    *shift = (float)(g->n == 0 ? 0.0 : minmax ? g->least : mean);
    *scale = spread > 0.0 ? (float)(1.0 / spread) : 1.0f;
    TSR_CHECK(isfinite(*scale) && (isnormal(*scale) || !comes_back), TSR_BAD_FILE,
              "%s: %s has a spread of %.3g, too %s to be scaled to 1 in single precision: "
              "multiply it by a power of ten, or set data.%s to none",
              tsri_quote(data->name), what, spread, spread < 1 ? "small" : "large",
              comes_back ? "target_scale" : "normalize");
done:
    return st;
}

/* The difference of two huge numbers may be beyond a float where what becomes of it is not. */
static float scaled(float x, float shift, float scale)
{
    float y = (x - shift) * scale;
    return isfinite(y) ? y : (float)(((double)x - (double)shift) * (double)scale);
}

/* Of number k of a sample, for people. The text lives until the next call. */
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

static tsr_status beyond(const tsr_data *data, const tsri_part *part, int64_t sample,
                         const char *what, float value)
{
    return tsri_fail(TSR_BAD_FILE,
                     "%s: %s sample %lld: %s is %g, beyond single precision once it is scaled as "
                     "the training part asks for: repair the value, or leave the sample out",
                     tsri_quote(data->name), part == &data->test ? "test" : "training",
                     (long long)tsri_part_row(part, sample), what, (double)value);
}

/* After the end of a sequence stays zero. */
static tsr_status apply(tsri_part *part, const tsr_data *data, groups shape)
{
    const tsri_scaling *s = &data->scaling;
    for (int64_t i = 0; i < part->n; i++) {
        float *first = part->numbers + i * data->dim, *x = first, *end = x + used(data, part, i);
        while (x < end)
            for (int64_t c = 0; c < shape.count; c++)
                for (int64_t b = 0; b < shape.block; b++, x++) {
                    float y = scaled(*x, s->shift[c], s->scale[c]);
                    if (isinf(y))
                        return beyond(data, part, i, input_name(data, x - first), *x);
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

static tsr_status scale_groups(tsr_data *data, groups shape, bool minmax, const tsri_scaling *like)
{
    tsr_status st = TSR_OK;
    tsri_scaling *s = &data->scaling;
    group *g = NULL;
    TSR_TRY(new_groups(s, shape.count));
    if (like && like->groups == shape.count) {
        memcpy(s->shift, like->shift, (size_t)shape.count * sizeof *s->shift);
        memcpy(s->scale, like->scale, (size_t)shape.count * sizeof *s->scale);
    } else {
        TSR_TRY(measure(&g, shape, data));
        for (int64_t c = 0; c < shape.count; c++)
            TSR_TRY(affine_of(&s->shift[c], &s->scale[c], &g[c], minmax, data,
                              input_name(data, c * shape.block), false));
    }
    if (data->train.numbers) {
        TSR_TRY(apply(&data->train, data, shape));
        TSR_TRY(apply(&data->test, data, shape));
    }
done:
    tsri_free(g);
    return st;
}

static void unit_row(float *x, int64_t n, double length)
{
    double squares = 0.0;
    for (int64_t k = 0; k < n; k++)
        squares += (double)x[k] * (double)x[k];
    for (int64_t k = 0; squares > 0.0 && k < n; k++)
        x[k] = (float)((double)x[k] / sqrt(squares) * length);
}

static void unit_rows(tsri_part *part, const tsr_data *data, double length)
{
    int64_t n = data->sequences ? data->channels : data->dim;
    for (int64_t row = 0; part->numbers && row < part->n * (data->dim / n); row++)
        unit_row(part->numbers + row * n, n, length);
}

/* ---- One sample ----------------------------------------------------------------------------- */

tsri_row_scaling tsri_row_scaling_of(const tsri_scaling *s, const tsri_data_schema *schema,
                                     const int64_t shape[3], bool sequences, double length)
{
    const char *how = schema->normalize ? schema->normalize : "";
    bool unit = strcmp(how, "unit") == 0, patch = strcmp(how, "patch") == 0;
    int64_t dim = shape[0] * shape[1] * shape[2], row = sequences ? shape[0] : dim;
    return (tsri_row_scaling){.shift = s->shift,
                              .scale = s->scale,
                              .groups = unit || patch ? 0 : s->groups,
                              .block = sequences || s->groups == dim ? 1 : shape[1] * shape[2],
                              .fill = s->columns == dim ? s->fill : NULL,
                              .unit = unit || patch ? row : 0,
                              .length = unit ? 1 : length};
}

static tsr_status refuse_number(int64_t k, float before)
{
    return tsri_fail(TSR_USAGE, "number %lld is %g%s", (long long)k, (double)before,
                     isfinite(before) ? ", beyond single precision once it is scaled as in training"
                                      : "");
}

/* A block at a time: all of it has one shift and one scale. */
static tsr_status shift_row(float *x, int64_t used, const tsri_row_scaling *s)
{
    for (int64_t k = 0, c = 0; k < used; c = c + 1 < s->groups ? c + 1 : 0) {
        int64_t end = k + s->block < used ? k + s->block : used;
        for (; k < end; k++) {
            float y = scaled(x[k], s->shift[c], s->scale[c]);
            if (!isfinite(y))
                return refuse_number(k, x[k]);
            x[k] = y;
        }
    }
    return TSR_OK;
}

tsr_status tsri_scale_row(float *x, int64_t used, const tsri_row_scaling *s)
{
    for (int64_t k = 0; k < used; k++) {
        if (s->fill && isnan(x[k]))
            x[k] = s->fill[k];
        if (!isfinite(x[k]))
            return refuse_number(k, x[k]);
    }
    for (int64_t k = 0; s->unit > 0 && k < used; k += s->unit)
        unit_row(x + k, s->unit, s->length);
    return s->groups > 0 ? shift_row(x, used, s) : TSR_OK;
}

int64_t tsri_first_too_far(const float *x, int64_t n)
{
    static const float most = 1e30f; /* the largest float is 3.4e38 */
    for (int64_t k = 0; k < n; k++)
        if (fabsf(x[k]) > most)
            return k;
    return -1;
}

/* ---- All of them ---------------------------------------------------------------------------- */

static tsr_status to_numbers(tsr_data *data)
{
    tsr_status st = tsri_part_to_numbers(&data->train, data, data->keeps_pixels);
    return st != TSR_OK ? st : tsri_part_to_numbers(&data->test, data, false);
}

/* Inputs whose squares are beyond a float: hardly any network has a finite loss then, and it is not
 * the learning rate's fault. */
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

/* Shown to a model whose inputs were not normalised, the same numbers are the same inputs, whatever
 * their type: those of a model of bytes are divided by 255, too, and bytes are plain numbers to one
 * of real vectors. (Pictures stay bytes / 255: real ones may well be 0 .. 1.) */
static tsr_status as_not_normalised(tsr_data *data, const tsri_scaling *like)
{
    tsr_status st = TSR_OK;
    groups channels = by_channel(data);
    if (like->groups == channels.count && !data->train.bytes)
        TSR_TRY(scale_groups(data, channels, false, like));
    else if (like->groups == 0 && data->train.bytes && data->height * data->width == 1)
        TSR_TRY(to_numbers(data));
done:
    return st;
}

tsr_status tsri_normalize(tsr_data *data, const char *how, const tsri_scaling *like, double length)
{
    tsr_status st = TSR_OK;
    if (like && strcmp(how, "none") == 0)
        TSR_TRY(as_not_normalised(data, like));
    if (data->train.bytes) {
        TSR_TRY(new_groups(&data->scaling, data->channels));
        for (int64_t c = 0; c < data->channels; c++)
            data->scaling.scale[c] = 1.0f / 255.0f;
    }
    bool unit = strcmp(how, "unit") == 0;
    if (unit || strcmp(how, "patch") == 0) {
        TSR_TRY(to_numbers(data));
        unit_rows(&data->train, data, unit ? 1 : length);
        unit_rows(&data->test, data, unit ? 1 : length);
    } else if (strcmp(how, "standardize") == 0) {
        TSR_TRY(to_numbers(data));
        TSR_TRY(scale_groups(data, by_column(data), false, like));
    } else if (strcmp(how, "channel") == 0) {
        TSR_TRY(scale_groups(data, by_channel(data), false, like));
    } else if (strcmp(how, "minmax") == 0) {
        TSR_TRY(scale_groups(data, by_channel(data), true, like));
    }
    warn_of_huge(data);
done:
    return st;
}

/* ---- Targets ------------------------------------------------------------------------------ */

static tsr_status logarithms(tsri_part *part, const tsr_data *data, const char *which)
{
    tsr_status st = TSR_OK;
    for (int64_t k = 0; k < part->n * data->targets; k++) {
        TSR_CHECK(part->target[k] > 0.0f, TSR_BAD_FILE,
                  "%s: the target of %s sample %lld is %g and has no logarithm; set "
                  "data.target_scale to standardize",
                  tsri_quote(data->name), which, (long long)tsri_part_row(part, k / data->targets),
                  (double)part->target[k]);
        part->target[k] = (float)tsri_log((double)part->target[k]);
    }
done:
    return st;
}

static group measure_targets(const tsr_data *data)
{
    group g = {.least = INFINITY, .most = -INFINITY};
    groups one = {1, 1};
    int64_t n = data->train.n * data->targets;
    measure_sample(&g, one, data->train.target, n, see);
    measure_sample(&g, one, data->train.target, n, see_again);
    return g;
}

static const char *target_name(char text[32], const tsr_data *data, int64_t j)
{
    const tsri_data_schema *s = &data->schema;
    if (s->targets == data->targets && s->target[j])
        return tsri_quote(s->target[j]);
    (void)snprintf(text, 32, "number %lld", (long long)j + 1);
    return text;
}

/* Several targets have one shift and one scale. Errors of one that varies much less than all of them
 * together are too small for the loss to see. */
static tsr_status doubt_targets(const tsr_data *data, const group *all)
{
    enum { LESS = 10 };
    tsr_status st = TSR_OK;
    group *g = NULL;
    char text[32];
    int64_t n = data->train.n * data->targets;
    if (data->targets < 2 || data->sequences)
        goto done;
    TSR_TRY(tsri_alloc(&g, data->targets, sizeof *g));
    measure_sample(g, (groups){data->targets, 1}, data->train.target, n, see);
    measure_sample(g, (groups){data->targets, 1}, data->train.target, n, see_again);
    for (int64_t j = 0; j < data->targets; j++) {
        double part = g[j].squares * (double)data->targets / all->squares;
        if (g[j].squares <= 0 || part * LESS * LESS >= 1)
            continue;
        TSRI_WARN(
            "%s: target %s varies %.3g times less than all targets together, which are scaled "
            "as one: its errors will hardly count; bring the columns to one scale, or train a "
            "model for each",
            tsri_quote(data->name), target_name(text, data, j), sqrt(1 / part));
        break;
    }
done:
    tsri_free(g);
    return st;
}

static tsr_status move_targets(tsri_part *part, const tsr_data *data)
{
    const tsri_scaling *s = &data->scaling;
    for (int64_t k = 0; part->target && k < part->n * data->targets; k++) {
        float y = scaled(part->target[k], s->target_shift, s->target_scale);
        if (isinf(y))
            return beyond(data, part, k / data->targets, "the target", part->target[k]);
        part->target[k] = y;
    }
    return TSR_OK;
}

tsr_status tsri_scale_targets(tsr_data *data, const char *how, const tsri_scaling *like)
{
    tsr_status st = TSR_OK;
    tsri_scaling *s = &data->scaling;
    s->target_shift = 0.0f;
    s->target_scale = 1.0f;
    s->target_log = strcmp(how, "log") == 0;
    if (!data->train.target || strcmp(how, "none") == 0)
        goto done;
    if (s->target_log) {
        TSR_TRY(logarithms(&data->train, data, "training"));
        TSR_TRY(logarithms(&data->test, data, "test"));
        goto done;
    }
    if (like) {
        s->target_shift = like->target_shift;
        s->target_scale = like->target_scale;
    } else {
        group g = measure_targets(data);
        TSR_TRY(doubt_targets(data, &g));
        TSR_TRY(affine_of(&s->target_shift, &s->target_scale, &g, strcmp(how, "minmax") == 0, data,
                          "the target", true));
    }
    TSR_TRY(move_targets(&data->train, data));
    TSR_TRY(move_targets(&data->test, data));
done:
    return st;
}
