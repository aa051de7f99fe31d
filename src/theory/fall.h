/* fall.h - measured losses against a proven rate and floor: the rows of every convergence theorem
 * of the form  L_k <= (1 - rate)^k first + floor.  Where rounds have different steps they have
 * different rates, and the power becomes a product. */
#ifndef TSRI_FALL_H
#define TSRI_FALL_H

#include "run/rate.h"
#include "theory/certificate.h"
#include "theory/past.h"
#include "theory/rates.h"

/* A loss is a sum of squares of float outputs: this is its relative error. */
#define TSRI_LOSS_BLUR 1e-6

typedef struct tsri_promise {
    int of;            /* its theorem */
    const char *where; /* "Theorem 3" */
    const char *loss;  /* the paper's letters for it: "L_k", "f" */
    const char *what;  /* of `first`: "L_0", "C^2 n" */
    double floor, first;
    double blur; /* relative rounding error of the losses; 0 = TSRI_LOSS_BLUR */
    /* The paper hides the constant of the floor: `floor` is its formula without it. */
    bool hidden;
    /* Beside the rounds: what these losses are one sample of, where the theorem is about a mean. */
    tsri_seen also;
    /* The rate of a round whose step is eta; above 1 it counts as 1. */
    double (*rate)(const void *context, double eta);
    const void *context;
    const tsri_settings *settings; /* of the run whose steps those are (rates.h) */
    const tsri_run_position *position;
} tsri_promise;

/* Adds the proven rate of the last round; `formula` says how it follows from eta. */
void tsri_certify_rate(tsri_certificate *c, const tsri_promise *p, const char *formula);

/* Adds the fitted rate with its interval, the loss of every round against its bound (the worst
 * ratio so far), and the mean of the last quarter. The losses are what `past` kept as "loss", with
 * the interval "loss_low" to "loss_high" where they are means. A bound that is not below the first
 * loss in any round says nothing. A bound with a hidden floor is met when it is met without the
 * floor; otherwise it is not known, and the row gives the constant that it would need. */
tsr_status tsri_certify_fall(tsri_certificate *c, const tsri_past *past, const tsri_promise *p);

#endif
