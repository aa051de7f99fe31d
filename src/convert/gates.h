/* gates.h - a gated net in use: its answers with exact gates or with gates of low rank.
 *
 * A sample that was not trained on needs its gates first: a product with Psi_k in every layer, as
 * expensive as the one with W_k that the gates make cheaper. The paper (section 4.4) puts a product
 * of rank r in the place of Psi_k. Here that is the nearest one, P = U_r, Q = U_r^T Psi_k, U_r the
 * first r left singular vectors: no product of that rank, non-negative or not, is nearer. A
 * Gaussian Psi_k is not of low rank, so what it costs is measured beside it: how many gates agree,
 * loss and accuracy with both, the time of a sample.
 */
#ifndef TSRI_GATES_USE_H
#define TSRI_GATES_USE_H

#include "convert/convert_pair.h"
#include "model/model.h"

typedef struct tsri_gates_report {
    int64_t gate_rank, batch; /* as asked for; rank 0 = exact */
    int64_t n, width;         /* samples, outputs of each */
    float *outputs;           /* [n, width], in the units of the data */
    int32_t *label;           /* [n], or NULL for real targets */
    int64_t *row;             /* [n] of the file or array, from 1 */
    int64_t layers;
    double *agreement; /* [layers] part of the gates that are the exact ones */
    double overall;    /* of all layers */
    tsri_judged
        judged; /* before: exact gates, after: these; n = 0 when there is nothing to judge by */
    int64_t skipping;  /* linear layers whose product skipped */
    double seconds[3]; /* a sample's forward, the least of some: exact gates, these, a dense ReLU
                          net of the same size */
} tsri_gates_report;

/* "exact" or "lowrank:R". USAGE otherwise. */
tsr_status tsri_gates_parse(int64_t *gate_rank, const char *text);

/* On the test set, or on the training set. USAGE when the model has no gates, or none of full rank
 * for a rank > 0. The caller calls fini, also on failure. */
tsr_status tsri_gates_use(tsri_gates_report *report, tsr_model *model, int64_t gate_rank,
                          int64_t batch, bool on_training_set);
void tsri_gates_fini(tsri_gates_report *report);

/* Psi_k of `from` as products of that rank: net and store of a grelu with gate_rank. The caller
 * ends both, also on failure. */
tsr_status tsri_gates_lowrank(tsri_net **net, tsri_store *store, const tsri_store *from,
                              const tsr_config *config, int64_t gate_rank, tsri_device device);

#endif
