/* sweep_sum.c - the mean and deviation of a cell over its seeds, and which cell is the best. */
#include "sweep/sweep.h"

#include "base/alloc.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static bool ended(const tsri_outcome *o)
{
    return o->done && !o->diverged && !o->refused;
}

/* Of the field at `offset` over the runs that ended. */
static tsri_spread spread_of(const tsri_outcome *o, int64_t seeds, size_t offset)
{
    tsri_spread s = {NAN, NAN};
    double sum = 0, squares = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < seeds; i++)
        if (ended(&o[i])) {
            sum += *(const double *)(const void *)((const char *)&o[i] + offset);
            count++;
        }
    if (count == 0)
        return s;
    s.mean = sum / (double)count;
    for (int64_t i = 0; i < seeds; i++)
        if (ended(&o[i])) {
            double d = *(const double *)(const void *)((const char *)&o[i] + offset) - s.mean;
            squares += d * d;
        }
    if (count > 1)
        s.deviation = sqrt(squares / (double)(count - 1));
    return s;
}

tsri_cell_sum tsri_sweep_sum(const tsri_sweep *sweep, int64_t cell)
{
    const tsri_outcome *o = sweep->outcome + cell * sweep->seeds;
    tsri_cell_sum u = {.cell = cell,
                       .loss = spread_of(o, sweep->seeds, offsetof(tsri_outcome, loss)),
                       .accuracy = spread_of(o, sweep->seeds, offsetof(tsri_outcome, accuracy)),
                       .train_loss =
                           spread_of(o, sweep->seeds, offsetof(tsri_outcome, train_loss))};
    for (int64_t i = 0; i < sweep->seeds; i++) {
        u.count += ended(&o[i]);
        u.diverged += o[i].diverged;
        u.refused += o[i].refused != NULL;
        u.seconds += o[i].done ? o[i].seconds : 0;
    }
    return u;
}

/* ---- The best ------------------------------------------------------------------------------ */

bool tsri_sweep_by_accuracy(const tsri_sweep *sweep)
{
    for (int64_t i = 0; i < sweep->runs; i++)
        if (ended(&sweep->outcome[i]))
            return !isnan(sweep->outcome[i].accuracy);
    return false;
}

const char *tsri_sweep_incomparable(const tsri_sweep *sweep)
{
    static const char *const key[] = {"data.name", "data.path", "data.target", "loss",
                                      "data.target_scale"};
    enum { OF_ACCURACY = 3, OF_LOSS = sizeof key / sizeof *key };
    int keys = tsri_sweep_by_accuracy(sweep) ? OF_ACCURACY : OF_LOSS;
    for (int64_t g = 0; g < sweep->options.grids; g++)
        for (int i = 0; i < keys; i++)
            if (sweep->grid[g].count > 1 && strcmp(sweep->grid[g].key, key[i]) == 0)
                return key[i];
    return NULL;
}

const tsri_spread *tsri_sweep_measure(const tsri_sweep *sweep, const tsri_cell_sum *sum)
{
    return tsri_sweep_by_accuracy(sweep) ? &sum->accuracy : &sum->loss;
}

/* 0 = every run that was made ended; 1 = some did; 2 = none. */
static int standing(const tsri_cell_sum *s)
{
    return s->count == 0 ? 2 : s->diverged + s->refused > 0;
}

static int order(double a, double b)
{
    return a < b ? -1 : a > b;
}

/* Equal ones stay in the order of the grid. Losses are finite where a run ended. */
static int by_loss(const void *left, const void *right)
{
    const tsri_cell_sum *a = left, *b = right;
    int by = standing(a) - standing(b);
    by = by ? by : order(a->loss.mean, b->loss.mean);
    return by ? by : order((double)a->cell, (double)b->cell);
}

static int by_accuracy(const void *left, const void *right)
{
    const tsri_cell_sum *a = left, *b = right;
    int by = standing(a) - standing(b);
    by = by ? by : order(b->accuracy.mean, a->accuracy.mean);
    return by ? by : by_loss(a, b);
}

tsr_status tsri_sweep_ranking(tsri_cell_sum **sums, const tsri_sweep *sweep)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc(sums, sweep->cells, sizeof **sums));
    for (int64_t i = 0; i < sweep->cells; i++)
        (*sums)[i] = tsri_sweep_sum(sweep, i);
    qsort(*sums, (size_t)sweep->cells, sizeof **sums,
          tsri_sweep_by_accuracy(sweep) ? by_accuracy : by_loss);
done:
    return st;
}

tsr_status tsri_sweep_cell_text(tsri_text *out, const tsri_sweep *sweep, int64_t cell,
                                const char *before)
{
    tsr_status st = TSR_OK;
    for (int64_t g = 0; g < sweep->options.grids; g++)
        TSR_TRY(tsri_text_add(out, "%s%s%s=%s", g > 0 ? " " : "", before, sweep->grid[g].key,
                              sweep->grid[g].value[tsri_sweep_value(sweep, cell, g)]));
done:
    return st;
}
