/* loss_choice.h - which loss a run file means, and what it needs of data and network. */
#ifndef TSRI_LOSS_CHOICE_H
#define TSRI_LOSS_CHOICE_H

#include "data/dataset.h"
#include "run/settings.h"

/* The loss that `loss:` means for data with that many classes (0 = real targets). USAGE when it
 * cannot be. */
tsr_status tsri_choose_loss(const tsri_loss_kind **kind, const tsr_config *config,
                            const tsr_data *data);

/* Reads label_smoothing and class_weights. USAGE when loss or data have no use for them. */
tsr_status tsri_choose_weights(tsri_settings *s, const tsr_data *data);

/* Sequences need a model that reads them, and it needs them: USAGE. What `auto` means for its
 * outputs and its loss is written into the config, where the model's file will carry it. */
tsr_status tsri_resolve_sequences(tsr_config *config, const tsr_data *data);

/* The outputs a network has for this loss and data: one of margins has a single one for two
 * classes; one that is read at every position has those of all positions. */
int64_t tsri_outputs_wanted(const tsr_config *config, const tsri_loss_kind *kind,
                            const tsr_data *data);

#endif
