/* criteria.c - what decides each claim of the papers, written down before anything is run. See
 * criteria.h. When only the sign of a statistic is claimed the bound is 0 (of a ratio 1): the interval
 * is then the only tolerance. */
#include "reproduce/criteria.h"

#include <stdio.h>
#include <string.h>

/* Words that the papers use again and again, each with one meaning. */
#define SIMILAR  1.5  /* the same within this factor: a sixth of a decade of a logarithmic axis */
#define ZERO     1e-6 /* of the first error: outputs right to a thousandth */
#define USUALLY  0.9  /* part of the rounds: one exception in ten still reads as the rule */
#define POWER    0.1  /* added to a proven power: logarithms that the O hides look like so much */
#define STRAIGHT 0.9  /* r^2: nine tenths of what log f does is the line */

#define SIGN "the claim is one of direction: the interval is the tolerance"
#define SAME "within a factor of 1.5 they are alike: a sixth of a decade on the figure's log axis"

#define ABOVE(x)      .rule = TSRI_RULE_ABOVE, .low = (x)
#define BELOW(x)      .rule = TSRI_RULE_BELOW, .high = (x)
#define WITHIN(x, y)  .rule = TSRI_RULE_WITHIN, .low = (x), .high = (y)
#define EACH_ABOVE(x) .rule = TSRI_RULE_EACH_ABOVE, .low = (x)
#define EACH_BELOW(x) .rule = TSRI_RULE_EACH_BELOW, .high = (x)

/* clang-format off */
const tsri_criteria_row tsri_criteria_table[] = {
    /* ---- Masked neurons, section 5 ---- */
    {"masked/fig2a/resampling", "The sudden increase of training error: re-sampling subnetworks (section 5, 3).",
     "factor of the error from putting together to the next drawing, mean over all rounds", ABOVE(1), .reason = SIGN, .ratio = true},
    {"masked/fig2a/resampling-rounds", "Re-sampling increases the error in every round (section 5, 3).",
     "part of the rounds in which it rises", ABOVE(USUALLY), .reason = "one round in ten may go astray: the figure still reads so"},
    {"masked/fig2a/local", "A decrease of training error during local training (section 5, 1).",
     "factor of the error over the local steps of a round, mean over all rounds", BELOW(1), .reason = SIGN, .ratio = true},
    {"masked/fig2a/local-steps", "That decrease is smooth: hardly any local step goes up (section 5, 1).",
     "part of all local steps that raise the error", BELOW(0.05), .reason = "of the 125 moments that the figure shows at most six"},
    {"masked/fig2a/local-climb", "That decrease is smooth: what goes up is small (section 5, 1).",
     "sum of the rises of ln error within local training over the sum of its falls", BELOW(0.01), .reason = "a hundredth of the fall is thinner than the figure's line"},
    {"masked/fig2a/aggregation", "The sudden decrease of training error: aggregation of subnetworks (section 5, 2; Theorem 4).",
     "factor of the error from the last local step to putting together, mean over all rounds", BELOW(1), .reason = SIGN, .ratio = true},
    {"masked/fig2a/aggregation-rounds", "Aggregation decreases the error in every round (section 5, 2).",
     "part of the rounds in which it falls", ABOVE(USUALLY), .reason = "one round in ten may go astray: the figure still reads so"},
    {"masked/fig2a/sudden", "Aggregation is sudden, local training smooth (section 5, 1 and 2).",
     "fall of ln error at aggregation over that of one local step, means over all rounds", ABOVE(1), .reason = "a drop that is no larger than a local step is not sudden"},
    {"masked/fig2b/chance", "As we fix the number of subnetworks and increase the selection probability, the error decreases (section 5, Theorem 3).",
     "power of xi that the error goes with, by least squares of logarithms", BELOW(0), .reason = SIGN},
    {"masked/fig2b/shares", "If we fix the selection probability and increase the number of subnetworks, the error also decreases (section 5, Theorem 3).",
     "power of p that the error goes with", BELOW(0), .reason = SIGN},
    {"masked/fig2c/shares", "The training error increases when we increase the number of subnetworks (section 5, Theorem 4).",
     "power of p that the error goes with", ABOVE(0), .reason = SIGN},
    {"masked/fig2c/steps", "The training error increases when increasing the number of local steps (section 5, Theorem 4).",
     "power of tau that the error goes with", ABOVE(0), .reason = SIGN},
    {"masked/fig2c/floor", "Theorem 4's floor grows with the number of local steps: ten rows, 100 units, step 0.5, where K rounds reach it.",
     "power of tau that the error goes with", ABOVE(0), .reason = SIGN, .ours = true},

    /* ---- LoFT ---- */
    {"loft/table1/local-sgd", "LoFT sends 1.38 to 2.34 times less than local SGD (Table 1).",
     "bytes of local SGD over bytes of LoFT, over the same of Table 1", WITHIN(0.98, 1.02), .reason = "the table's gigabytes are rounded, and 20 epochs are 312.5 rounds of 25 steps: 2 % cover both", .ratio = true},
    {"loft/table1/gpipe", "LoFT sends 2.01 to 10.21 times less than GPipe (Table 1, CIFAR-10).",
     "bytes of GPipe over bytes of LoFT, over the same of Table 1", WITHIN(0.98, 1.02), .reason = "as for local SGD", .ratio = true},
    {"loft/table1/comparable", "LoFT finds comparable or better tickets compared to other model- and data-parallel pretraining methods (section 6, Table 1).",
     "test accuracy of LoFT's ticket less that of the other method's, same network, ratio and seed, in points", ABOVE(-0.7), .reason = "Table 1 calls tickets comparable that are up to 0.68 points behind (PreActResNet-18, CIFAR-10: 94.13 against 94.81)"},
    {"loft/table1/dense", "PreActResNet-18, dense for all 110 epochs, reaches 95 %.",
     "test accuracy in percent", ABOVE(95.0), .reason = "set beforehand as the goal: PyTorch 2.11 has 95.18 with one seed, the paper 94.36", .ours = true},
    {"loft/table1/tickets", "The tickets of PreActResNet-18 reach 94.6 % on average over methods and ratios.",
     "mean test accuracy of all tickets of a seed, in percent", ABOVE(94.6), .reason = "set beforehand as the goal: PyTorch's are between 94.71 and 94.97, one seed each, the paper's between 93.97 and 94.81", .ours = true},
    {"loft/fig1/early", "The filter distance is changing rapidly during the first epochs, and the ranking converges later (3.2).",
     "distance from an epoch to the next, last quarter of the run over first", BELOW(0.5), .reason = "rapid means at least twice as fast as later"},
    {"loft/fig1/block", "The filter distance becomes fully stable: a solid block at the lower right corner (3.2).",
     "mean distance of two epochs of the last quarter over the largest distance of the map", BELOW(0.1), .reason = "a block of one colour spans less than a tenth of the colour scale"},
    {"loft/fig4/monotone", "LoFT monotonically decreases the filter distance to the final epoch (section 6).",
     "largest rise from an epoch to the next, in parts of the distance before training", BELOW(0.05), .reason = "a twentieth of the figure's height is where ranks of few filters jitter"},
    {"loft/fig4/quickly", "LoFT quickly decreases it (section 6).",
     "mean distance over the epochs, in parts of that before training", BELOW(0.5), .reason = "a straight line down to the last epoch has a half"},
    {"loft/fig4/faster", "LoFT can decrease the filter distance faster than the baseline (section 6, ImageNet).",
     "that mean of LoFT less the baseline's of the same seed", BELOW(0), .reason = SIGN},
    {"loft/fig5/better", "LoFT yields better tickets (higher final accuracy) compared to the GPipe baseline, throughout pretraining (Figure 5).",
     "test accuracy of LoFT's ticket less the baseline's of the same seed and epoch, in points", ABOVE(0), .reason = SIGN},
    {"loft/fig5/length", "LoFT does not rely on a particular pretraining length (section 6).",
     "best less worst ticket of LoFT over the epochs, in points", BELOW(2), .reason = "Table 1 calls tickets comparable that are 1.7 points apart (PreActResNet-34, CIFAR-10, 50 %)"},
    {"loft/theorem1/filters", "Increasing the number of filters m drives the distance from gradient descent to zero (Theorem 1, first term).",
     "power of m that the sum goes with, weights and masks of one draw", BELOW(0), .reason = SIGN},
    {"loft/theorem1/shares", "Increasing the number of subnetworks S drives it to zero (Theorem 1, second term).",
     "power of S that the sum goes with", BELOW(0), .reason = SIGN},
    {"loft/theorem1/one-over-s", "It falls as 1/S (Theorem 1, second term).",
     "power of S that the sum goes with", BELOW(-0.85), .reason = "a bound: at least as fast as S^-1; an exponent that is 0.15 off changes the sum by 1.5 over a factor of 16 in S"},
    {"loft/theorem1/theta", "It falls as theta^2/S (Theorem 1, second term with its theta).",
     "power of theta^2/S that the sum goes with", ABOVE(0.85), .reason = "as for 1/S"},

    /* ---- GReLU ---- */
    {"grelu/fig2a/theory", "All 5 runs with our theoretical width converged to zero error, for both ReLU and GReLU (6.1).",
     "loss at the end over loss at the start", EACH_BELOW(ZERO), .reason = "outputs right to a thousandth: their squared errors to a millionth"},
    {"grelu/fig2a/below", "None of the runs with lower width converged, for both networks (6.1).",
     "loss at the end over loss at the start; infinite when it diverged", EACH_ABOVE(ZERO), .reason = "the same zero"},
    {"grelu/fig2b/smaller", "The gradient differences of the GReLU network are smaller than the ones of the ReLU network (6.3).",
     "GReLU's over ReLU's, mean over the rounds", BELOW(1), .reason = SIGN, .ratio = true},
    {"grelu/fig2b/smaller-rounds", "They are smaller along the whole run (6.3).",
     "part of the rounds in which GReLU's is the smaller", ABOVE(USUALLY), .reason = "one round in ten may go astray: the figure still reads so"},
    {"grelu/fig2b/decrease", "They gradually decrease along the convergence (6.3).",
     "largest of the three factors from a quarter of the run to the next, GReLU", BELOW(1), .reason = "gradually: every quarter is below the one before", .ratio = true},
    {"grelu/fig2b/increase", "The gradient differences of the ReLU network increase monotonically along the training (6.3).",
     "least of the three factors from a quarter of the run to the next, ReLU", ABOVE(1), .reason = "monotonically and highly irregular at once can only speak of the trend: every quarter is above the one before", .ratio = true},
    {"grelu/fig2b/irregular", "They have highly irregular trajectories; GReLU's are more regular (6.3).",
     "part of the rounds at which the curve turns, ReLU's less GReLU's", ABOVE(0), .reason = SIGN},
    {"grelu/fig2c/part", "A large portion of the activations, 20 % to 25 %, changes every epoch (6.3).",
     "part of the activations that changes in an epoch, mean over the epochs", WITHIN(0.15, 0.30), .reason = "the paper's own span is 5 points: as much again to either side"},
    {"grelu/fig2c/grows", "It keeps increasing along the run (6.3).",
     "second half of the epochs over the first", ABOVE(1), .reason = SIGN, .ratio = true},
    {"grelu/table2/zero", "All variants of GReLU converged to near zero losses (Table 2: 0.01 to 0.03).",
     "squared error of a sample at the end; a net that answers 0 has 1", EACH_BELOW(0.05), .reason = "the paper's worst is 0.03; two more of its last digit"},
    {"grelu/table2/apart", "ReLU variants did not reach similar losses (Table 2).",
     "ReLU's error over GReLU's", ABOVE(SIMILAR), .reason = SAME, .ratio = true},
    {"grelu/table2/depth", "ReLU variants improved with increased depth (Table 2).",
     "error of the deeper net over that of the less deep", BELOW(1), .reason = SIGN, .ratio = true},
    {"grelu/fig3/rates", "The GReLU networks converge with higher rates (Figure 3a).",
     "epochs to an error of 0.5, GReLU's over ReLU's; one that never comes there counts as the epoch after the last", BELOW(1), .reason = SIGN, .ratio = true},
    {"grelu/fig3/continuous", "The train loss of the GReLU variant is continuous at the switch, as guaranteed by Theorem 2.",
     "change of the training error at the switch, in parts of it", EACH_BELOW(1e-3), .reason = "an equal network in f32; a thousandth cannot be seen in the figure"},
    {"grelu/fig3/train", "The train loss is comparable to the ReLU variant (Figure 3b).",
     "training error at the end, GReLU's over ReLU's", WITHIN(1 / SIMILAR, SIMILAR), .reason = SAME, .ratio = true},
    {"grelu/fig3/drop", "On the test set a significant loss drop can be seen as a result of the transform (Figure 3c).",
     "test error behind the switch over that before", BELOW(0.95), .reason = "a drop that can be seen: a twentieth of the height", .ratio = true},
    {"grelu/fig3/norm", "GReLU is transformed to a ReLU network with minimal l2-norm: a ridge regularization.",
     "norm of the weights behind the switch over that before", BELOW(1), .reason = SIGN, .ratio = true},
    {"grelu/fig3/test", "The final loss is similar (Figure 3c).",
     "test error at the end, GReLU's over ReLU's", WITHIN(1 / SIMILAR, SIMILAR), .reason = SAME, .ratio = true},
    {"grelu/fig3/crowded", "The drop is there with more images than units, as in the paper's own run (50,000 and 10,000).",
     "test error behind the switch over that before", BELOW(0.95), .reason = "a drop that can be seen: a twentieth of the height", .ratio = true},
    {"grelu/fig4/slow", "For smaller rates the results of both networks are quite similar (section 9).",
     "GReLU's error over ReLU's at the end, the lower half of the rates", WITHIN(1 / SIMILAR, SIMILAR), .reason = SAME, .ratio = true},
    {"grelu/fig4/lower", "For larger ones the losses of the GReLU network reach lower values (section 9).",
     "GReLU's error over ReLU's at the end, the upper half of the rates", BELOW(1), .reason = SIGN, .ratio = true},
    {"grelu/fig4/monotone", "For larger ones they decrease more monotonically (section 9).",
     "part of the steps from point to point that rise, GReLU's less ReLU's, the upper half of the rates", BELOW(0), .reason = SIGN},
    {"grelu/fig4/gains", "The losses of the GReLU network reach smaller values with larger learning rates (section 9).",
     "GReLU's error at a rate over that at the rate before", BELOW(1), .reason = SIGN, .ratio = true},
    {"grelu/fig4/zero", "Both networks do not reach zero loss (section 9).",
     "least error of a sample at the end over the rates that did not diverge", EACH_ABOVE(ZERO), .reason = "the zero of Figure 2a"},
    {"grelu/fig4/deeper", "Increased depth improves the results (Figure 4c).",
     "error of the deeper net over that of the less deep, same width", BELOW(1), .reason = SIGN, .ratio = true},
    {"grelu/fig4/wider", "Increased width improves the results (Figure 4c).",
     "error of the wider net over that of the narrower, same depth", BELOW(1), .reason = SIGN, .ratio = true},
    {"grelu/fig4/narrower", "Deeper and narrower networks perform better for the same number of parameters (Figure 4c).",
     "error of the deeper and narrower net over that of the other, same L m^2", BELOW(1), .reason = SIGN, .ratio = true},
    {"grelu/fig5/oscillates", "At high learning rates the ReLU network oscillates with larger amplitudes (Figure 5).",
     "mean rise from a point to the next in parts of the error, ReLU's less GReLU's", ABOVE(0), .reason = SIGN},
    {"grelu/fig5/higher", "It goes towards higher loss values (Figure 5).",
     "ReLU's error over GReLU's at the end", ABOVE(1), .reason = SIGN, .ratio = true},

    /* ---- Deep ReLU networks ---- */
    {"deeprelu/losses/gd-hinge", "GD, hinge (p = 0): the iterations do not grow with 1/epsilon (Theorem 4.1).",
     "power of 1/epsilon that K goes with over the last half of the way down, last iterate", BELOW(0 + POWER), .reason = "proven 0; a tenth for logarithms"},
    {"deeprelu/losses/gd-squared_hinge", "GD, squared hinge (p = 1/2): the iterations grow as log(1/epsilon) (Theorem 4.1).",
     "slope of K against log(1/epsilon), last half of the way over first half, last iterate", BELOW(2), .reason = "a logarithm has 1; a power of 1/4 over the two decades of half the way has 3", .ratio = true},
    {"deeprelu/losses/gd-exponential", "GD, exponential (p = 1): the iterations grow as epsilon^-1 (Theorem 4.1).",
     "power of 1/epsilon that K goes with over the last half of the way down, last iterate", BELOW(1 + POWER), .reason = "proven 1; a tenth for logarithms"},
    {"deeprelu/losses/gd-logistic", "GD, logistic (p = 1): the iterations grow as epsilon^-1 (Theorem 4.1).",
     "power of 1/epsilon that K goes with over the last half of the way down, last iterate", BELOW(1 + POWER), .reason = "proven 1; a tenth for logarithms"},
    {"deeprelu/losses/sgd-hinge", "SGD, hinge (p = 0): the iterations do not grow with 1/epsilon (Theorem 4.5).",
     "power of 1/epsilon that K goes with over the last half of the way down, best iterate", BELOW(0 + POWER), .reason = "proven 0; a tenth for logarithms"},
    {"deeprelu/losses/sgd-squared_hinge", "SGD, squared hinge (p = 1/2): the iterations grow as log(1/epsilon) (Theorem 4.5).",
     "slope of K against log(1/epsilon), last half of the way over first half, best iterate", BELOW(2), .reason = "a logarithm has 1; a power of 1/4 over the two decades of half the way has 3", .ratio = true},
    {"deeprelu/losses/sgd-exponential", "SGD, exponential (p = 1): the iterations grow as epsilon^-1 (Theorem 4.5).",
     "power of 1/epsilon that K goes with over the last half of the way down, best iterate", BELOW(1 + POWER), .reason = "proven 1; a tenth for logarithms"},
    {"deeprelu/losses/sgd-logistic", "SGD, logistic (p = 1, x_0 > -infinity): the iterations grow as epsilon^-2 (Theorem 4.5).",
     "power of 1/epsilon that K goes with over the last half of the way down, best iterate", BELOW(2 + POWER), .reason = "proven 2; a tenth for logarithms"},
    {"deeprelu/losses/zero-gd", "Gradient descent can find a point with zero training error (Corollary 4.4).",
     "part of the training samples on the wrong side, last iterate; not known when it is above 0 and the loss still fell", EACH_BELOW(1e-9), .reason = "zero is zero: less than one sample"},
    {"deeprelu/losses/zero-sgd", "Stochastic gradient descent can find a point with zero training error (Corollary 4.7).",
     "part of the training samples on the wrong side, best iterate; not known when it is above 0 and the loss still fell", EACH_BELOW(1e-9), .reason = "zero is zero: less than one sample"},
    {"deeprelu/width/n", "The width that is enough is polynomial in n (Corollary 4.4).",
     "power of n of the smallest width, last doubling less first", BELOW(1), .reason = "a power does not change; e^n would change it by several over a factor of 8"},
    {"deeprelu/width/phi", "It is polynomial in 1/phi (Corollary 4.4).",
     "power of phi of the smallest width, farthest points less nearest", BELOW(1), .reason = "as for n"},
    {"deeprelu/width/layers", "It grows as e^O(L) (Corollary 4.4).",
     "ln of the factor of a layer, last layer less first", BELOW(1), .reason = "an exponential has one factor; what grows faster has a rising one"},

    /* ---- Recurrent networks ---- */
    {"rnn/convergence/linear", "Linear convergence: T grows as log 1/epsilon (Theorem 1).",
     "r^2 of a straight line through log f against rounds", ABOVE(STRAIGHT), .reason = "nine tenths of what log f does is the line"},
    {"rnn/convergence/delta", "T grows as delta^-2 (Theorem 1).",
     "power of 1/delta that T, one over the fitted rate, goes with", BELOW(2 + POWER), .reason = "a bound: at most 2; a tenth for logarithms"},
    {"rnn/convergence/n", "T is polynomial in n (Theorem 1).",
     "power of n of T, last doubling less first", BELOW(1), .reason = "a power does not change; e^n would change it by several over a factor of 8"},
    {"rnn/convergence/m", "T does not grow with m at a step of c/m (Theorem 1).",
     "power of m that T goes with", BELOW(POWER), .reason = "proven 0; a tenth for logarithms"},
    {"rnn/length/upper", "|h_l| is at most 2l + 2 ((4.1), Lemma B.3).",
     "largest |h_l| / (2l + 2) over sequences and positions", EACH_BELOW(1), .reason = "the lemma's own constants"},
    {"rnn/length/lower", "|h_l| is at least 1/2 (4.1).",
     "least |h_l| over sequences and positions", EACH_ABOVE(0.5), .reason = "the paper's own constant"},
    {"rnn/length/chain", "|W D ... D W| grows as L^3 (4.4).",
     "power of the positions spanned that |D W ... D W| goes with", BELOW(3 + POWER), .reason = "a bound: at most 3; a tenth for logarithms"},
    {"rnn/length/back", "|B D W ... D W| grows no faster than |B| times that (4.4).",
     "power of the positions spanned that |B D W ... D W| goes with", BELOW(3 + POWER), .reason = "a bound: at most 3; a tenth for logarithms"},
    {"rnn/length/explodes", "Without ReLUs a unit of norm above 1 explodes exponentially (section 1, footnote 1).",
     "factor a position of |W^l|", ABOVE(1), .reason = SIGN, .ratio = true},
    {"rnn/length/vanishes", "Without ReLUs a unit of norm below 1 vanishes exponentially (section 1, footnote 1).",
     "factor a position of |(W/2)^l|", BELOW(1), .reason = SIGN, .ratio = true},
    {"rnn/length/width", "What is left of an exponential goes away with m: the lemmas hold with probability 1 - e^-Omega(m/L^2).",
     "|ln| of the factor a position of |D W ... D W| at twice the width over that at the width", BELOW(1), .reason = SIGN, .ratio = true, .ours = true},
    {"rnn/memorise/gd-reached", "GD finds a point of error epsilon (Theorem 1).",
     "loss at the end over loss at the start; not known when it ended above the bound, still falling", EACH_BELOW(ZERO), .reason = "outputs right to a thousandth"},
    {"rnn/memorise/gd-linear", "GD does so at a linear rate (Theorem 1).",
     "r^2 of a straight line through log f against passes", ABOVE(STRAIGHT), .reason = "nine tenths of what log f does is the line"},
    {"rnn/memorise/sgd-reached", "SGD finds a point of error epsilon (Theorem 2).",
     "loss at the end over loss at the start; not known when it ended above the bound, still falling", EACH_BELOW(ZERO), .reason = "outputs right to a thousandth"},
    {"rnn/memorise/sgd-linear", "SGD does so at a linear rate (Theorem 2).",
     "r^2 of a straight line through log f against passes", ABOVE(STRAIGHT), .reason = "nine tenths of what log f does is the line"},
    {"rnn/memorise/vowels", "A recurrent network tells the nine speakers of Japanese Vowels apart.",
     "test accuracy", ABOVE(0.95), .reason = "one sequence in twenty may be missed", .ours = true},
    {0},
};
/* clang-format on */

const tsri_criteria_row *tsri_criteria_find(const char *id)
{
    for (const tsri_criteria_row *c = tsri_criteria_table; c->id; c++)
        if (strcmp(c->id, id) == 0)
            return c;
    return NULL;
}

bool tsri_criteria_of(const tsri_criteria_row *c, const char *study)
{
    size_t n = strlen(study);
    return strncmp(c->id, study, n) == 0 && c->id[n] == '/';
}

const char *tsri_rule_text(char text[TSRI_RULE_TEXT], const tsri_criteria_row *c)
{
    const char *where = c->rule == TSRI_RULE_EACH_ABOVE || c->rule == TSRI_RULE_EACH_BELOW
                            ? " in every seed"
                        : c->ratio ? ", geometric mean"
                                   : "";
    bool above = c->rule == TSRI_RULE_ABOVE || c->rule == TSRI_RULE_EACH_ABOVE;
    if (c->rule == TSRI_RULE_WITHIN)
        (void)snprintf(text, TSRI_RULE_TEXT, "%.3g to %.3g%s", c->low, c->high, where);
    else
        (void)snprintf(text, TSRI_RULE_TEXT, "%s %.3g%s", above ? "above" : "below",
                       above ? c->low : c->high, where);
    return text;
}

void tsri_criteria_json(tsri_json *w, const tsri_criteria_row *c)
{
    char rule[TSRI_RULE_TEXT];
    tsri_json_put_text(w, "id", c->id);
    tsri_json_put_text(w, "paper", c->paper);
    tsri_json_put_text(w, "statistic", c->statistic);
    tsri_json_put_text(w, "decided", tsri_rule_text(rule, c));
    tsri_json_put_text(w, "reason", c->reason);
    tsri_json_put_bool(w, "ours", c->ours);
}
