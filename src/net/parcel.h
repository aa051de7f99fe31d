/* parcel.h - a network's numbers on their way into a file.
 *
 *     tsri_parcel parcel;
 *     tsri_parcel_init(&parcel, net);
 *     TSR_TRY(tsri_parcel_add_model(&parcel, store.w, "model."));
 *     TSR_TRY(tsri_parcel_add_trained(&parcel, store.v, "momentum."));
 *     TSR_TRY(tsri_parcel_write(&parcel, path, metadata, count));
 *     tsri_parcel_fini(&parcel);
 *
 * Files have PyTorch's layouts; where memory has another one (filters last) the parcel holds a
 * copy. All other data must stay as they are until the parcel is written.
 */
#ifndef TSRI_PARCEL_H
#define TSRI_PARCEL_H

#include "io/safetensors.h"
#include "net/net.h"

#include <stdarg.h>

typedef struct tsri_parcel_entry tsri_parcel_entry;

typedef struct tsri_parcel {
    const tsri_net *net; /* whose numbers come next; a file may hold those of several */
    tsri_parcel_entry *entry;
    int64_t count, room;
} tsri_parcel;

void tsri_parcel_init(tsri_parcel *parcel, const tsri_net *net);
void tsri_parcel_fini(tsri_parcel *parcel);

/* Every parameter, "<prefix><name>", from a vector of net->total floats. */
tsr_status tsri_parcel_add_model(tsri_parcel *parcel, const float *w, const char *prefix);

/* Every trained parameter's part of a vector of net->trained floats. */
tsr_status tsri_parcel_add_trained(tsri_parcel *parcel, const float *v, const char *prefix);

/* Any other tensor; its data are not copied. `like` has no name: that is made from fmt. */
tsr_status tsri_parcel_add(tsri_parcel *parcel, const tsri_tensor *like, const char *fmt, ...)
    TSR_PRINTF(3, 4);

/* The same of a copy: the data may change as soon as the call is back. */
tsr_status tsri_parcel_add_copy(tsri_parcel *parcel, const tsri_tensor *like, const char *fmt,
                                va_list args);

tsr_status tsri_parcel_put(const tsri_parcel *parcel, tsri_sink *to, const tsri_pair *metadata,
                           int64_t metadata_count);
tsr_status tsri_parcel_write(const tsri_parcel *parcel, const char *path, const tsri_pair *metadata,
                             int64_t metadata_count);

#endif
