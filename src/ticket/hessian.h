/* hessian.h - H g of a run's loss, in double on the host: the gradient's change along itself.
 *
 * The gradient is taken by the reference backend in double (backend/ref/ref64.c), a little before
 * and a little after the weights, over a step so short (1e-8 of their length) that mostly no ReLU
 * switches on the way. If one does, that is noticed: every forward says which ReLUs are on and which
 * inputs the max poolings took. As long as that stays the same, the network is smooth between the two
 * points, and their difference is autograd's product but for rounding. Otherwise shorter steps are
 * tried, down to 1e-10; when a ReLU's input is exactly 0 none is short enough.
 */
#ifndef TSRI_HESSIAN_H
#define TSRI_HESSIAN_H

#include "run/run.h"

/* The reference is slow: 2.7 to 4.3 billion operations a second on one processor, as seen. So many
 * should take less than a minute on two. The same everywhere, so that scores do not depend on the
 * machine. */
#define TSRI_HESSIAN_MOST 2e11

/* Operations of H g over so many batches of the run. */
double tsri_hessian_operations(const tsri_run *run, int64_t batches);

/* hg [net->trained] = H g of the mean loss over the first `batches` batches that `loader`
 * describes, at the weights w [net->total]. `net` is the run's, with filters in the order of the
 * reference (TSRI_OIHW). *smooth: nothing switched on the way; else hg is of no use. The same for
 * any number of threads. */
tsr_status tsri_hessian_gradient(double *hg, bool *smooth, const tsri_run *run, const tsri_net *net,
                                 const float *w, const tsri_loader_options *loader,
                                 int64_t batches);

#endif
