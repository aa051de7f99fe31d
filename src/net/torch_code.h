/* torch_code.h - a network as a PyTorch module: Python text that needs none of our code.
 *
 *     if (!tsri_torch_lacks(net))
 *         TSR_TRY(tsri_torch_class(&text, net));
 *
 * The text is a class Net whose modules have the names of the network's layers and the widths that
 * this network has, pruned or not: load_state_dict of its file is strict. Its forward is the list
 * of layers, a line for each.
 */
#ifndef TSRI_TORCH_CODE_H
#define TSRI_TORCH_CODE_H

#include "base/text.h"
#include "net/net.h"

/* Why the network cannot be written as one ("layer b has a fixed scale"); NULL when it can. */
const char *tsri_torch_lacks(const tsri_net *net);

/* Appends the class; only for a network that lacks nothing. */
tsr_status tsri_torch_class(tsri_text *out, const tsri_net *net);

#endif
