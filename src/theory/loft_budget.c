/* loft_budget.c - a run in LoFT's letters, and how much of it certificates may look at. */
#include "theory/loft_look.h"

#include "scheme/team.h"
#include "theory/loft_patches.h"
#include "theory/rates.h"

#include <math.h>

/* ---- Letters -------------------------------------------------------------------------------- */

tsri_loft tsri_loft_letters(const tsri_run *run, const tsri_past *past)
{
    const tsri_net *net = run->net;
    const tsri_layer *conv = &net->layer[0];
    tsri_chances chances = tsri_team_chances(run);
    double lambda = tsri_past_at(past, 0, "lambda_0");
    return (tsri_loft){.n = (double)run->data->train.n,
                       .d = (double)(net->input.c * conv->size * conv->size),
                       .p = (double)(net->input.h * net->input.w),
                       .m = (double)net->value[conv->out].shape.c,
                       .S = (double)run->settings.workers,
                       .T = (double)run->settings.rounds,
                       .xi = chances.xi,
                       .theta = chances.theta,
                       .kappa = tsri_config_real(run->settings.config, "model.kappa"),
                       .eta = tsri_rates_of(&run->settings, &run->position).most,
                       .delta = tsri_config_real(run->settings.config, "certify.delta"),
                       .lambda =
                           lambda > tsri_past_at(past, 0, "lambda_0_error") ? lambda : (double)NAN};
}

/* ---- How much may be looked at --------------------------------------------------------------- */

/* Half of the budget is for paths, a sixth each for outputs, flips and kernels. */
enum { PATHS = 2, OTHERS = 6 };

bool tsri_loft_due(const tsri_run *run, double operations)
{
    return tsri_look_due(run, OTHERS * operations);
}

/* Gradient descent: a step, its outputs, its weights; likewise each draw. */
static double path_operations(const tsri_run *run, bool draws)
{
    double forward = tsri_patches_operations(run->net, run->data, 1), step = 0;
    if (tsri_net_step_flops(&step, run->net, false) != TSR_OK)
        return INFINITY;
    double descent = forward + step * (double)run->data->train.n;
    return descent + (draws ? TSRI_LOFT_DRAWS * (tsri_round_operations(run) + forward) : 0);
}

double tsri_loft_budget(const tsri_run *run, bool draws)
{
    return PATHS * path_operations(run, draws) / tsri_round_operations(run);
}

bool tsri_loft_descends(const tsri_run *run)
{
    return tsri_look_stride(run, PATHS * path_operations(run, false)) == 1;
}

bool tsri_loft_masks(const tsri_run *run)
{
    return tsri_team_chances(run).xi < 1 && tsri_plain_steps(run) && run->settings.local_steps == 1;
}

bool tsri_loft_draws(const tsri_run *run)
{
    return tsri_loft_masks(run) && tsri_look_stride(run, PATHS * path_operations(run, true)) == 1;
}

/* H_inf has a product and a closed form (an arc cosine, some 40 operations) for each pair of
 * patches at one pixel; of H(t) the gradients are products of the same size; eigenvalues take 9
 * n^3. */
double tsri_loft_kernel_operations(const tsri_run *run, int64_t n)
{
    const tsri_net *net = run->net;
    double pairs = (double)n * (double)n / 2, p = (double)(net->input.h * net->input.w);
    double d = (double)(net->input.c * net->layer[0].size * net->layer[0].size);
    double m = (double)net->value[net->layer[0].out].shape.c;
    double one = fmin(p * p * (d + m), d * m); /* of a pair of gradients, by patches or by sums */
    double passes = (double)n * 4 * p * d * m;
    return pairs * (p * (2 * d + 40) + 2 * one) + passes + 9 * pow((double)n, 3);
}

int64_t tsri_loft_kernel_samples(const tsri_run *run)
{
    int64_t all = run->data->train.n, n = all;
    while (n > 2 && tsri_loft_kernel_operations(run, n) > tsri_effort(&run->settings))
        n = n * 9 / 10;
    return n < all ? n : all;
}
