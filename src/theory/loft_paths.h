/* loft_paths.h - LoFT and gradient descent side by side from the same start.
 *
 * LoFT's theory (section 5, appendix C) is about model cnn1, trained with masks drawn filter by
 * filter, one local step and full batches (scheme masked). It compares that with gradient descent
 * on the whole network scaled by xi, the network that LoFT is judged by. It bounds means over all
 * masks: each other draw of them is a path of its own from the same start.
 *
 *     TSR_TRY(tsri_descent_init(&gd, view, first, 0));
 *     TSR_TRY(tsri_descent_step(&gd));                     gd.store has its weights
 *     TSR_TRY(tsri_draw_path_init(&path, view, first, 3));
 *     TSR_TRY(tsri_draw_path_round(&path));                path.run.store has its weights
 */
#ifndef TSRI_LOFT_PATHS_H
#define TSRI_LOFT_PATHS_H

#include "optim/step.h"
#include "theory/run_view.h"

/* Gradient descent beside a run: its own weights, the run's data and network. */
typedef struct tsri_descent {
    const tsri_run_view *view;
    tsri_store store;
    tsri_plan *plan;
    tsri_step step;
    int64_t block; /* samples of the plan: gradients are added up over blocks */
    float *x;      /* [block, input] */
    tsri_mem *sum; /* [trained] */
    int64_t round; /* steps done */
} tsri_descent;

/* Begins at the weights of `start`, with `block` samples in a block; 0 = as many as fit into about
 * 64 MiB. The view must outlive it. */
tsr_status tsri_descent_init(tsri_descent *d, const tsri_run_view *view, const tsri_store *start,
                             int64_t block);
void tsri_descent_fini(tsri_descent *d);

/* One step on all samples. The rate is eta theta / xi (appendix C); eta is the run's in that round,
 * theta the chance of being in a share. That is LoFT's mean step, because the gradient is that of
 * the xi-scaled net. */
tsr_status tsri_descent_step(tsri_descent *d);

/* *sum = ||W - W^||^2 over the trained numbers of two stores. */
tsr_status tsri_weights_apart(double *sum, const tsri_store *one, const tsri_store *other);

/* The run from the same start with other masks: those of draw k = 1, 2, ... */
typedef struct tsri_draw_path {
    tsri_run run;
} tsri_draw_path;

/* Uses the data of the run, which must outlive it, and as many threads. Call fini even on
 * failure. */
tsr_status tsri_draw_path_init(tsri_draw_path *path, const tsri_run_view *view,
                               const tsri_store *start, int64_t k);
void tsri_draw_path_fini(tsri_draw_path *path);
tsr_status tsri_draw_path_round(tsri_draw_path *path);

/* A complete run of both, T = run.rounds; with `masks` > 0 its masks have another seed than its
 * weights. *weights = ||W_T - W^_T||^2, *outputs = sum_{t<T} eta_t ||f(W_t) - f(W^_t)||^2. */
tsr_status tsri_loft_paths(double *weights, double *outputs, tsr_config *config, int64_t masks);

#endif
