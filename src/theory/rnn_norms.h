/* rnn_norms.h - sections 4 and 5 of the recurrent paper: norms along sequences at the start of a
 * run, and how far they have drifted, as rows of a certificate. */
#ifndef TSRI_RNN_NORMS_H
#define TSRI_RNN_NORMS_H

#include "theory/papers.h"
#include "theory/rnn_view.h"

enum {
    TSRI_RNN_FEW = 2,   /* sequences whose chains have their norms measured */
    TSRI_RNN_STEPS = 40 /* of power iteration */
};

/* (4.1)-(4.6); delta is the least distance of two first positions. */
tsr_status tsri_rnn_certify_start(tsri_certificate *c, const tsri_run *run, const tsri_rnn_view *v,
                                  double delta);

/* (5.1)-(5.3) for W = now->W at a distance tau / sqrt(m) of then->W. */
tsr_status tsri_rnn_certify_drift(tsri_certificate *c, const tsri_run *run,
                                  const tsri_rnn_view *now, const tsri_rnn_view *then, double tau);

#endif
