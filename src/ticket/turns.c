/* turns.c - how long things take, measured side by side. See turns.h. */
#include "ticket/turns.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <math.h>
#include <stdlib.h>

enum { GROUPS = 4, LEAST = GROUPS, MOST = 200 };

/* Repetition i is of group i % GROUPS. */
typedef struct times {
    double ms[MOST];
    int count;
} times;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static tsri_duration duration(times *t)
{
    tsri_duration d = {(double)INFINITY, 0, 0};
    for (int h = 0; h < GROUPS; h++) {
        double least = t->ms[h];
        for (int i = h; i < t->count; i += GROUPS)
            least = fmin(least, t->ms[i]);
        d.least = fmin(d.least, least);
        d.worst = fmax(d.worst, least);
    }
    qsort(t->ms, (size_t)t->count, sizeof *t->ms, by_size);
    d.median = (t->ms[(t->count - 1) / 2] + t->ms[t->count / 2]) / 2;
    return d;
}

/* The first round only warms up: memory is touched for the first time. */
tsr_status tsri_take_turns(tsri_duration *out, const tsri_turn *turns, int64_t count,
                           double seconds)
{
    tsr_status st = TSR_OK;
    times *t = NULL;
    double start = tsri_clock();
    TSR_TRY(tsri_alloc(&t, count, sizeof *t));
    for (int n = -1; n < LEAST || (n < MOST && tsri_clock() - start < seconds); n++)
        for (int64_t i = 0; i < count; i++) {
            double begin = tsri_clock();
            TSR_TRY(turns[i].run(turns[i].of));
            if (n >= 0)
                t[i].ms[t[i].count++] = 1e3 * (tsri_clock() - begin);
        }
    for (int64_t i = 0; i < count; i++)
        out[i] = duration(&t[i]);
done:
    tsri_free(t);
    return st;
}

tsri_speedup tsri_faster(tsri_duration before, tsri_duration after)
{
    if (!(after.least < 0.98 * before.least))
        return TSRI_NOT_FASTER;
    return after.worst < 0.98 * before.least ? TSRI_FASTER : TSRI_PERHAPS_FASTER;
}
