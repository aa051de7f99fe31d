/* masked.c - On the convergence of shallow neural network training with randomly masked neurons
 * (Liao, Kyrillidis 2021): the three panels of Figure 2.
 *
 * 100 rows of Communities and Crime, a network of 4000 hidden units, K = 200 rounds, a constant
 * step. The paper gives neither the step nor kappa nor the number of local steps of 2a and 2b: we
 * take a step below 2 / lambda_max of the whole network (lambda_max is about 35 on such rows, so
 * 0.02), the kappa of its corollaries (n^(-1/2) = 0.1) and five local steps.
 *
 * 2a is masked_rounds.c, 2b and 2c are masked_maps.c. Errors are the paper's: ||y - f_m||^2, the
 * mean over the shares, after drawing and during local steps;
 * ||y - u||^2 of the whole network, with its factor xi, after putting back.
 */
#include "reproduce/masked.h"
#include "reproduce/reproductions.h"

#include <stdio.h>

tsri_masked_sizes tsri_masked_sizes_of(const tsri_study *s)
{
    return s->quick ? (tsri_masked_sizes){500, 40, tsri_study_seeds(s, 3)}
                    : (tsri_masked_sizes){4000, 200, tsri_study_seeds(s, 5)};
}

void tsri_masked_run_file(char *yaml, size_t room, const tsri_study *s, double kappa,
                          const char *scheme)
{
    tsri_masked_sizes z = tsri_masked_sizes_of(s);
    (void)snprintf(yaml, room,
                   "data: {name: communities-crime, limit: 100}\n"
                   "model: {name: shallow, width: %lld, kappa: %g}\n"
                   "optim: {name: gd, lr: 0.02, momentum: 0}\n"
                   "scheme: {name: masked, %s}\n"
                   "rounds: %lld\neval: {every: 0}\ncheckpoint: {every: 0}\n",
                   (long long)z.width, kappa, scheme, (long long)z.rounds);
}

/* The paper gives no kappa; 0.1 is the n^(-1/2) of its corollaries at n = 100. */
void tsri_masked_settings(tsri_study *s, const char *kappa)
{
    tsri_masked_sizes z = tsri_masked_sizes_of(s);
    tsri_study_setting(s, "data", "Communities and Crime, 100 rows", "%s, 100 rows",
                       tsri_study_data_name(s, "Communities and Crime"));
    tsri_study_setting(s, "hidden units", "4000", "%lld", (long long)z.width);
    tsri_study_setting(s, "rounds K", "200", "%lld", (long long)z.rounds);
    tsri_study_setting(s, "step", "not given", "0.02");
    tsri_study_setting(s, "kappa", "not given", "%s", kappa);
    tsri_study_setting(s, "seeds", "not given", "%lld", (long long)z.seeds);
    tsri_study_note(s, "Rows have norm 1. The step is below 2 / lambda_max, about 0.06 here.");
}

const tsri_reproduction tsri_reproduce_masked[] = {
    {"masked/fig2a",
     "the error within rounds: drawing, local steps, putting together, categorical masks",
     .make = tsri_masked_fig2a, .paper = tsri_masked_fig2a},
    {"masked/fig2b", "the error against chance and number of shares, Bernoulli masks",
     .make = tsri_masked_fig2b, .paper = tsri_masked_fig2b},
    {"masked/fig2c", "the error against number of shares and local steps, categorical masks",
     .make = tsri_masked_fig2c, .paper = tsri_masked_fig2c},
    {0},
};
