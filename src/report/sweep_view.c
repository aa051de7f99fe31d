/* sweep_view.c - the number by which the page of a sweep judges its cells (sweep_view.h). */
#include "report/sweep_view.h"

#include <math.h>
#include <stdio.h>

double tsri_sweep_judged(const tsri_sweep_view *v, const tsri_cell_sum *c)
{
    return tsri_sweep_measure(v->sweep, c)->mean * (v->accuracy ? 100 : 1);
}

double tsri_sweep_deviation(const tsri_sweep_view *v, const tsri_cell_sum *c)
{
    return tsri_sweep_measure(v->sweep, c)->deviation * (v->accuracy ? 100 : 1);
}

const char *tsri_sweep_judged_name(const tsri_sweep_view *v)
{
    return v->accuracy ? "test accuracy" : "loss";
}

const char *tsri_sweep_written(char text[TSRI_NUMBER_TEXT], const tsri_sweep_view *v, double value)
{
    if (v->accuracy)
        return tsri_fixed(text, value, 2);
    (void)snprintf(text, TSRI_NUMBER_TEXT, "%.4g", value);
    return text;
}

const char *tsri_sweep_unit(const tsri_sweep_view *v)
{
    return v->accuracy ? " %" : "";
}

void tsri_sweep_find_range(tsri_sweep_view *v)
{
    v->best = tsri_sweep_judged(v, &v->ranking[0]);
    v->worst = v->best;
    for (int64_t i = 0; i < v->sweep->cells; i++) {
        double value = tsri_sweep_judged(v, &v->ranking[i]);
        bool worse = v->accuracy ? value < v->worst : value > v->worst;
        bool better = v->accuracy ? value > v->best : value < v->best;
        v->worst = worse ? value : v->worst;
        v->best = better ? value : v->best; /* one that comes last, since a run of it diverged */
    }
    v->log = !v->accuracy && v->best > 0 && v->worst > 20 * v->best;
}

double tsri_sweep_place(const tsri_sweep_view *v, double value)
{
    if (v->best == v->worst)
        return 1;
    return v->log ? log(value / v->worst) / log(v->best / v->worst)
                  : (value - v->worst) / (v->best - v->worst);
}

const char *tsri_sweep_fate(const tsri_cell_sum *c)
{
    return c->diverged ? "diverged" : c->refused ? "refused" : "-";
}
