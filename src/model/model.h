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
#include "data/dataset.h"
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
    tsri_data_schema schema; /* kind NULL in files of older versions */
    char **class_name;       /* [classes], or NULL: they have no names */
    int64_t classes;         /* 0 = real targets */
    bool shown_others;       /* its config names other data than those of its training */
};

/* The data it was trained on, for loading others. */
tsri_like tsri_model_like(const tsr_model *model, bool unlabelled);

/* The model's network and numbers as `backend` keeps them; with `training` also gradient and
 * momentum. The caller ends both. */
tsr_status tsri_model_load(tsri_net **net, tsri_store *store, const tsr_model *model,
                           const tsri_backend *backend, bool training);

/* The run file inside a model file. The caller destroys *out. BAD_FILE when there is none. */
tsr_status tsri_model_run_file(tsr_config **out, const tsri_tensors *file, const char *path);

/* Was the model of `file` trained on such columns and classes as `data` has? USAGE, naming what
 * differs, when not: its weights would mean something else. What has no names is not compared. */
tsr_status tsri_model_knows(const tsri_tensors *file, const char *path, const tsr_data *data);

/* False when the model was imported, and so has no data of its own, and none are given: USAGE. */
bool tsri_model_names_data(const tsr_model *model);
tsr_status tsri_model_has_data(const tsr_model *model);

/* What a model file holds. Texts are JSON; NULL = left out. */
typedef struct tsri_model_parts {
    const tsri_net *net;
    const float *w; /* [net->total] */
    const tsr_config *config;
    const char *scaling, *classes, *schema;
    const char *ticket; /* of a pruned network: which units of the whole it has (ticket/origin.h) */
    const char *forced; /* what --force let pass, one event a line (forced.c); no JSON as a whole */
    const char *rollbacks; /* when it diverged on the way and went back (rollback.h) */
    const char *imported;  /* of another tool's network: the name of its file, which is not JSON */
} tsri_model_parts;

/* The file's own names for them. */
#define TSRI_META_SCALING   "tessera.scaling"
#define TSRI_META_CLASSES   "tessera.classes"
#define TSRI_META_SCHEMA    "tessera.schema"
#define TSRI_META_TICKET    "tessera.ticket"
#define TSRI_META_IMPORT    "tessera.imported"
#define TSRI_META_FORCED    "tessera.forced"
#define TSRI_META_ROLLBACKS "tessera.rollbacks"

tsr_status tsri_model_save(const char *path, const tsri_model_parts *parts);

/* The same as bytes in memory (to->path NULL); and the model that such bytes are. */
tsr_status tsri_model_put(tsri_sink *to, const tsri_model_parts *parts);
tsr_status tsri_model_of_parts(tsr_model **out, const tsri_model_parts *parts);

/* ---- model_module.c ------------------------------------------------------------------------- */

/* Writes a PyTorch module that is self-contained: it builds exactly the model's network and loads
 * the file `weights` that lies beside it, without our code. USAGE when PyTorch's plain modules
 * cannot be it: tsri_torch_lacks (net/torch_code.h) says so beforehand. */
tsr_status tsri_module_write(const char *path, const tsr_model *model, const char *weights);

/* "a/model.safetensors" -> "a/model.py", to any other name .py is added. The caller frees *out. */
tsr_status tsri_module_path(char **out, const char *path);

/* ---- model_public.c ------------------------------------------------------------------------- */

/* The model of a file that was read; the file is the model's from now on, also after a failure. */
tsr_status tsri_model_of_file(tsr_model **out, tsri_tensors *file, const char *path);

/* Its file as it would be written now. The caller destroys *out. */
tsr_status tsri_model_tensors(tsri_tensors **out, const tsr_model *model);

/* w [net->total] as files have them become the model's numbers; and back: where they lie. */
tsr_status tsri_model_fill(tsr_model *model, const float *w);
const float *tsri_model_plain(const tsr_model *model);

/* What tsri_model_save needs to write it as it is now. */
tsri_model_parts tsri_model_parts_of(const tsr_model *model);

/* ---- model_use.c ----------------------------------------------------------------------------- */

/* What the model says of each sample, and what the data say where they do. */
typedef struct tsri_predictions {
    int64_t n, width;
    bool classes;   /* outputs are of classes; else real, in the units of the targets */
    float *outputs; /* [n, width] */
    int32_t *label; /* [n] true classes, or NULL */
    float *target;  /* [n, width] true targets in their own units, or NULL */
    char **name;    /* [n] files, or NULL */
    int64_t *row;   /* [n] of the file or array, from 1 */
} tsri_predictions;

typedef struct tsri_model_asked {
    bool on_training_set; /* else the test set, where there is one */
    bool unlabelled;      /* the data need no targets */
    const tsr_data *data; /* a program's own, instead of those that the config names, or NULL */
} tsri_model_asked;

/* One use of a model file: data, threads, backend, and the network as that backend keeps it. Call
 * fini also when init failed. */
typedef struct tsri_model_use {
    tsr_data *data;
    tsri_device device;
    const tsri_part *part; /* the test set, or the training set */
    tsri_net *net;
    tsri_store store;
} tsri_model_use;

tsr_status tsri_model_use_init(tsri_model_use *use, const tsr_model *model,
                               const tsri_model_asked *asked);
void tsri_model_use_fini(tsri_model_use *use);

/* The caller finishes *p. The second is for callers that go on using the
 * data, which they asked for at init. */
tsr_status tsri_model_predict(tsri_predictions *p, tsr_model *model, const tsri_model_asked *asked);
tsr_status tsri_model_predict_with(tsri_predictions *p, const tsr_model *model,
                                   tsri_model_use *use);
void tsri_predictions_fini(tsri_predictions *p);

/* Of classes: how many there are, the likeliest of sample i, and the probability of class k. */
int64_t tsri_prediction_classes(const tsri_predictions *p);
int64_t tsri_predicted_class(const tsri_predictions *p, int64_t i);
double tsri_predicted_chance(const tsri_predictions *p, int64_t i, int64_t k);

#endif
