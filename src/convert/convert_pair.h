/* convert_pair.h - two nets, before a conversion and after it: made, compared, reported.
 *
 * What a model file that is converted (convert_model.h) and a run that converts its net on the way
 * (convert_run.h) have in common.
 */
#ifndef TSRI_CONVERT_PAIR_H
#define TSRI_CONVERT_PAIR_H

#include "data/dataset.h"
#include "io/json.h"
#include "net/convert.h"

/* Both nets judged on one set. */
typedef struct tsri_judged {
    int64_t n;                          /* 0 = there is no such set */
    double loss[2], accuracy[2];        /* before, after; accuracy NaN for real targets */
    double difference, most_difference; /* of the outputs: mean and largest of |a - b| over
                                           the root mean square of |a| */
} tsri_judged;

/* What both nets are run on. */
typedef struct tsri_judge_on {
    tsri_device device;
    const tsr_data *data;
    const tsri_loss_kind *loss;
} tsri_judge_on;

/* Nets whose features differ by less, over points and layers, are equal. */
#define TSRI_CONVERT_EQUAL 1e-4

/* The model that `config` describes becomes the other kind: its name, and what only gated nets
 * have. */
tsr_status tsri_convert_config(tsr_config *config);

/* relu's W from grelu on the training points (convert.h), which must be equal over points and
 * layers unless `least_squares`. */
tsr_status tsri_convert_pair(tsri_conversion *how, tsri_store *relu, tsri_store *grelu,
                             const tsri_judge_on *on, bool least_squares);

/* part is the training or the test set of on->data. */
tsr_status tsri_judge_pair(tsri_judged *j, tsri_store *before, tsri_store *after,
                           const tsri_judge_on *on, const tsri_part *part);

/* Members of an object that the caller has opened: "points", "width", "layers", "rank", "residual",
 * "residual_layer", "norm_before", "norm_after"; and one object `key` with "n", "loss_before",
 * "loss_after", "accuracy_before", "accuracy_after", "difference_mean", "difference_most". */
void tsri_conversion_json(tsri_json *w, const tsri_conversion *how);
void tsri_judged_json(tsri_json *w, const char *key, const tsri_judged *j);

#endif
