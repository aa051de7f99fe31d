/* chart_json.h - the numbers of a page's charts as one JSON document, for the page's script.
 *
 *     tsri_chart_data d = {0};
 *     tsri_chart_data_add(&d, &chart);           for each chart, in the order of the page
 *     TSR_TRY(tsri_chart_data_end(&text, &d));   {"format":1,"charts":[...],"columns":[[...], ...]}
 *     tsri_chart_data_fini(&d);
 *
 * Charts of one page share their columns (epochs, rounds, seconds): a column that is there already
 * is named by its number instead of written again. Numbers have seven digits, more than a reader
 * can see; chart_csv.c writes them whole. Long series are thinned: of neighbours the least and the
 * largest stay, and the series says how many points it had.
 */
#ifndef TSRI_CHART_JSON_H
#define TSRI_CHART_JSON_H

#include "io/json.h"
#include "report/chart.h"

typedef struct tsri_chart_column {
    double *value;
    int64_t n;
} tsri_chart_column;

typedef struct tsri_chart_data {
    tsri_json charts;
    tsri_chart_column *column;
    int64_t columns, capacity;
} tsri_chart_data;

void tsri_chart_data_add(tsri_chart_data *d, const tsri_chart *c);

/* Appends the document; returns the first failure of all calls above. */
tsr_status tsri_chart_data_end(tsri_text *out, tsri_chart_data *d);
void tsri_chart_data_fini(tsri_chart_data *d);

#endif
