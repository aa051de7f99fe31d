/* loft_budget.c - a run in LoFT's letters, and how much of it certificates may look at. */
#include "theory/loft_look.h"

#include "scheme/team.h"
#include "theory/loft_patches.h"
#include "theory/rates.h"

#include <math.h>

/* ---- Letters -------------------------------------------------------------------------------- */

tsri_loft tsri_loft_letters(const tsri_run_view *view, const tsri_past *past)
{
    const tsri_net *net = view->net;
    const tsri_layer *conv = &net->layer[0];
    tsri_chances chances = tsri_team_chances(view->team);
    double lambda = tsri_past_at(past, 0, "lambda_0");
    return (tsri_loft){.n = (double)view->data->train.n,
                       .d = (double)(net->input.c * conv->size * conv->size),
                       .p = (double)(net->input.h * net->input.w),
                       .m = (double)net->value[conv->out].shape.c,
                       .S = (double)view->settings->workers,
                       .T = (double)view->settings->rounds,
                       .xi = chances.xi,
                       .theta = chances.theta,
                       .kappa = tsri_config_real(view->settings->config, "model.kappa"),
                       .eta = tsri_rates_of(view->settings, view->position).most,
                       .delta = tsri_config_real(view->settings->config, "certify.delta"),
                       .lambda =
                           lambda > tsri_past_at(past, 0, "lambda_0_error") ? lambda : (double)NAN};
}

/* ---- How much may be looked at --------------------------------------------------------------- */

/* Half of the budget is for paths, a sixth each for outputs, flips and kernels. */
enum { PATHS = 2, OTHERS = 6 };

bool tsri_loft_due(const tsri_run_view *view, double operations)
{
    return tsri_look_due(view, OTHERS * operations);
}

/* Gradient descent: a step, its outputs, its weights; likewise each draw. */
static double path_operations(const tsri_run_view *view, bool draws)
{
    double forward = tsri_patches_operations(view->net, view->data, 1), step = 0;
    if (tsri_net_step_flops(&step, view->net, false) != TSR_OK)
        return INFINITY;
    double descent = forward + step * (double)view->data->train.n;
    return descent + (draws ? TSRI_LOFT_DRAWS * (tsri_round_operations(view) + forward) : 0);
}

double tsri_loft_budget(const tsri_run_view *view, bool draws)
{
    return PATHS * path_operations(view, draws) / tsri_round_operations(view);
}

bool tsri_loft_descends(const tsri_run_view *view)
{
    return tsri_look_stride(view, PATHS * path_operations(view, false)) == 1;
}

bool tsri_loft_masks(const tsri_run_view *view)
{
    return tsri_team_chances(view->team).xi < 1 && tsri_plain_steps(view) &&
           view->settings->local_steps == 1;
}

bool tsri_loft_draws(const tsri_run_view *view)
{
    return tsri_loft_masks(view) &&
           tsri_look_stride(view, PATHS * path_operations(view, true)) == 1;
}

/* H_inf has a product and a closed form (an arc cosine, some 40 operations) for each pair of
 * patches at one pixel; of H(t) the gradients are products of the same size; eigenvalues take 9
 * n^3. */
double tsri_loft_kernel_operations(const tsri_run_view *view, int64_t n)
{
    const tsri_net *net = view->net;
    double pairs = (double)n * (double)n / 2, p = (double)(net->input.h * net->input.w);
    double d = (double)(net->input.c * net->layer[0].size * net->layer[0].size);
    double m = (double)net->value[net->layer[0].out].shape.c;
    double one = fmin(p * p * (d + m), d * m); /* of a pair of gradients, by patches or by sums */
    double passes = (double)n * 4 * p * d * m;
    return pairs * (p * (2 * d + 40) + 2 * one) + passes + 9 * pow((double)n, 3);
}

int64_t tsri_loft_kernel_samples(const tsri_run_view *view)
{
    int64_t all = view->data->train.n, n = all;
    while (n > 2 && tsri_loft_kernel_operations(view, n) > tsri_effort(view->settings))
        n = n * 9 / 10;
    return n < all ? n : all;
}
