/* grelu.c - a convergence theory towards practical over-parameterized networks (Noy, Xu, Aflalo,
 * Zelnik-Manor, Jin): its figures and its table. */
#include "reproduce/grelu_cifar.h"
#include "reproduce/grelu_fig2.h"
#include "reproduce/grelu_sgemm.h"
#include "reproduce/reproductions.h"

const tsri_reproduction tsri_reproduce_grelu[] = {
    {"grelu/fig2a", "loss against rounds at the theory's width and below, ReLU and GReLU",
     .make = tsri_reproduce_grelu_fig2a, .paper = tsri_reproduce_grelu_fig2a},
    {"grelu/fig2b", "distance of consecutive gradients on SGEMM, ReLU and GReLU",
     .make = tsri_reproduce_grelu_fig2b, .paper = tsri_reproduce_grelu_fig2b},
    {"grelu/fig2c", "ReLU patterns that change from epoch to epoch on SGEMM",
     .make = tsri_reproduce_grelu_fig2c, .paper = tsri_reproduce_grelu_fig2c},
    {"grelu/table2", "training error of three shapes on CIFAR-10, ReLU and GReLU",
     .make = tsri_reproduce_grelu_table2, .paper = tsri_reproduce_grelu_table2},
    {"grelu/fig3", "error along the run on CIFAR-10; a gated net that becomes a ReLU net half-way",
     .make = tsri_reproduce_grelu_fig3, .paper = tsri_reproduce_grelu_fig3},
    {"grelu/fig4", "training error by rate, width and depth on SGEMM, ReLU and GReLU",
     .make = tsri_reproduce_grelu_fig4, .paper = tsri_reproduce_grelu_fig4},
    {"grelu/fig5", "training error at high rates on SGEMM, ReLU and GReLU",
     .make = tsri_reproduce_grelu_fig5, .paper = tsri_reproduce_grelu_fig5},
    {0},
};
