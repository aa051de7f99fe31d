/* gates_report.c - what gates of a gated net cost, for people. */
#include "cli/gates_report.h"

#include <math.h>
#include <stdio.h>

bool cli_wants_gates(const cli_args *args)
{
    return cli_has(args, "gates") || cli_has(args, "batch");
}

static void print_judged(FILE *to, const tsr_doc *g)
{
    double exact = tsr_doc_real(g, "accuracy_exact");
    if (isnan(tsr_doc_real(g, "loss")))
        return;
    (void)fprintf(to, "judged    loss %.6g (exact gates %.6g)", tsr_doc_real(g, "loss"),
                  tsr_doc_real(g, "loss_exact"));
    if (!isnan(exact))
        (void)fprintf(to, ", accuracy %.2f %% (exact gates %.2f %%)",
                      100 * tsr_doc_real(g, "accuracy"), 100 * exact);
    (void)fprintf(to, "; outputs differ by %.1e on average\n", tsr_doc_real(g, "difference_mean"));
}

void cli_gates_print(FILE *to, const tsr_doc *g)
{
    const tsr_doc *layers = tsr_doc_get(g, "agreement_layers");
    long long rank = tsr_doc_int(g, "rank");
    (void)fprintf(to, "gates     ");
    if (rank > 0)
        (void)fprintf(to, "lowrank:%lld", rank);
    else
        (void)fprintf(to, "exact");
    (void)fprintf(to, ": %.2f %% are the exact ones (by layer", 100 * tsr_doc_real(g, "agreement"));
    for (int64_t l = 0; l < tsr_doc_count(layers); l++)
        (void)fprintf(to, " %.2f", 100 * tsr_doc_real(tsr_doc_at(layers, l), NULL));
    (void)fprintf(to, ")\n");
    print_judged(to, g);
    (void)fprintf(to,
                  "time      %.3g ms a sample in batches of %lld, %lld products skip; exact gates "
                  "%.3g ms, a dense ReLU net %.3g ms\n",
                  1e3 * tsr_doc_real(g, "seconds_sample"), (long long)tsr_doc_int(g, "batch"),
                  (long long)tsr_doc_int(g, "skipping"),
                  1e3 * tsr_doc_real(g, "seconds_sample_exact"),
                  1e3 * tsr_doc_real(g, "seconds_sample_relu"));
}
