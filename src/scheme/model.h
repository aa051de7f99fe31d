/* model.h - a finished network as one file that explains itself, for rooms that make or take one
 * apart; everybody else needs only tessera.h.
 *
 *     tsr_model *m = NULL;
 *     TSR_TRY(tsr_model_read(&m, "model.safetensors"));
 *     ... m->net, m->store ...                              filters as in files: [out, in, H, W]
 *     TSR_TRY(tsri_model_load(&net, &store, m, backend, false));   the same as the backend has it
 */
#ifndef TSRI_MODEL_H
#define TSRI_MODEL_H

#include "backend/backend.h"
#include "data/scaling.h"
#include "io/safetensors.h"
#include "net/store.h"

struct tsr_model {
    char *path;
    tsri_tensors *file;
    tsr_config *config;
    tsri_net *net;
    tsri_store store;
    float
        *plain; /* [net->total] the numbers as files have them, where memory has others; or NULL */
    tsri_shape input;
    int64_t outputs;
    tsri_scaling scaling;
};

/* The model's network and numbers as `backend` keeps them; with `training` also gradient and
 * momentum. The caller ends both. */
tsr_status tsri_model_load(tsri_net **net, tsri_store *store, const tsr_model *model,
                           const tsri_backend *backend, bool training);

/* The run file inside a model file. The caller destroys *out. BAD_FILE when there is none. */
tsr_status tsri_model_run_file(tsr_config **out, const tsri_tensors *file, const char *path);

/* What a model file holds. Texts are JSON; NULL = left out. */
typedef struct tsri_model_parts {
    const tsri_net *net;
    const float *w; /* [net->total] */
    const tsr_config *config;
    const char *scaling, *classes;
    const char *ticket; /* of a pruned network: which units of the whole it has (ticket/origin.h) */
} tsri_model_parts;

/* The file's own names for them. */
#define TSRI_META_SCALING "tessera.scaling"
#define TSRI_META_CLASSES "tessera.classes"
#define TSRI_META_TICKET  "tessera.ticket"

tsr_status tsri_model_save(const char *path, const tsri_model_parts *parts);

#endif
