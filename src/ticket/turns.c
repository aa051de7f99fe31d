/* turns.c - how long things take, measured side by side. See turns.h. */
#include "ticket/turns.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <math.h>

enum { GROUPS = 4, LEAST = GROUPS, MOST = 200 };

typedef struct times {
    double least[GROUPS];
} times;

static tsr_status time_one(double *least, const tsri_turn *turn)
{
    double start = tsri_clock();
    tsr_status st = turn->run(turn->of);
    *least = fmin(*least, 1e3 * (tsri_clock() - start));
    return st;
}

static tsri_duration duration(const times *t)
{
    tsri_duration d = {t->least[0], t->least[0]};
    for (int h = 1; h < GROUPS; h++) {
        d.least = fmin(d.least, t->least[h]);
        d.worst = fmax(d.worst, t->least[h]);
    }
    return d;
}

/* The first round only warms up: memory is touched for the first time. */
tsr_status tsri_take_turns(tsri_duration *out, const tsri_turn *turns, int64_t count,
                           double seconds)
{
    tsr_status st = TSR_OK;
    times *t = NULL;
    double start = tsri_clock(), cold = (double)INFINITY;
    TSR_TRY(tsri_alloc(&t, count, sizeof *t));
    for (int64_t i = 0; i < count; i++)
        for (int h = 0; h < GROUPS; h++)
            t[i].least[h] = (double)INFINITY;
    for (int n = -1; n < LEAST || (n < MOST && tsri_clock() - start < seconds); n++)
        for (int64_t i = 0; i < count; i++)
            TSR_TRY(time_one(n < 0 ? &cold : &t[i].least[n % GROUPS], &turns[i]));
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
