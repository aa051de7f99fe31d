/* compare.h - several runs side by side: how accurate each was, when, and after how much traffic.
 *
 *     tsri_compare c = {0};
 *     TSR_TRY(tsri_compare_read(&c, folders, 3));
 *     TSR_TRY(tsri_compare_goals(&c, NULL, 0));        accuracies that a run reached
 *     TSR_TRY(tsri_compare_page(&c, "compare.html"));
 *     TSR_TRY(tsri_compare_picture(&c, "race"));       race.svg, race.csv, race.png
 *     tsri_compare_fini(&c);
 *
 * Only metrics.jsonl is needed from each folder; it may still be growing. Where there is a run.yaml,
 * too, the page shows in which keys the runs differ, and sums up those that differ in their seeds.
 * Time is the run's own, over all its resumptions. A run without test accuracies (real targets, or
 * no evaluation yet) is in the table, too; when no run has any, losses are drawn instead.
 */
#ifndef TSRI_COMPARE_H
#define TSRI_COMPARE_H

#include "io/config.h"
#include "report/chart.h"
#include "report/curves.h"

enum { TSRI_GOALS = 8, TSRI_PARTS = 3 };

/* How a worker spends its time, in the words of the metrics: compute, send, wait. */
extern const char *const tsri_part_names[TSRI_PARTS];

typedef struct tsri_rival {
    char *name;         /* the folder's last name; the folder, where another one is called so */
    tsr_config *config; /* its run.yaml; NULL: there is none that can be read */
    tsri_curves lines;
    double *percent;         /* [lines.n] test accuracy; NaN = none */
    double *loss;            /* [lines.n] of the test set, or, without one, of training */
    double *seconds;         /* [lines.n] */
    double *bytes;           /* [lines.n] sent between workers */
    double part[TSRI_PARTS]; /* of the time of workers in other processes, percent; NaN = none */
} tsri_rival;

typedef struct tsri_compare {
    tsri_rival *run; /* [count] */
    int64_t count;
    double goal[TSRI_GOALS]; /* accuracies in percent, rising */
    int64_t goals;
} tsri_compare;

/* USAGE when a folder has no metrics. */
tsr_status tsri_compare_read(tsri_compare *c, const char *const *folder, int64_t count);
void tsri_compare_fini(tsri_compare *c);

/* The accuracies to be reached; n = 0: the last multiples of 5 % that a run reached. */
tsr_status tsri_compare_goals(tsri_compare *c, const double *percent, int64_t n);

/* The first evaluation that is as good as `percent`; -1 = none. */
int64_t tsri_rival_reached(const tsri_rival *r, double percent);
double tsri_rival_best(const tsri_rival *r); /* NaN = there is no accuracy */

/* Rounds done and the loss at the last evaluation; NaN = there was none yet. */
double tsri_rival_rounds(const tsri_rival *r);
double tsri_rival_loss(const tsri_rival *r);

/* A page like a run's report; and its chart alone, as tsri_chart_write writes it. */
tsr_status tsri_compare_page(const tsri_compare *c, const char *path);
tsr_status tsri_compare_picture(const tsri_compare *c, const char *base);

/* compare.c, for the page (compare_page.c): accuracy, or loss where no run has one, against time or
 * traffic; and the table. */
bool tsri_compare_accuracy(const tsri_compare *c);
bool tsri_compare_traffic(const tsri_compare *c);
void tsri_compare_panel(tsri_chart *chart, const tsri_compare *c, bool against_traffic);

#endif
