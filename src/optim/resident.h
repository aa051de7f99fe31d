/* resident.h - a part of a data set brought into a device's memory, once (backend/draw.h). */
#ifndef TSRI_RESIDENT_H
#define TSRI_RESIDENT_H

#include "backend/device.h"
#include "data/dataset.h"

/* Bytes that it takes there. */
int64_t tsri_resident_bytes(const tsr_data *data, const tsri_part *part);

/* Fini also after a failure; all zeros are fine there. */
tsr_status tsri_resident_init(tsri_resident *r, const tsr_data *data, const tsri_part *part,
                              const tsri_backend *backend);
void tsri_resident_fini(tsri_resident *r);

#endif
