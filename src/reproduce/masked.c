/* masked.c - On the convergence of shallow neural network training with randomly masked neurons
 * (Liao, Kyrillidis 2021): the three panels of Figure 2.
 *
 * 100 rows of Communities and Crime, a network of 4000 hidden units, K = 200 rounds, a constant
 * step. The paper gives neither the step nor the number of local steps of 2b: we take a step below
 * 2 / lambda_max of the whole network (lambda_max is about 35 on such rows, so 0.02) and five local
 * steps.
 *
 * 2a is masked_rounds.c, 2b and 2c are masked_maps.c. Errors are the paper's: ||y - f_m||^2, the
 * mean over the shares, after drawing and during local steps;
 * ||y - u||^2 of the whole network, with its factor xi, after putting back.
 */
#include "reproduce/masked.h"
#include "reproduce/reproductions.h"

#include <stdio.h>
#include <string.h>

/* Quick: dozens of runs of a map can be smaller than the few of 2a, whose jumps drown in noise when
 * the network is narrow. */
tsri_masked_sizes tsri_masked_sizes_of(const tsri_study *s)
{
    return s->quick ? (tsri_masked_sizes){strcmp(s->row->name, "masked/fig2a") == 0 ? 1000 : 500,
                                          40, tsri_study_seeds(s, 3)}
                    : (tsri_masked_sizes){4000, 200, tsri_study_seeds(s, 5)};
}

void tsri_masked_run_file(char *yaml, size_t room, const tsri_study *s, double kappa,
                          const char *scheme)
{
    tsri_masked_sizes z = tsri_masked_sizes_of(s);
    (void)snprintf(yaml, room,
                   "data: {%slimit: 100}\n"
                   "model: {name: shallow, width: %lld, kappa: %g}\n"
                   "optim: {name: gd, lr: 0.02, momentum: 0}\n"
                   "scheme: {name: masked, %s}\n"
                   "rounds: %lld\neval: {every: 0}\ncheckpoint: {every: 0}\n",
                   s->data ? "" : "name: communities-crime, ", (long long)z.width, kappa, scheme,
                   (long long)z.rounds);
}

void tsri_masked_tell_sizes(tsri_study *s, double kappa)
{
    tsri_masked_sizes z = tsri_masked_sizes_of(s);
    tsri_study_note(
        s,
        "%s, 100 rows of norm 1, %lld hidden units, kappa = %g, K = %lld, step 0.02, %lld "
        "seeds%s.",
        s->data ? "The data given" : "Communities and Crime", (long long)z.width, kappa,
        (long long)z.rounds, (long long)z.seeds,
        s->quick ? " (quick: the paper has 4000 units and K = 200)" : "");
    tsri_study_note(s,
                    "The paper gives no step: this one is below 2 / lambda_max, about 0.06 here.");
}

const tsri_reproduction tsri_reproduce_masked[] = {
    {"masked/fig2a", "the error within rounds: drawing, local steps, putting together",
     tsri_masked_fig2a},
    {"masked/fig2b", "the error against chance and number of shares, Bernoulli masks",
     tsri_masked_fig2b},
    {"masked/fig2c", "the error against number of shares and local steps, categorical masks",
     tsri_masked_fig2c},
    {0},
};
