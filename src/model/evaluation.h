/* evaluation.h - evaluation.json: where a model is right and wrong, how sure it is of it, and what
 * its layers read. For the page of a run (report/), and for other tools.
 *
 *     TSR_TRY(tsri_evaluation_write("runs/a/evaluation.json", model, false));
 *
 * Of classes: the confusion matrix, the pairs that are confused most with examples (small pictures
 * where the data are images), and calibration: samples in bins by the probability that the model
 * gives its answer, beside the part of them that is right. Of real targets: predictions beside what
 * is true. docs/formats.md lists the fields.
 */
#ifndef TSRI_EVALUATION_H
#define TSRI_EVALUATION_H

#include "io/json.h"
#include "model/model.h"

#define TSRI_EVALUATION_FILE "evaluation.json"

tsr_status tsri_evaluation_write(const char *path, tsr_model *model, bool on_training_set);

/* *known = is `path` there, and of the model in `file`? Its checksum tells. One that is damaged is
 * not known. */
tsr_status tsri_evaluation_known(bool *known, const char *path, const tsri_tensors *file);

/* Is what was parsed from evaluation.json of that model? */
bool tsri_evaluation_is_of(const tsri_json_value *root, const tsri_tensors *file);

#endif
