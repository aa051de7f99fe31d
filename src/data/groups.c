/* groups.c - measuring groups of numbers, and the shift and scale that follow. */
#include "data/groups.h"

#include "base/alloc.h"
#include "base/text.h"
#include "data/part.h"

#include <assert.h>

tsri_groups tsri_groups_of(tsri_grouping by, const tsr_data *data)
{
    if (by == TSRI_NO_GROUPS)
        return (tsri_groups){0, 1};
    if (data->sequences)
        return (tsri_groups){data->channels, 1};
    return by == TSRI_BY_COLUMN ? (tsri_groups){data->dim, 1}
                                : (tsri_groups){data->channels, data->height * data->width};
}

int64_t tsri_part_used(const tsr_data *data, const tsri_part *part, int64_t i)
{
    return part->length ? part->length[i] * data->channels : data->dim;
}

/* ---- Measuring ---------------------------------------------------------------------------- */

static void see(tsri_group *g, double v)
{
    if (isnan(v))
        return;
    g->sum += v;
    g->least = v < g->least ? v : g->least;
    g->most = v > g->most ? v : g->most;
    g->n++;
}

/* The second pass, around the mean: no cancellation. */
static void see_again(tsri_group *g, double v)
{
    double d = v - g->sum / (double)g->n;
    if (!isnan(v))
        g->squares += d * d;
}

/* The n numbers of a sample, or of all targets, through one pass. */
static void measure_row(tsri_group *g, tsri_groups shape, const float *x, int64_t n,
                        void (*look)(tsri_group *, double))
{
    for (int64_t k = 0; k < n;)
        for (int64_t c = 0; c < shape.count; c++)
            for (int64_t b = 0; b < shape.block; b++)
                look(&g[c], (double)x[k++]);
}

static void measure_numbers(tsri_group *g, tsri_groups shape, const tsr_data *data)
{
    const tsri_part *part = &data->train;
    void (*const pass[])(tsri_group *, double) = {see, see_again};
    for (int p = 0; p < 2; p++)
        for (int64_t i = 0; i < part->n; i++)
            measure_row(g, shape, part->numbers + i * data->dim, tsri_part_used(data, part, i),
                        pass[p]);
}

/* Bytes have only 256 values: counting them is exact and takes one pass. */
static void measure_bytes(tsri_group *g, const tsr_data *data, int64_t channel)
{
    int64_t count[256] = {0}, plane = data->height * data->width;
    assert(data->train.bytes);
    for (int64_t i = 0; i < data->train.n; i++) {
        const uint8_t *x = data->train.bytes + i * data->dim + channel * plane;
        for (int64_t k = 0; k < plane; k++)
            count[x[k]]++;
    }
    for (int v = 0; v < 256; v++) {
        g->n += count[v];
        g->sum += (double)count[v] * v;
        if (count[v] > 0) {
            g->least = v < g->least ? v : g->least;
            g->most = v > g->most ? v : g->most;
        }
    }
    for (int v = 0; v < 256; v++) {
        double d = v - g->sum / (double)g->n;
        g->squares += (double)count[v] * d * d;
    }
}

static void begin(tsri_group *g, int64_t count)
{
    for (int64_t c = 0; c < count; c++)
        g[c] = (tsri_group){.least = INFINITY, .most = -INFINITY};
}

tsr_status tsri_measure_inputs(tsri_group **out, tsri_groups shape, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc(out, shape.count, sizeof **out));
    begin(*out, shape.count);
    if (data->train.numbers) {
        measure_numbers(*out, shape, data);
    } else {
        for (int64_t c = 0; c < shape.count; c++)
            measure_bytes(&(*out)[c], data, c);
    }
done:
    return st;
}

void tsri_measure_targets(tsri_group *g, int64_t count, const tsr_data *data)
{
    tsri_groups shape = {count, 1};
    int64_t n = data->train.n * data->targets;
    begin(g, count);
    measure_row(g, shape, data->train.target, n, see);
    measure_row(g, shape, data->train.target, n, see_again);
}

/* ---- Scaling ------------------------------------------------------------------------------ */

/* A spread among the smallest floats cannot be brought to 1: its scale would overflow. A scale that
 * is subnormal has lost digits that the way back needs. */
tsr_status tsri_affine_of(float *shift, float *scale, const tsri_group *g,
                          const tsri_affine_goal *goal, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    double n = (double)g->n;
    double mean = g->n > 0 ? g->sum / n : 0.0;
    double spread = g->n == 0 ? 0.0 : goal->range ? g->most - g->least : sqrt(g->squares / n);
    *shift = (float)(g->n > 0 && goal->range ? g->least : mean);
    *scale = spread > 0.0 ? (float)(1.0 / spread) : 1.0f;
    TSR_CHECK(isfinite(*scale) && (isnormal(*scale) || !goal->comes_back), TSR_BAD_FILE,
              "%s: %s has a spread of %.3g, too %s to be scaled to 1 in single precision: "
              "multiply it by a power of ten, or set %s to none",
              tsri_quote(data->name), goal->what, spread, spread < 1 ? "small" : "large",
              goal->key);
done:
    return st;
}

tsr_status tsri_scaled_too_far(const tsr_data *data, const tsri_part *part, int64_t sample,
                               const char *what, float value)
{
    return tsri_fail(TSR_BAD_FILE,
                     "%s: %s sample %lld: %s is %g, beyond single precision once it is scaled as "
                     "the training part asks for: repair the value, or leave the sample out",
                     tsri_quote(data->name), part == &data->test ? "test" : "training",
                     (long long)tsri_part_row(part, sample), what, (double)value);
}
