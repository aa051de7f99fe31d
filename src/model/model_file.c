/* model_file.c - a finished network as one file that explains itself.
 *
 * Tensors have PyTorch's names and layouts; the metadata holds the resolved run file (and with it
 * the architecture) as text, the shapes of input and output and how inputs were scaled, so that the
 * file can be used without ours or anybody's code.
 */
#include "model/model.h"
#include "model/whole.h"
#include "scheme/keys.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/number.h"
#include "base/sized.h"
#include "io/file.h"
#include "io/json.h"
#include "net/parcel.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Writing ------------------------------------------------------------------------------ */

tsr_status tsri_model_put(tsri_sink *to, const tsri_model_parts *parts)
{
    tsr_status st = TSR_OK;
    tsri_parcel parcel;
    tsri_text model = {0}, yaml = {0};
    char input[80], outputs[32];
    float *plain = NULL;
    tsri_parcel_init(&parcel, parts->net);
    TSR_TRY(tsri_whole_plain(&plain, parts->net, parts->w));
    TSR_TRY(tsri_parcel_add_model(&parcel, plain ? plain : parts->w, ""));
    TSR_TRY(tsri_config_write(&model, parts->config, "model"));
    TSR_TRY(tsri_config_write_result(&yaml, parts->config));
    tsri_shape s = parts->net->input;
    (void)snprintf(input, sizeof input, "%" PRId64 "x%" PRId64 "x%" PRId64, s.c, s.h, s.w);
    (void)snprintf(outputs, sizeof outputs, "%" PRId64, parts->net->outputs);
    tsri_pair all[] = {{"format", "pt"},
                       {"tessera.format", TSRI_MODEL_FORMAT},
                       {"tessera.version", tsr_version()},
                       {"tessera.model", model.data},
                       {"tessera.input", input},
                       {"tessera.outputs", outputs},
                       {TSRI_META_SCALING, parts->scaling},
                       {TSRI_META_CLASSES, parts->classes},
                       {TSRI_META_SCHEMA, parts->schema},
                       {TSRI_META_TICKET, parts->ticket},
                       {TSRI_META_FORCED, parts->forced},
                       {TSRI_META_ROLLBACKS, parts->rollbacks},
                       {TSRI_META_IMPORT, parts->imported},
                       {"tessera.run", yaml.data}};
    int64_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].value)
            all[count++] = all[i];
    TSR_TRY(tsri_parcel_put(&parcel, to, all, count));
done:
    tsri_parcel_fini(&parcel);
    tsri_free(plain);
    tsri_text_fini(&model);
    tsri_text_fini(&yaml);
    return st;
}

tsr_status tsri_model_save(const char *path, const tsri_model_parts *parts)
{
    return tsri_model_put(&(tsri_sink){.path = path}, parts);
}

/* ---- Reading ------------------------------------------------------------------------------ */

/* *out = the whole number that *text begins with; *text moves after it. */
static bool number_here(int64_t *out, const char **text)
{
    char *end = NULL;
    errno = 0;
    *out = strtoll(*text, &end, 10);
    bool found = end != *text && errno == 0;
    *text = end;
    return found;
}

/* "1x28x28". */
static bool shape_here(tsri_shape *s, const char *text)
{
    return number_here(&s->c, &text) && *text++ == 'x' && number_here(&s->h, &text) &&
           *text++ == 'x' && number_here(&s->w, &text) && *text == '\0';
}

static tsr_status read_shapes(tsr_model *m)
{
    tsr_status st = TSR_OK;
    const char *input = tsri_tensors_meta(m->file, "tessera.input");
    const char *outputs = tsri_tensors_meta(m->file, "tessera.outputs");
    tsri_shape *s = &m->input;
    TSR_CHECK(
        input && outputs && shape_here(s, input) &&
            tsri_number_int(&m->outputs, outputs) == TSRI_NUMBER_OK,
        TSR_BAD_FILE,
        "%s: no shapes inside (tessera.input, such as 1x28x28, and tessera.outputs, such as 10)",
        m->path);
    const int64_t most = INT32_MAX; /* below it no product of sizes in net/ overflows */
    TSR_CHECK(s->c > 0 && s->h > 0 && s->w > 0 && m->outputs > 0 && m->outputs <= most &&
                  s->c <= most && s->h <= most / s->c && s->w <= most / (s->c * s->h),
              TSR_BAD_FILE, "%s: input %s and %s outputs make no network", m->path,
              tsri_quote(input), tsri_quote(outputs));
done:
    return st;
}

/* tessera.scaling: one shift and scale a channel or an input, or none. */
static tsr_status read_scaling(tsr_model *m)
{
    tsr_status st = TSR_OK;
    const char *text = tsri_tensors_meta(m->file, TSRI_META_SCALING);
    TSR_CHECK(text, TSR_BAD_FILE, "%s: how inputs are scaled is not inside (tessera.scaling)",
              m->path);
    TSR_TRY(tsri_scaling_read(&m->scaling, text, m->path));
    int64_t inputs = tsri_shape_count(m->input), groups = m->scaling.groups;
    TSR_CHECK((groups == 0 || groups == m->input.c || groups == inputs) &&
                  (m->scaling.columns == 0 || m->scaling.columns == inputs),
              TSR_BAD_FILE,
              "%s: tessera.scaling has %lld shifts and %lld fills for %lld inputs in %lld channels",
              m->path, (long long)groups, (long long)m->scaling.columns, (long long)inputs,
              (long long)m->input.c);
done:
    return st;
}

/* tessera.classes: as many names as there are outputs, or none. */
static tsr_status read_classes(tsr_model *m)
{
    tsr_status st = TSR_OK;
    tsri_json_value *names = NULL;
    const char *text = tsri_tensors_meta(m->file, TSRI_META_CLASSES), *name;
    if (!text)
        return TSR_OK;
    st = tsri_json_parse(&names, text, (int64_t)strlen(text), "tessera.classes");
    if (st != TSR_OK) {
        tsri_fail_prefix("%s: ", m->path);
        goto done;
    }
    int64_t n = tsri_json_length(names);
    bool fine =
        text[strspn(text, " ")] == '[' &&
        (n == 0 || m->outputs % n == 0 || (n == 2 && m->outputs == 1)); /* margins: -1, +1 */
    for (int64_t i = 0; fine && i < n; i++)
        fine = tsri_json_as_text(tsri_json_at(names, i), &name);
    TSR_CHECK(fine, TSR_BAD_FILE, "%s: tessera.classes is not a list of the names of %lld outputs",
              m->path, (long long)m->outputs);
    if (n == 0)
        goto done;
    TSR_TRY(tsri_alloc(&m->class_name, n, sizeof *m->class_name));
    m->classes = n;
    for (int64_t i = 0; i < n; i++) {
        (void)tsri_json_as_text(tsri_json_at(names, i), &name);
        TSR_TRY(tsri_strdup(&m->class_name[i], name));
    }
done:
    tsri_json_destroy(names);
    return st;
}

/* tessera.schema: files of older versions have none. It must fit the inputs and the classes. */
static tsr_status read_schema(tsr_model *m)
{
    tsr_status st = TSR_OK;
    const char *text = tsri_tensors_meta(m->file, TSRI_META_SCHEMA);
    int64_t inputs = 0;
    if (!text)
        return TSR_OK;
    TSR_TRY(tsri_data_schema_read(&m->schema, text, m->path));
    for (int64_t k = 0; k < m->schema.fields; k++)
        inputs += m->schema.field[k].word ? m->schema.field[k].words : 1;
    TSR_CHECK(m->schema.fields == 0 || inputs == tsri_shape_count(m->input), TSR_BAD_FILE,
              "%s: tessera.schema has columns of %lld inputs, the network %lld", m->path,
              (long long)inputs, (long long)tsri_shape_count(m->input));
    TSR_CHECK(!m->class_name || m->classes == m->schema.classes, TSR_BAD_FILE,
              "%s: tessera.schema has %lld classes, tessera.classes %lld", m->path,
              (long long)m->schema.classes, (long long)m->classes);
    m->classes = m->schema.classes;
done:
    return st;
}

tsri_like tsri_model_like(const tsr_model *m, bool unlabelled)
{
    return (tsri_like){.scaling = &m->scaling,
                       .schema = &m->schema,
                       .class_name = m->class_name,
                       .classes = m->classes,
                       .targets = m->classes > 0 ? 0 : m->outputs,
                       .channels = m->input.c,
                       .height = m->input.h,
                       .width = m->input.w,
                       .unlabelled = unlabelled && m->schema.kind};
}

/* May the class i of a set that numbers its classes from 0 be one that another set calls so? Words
 * give names to numbers; another number is another class. */
static bool may_be(const char *name, int64_t i)
{
    char *end = NULL;
    long long number = strtoll(name, &end, 10);
    return end == name || *end != '\0' || number == i;
}

static tsr_status same_class(const char *there, const char *here, int64_t i, const char *path,
                             const tsr_data *data)
{
    tsr_status st = TSR_OK;
    char number[32];
    bool same = there && here ? strcmp(there, here) == 0 : may_be(there ? there : here, i);
    (void)snprintf(number, sizeof number, "%lld", (long long)i);
    TSR_CHECK(same, TSR_USAGE,
              "%s was trained on other classes than %s has: class %s is %s there, %s here", path,
              data->name, number, there ? tsri_quote(there) : number,
              here ? tsri_quote(here) : number);
done:
    return st;
}

static tsr_status same_classes(const tsri_tensors *file, const char *path, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    tsri_json_value *names = NULL;
    const char *text = tsri_tensors_meta(file, TSRI_META_CLASSES), *there = NULL;
    if (text)
        TSR_TRY(tsri_json_parse(&names, text, (int64_t)strlen(text), path));
    bool named = text && tsri_json_length(names) > 0;
    if (named && tsri_json_length(names) != data->classes)
        goto done; /* the shapes of the last layer say so */
    for (int64_t i = 0; i < data->classes; i++) {
        const char *here = data->class_name ? data->class_name[i] : NULL;
        if (named && !tsri_json_as_text(tsri_json_at(names, i), &there))
            continue;
        if (there || here)
            TSR_TRY(same_class(there, here, i, path, data));
    }
done:
    tsri_json_destroy(names);
    return st;
}

/* Warns when the target has another name: that may be meant, or it is the wrong table. */
static void doubt_targets(const char *path, const tsr_data *data, const tsri_data_schema *there)
{
    const tsri_data_schema *here = &data->schema;
    for (int64_t i = 0; i < here->targets && i < there->targets; i++) {
        const char *a = here->target[i], *b = there->target[i];
        if (!a || !b || strcmp(a, b) == 0)
            continue;
        TSRI_WARN("%s learned to predict %s and goes on with %s of %s: set data.target if that is "
                  "not meant",
                  path, tsri_quote(b), tsri_quote(a), data->name);
        return;
    }
}

/* Names on one side alone compare with nothing. */
static void doubt_names(const char *path, const tsr_data *data, const tsri_data_schema *there)
{
    bool here_named = tsri_data_schema_named(&data->schema);
    if (here_named && !tsri_data_schema_named(there))
        TSRI_WARN("%s knows no names of columns: those of %s are taken in their order, unchecked",
                  path, data->name);
    else if (!here_named && tsri_data_schema_named(there))
        TSRI_WARN("%s has no names of columns: they are taken in their order, unchecked",
                  data->name);
}

/* Networks without layers of a fixed size take pictures of any. */
static void doubt_size(const tsri_tensors *file, const char *path, const tsr_data *data)
{
    tsri_shape there;
    const char *text = tsri_tensors_meta(file, "tessera.input");
    if (!text || !shape_here(&there, text) || data->sequences || there.h * there.w == 1 ||
        (there.h == data->height && there.w == data->width))
        return;
    TSRI_WARN("%s learned from images of %lldx%lld and goes on with %lldx%lld of %s: set data.size "
              "if that is not meant",
              path, (long long)there.h, (long long)there.w, (long long)data->height,
              (long long)data->width, data->name);
}

enum { FAR = 10 };

/* Real targets are scaled anew, too. */
static void doubt_unit_of_targets(const char *path, const tsr_data *data, const tsri_scaling *there,
                                  const tsri_data_schema *schema)
{
    static const char usual[] = "standardize";
    const tsri_scaling *here = &data->scaling;
    double away = fabs((double)here->target_shift - (double)there->target_shift) *
                  (double)there->target_scale;
    if (data->classes > 0 || away <= FAR || strcmp(schema->target_scale, usual) != 0 ||
        strcmp(data->schema.target_scale, usual) != 0)
        return;
    TSRI_WARN("%s: targets are near %.4g, but were near %.4g when %s was trained: are they in "
              "another unit? They are scaled anew",
              data->name, (double)here->target_shift, (double)there->target_shift, path);
}

/* Warns of columns in another unit: training scales its inputs by its own data, so the weights to
 * start from would mean something else. */
static tsr_status doubt_units(const tsri_tensors *file, const char *path, const tsr_data *data,
                              const tsri_data_schema *schema)
{
    tsr_status st = TSR_OK;
    tsri_scaling there = {0};
    const tsri_scaling *here = &data->scaling;
    const char *text = tsri_tensors_meta(file, TSRI_META_SCALING);
    if (!text)
        return TSR_OK;
    TSR_TRY(tsri_scaling_read(&there, text, path));
    doubt_unit_of_targets(path, data, &there, schema);
    for (int64_t k = 0; data->column && here->groups == there.groups && k < there.groups; k++) {
        double away =
            fabs((double)here->shift[k] - (double)there.shift[k]) * (double)there.scale[k];
        if (away <= FAR)
            continue;
        TSRI_WARN("%s: column %s is near %.4g, but was near %.4g when %s was trained: is it in "
                  "another unit? Inputs are scaled anew",
                  data->name, tsri_quote(data->column[k]), (double)here->shift[k],
                  (double)there.shift[k], path);
        break;
    }
done:
    tsri_scaling_fini(&there);
    return st;
}

tsr_status tsri_model_knows(const tsri_tensors *file, const char *path, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    tsri_data_schema schema = {0};
    const char *text = tsri_tensors_meta(file, TSRI_META_SCHEMA);
    if (!text)
        return TSR_OK;
    TSR_TRY(tsri_data_schema_read(&schema, text, path));
    const char *difference = tsri_data_schema_differs(&data->schema, &schema);
    TSR_CHECK(!difference, TSR_USAGE, "%s was trained on another table than %s: %s", path,
              data->name, difference);
    TSR_TRY(same_classes(file, path, data));
    doubt_targets(path, data, &schema);
    doubt_names(path, data, &schema);
    doubt_size(file, path, data);
    TSR_TRY(doubt_units(file, path, data, &schema));
done:
    tsri_data_schema_fini(&schema);
    return st;
}

bool tsri_model_names_data(const tsr_model *m)
{
    return !tsri_tensors_meta(m->file, TSRI_META_IMPORT) ||
           tsri_config_given(m->config, "data.name") || tsri_config_given(m->config, "data.path");
}

tsr_status tsri_model_has_data(const tsr_model *m)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(tsri_model_names_data(m), TSR_USAGE,
              "%s was imported and has no data of its own: give --data", m->path);
done:
    return st;
}

/* Refuses the folder of a run, the commonest slip, with the name of the model in it. */
static tsr_status not_a_run(const char *path)
{
    tsr_status st = TSR_OK;
    char *inside = NULL;
    TSR_TRY(tsri_path_join(&inside, path, "model.safetensors"));
    TSR_CHECK(!tsri_file_exists(inside), TSR_BAD_FILE, "%s is a folder: give %s", tsri_quote(path),
              tsri_quote(inside));
done:
    tsri_free(inside);
    return st;
}

tsr_status tsri_model_run_file(tsr_config **out, const tsri_tensors *file, const char *path)
{
    tsr_status st = TSR_OK;
    const char *yaml = tsri_tensors_meta(file, "tessera.run");
    *out = NULL;
    TSR_CHECK(yaml, TSR_BAD_FILE, "%s: no run file inside (tessera.run)", path);
    st = tsri_config_parse(out, yaml, (int64_t)strlen(yaml), "run file inside");
    if (st != TSR_OK)
        tsri_fail_prefix("%s: ", path);
    st = st == TSR_USAGE ? TSR_BAD_FILE : st; /* not the user's run file but the file's */
done:
    return st;
}

static bool known_format(const char *format)
{
    return format &&
           (strcmp(format, TSRI_MODEL_FORMAT) == 0 || strcmp(format, TSRI_MODEL_FORMAT_OLD) == 0);
}

tsr_status tsr_model_read(tsr_model **out, const char *path)
{
    tsr_status st = TSR_OK;
    tsri_tensors *file = NULL;
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(path);
    TSR_TRY(not_a_run(path));
    TSR_TRY(tsri_tensors_read(&file, path));
    TSR_TRY(tsri_model_of_file(out, file, path));
done:
    return st;
}

tsr_status tsri_model_of_file(tsr_model **out, tsri_tensors *file, const char *path)
{
    tsr_status st = TSR_OK;
    tsr_model *m = NULL;
    *out = NULL;
    st = tsri_alloc(&m, 1, sizeof *m);
    if (st != TSR_OK) {
        tsri_tensors_destroy(file);
        return st;
    }
    m->file = file;
    TSR_TRY(tsri_strdup(&m->path, path));
    const char *format = tsri_tensors_meta(m->file, "tessera.format");
    TSR_CHECK(known_format(format), TSR_BAD_FILE,
              "%s: %s, not a model of this version: give the model.safetensors of a run", path,
              format ? tsri_quote(format) : "no architecture inside");
    TSR_TRY(tsri_model_run_file(&m->config, m->file, path));
    TSR_TRY(tsri_forget_unread(m->config)); /* older versions took keys that meant nothing */
    if (tsri_backend_is_module(
            tsri_config_text(m->config, "backend")))           /* used where there is none, */
        TSR_TRY(tsr_config_put(m->config, "backend", "auto")); /* too */
    TSR_TRY(read_shapes(m));
    TSR_TRY(read_scaling(m));
    st = tsri_whole_create(&m->net, m->config, m->input, m->outputs, false);
    if (st == TSR_USAGE)
        tsri_fail_prefix("%s: ", path);
    TSR_TRY(st == TSR_USAGE ? TSR_BAD_FILE : st);
    TSR_TRY(read_classes(m));
    TSR_TRY(read_schema(m));
    TSR_TRY(tsri_store_check(m->net, m->file, "", path)); /* before memory is taken for it */
    TSR_TRY(tsri_store_init_host(&m->store, m->net));
    TSR_TRY(tsri_whole_load(&m->store, m->file, path));
    TSR_TRY(tsri_whole_plain(&m->plain, m->net, tsri_store_own(&m->store)));
    *out = m;
    m = NULL;
done:
    tsr_model_destroy(m);
    return st;
}

void tsr_model_destroy(tsr_model *m)
{
    if (!m)
        return;
    tsri_scaling_fini(&m->scaling);
    tsri_data_schema_fini(&m->schema);
    for (int64_t i = 0; m->class_name && i < m->classes; i++)
        tsri_free(m->class_name[i]);
    tsri_free(m->class_name);
    tsri_free(m->plain);
    tsri_store_fini(&m->store);
    tsri_net_destroy(m->net);
    tsr_config_destroy(m->config);
    tsri_tensors_destroy(m->file);
    tsri_free(m->path);
    tsri_free(m);
}

tsr_status tsri_model_load(tsri_net **net, tsri_store *store, const tsr_model *m,
                           const tsri_backend *backend, bool training)
{
    tsr_status st = TSR_OK;
    *net = NULL;
    *store = (tsri_store){0};
    TSR_TRY(tsri_whole_create(net, m->config, m->input, m->outputs, backend->can.filters));
    TSR_TRY(tsri_store_init(store, *net, backend, training));
    TSR_TRY(tsri_whole_load(store, m->file, m->path));
done:
    return st;
}
