/* repeats.c - a curve that was measured several times. */
#include "reproduce/repeats.h"

#include "base/alloc.h"
#include "base/estimate.h"

#include <math.h>
#include <stdio.h>

tsr_status tsri_repeats_init(tsri_repeats *r, int64_t n, int64_t seeds)
{
    tsr_status st = TSR_OK;
    *r = (tsri_repeats){0};
    TSR_TRY(tsri_alloc(&r->memory, n * (4 + seeds), sizeof *r->memory));
    r->n = n;
    r->seeds = seeds;
    r->x = r->memory;
    r->mean = r->x + n;
    r->low = r->mean + n;
    r->high = r->low + n;
    r->value = r->high + n;
done:
    return st;
}

void tsri_repeats_fini(tsri_repeats *r)
{
    tsri_free(r->memory);
    *r = (tsri_repeats){0};
}

void tsri_repeats_end(tsri_repeats *r)
{
    for (int64_t i = 0; i < r->n; i++) {
        const double *value = r->value + i * r->seeds;
        double there[TSRI_REPEATS_MOST];
        int64_t count = 0;
        for (int64_t k = 0; k < r->seeds && count < TSRI_REPEATS_MOST; k++)
            if (!isnan(value[k]))
                there[count++] = value[k];
        tsri_estimate e = tsri_mean_of(there, count);
        bool few = count > 1 && count <= TSRI_REPEATS_FEW;
        r->mean[i] = e.value;
        r->low[i] = few ? there[0] : e.low;
        r->high[i] = few ? there[0] : e.high;
        for (int64_t k = 1; few && k < count; k++) {
            r->low[i] = fmin(r->low[i], there[k]);
            r->high[i] = fmax(r->high[i], there[k]);
        }
    }
}

void tsri_repeats_say(char text[80], int64_t seeds)
{
    (void)snprintf(text, 80, "%lld seed%s", (long long)seeds,
                   seeds <= 1                  ? ""
                   : seeds <= TSRI_REPEATS_FEW ? "s, band: from the lowest to the highest"
                                               : "s, band: 95 %");
}

void tsri_repeats_draw(tsri_chart *c, const tsri_repeats *r, const char *name)
{
    bool band = r->n > 0 && isfinite(r->low[0]);
    tsri_chart_series(c, &(tsri_series){.name = name,
                                        .n = r->n,
                                        .x = r->x,
                                        .y = r->mean,
                                        .low = band ? r->low : NULL,
                                        .high = band ? r->high : NULL,
                                        .marks = TSRI_MARKS_BOTH});
}
