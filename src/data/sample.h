/* sample.h - one sample as the network sees it, as it is or changed at random. */
#ifndef TSRI_SAMPLE_H
#define TSRI_SAMPLE_H

#include "data/augment.h"
#include "data/row_scaling.h"

/* What fills the edge that an image was moved away from: black, in channel c. */
float tsri_black(const tsr_data *data, const tsri_part *part, int64_t c);

/* x[dim] = sample i as the network sees it, not augmented. */
void tsri_sample(float *x, const tsr_data *data, const tsri_part *part, int64_t i);

/* What changes samples of a part, one at a time; {0} until init. */
typedef struct tsri_changer {
    const tsr_data *data;
    const tsri_part *part;
    tsri_augment how;
    uint8_t *image;           /* [2][dim] where RandAugment works, or NULL */
    tsri_row_scaling scaling; /* of changed pixels whose numbers were scaled beforehand */
} tsri_changer;

/* `how` must have been checked (tsri_augment_check); finish with _fini. */
tsr_status tsri_changer_init(tsri_changer *c, const tsr_data *data, const tsri_part *part,
                             const tsri_augment *how);
void tsri_changer_fini(tsri_changer *c);

/* x[dim] = sample at->sample, changed. */
void tsri_sample_changed(float *x, const tsri_changer *c, const tsri_spot *at);

#endif
