/* image.h - a network's numbers on their way into a file.
 *
 *     tsri_image im;
 *     TSR_TRY(tsri_image_init(&im, net));
 *     TSR_TRY(tsri_image_add_model(&im, store.w, "model."));
 *     TSR_TRY(tsri_image_add_momentum(&im, store.v, "momentum."));
 *     TSR_TRY(tsri_image_write(&im, path, metadata, count));
 *     tsri_image_fini(&im);
 *
 * Files have PyTorch's layouts; where memory has another one (filters last) the image holds a copy.
 * Vectors must stay as they are until the image is written.
 */
#ifndef TSRI_IMAGE_H
#define TSRI_IMAGE_H

#include "io/safetensors.h"
#include "net/net.h"

typedef struct tsri_image_entry tsri_image_entry;

typedef struct tsri_image {
    const tsri_net *net;
    tsri_image_entry *entry;
    int64_t count, room;
} tsri_image;

void tsri_image_init(tsri_image *im, const tsri_net *net);
void tsri_image_fini(tsri_image *im);

/* Every parameter, "<prefix><name>", from a vector of net->total floats. */
tsr_status tsri_image_add_model(tsri_image *im, const float *w, const char *prefix);

/* Every trained parameter's part of a vector of net->trained floats. */
tsr_status tsri_image_add_momentum(tsri_image *im, const float *v, const char *prefix);

/* Any other tensor; its data are not copied. `like` has no name: that is made from fmt. */
tsr_status tsri_image_add(tsri_image *im, const tsri_tensor *like, const char *fmt, ...)
    TSR_PRINTF(3, 4);

tsr_status tsri_image_write(const tsri_image *im, const char *path, const tsri_pair *metadata,
                            int64_t metadata_count);

#endif
