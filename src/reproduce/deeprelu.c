/* deeprelu.c - Zou, Cao, Zhou, Gu, "Stochastic Gradient Descent Optimizes Over-parameterized Deep
 * ReLU Networks": its theorems, for there are no figures.
 *
 *     losses    how many iterations a loss needs to reach epsilon (deeprelu_losses.c)
 *     width     how wide a network must be to reach zero training error (deeprelu_width.c)
 */
#include "reproduce/deeprelu.h"
#include "reproduce/reproductions.h"

const tsri_reproduction tsri_reproduce_deeprelu[] = {
    {"deeprelu/losses", "four losses by GD and SGD: iterations against epsilon",
     .make = tsri_deeprelu_losses, .paper = tsri_deeprelu_losses},
    {"deeprelu/width", "smallest width with zero training error against n, phi and L",
     .make = tsri_deeprelu_width, .paper = tsri_deeprelu_width},
    {0},
};
