/* convert_model.h - converting model files: gated to ReLU on the training points, and back. */
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

/* Which way, and whether the nearest network will do where none is equal. */
typedef struct tsri_convert_how {
    bool to_relu; /* a grelu becomes its ReLU network; else a relu_twin its gated one */
    bool least_squares;
} tsri_convert_how;

/* Writes `model` as the other kind to a sink, or as the file `path`. The training points are those
 * of the model's own run file, after any changes to model->config. USAGE when the model is not of
 * the kind that is converted. */
tsr_status tsri_convert_put(tsri_converted *out, tsri_sink *to, tsr_model *model,
                            tsri_convert_how how);
tsr_status tsri_convert_model(tsri_converted *out, const char *path, tsr_model *model,
                              tsri_convert_how how);

#endif
