/* deep_relu_rows.h - the letters and theorems that the rows of Zou, Cao, Zhou, Gu share.
 *
 * Private to deep_relu.c (assumptions, Theorems 4.1 and 4.5), deep_relu_region.c (Theorems 5.1 and
 * 5.3). Rows measure nothing: all numbers are series from deep_relu_look.c and deep_relu_start.c.
 */
#ifndef TSRI_DEEP_RELU_ROWS_H
#define TSRI_DEEP_RELU_ROWS_H

#include "theory/deep_relu.h"
#include "theory/deep_relu_bounds.h"

typedef struct tsri_deep_case {
    tsri_certificate *c;
    const tsri_run_view *view;
    const tsri_past *past;
    tsri_deep_net net;
    tsri_deep_letters s;
    double steps;        /* done so far */
    bool stochastic;     /* mini-batches: Theorem 4.5; else 4.1 */
    bool remark;         /* rho is the steepest slope along the way (Remark 4.3) */
    int start, region;   /* Theorems 5.1 and 5.3 */
    int radius, descent; /* Lemma 5.5 or 5.7; Theorem 4.1 or 4.5 */
} tsri_deep_case;

/* A number measured at W(0), kept in round 0. */
double tsri_deep_first(const tsri_deep_case *d, const char *name);

/* The claim of a row without requirement: a constant that the run would need or allows. */
tsri_condition tsri_deep_number(int of, const char *where, double value);

/* Does the run break an assumption of this theorem? Breaches by the data must be known already. */
bool tsri_deep_broken(const tsri_deep_case *d, int theorem);

/* Notes a breach if W(0) lacks Theorem 5.1's properties, then adds its rows and those of (5.1). */
void tsri_deep_start_rows(tsri_deep_case *d);

/* Theorem 5.3 (i)-(vi), the radii of Lemmas B.5, C.2, 5.6 and 5.8, and Lemma 5.5 or 5.7. */
void tsri_deep_region_rows(tsri_deep_case *d);

#endif
