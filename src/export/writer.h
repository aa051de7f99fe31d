/* writer.h - from the layers of a network to the nodes of a graph, one after the other.
 *
 * What a kind of layer becomes stands in its row (tsri_kind_row.onnx); the few that need more than
 * their row have a function (sequence.c). Layers may be joined with a neighbour: a norm with the
 * layer before it (fold.c), a recurrence with the product that feeds it.
 */
#ifndef TSRI_WRITER_H
#define TSRI_WRITER_H

#include "export/graph.h"
#include "model/model.h"
#include "net/readers.h"

typedef struct tsri_writer {
    tsri_graph *graph;
    const tsri_net *net;
    const float *w; /* the store's numbers */
    tsri_readers readers;
    bool sequences;     /* value 0 is [T, N, C] */
    const char **value; /* [values] its name in the graph; NULL: not made yet */
    int *dims;          /* [values] 2: [N, C], 3: [T, N, C], 4: [N, C, H, W] */
    bool *gone;         /* [layers] joined with another */
    int64_t *norm;      /* [layers] the norm that is folded into it; -1 = none */
    int64_t norms, folded;
} tsri_writer;

/* Call fini also when init failed. With `fold` norms are folded where they can be. */
tsr_status tsri_writer_init(tsri_writer *w, tsri_graph *graph, const tsr_model *model, bool fold);
void tsri_writer_fini(tsri_writer *w);

/* Appends nodes and constants for all layers; value 0 has its name. The last value will be called
 * `output`. */
tsr_status tsri_writer_layers(tsri_writer *w, const char *output);

/* A parameter as a constant of the graph, with that shape. */
tsr_status tsri_writer_param(tsri_writer *w, int param, int dims, const int64_t *shape);

/* ---- fold.c --------------------------------------------------------------------------------- */

/* Finds the norms that can be folded. */
void tsri_fold_find(tsri_writer *w);

/* Weight and bias of layer i with its norm in them, as constants; their names. */
tsr_status tsri_fold_params(tsri_writer *w, const char **weight, const char **bias, int64_t i);

/* ---- sequence.c ----------------------------------------------------------------------------- */

/* How a layer is written that its row cannot say; NULL: its row can. */
typedef tsr_status (*tsri_layer_writer)(tsri_writer *w, const tsri_layer *l);
tsri_layer_writer tsri_layer_writer_of(const tsri_layer *l);

/* Finds products that a recurrence takes in. */
void tsri_sequence_find(tsri_writer *w);

/* The graph's second input, where there are sequences. */
#define TSRI_LENGTHS "lengths"

/* ---- transform.c ---------------------------------------------------------------------------- */

/* The nodes between the raw input and value 0 (`on`: scaled as in training; else only turned to [T,
 * N, C]), with the ports that come in. USAGE when the file does not say how inputs were scaled. */
tsr_status tsri_transform_input(tsri_writer *w, const tsr_model *model, bool on);

/* The nodes after `value` that bring real targets back to their units, and the port "output". */
tsr_status tsri_transform_output(tsri_writer *w, const tsr_model *model, const char *value);

/* Does the output need such nodes? */
bool tsri_transforms_output(const tsr_model *model);

/* ---- meta.c --------------------------------------------------------------------------------- */

/* What the columns, classes and targets are called, as notes. */
tsr_status tsri_writer_notes(tsri_writer *w, const tsr_model *model, bool transform);

#endif
