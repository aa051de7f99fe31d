/* readers.h - which layers make and read each value of a network, for code that joins neighbouring
 * layers: plans, the text of model.py, ONNX files.
 *
 *     tsri_readers r;
 *     TSR_TRY(tsri_readers_init(&r, net));
 *     int64_t relu = tsri_only_reader(&r, net, layer->out, TSRI_RELU);      -1: there is no such layer
 *     ...
 *     tsri_readers_fini(&r);                                                also when init failed
 */
#ifndef TSRI_READERS_H
#define TSRI_READERS_H

#include "net/net.h"

typedef struct tsri_readers {
    int64_t *count;    /* [values] how often a value is read */
    int64_t *last;     /* [values] the last layer that reads it, -1 = none */
    int64_t *producer; /* [values] the layer that makes it, -1 = it comes in */
} tsri_readers;

tsr_status tsri_readers_init(tsri_readers *r, const tsri_net *net);
void tsri_readers_fini(tsri_readers *r);

/* The layer that alone reads `value` and is of that kind, or -1. */
int64_t tsri_only_reader(const tsri_readers *r, const tsri_net *net, int value, tsri_kind kind);

#endif
