/* repeats.h - a curve that was measured several times, with different seeds.
 *
 *     tsri_repeats r = {0};
 *     TSR_TRY(tsri_repeats_init(&r, n, seeds));
 *     ... r.x[i] = epoch; r.value[i * seeds + k] = what seed k found there ...
 *     tsri_repeats_end(&r);                              mean, low and high
 *     tsri_repeats_draw(&chart, &r, "LoFT");
 *     tsri_repeats_fini(&r);
 */
#ifndef TSRI_REPEATS_H
#define TSRI_REPEATS_H

#include "report/chart.h"

typedef struct tsri_repeats {
    int64_t n, seeds;
    double *x;          /* [n] */
    double *value;      /* [n, seeds] */
    double *mean;       /* [n] over the seeds */
    double *low, *high; /* [n] the band around it: see below */
    double *memory;
} tsri_repeats;

/* Two to four seeds say little about the mean: their band goes from the lowest to the highest. With
 * more seeds it is the 95 % interval of the mean. A seed whose value is NaN was not measured and is
 * left out. */
enum { TSRI_REPEATS_FEW = 4, TSRI_REPEATS_MOST = 1000 };

/* "1 seed", "2 seeds, band: from the lowest to the highest", "5 seeds, band: 95 %". */
void tsri_repeats_say(char text[80], int64_t seeds);

tsr_status tsri_repeats_init(tsri_repeats *r, int64_t n, int64_t seeds);
void tsri_repeats_end(tsri_repeats *r);
void tsri_repeats_fini(tsri_repeats *r);

/* A line with points, and a band when there is more than one seed. */
void tsri_repeats_draw(tsri_chart *c, const tsri_repeats *r, const char *name);

#endif
