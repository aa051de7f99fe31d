/* fall.h - measured losses against a proven rate and floor: rows that every convergence theorem
 * of the form  L_k <= (1 - rate)^k first + floor  has. */
#ifndef TSRI_FALL_H
#define TSRI_FALL_H

#include "theory/certificate.h"
#include "theory/past.h"

typedef struct tsri_promise {
    const char *where; /* "Theorem 3" */
    const char *loss;  /* the paper's letters for it: "L_k", "f" */
    const char *what;  /* of `first`: "L_0", "C^2 n" */
    double rate, floor, first;
    /* (optional) Of a rate that changes along the run: ln of the part of `first` that is left after
     * so many rounds; `rate` is not looked at then. */
    double (*left)(const void *context, int64_t rounds);
    const void *context;
} tsri_promise;

/* Adds the fitted rate with its interval, the last loss against the bound, and the mean of the last
 * quarter. The losses are what `past` kept as "loss". */
tsr_status tsri_certify_fall(tsri_certificate *c, const tsri_past *past, const tsri_promise *p);

#endif
