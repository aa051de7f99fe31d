/* net_parts.h - what the files that append layers to a network share. All of it fails with
 * RESOURCES only. */
#ifndef TSRI_NET_PARTS_H
#define TSRI_NET_PARTS_H

#include "net/net.h"

/* Appends a value. */
tsr_status tsri_net_add_value(tsri_net *net, int *value, tsri_shape shape, int axis);

/* Appends a layer after value `in`, without parameters yet; *layer is good until the next one. */
tsr_status tsri_net_add_layer(tsri_net *net, tsri_layer **layer, tsri_kind kind, int in,
                              const char *name);

/* Appends a layer without parameters, whose value has `shape` and the axis of `in`. */
tsr_status tsri_net_add_plain(tsri_net *net, int *out, int in, tsri_kind kind, tsri_shape shape,
                              const char *name);

/* Appends a parameter "<layer>.<suffix>"; `like` says all but name, count and place. */
tsr_status tsri_net_add_param(tsri_net *net, int *index, const tsri_param *like, const char *layer,
                              const char *suffix);

#endif
