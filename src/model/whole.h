/* whole.h - the whole network of a run, in memory and in a file.
 *
 *     TSR_TRY(tsri_whole_create(&net, config, input, outputs, backend->can.filters));
 *     TSR_TRY(tsri_whole_load(&store, file, path));          a model file's numbers into it
 *
 * A share of shallow and of cnn1 computes the paper's sum over its own units. The whole is judged
 * by the mean of that sum over all draws, which is xi times the sum over all units, xi being the
 * chance of a unit to be drawn. In memory that factor is the scale of the last layer, beside
 * weights that shares and whole have in common. In a model file it is in the weights, so that the
 * plain module of PyTorch computes what we compute. Checkpoints and traces hold what memory holds.
 */
#ifndef TSRI_WHOLE_H
#define TSRI_WHOLE_H

#include "io/safetensors.h"
#include "net/store.h"

/* *chance = that of a unit to be in a share, as the scheme draws it; 1 when shares are whole, when
 * there are none, and when the run file wants no factor (scheme.scale: none). USAGE when the scheme
 * cannot draw so. */
tsr_status tsri_share_chance(double *chance, const tsr_config *config);

/* tsri_net_create, and the whole is scaled by that chance. */
tsr_status tsri_whole_create(tsri_net **out, const tsr_config *config, tsri_shape input,
                             int64_t outputs, tsri_filter_order filters);

/* The numbers of a model file, ours or PyTorch's, into the store of a whole network: what that
 * computes then is what the file's plain module computes, whatever the chance of its units. */
tsr_status tsri_whole_load(tsri_store *store, const tsri_tensors *file, const char *path);

/* The same for parameter p alone. */
tsr_status tsri_whole_load_param(tsri_store *store, int64_t p, const tsri_tensor *tensor,
                                 const char *path);

/* *plain = w [net->total] with the factor in the weights, or NULL when it is 1 and w will do. The
 * caller frees it. */
tsr_status tsri_whole_plain(float **plain, const tsri_net *net, const float *w);

/* What model files are called in their metadata (tessera.format). Those of the first version have
 * no factor in their weights: it follows from the run file inside. */
#define TSRI_MODEL_FORMAT     "model/2"
#define TSRI_MODEL_FORMAT_OLD "model/1"

#endif
