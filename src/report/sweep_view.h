/* sweep_view.h - a sweep as its page sees it; private to report_sweep.c, sweep_view.c,
 * sweep_map.c. */
#ifndef TSRI_SWEEP_VIEW_H
#define TSRI_SWEEP_VIEW_H

#include "base/number.h"
#include "report/choices.h"
#include "report/report_parts.h"
#include "sweep/sweep.h"

typedef struct tsri_sweep_view {
    tsri_page *page;
    const tsri_sweep *sweep;
    const tsri_cell_sum *ranking; /* [cells] from the best to the worst */
    bool accuracy;                /* that is judged, in percent; else the loss */
    bool log;                     /* colours follow the logarithm of the loss */
    double worst, best;           /* of all cells, as tsri_sweep_judged gives them */
    int64_t across, down;         /* the keys of a map; -1 = none */
    tsri_choices choices;         /* the cells, by their numbers */
} tsri_sweep_view;

/* ---- sweep_view.c: what is judged -------------------------------------------------------------- */

/* The cell's number: accuracy in percent, or loss. NaN when none of its runs ended. */
double tsri_sweep_judged(const tsri_sweep_view *v, const tsri_cell_sum *c);
double tsri_sweep_deviation(const tsri_sweep_view *v, const tsri_cell_sum *c); /* over its seeds */

const char *tsri_sweep_judged_name(const tsri_sweep_view *v);
const char *tsri_sweep_written(char text[TSRI_NUMBER_TEXT], const tsri_sweep_view *v, double value);
const char *tsri_sweep_unit(const tsri_sweep_view *v);

/* Sets worst, best and log. */
void tsri_sweep_find_range(tsri_sweep_view *v);

/* 0 (worst) to 1 (best). */
double tsri_sweep_place(const tsri_sweep_view *v, double value);

/* In place of a number, of a cell none of whose runs came to its end. */
const char *tsri_sweep_fate(const tsri_cell_sum *c);

/* ---- sweep_map.c ------------------------------------------------------------------------------- */

/* Sets across and down: the two keys with the most values; those with one value are no axis. */
void tsri_sweep_choose_axes(tsri_sweep_view *v);

/* The section with all cells, or with those beside the best where that would be too many. */
void tsri_sweep_maps(const tsri_sweep_view *v);

#endif
