/* layers.h - a network before and after pruning, layer by layer.
 *
 * One row for each layer with weights of its own; norms follow from them. Many rows can be summed
 * up by stage: "layer3" for layer3.0.conv1, layer3.0.conv2, ...
 */
#ifndef TSRI_LAYERS_H
#define TSRI_LAYERS_H

#include "io/json.h"
#include "net/net.h"

typedef struct tsri_layer_change {
    char name[TSRI_NAME];
    char before[80], after[80]; /* "64x32x3x3"; of a stage its layers, "4 layers" */
    int64_t params[2];          /* weights and bias, before and after */
    double flops[2];            /* of one sample forward */
    int64_t count;              /* layers in the row */
} tsri_layer_change;

typedef struct tsri_layer_changes {
    tsri_layer_change *row;
    int64_t rows;
} tsri_layer_changes;

/* The caller finishes *c. The two have the same layers. */
tsr_status tsri_layers_compare(tsri_layer_changes *c, const tsri_net *before,
                               const tsri_net *after);
void tsri_layers_fini(tsri_layer_changes *c);

/* Neighbours whose names begin alike, up to the first point, become one row. */
void tsri_layers_by_stage(tsri_layer_changes *c);

/* The member `key`, "layers" or "stages": an object for each row. */
void tsri_layers_json(tsri_json *w, const char *key, const tsri_layer_changes *c);

#endif
