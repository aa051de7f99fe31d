/* masked_look.h - what the theorems of the masked-neurons paper are about, measured on a run after
 * every round and kept by name (past.h).
 *
 * At round 0, once:
 *     start                      ||W_0||_F; not kept when the run began with a model
 *     unit_error, unit_row       largest | ||x_i|| - 1 |, and which sample has it
 *     angle, angle_a, angle_b    least angle between the lines of two samples, and which two
 *     target, expected           max |y_i|; E ||y - u_0||^2 over the first weights, in closed form
 *     lambda_0, lambda_0_error, lambda_most     of H_inf
 *     near                       units with |<w_0,r, x_i>| <= kappa lambda_0/(192n) on a sample
 *     squares                    max_i sum_r <w_0,r, x_i>^2
 * After every round:
 *     radius     max_r ||w_r - w_0,r||, of the whole and of the shares' last local weights
 * After every round that is due for a look at the whole (tsri_look_due):
 *     loss       ||y - u_k||^2; of plain descent in other rounds, too, from its steps
 *     flips      most patterns on a sample that differ from the first ones
 *     blur       relative rounding error of `loss`
 *     variance   E ||u_k - u_k^l||^2 over a mask, exactly: xi (1-xi)/m sum_i sum_r relu^2
 * After every round that is due for a look at the next round (masked_coming.h):
 *     least      least lambda_min(m o H) so far
 *     step_blur, drift_blur                     rounding errors of `ratio` and `drift`
 *     ratio, travel, reach, drift, path         of its local steps
 *     error_13, error_14, parted                of its shares
 *     ahead, ahead_low, ahead_high              mean of ||y - u_(k+1)||^2 over draws, its interval
 *     bias, along, along_low, along_high        of the mixed gradient (masked_mixture.h)
 *     mixing, mixing_part and its interval, mixing_missed      of the mixing function
 *     state                                     ||y - u_k||^2 that they start from
 */
#ifndef TSRI_MASKED_LOOK_H
#define TSRI_MASKED_LOOK_H

#include "theory/run_view.h"
#include "theory/past.h"

/* Two rows are parallel when their angle is no larger: rows are floats, so an angle is known to
 * about 1e-7. */
#define TSRI_MASKED_PARALLEL 1e-6

/* lambda_0 for bounds. NaN, so that they stay open, where it is not above its error; the error is
 * larger where two rows are parallel. */
double tsri_masked_lambda(const tsri_past *past);

tsr_status tsri_masked_look(const tsri_run_view *view, tsri_past *past);

/* Operations of a look at the whole, for tsri_look_due. */
double tsri_masked_whole_cost(const tsri_run_view *view);

#endif
