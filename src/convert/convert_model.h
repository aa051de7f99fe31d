/* convert_model.h - model files converted: gated to ReLU on the training points, and back. */
#ifndef TSRI_CONVERT_MODEL_H
#define TSRI_CONVERT_MODEL_H

#include "convert/convert_pair.h"
#include "model/model.h"

typedef struct tsri_converted {
    bool to_relu;
    tsri_conversion how; /* to_relu only */
    tsri_judged train, test;
    double seconds;
} tsri_converted;

/* Writes `model` (a grelu, or a relu_twin for to_relu = false) as the other kind to `path`. The
 * training points are those of the model's own run file, after any changes to model->config. */
tsr_status tsri_convert_put(tsri_converted *out, tsri_sink *to, tsr_model *model, bool to_relu,
                            bool least_squares);
tsr_status tsri_convert_model(tsri_converted *out, const char *path, tsr_model *model, bool to_relu,
                              bool least_squares);

#endif
