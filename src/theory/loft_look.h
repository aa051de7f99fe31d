/* loft_look.h - what a certificate of LoFT measures after every round and keeps.
 *
 * Series (past.h), by the number t of rounds done:
 *
 *     round 0 alone   lambda_0, lambda_0_error, entry_first, near, most_square, all_squares,
 *                     energy, start
 *     radius          largest ||w_r,t - w_r,0||
 *     loss, spread    ||u_t - y||^2; largest E ||u~_r - u||^2 of a filter in a share (B.4)
 *     flips           filters whose pattern differs from the start's, on the worst patch
 *     lambda, entry_later     least eigenvalue of H(t); largest |H(t) - H(0)|
 *     difference, distance    ||u_t - u^_t||^2, ||W_t - W^_t||^2, beside gradient descent
 *     error, twin_error       ||u_t - y||, ||u^_t - y||
 *     moved, twin_moved       ||W_t - W_0||, ||W^_t - W_0||; twin_radius: `radius` of W^
 *     *_low, *_high           intervals of loss and `both` (distance + half of the sum)
 *
 * The theorems bound means over masks. Where the budget allows, loss, error, difference, distance
 * and moved are means (moved: root of the mean square) over TSRI_LOFT_DRAWS runs with other masks
 * from the same start; otherwise they are this run's. Those runs and gradient descent live in
 * past->state; a resumed run computes them again from the start, to the same bit.
 */
#ifndef TSRI_LOFT_LOOK_H
#define TSRI_LOFT_LOOK_H

#include "theory/loft_bounds.h"
#include "theory/papers.h"

enum { TSRI_LOFT_DRAWS = 8 };

/* ---- loft_budget.c ------------------------------------------------------------------------- */

/* The paper's letters for a run. lambda is NaN unless it was seen to be above 0: nothing that
 * divides by it is known then. */
tsri_loft tsri_loft_letters(const tsri_run_view *view, const tsri_past *past);

/* Samples of the kernels: all, or as many as certify.effort allows. */
int64_t tsri_loft_kernel_samples(const tsri_run_view *view);
double tsri_loft_kernel_operations(const tsri_run_view *view, int64_t n);

/* Are the run's rounds those of the theorems, with masks? Only then is it worth drawing other masks
 * for a mean. One share with every filter has no masks. */
bool tsri_loft_masks(const tsri_run_view *view);

/* Does the budget allow gradient descent beside the run, and other draws of masks? */
bool tsri_loft_descends(const tsri_run_view *view);
bool tsri_loft_draws(const tsri_run_view *view);
double tsri_loft_budget(const tsri_run_view *view, bool draws); /* what either would take */

/* Is this round one of those in which a look of that many operations is due? */
bool tsri_loft_due(const tsri_run_view *view, double operations);

/* ---- loft_look.c --------------------------------------------------------------------------- */

tsr_status tsri_loft_look(const tsri_run_view *view, tsri_past *past);
void tsri_loft_forget(void *state);

#endif
