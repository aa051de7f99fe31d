/* import.c - another tool's weights as a model file of ours. See import.h. */
#include "convert/import.h"

#include "base/sized.h"
#include "base/alloc.h"
#include "base/narrow.h"
#include "base/log.h"
#include "base/text.h"
#include "data/encoding.h"
#include "data/words.h"
#include "io/file.h"
#include "io/json.h"
#include "io/safetensors_header.h"
#include "io/torch_file.h"
#include "model/model.h"
#include "model/whole.h"

#include <stdio.h>
#include <string.h>

typedef struct import {
    const char *path;
    const tsri_import *how;
    tsri_tensors *file;
    const tsri_model *model;
    tsr_config *config;
    tsri_net *net;
    tsri_store store;
    float *head;       /* numbers of the new last layer, [outputs, inputs] and [outputs] */
    char **class_name; /* [outputs], or NULL */
    int64_t classes;   /* names that were read */
} import;

static void import_fini(import *in)
{
    for (int64_t i = 0; i < in->classes; i++)
        tsri_free(in->class_name[i]);
    tsri_free(in->class_name);
    tsri_free(in->head);
    tsri_store_fini(&in->store);
    tsri_net_destroy(in->net);
    tsr_config_destroy(in->config);
    tsri_tensors_destroy(in->file);
}

/* ---- Names -------------------------------------------------------------------------------- */

static bool all_begin(const tsri_tensors *file, const char *prefix)
{
    bool all = file->count > 0;
    for (int64_t i = 0; all && i < file->count; i++)
        all = strncmp(file->tensor[i].name, prefix, strlen(prefix)) == 0;
    return all;
}

/* What wrappers put before every name. Names that all lose the same beginning stay sorted. */
static void strip_prefixes(tsri_tensors *file)
{
    static const char *const prefixes[] = {"module.", "_orig_mod.", "model."};
    for (size_t k = 0; k < sizeof prefixes / sizeof *prefixes;) {
        if (!all_begin(file, prefixes[k])) {
            k++;
            continue;
        }
        for (int64_t i = 0; i < file->count; i++)
            file->tensor[i].name += strlen(prefixes[k]);
        k = 0;
    }
}

/* timm's VGG has its classifier as convolutions over all pixels, with names of their own: the same
 * numbers in the same order as torchvision's linear layers. */
static tsr_status rename_timm(tsri_tensors *file, const char *path)
{
    tsr_status st = TSR_OK;
    static const char *const names[][2] = {{"pre_logits.fc1.weight", "classifier.0.weight"},
                                           {"pre_logits.fc1.bias", "classifier.0.bias"},
                                           {"pre_logits.fc2.weight", "classifier.3.weight"},
                                           {"pre_logits.fc2.bias", "classifier.3.bias"},
                                           {"head.fc.weight", "classifier.6.weight"},
                                           {"head.fc.bias", "classifier.6.bias"}};
    if (!tsri_tensors_find(file, names[0][0]))
        return TSR_OK;
    for (int64_t i = 0; i < file->count; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            tsri_tensor *t = &file->tensor[i];
            if (strcmp(t->name, names[k][0]) != 0)
                continue;
            t->name = names[k][1];
            for (; t->dims > 2; t->dims--) /* of an empty tensor, too */
                TSR_TRY(
                    tsri_multiply(&t->shape[1], t->shape[1], t->shape[t->dims - 1], names[k][0]));
        }
    TSRI_FREE(file->by_name);
    TSR_TRY(tsri_tensors_sort_names(file, path));
done:
    return st;
}

static tsri_tensor *layer_tensor(const tsri_tensors *file, const char *layer, const char *last)
{
    char name[2 * TSRI_NAME];
    (void)snprintf(name, sizeof name, "%s.%s", layer, last);
    const tsri_tensor *found = tsri_tensors_find(file, name);
    return found ? &file->tensor[found - file->tensor] : NULL;
}

/* ---- Which network -------------------------------------------------------------------------- */

static tsr_status set_int(tsr_config *config, const tsri_model *model, const char *key,
                          int64_t value)
{
    char text[64];
    if (!tsri_reads(model->keys, key))
        return TSR_OK;
    (void)snprintf(text, sizeof text, "model.%s=%lld", key, (long long)value);
    return tsr_config_set(config, text);
}

static tsr_status set_word(tsr_config *config, const tsri_model *model, const char *key,
                           const char *value)
{
    char text[64];
    if (!tsri_reads(model->keys, key))
        return TSR_OK;
    (void)snprintf(text, sizeof text, "model.%s=%s", key, value);
    return tsr_config_set(config, text);
}

/* The run file of that model as the file's first and last layers have it; images of `side`. */
static tsr_status describe(tsr_config **out, int64_t *side, const import *in,
                           const tsri_model *model)
{
    tsr_status st = TSR_OK;
    char text[64];
    const tsri_tensor *first = layer_tensor(in->file, model->first, "weight");
    bool large = first->shape[2] > 3;
    *side = model->side > 0 ? model->side : large ? 224 : 32;
    if (in->how->size > 0)
        *side = in->how->size;
    (void)snprintf(text, sizeof text, "model: {name: %s}\n", model->name);
    TSR_TRY(tsri_config_parse(out, text, (int64_t)strlen(text), "import"));
    TSR_TRY(set_int(*out, model, "width", first->shape[0]));
    TSR_TRY(set_word(*out, model, "stem", large ? "imagenet" : "cifar"));
    TSR_TRY(set_word(*out, model, "bias",
                     layer_tensor(in->file, model->last, "bias") ? "true" : "false"));
    TSR_TRY(tsr_config_set(*out,
                           in->how->normalize ? "data.normalize=channel" : "data.normalize=none"));
    (void)snprintf(text, sizeof text, "data.size=%lld", (long long)*side);
    TSR_TRY(tsr_config_set(*out, text));
done:
    return st;
}

/* Does the file have that model's first and last layers? */
static bool has_ends(const tsri_tensors *file, const tsri_model *model)
{
    const tsri_tensor *first = model->first ? layer_tensor(file, model->first, "weight") : NULL;
    const tsri_tensor *last = model->last ? layer_tensor(file, model->last, "weight") : NULL;
    return first && first->dims == 4 && last && last->dims == 2 && first->shape[0] <= INT32_MAX &&
           first->shape[1] <= TSRI_IMPORT_CHANNELS && last->shape[0] <= INT32_MAX;
}

/* in->net = that model, when its parameters are exactly those of the file. */
static tsr_status try_model(import *in, const tsri_model *model)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsri_net *net = NULL;
    int64_t side;
    TSR_TRY(describe(&config, &side, in, model));
    int64_t channels = layer_tensor(in->file, model->first, "weight")->shape[1];
    int64_t outputs = layer_tensor(in->file, model->last, "weight")->shape[0];
    TSR_TRY(tsri_net_create(&net, config, (tsri_shape){channels, side, side}, outputs, false));
    TSR_TRY(tsri_store_check(net, in->file, "", in->path));
    in->model = model;
    in->config = config;
    in->net = net;
    return TSR_OK;
done:
    tsri_net_destroy(net);
    tsr_config_destroy(config);
    return st;
}

/* Nothing in a file tells the layers without weights. */
static void tell_stem(const import *in)
{
    const tsri_tensor *first = layer_tensor(in->file, in->model->first, "weight");
    if (tsri_reads(in->model->keys, "stem") && first->shape[2] <= 3)
        TSRI_INFO("%s: its first convolution is 3x3: taken for the form that is usual for CIFAR, "
                  "without max pooling behind it",
                  tsri_quote(in->path));
}

static tsr_status list_models(tsri_text *out)
{
    tsr_status st = TSR_OK;
    for (int i = 0; tsri_models[i]; i++)
        if (tsri_models[i]->first)
            TSR_TRY(tsri_text_add(out, "%s%s", out->length > 0 ? ", " : "", tsri_models[i]->name));
done:
    return st;
}

/* The model that the user named: what differs is said. */
static tsr_status named_model(import *in, const char *known)
{
    tsr_status st = TSR_OK;
    const tsri_model *model = tsri_model_named(in->how->model);
    TSR_CHECK(model && model->first, TSR_USAGE, "--model %s cannot be imported; these can: %s",
              tsri_quote(in->how->model), known);
    TSR_CHECK(has_ends(in->file, model), TSR_BAD_FILE,
              "%s: it has no %s.weight [filters, channels, H, W] and %s.weight [outputs, inputs], "
              "the ends of a %s",
              tsri_quote(in->path), model->first, model->last, model->name);
    TSR_TRY(try_model(in, model));
done:
    return st;
}

static tsr_status find_model(import *in)
{
    tsr_status st = TSR_OK;
    tsri_text known = {0};
    TSR_TRY(list_models(&known));
    if (in->how->model) {
        st = named_model(in, known.data);
        goto done;
    }
    for (int i = 0; tsri_models[i] && !in->net; i++) {
        if (!has_ends(in->file, tsri_models[i]))
            continue;
        st = try_model(in, tsri_models[i]);
        if (st == TSR_RESOURCES)
            goto done;
    }
    tsri_fail_clear();
    st = TSR_OK;
    TSR_CHECK(
        in->net, TSR_BAD_FILE,
        "%s: its %lld tensors (%s and others) are not a network that is known here; these are: "
        "%s. --model NAME says what differs from one of them",
        tsri_quote(in->path), (long long)in->file->count,
        tsri_quote(in->file->count > 0 ? in->file->tensor[0].name : "none"), known.data);
done:
    tsri_text_fini(&known);
    return st;
}

/* ---- A new last layer ------------------------------------------------------------------------ */

/* The file's tensor becomes `shape[0] = outputs` of these numbers. */
static void replace(tsri_tensor *t, const float *numbers, int64_t outputs)
{
    t->dtype = TSRI_F32;
    t->shape[0] = outputs;
    t->data = numbers;
}

/* The network gets --classes outputs, and the file the weights that such a network starts with. */
static tsr_status new_head(import *in)
{
    tsr_status st = TSR_OK;
    tsri_store fresh = {0};
    tsri_tensor *weight = layer_tensor(in->file, in->model->last, "weight");
    tsri_tensor *bias = layer_tensor(in->file, in->model->last, "bias");
    int64_t outputs = in->how->classes, inputs = weight->shape[1];
    tsri_shape input = in->net->input;
    tsri_net_destroy(in->net);
    in->net = NULL;
    TSR_TRY(tsri_net_create(&in->net, in->config, input, outputs, false));
    TSR_TRY(tsri_store_init_host(&fresh, in->net));
    TSR_TRY(tsri_store_fill(&fresh, in->how->seed));
    TSR_TRY(tsri_alloc(&in->head, outputs * (inputs + 1), sizeof *in->head));
    int64_t p = tsri_net_param(in->net, weight->name);
    memcpy(in->head, tsri_store_own(&fresh) + in->net->param[p].offset,
           (size_t)(outputs * inputs) * sizeof *in->head);
    replace(weight, in->head, outputs);
    if (bias) /* which starts at 0 */
        replace(bias, in->head + outputs * inputs, outputs);
done:
    tsri_store_fini(&fresh);
    return st;
}

/* ---- What the data are ----------------------------------------------------------------------- */

enum { NAMES_BYTES = 1 << 24 };

/* Two classes of one name could not be told apart later, and none has no name. */
static tsr_status take_name(import *in, tsri_words *known, const char *line, size_t length)
{
    tsr_status st = TSR_OK;
    const char *path = in->how->names;
    int64_t outputs = in->net->outputs, place = 0;
    TSR_CHECK(in->classes < outputs, TSR_USAGE, "%s: more than %lld names for %lld outputs",
              tsri_quote(path), (long long)outputs, (long long)outputs);
    TSR_CHECK(length > 0, TSR_USAGE, "%s: line %lld is empty: give each class a name",
              tsri_quote(path), (long long)in->classes + 1);
    TSR_TRY(tsri_words_add(&place, known, line, length));
    TSR_CHECK(place == in->classes, TSR_USAGE,
              "%s: line %lld: \"%s\" is the name of line %lld, too: give each class its own",
              tsri_quote(path), (long long)in->classes + 1, tsri_printable(line, length),
              (long long)place + 1);
    TSR_TRY(tsri_strndup(&in->class_name[in->classes], line, length));
    in->classes++;
done:
    return st;
}

/* The classes' names, a line for each. */
static tsr_status read_names(import *in)
{
    tsr_status st = TSR_OK;
    char *bytes = NULL;
    tsri_words known = {0};
    static const char mark[] = "\xEF\xBB\xBF"; /* that a text is UTF-8 */
    int64_t n, outputs = in->net->outputs;
    if (!in->how->names)
        return TSR_OK;
    TSR_TRY(tsri_file_read(&bytes, &n, in->how->names, NAMES_BYTES));
    TSR_TRY(tsri_to_utf8(&bytes, &n, in->how->names));
    TSR_TRY(tsri_alloc(&in->class_name, outputs, sizeof *in->class_name));
    for (char *line = bytes + (strncmp(bytes, mark, 3) == 0 ? 3 : 0); *line;) {
        size_t length = strcspn(line, "\n");
        char *next = line + length + (line[length] == '\n');
        if (length > 0 && line[length - 1] == '\r')
            length--;
        TSR_TRY(take_name(in, &known, line, length));
        line = next;
    }
    TSR_CHECK(in->classes == outputs, TSR_USAGE, "%s: %lld names for %lld outputs",
              tsri_quote(in->how->names), (long long)in->classes, (long long)outputs);
done:
    tsri_words_fini(&known);
    tsri_free(bytes);
    return st;
}

static tsr_status write_names(tsri_json *w, const import *in)
{
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < in->classes; i++)
        tsri_json_text(w, in->class_name[i]);
    tsri_json_close(w, ']');
    return tsri_json_end(w);
}

/* Of bytes 0 .. 255, as tsri_scaling has it. */
static tsr_status write_scaling(tsri_json *w, const import *in)
{
    tsr_status st = TSR_OK;
    const tsri_import *how = in->how;
    float shift[TSRI_IMPORT_CHANNELS], scale[TSRI_IMPORT_CHANNELS];
    tsri_scaling s = {.shift = shift, .scale = scale, .target_scale = 1};
    if (how->normalize) {
        s.groups = in->net->input.c;
        TSR_CHECK(how->channels == s.groups, TSR_USAGE,
                  "%s takes images of %lld channels, and there are %lld means and deviations: give "
                  "--mean and --std, or --normalize none",
                  tsri_quote(in->path), (long long)s.groups, (long long)how->channels);
    }
    for (int64_t c = 0; c < s.groups; c++) {
        TSR_CHECK(how->mean[c] <= 1 && how->deviation[c] <= 1, TSR_USAGE,
                  "a mean of %g and a deviation of %g are not those of pixels in 0 .. 1: divide "
                  "them by 255",
                  how->mean[c], how->deviation[c]);
        shift[c] = (float)(255 * how->mean[c]);
        scale[c] = (float)(1 / (255 * how->deviation[c]));
    }
    tsri_scaling_write(w, &s);
    TSR_TRY(tsri_json_end(w));
done:
    return st;
}

static tsr_status write_schema(tsri_json *w, const import *in)
{
    char channel[] = "channel", none[] = "none";
    tsri_data_schema s = {.kind = "images",
                          .classes = in->net->outputs,
                          .normalize = in->how->normalize ? channel : none,
                          .target_scale = none};
    tsri_data_schema_write(w, &s);
    return tsri_json_end(w);
}

/* ---- The file ----------------------------------------------------------------------------- */

static tsr_status save(tsri_sink *to, const import *in)
{
    tsr_status st = TSR_OK;
    tsri_json scaling = {0}, classes = {0}, schema = {0};
    const char *slash = strrchr(in->path, '/');
    TSR_TRY(write_scaling(&scaling, in));
    TSR_TRY(write_names(&classes, in));
    TSR_TRY(write_schema(&schema, in));
    tsri_model_parts parts = {.net = in->net,
                              .w = tsri_store_own(&in->store),
                              .config = in->config,
                              .scaling = scaling.text.data,
                              .classes = classes.text.data,
                              .schema = schema.text.data,
                              .imported = tsri_quote(slash ? slash + 1 : in->path)};
    TSR_TRY(tsri_model_put(to, &parts));
done:
    tsri_json_fini(&scaling);
    tsri_json_fini(&classes);
    tsri_json_fini(&schema);
    return st;
}

/* A model of ours says how its inputs are scaled and what its classes are called. */
static tsr_status is_foreign(const import *in)
{
    tsr_status st = TSR_OK;
    if (!tsri_tensors_meta(in->file, TSRI_META_SCALING))
        return TSR_OK;
    TSR_CHECK(
        !in->how->normalize, TSR_USAGE,
        "%s is a model already, and its inputs would be scaled otherwise: use it as it is, or "
        "take its weights alone with --normalize none",
        tsri_quote(in->path));
    TSRI_WARN(
        "%s is a model already: its scaling of inputs and the names of its classes are left out",
        tsri_quote(in->path));
done:
    return st;
}

tsr_status tsri_import_put(tsri_sink *to, const char *path, const tsri_import *how)
{
    tsr_status st = TSR_OK;
import in = {.path = path, .how = how };
    TSR_TRY(tsri_weights_read(&in.file, path));
    TSR_TRY(is_foreign(&in));
    strip_prefixes(in.file);
    TSR_TRY(rename_timm(in.file, path));
    TSR_TRY(find_model(&in));
    tell_stem(&in);
    if (how->classes > 0)
        TSR_TRY(new_head(&in));
    TSR_TRY(read_names(&in));
    TSR_TRY(tsri_store_init_host(&in.store, in.net));
    TSR_TRY(tsri_store_load(&in.store, in.file, "", path));
    TSR_TRY(save(to, &in));
done:
    import_fini(&in);
    return st;
}

tsr_status tsri_import_file(const char *out, const char *path, const tsri_import *how)
{
    return tsri_import_put(&(tsri_sink){.path = out}, path, how);
}

/* ---- As programs see it --------------------------------------------------------------------- */

static tsr_status how_of(tsri_import *how, const tsr_import_options *options)
{
    tsr_status st = TSR_OK;
    tsr_import_options o = tsr_import_options_default();
    if (options)
        TSR_TRY(TSRI_SIZED_TAKE(&o, options));
    TSR_CHECK(o.channels >= 0 && o.channels <= TSRI_IMPORT_CHANNELS && o.side >= 0 &&
                  o.classes >= 0,
              TSR_USAGE, "an import takes 0 to %d channels, and sizes of 0 or more",
              TSRI_IMPORT_CHANNELS);
    *how = (tsri_import){.model = o.model,
                         .size = o.side,
                         .classes = o.classes,
                         .seed = o.seed,
                         .names = o.names,
                         .normalize = o.channels > 0,
                         .channels = o.channels};
    memcpy(how->mean, o.mean, sizeof how->mean);
    memcpy(how->deviation, o.deviation, sizeof how->deviation);
done:
    return st;
}

tsr_status tsr_import(tsr_model **out, const char *path, const tsr_import_options *options)
{
    tsr_status st = TSR_OK;
    tsri_import how;
    tsri_sink sink = {0};
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(path);
    TSR_TRY(how_of(&how, options));
    TSR_TRY(tsri_import_put(&sink, path, &how));
    TSR_TRY(tsr_model_parse(out, sink.bytes, sink.n));
done:
    tsri_free(sink.bytes);
    return st;
}
