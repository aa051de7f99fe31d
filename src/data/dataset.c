/* dataset.c - from the `data:` section to samples as the network will see them.
 *
 * read (one row of tsri_sources[] or tsri_formats[]) -> split -> limits -> missing values ->
 * normalisation -> targets -> checksum. Only the first step differs from set to set.
 */
#include "data/dataset.h"

#include "base/alloc.h"
#include "base/log.h"
#include "data/part.h"
#include "data/points.h"
#include "data/prepare.h"
#include "data/source.h"
#include "data/strange.h"
#include "io/crc32c.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Checks every source must pass -------------------------------------------------------- */

static tsr_status check_labels(const tsr_data *data, const tsri_part *part, const char *which)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; part->label && i < part->n; i++)
        TSR_CHECK(part->label[i] >= 0 && part->label[i] < data->classes, TSR_BAD_FILE,
                  "%s: label %d of %s sample %lld is not one of the %lld classes; repair the file",
                  tsri_quote(data->source), (int)part->label[i], which, (long long)(i + 1),
                  (long long)data->classes);
done:
    return st;
}

/* A missing cell is NaN and was counted; any other number must be finite. */
static tsr_status check_numbers(const tsr_data *data, const tsri_part *part, const char *which)
{
    tsr_status st = TSR_OK;
    bool allowed = data->missing > 0;
    for (int64_t k = 0; part->numbers && k < part->n * data->dim; k++)
        TSR_CHECK(
            isfinite(part->numbers[k]) || (allowed && isnan(part->numbers[k])), TSR_BAD_FILE,
            "%s: %s sample %lld, column %lld: %g is not a finite number; repair or remove the "
            "row",
            tsri_quote(data->source), which, (long long)(k / data->dim + 1),
            (long long)(k % data->dim + 1), (double)part->numbers[k]);
    for (int64_t k = 0; part->target && k < part->n * data->targets; k++)
        TSR_CHECK(
            isfinite(part->target[k]), TSR_BAD_FILE,
            "%s: the target of %s sample %lld is %g, not a finite number; repair or remove the "
            "row",
            tsri_quote(data->source), which, (long long)(k / data->targets + 1),
            (double)part->target[k]);
done:
    return st;
}

static tsr_status check(const tsr_data *data)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(data->train.n > 0, TSR_BAD_FILE, "%s: there are no training samples in it",
              tsri_quote(data->source));
    TSR_TRY(check_labels(data, &data->train, "training"));
    TSR_TRY(check_labels(data, &data->test, "test"));
    TSR_TRY(check_numbers(data, &data->train, "training"));
    TSR_TRY(check_numbers(data, &data->test, "test"));
done:
    return st;
}

/* Warns of classes that have no training sample. */
static tsr_status doubt_classes(const tsr_data *data)
{
    tsr_status st = TSR_OK;
    int64_t *count = NULL, none = 0;
    TSR_TRY(tsri_alloc(&count, data->classes, sizeof *count));
    for (int64_t i = 0; i < data->train.n; i++)
        count[data->train.label[i]]++;
    for (int64_t c = 0; c < data->classes; c++)
        none += count[c] == 0;
    if (none > 0)
        TSRI_INFO("%s: %lld of its %lld classes have no training sample", tsri_quote(data->name),
                  (long long)none, (long long)data->classes);
done:
    tsri_free(count);
    return st;
}

/* ---- Checksum ----------------------------------------------------------------------------- */

static uint32_t crc(uint32_t hash, const void *bytes, int64_t n)
{
    return bytes ? tsri_crc32c(hash, bytes, (size_t)n) : hash;
}

static uint32_t hash_part(uint32_t hash, const tsri_part *part, const tsr_data *data)
{
    hash = crc(hash, &part->n, sizeof part->n);
    hash = crc(hash, part->bytes, part->n * data->dim);
    hash = crc(hash, part->numbers, part->n * data->dim * 4);
    hash = crc(hash, part->label, part->n * 4);
    hash = crc(hash, part->target, part->n * data->targets * 4);
    return crc(hash, part->length, part->n * 4);
}

static uint32_t hash_data(const tsr_data *data)
{
    const int64_t shape[] = {data->channels, data->height, data->width, data->classes,
                             data->targets};
    uint32_t hash = crc(0, shape, sizeof shape);
    hash = crc(hash, data->train.bytes ? data->scaling.shift : NULL, data->channels * 4);
    hash = crc(hash, data->train.bytes ? data->scaling.scale : NULL, data->channels * 4);
    hash = hash_part(hash, &data->train, data);
    return hash_part(hash, &data->test, data);
}

static void names_free(char **names, int64_t count)
{
    for (int64_t i = 0; names && i < count; i++)
        tsri_free(names[i]);
    tsri_free(names);
}

/* ---- Load --------------------------------------------------------------------------------- */

static const char *resolve(const tsr_config *config, const char *key, const char *of_source,
                           const char *of_kind)
{
    const char *asked = tsri_config_text(config, key);
    if (strcmp(asked, "auto") != 0)
        return asked;
    return of_source ? of_source : of_kind;
}

static tsr_status prepare(tsr_data *data, const tsr_config *config, const tsri_wants *wants,
                          const tsri_like *like, bool whole)
{
    tsr_status st = TSR_OK;
    bool image = data->height * data->width > 1 && !data->sequences;
    /* made sequences are as theory wants them already */
    bool fit = data->sequences && data->normalize &&
               tsri_normalises_nothing(tsri_normalisation_named(data->normalize));
    const char *inputs =
        wants->normalize && !fit
            ? resolve(config, "data.normalize", NULL, wants->normalize)
            : resolve(config, "data.normalize", data->normalize, image ? "channel" : "standardize");
    const char *targets = resolve(config, "data.target_scale",
                                  wants->signs ? "none" : data->target_scale, "standardize");
    const tsri_scaling *scaling = like ? like->scaling : NULL;
    if (like && like->schema->kind) { /* as in training, wherever the data come from */
        inputs = like->schema->normalize;
        targets = like->schema->target_scale;
    }
    const tsri_normalisation *how = tsri_normalisation_named(inputs);
    TSR_TRY(tsri_strdup(&data->schema.normalize, inputs));
    TSR_TRY(tsri_strdup(&data->schema.target_scale, targets));
    TSR_TRY(check(data));
    data->own_test = data->test.n > 0;
    TSR_TRY(tsri_check_points(data, wants, how->each_row && !how->wanted_length));
    if (!whole)
        TSR_TRY(tsri_split(data, config));
    if (!like && data->train.label)
        TSR_TRY(doubt_classes(data));
    if (like && data->missing > 0)
        TSRI_INFO("%s: %lld cells are missing and filled as in the model's training",
                  tsri_quote(data->name), (long long)data->missing);
    TSR_TRY(tsri_fill_missing(data, tsri_config_text(config, "data.missing"), scaling));
    data->of_bytes = data->train.bytes != NULL;
    data->keeps_pixels = tsri_config_int(config, "data.randaugment") > 0;
    data->patch = wants->length;
    TSR_TRY(tsri_normalize(data, how, scaling, wants->length));
    if (like)
        tsri_warn_of_strange(data, like);
    TSR_TRY(tsri_scale_targets(data, targets, scaling));
    if (like)
        tsri_warn_of_strange_targets(data);
    data->hash = hash_data(data);
done:
    return st;
}

static tsr_status finish_schema(tsr_data *data, const tsr_config *config)
{
    const char *unit = tsri_config_text(config, "data.unit");
    data->schema.classes = data->classes;
    return unit ? tsri_strdup(&data->schema.unit, unit) : TSR_OK;
}

tsr_status tsri_data_load(tsr_data **out, const tsr_config *config, const tsri_wants *wants)
{
    return tsri_data_load_like(out, config, wants, NULL);
}

tsr_status tsri_data_raw(tsr_data **out, const tsr_config *config, const tsri_like *like)
{
    tsr_status st = TSR_OK;
    tsr_data *data = NULL;
    const tsri_source *source = NULL;
    *out = NULL;
    TSR_TRY(tsri_source_choose(&source, config));
    TSR_TRY(tsri_alloc(&data, 1, sizeof *data));
    const char *path = tsri_config_text(config, "data.path");
    TSR_TRY(tsri_strdup(&data->name, source->name[0] ? source->name : path));
    data->like = like && like->schema->kind ? like : NULL;
    TSR_TRY(source->load(data, config));
    data->like = NULL;
    if (!data->source)
        TSR_TRY(tsri_strdup(&data->source, "made from its seed"));
    TSR_TRY(finish_schema(data, config));
    data->normalize = source->normalize;
    data->target_scale = source->target_scale;
    if (source->keys)
        data->keys = source->keys;
    *out = data;
    data = NULL;
done:
    tsr_data_destroy(data);
    return st;
}

tsr_status tsri_data_load_like(tsr_data **out, const tsr_config *config, const tsri_wants *wants,
                               const tsri_like *like)
{
    tsr_status st = TSR_OK;
    tsr_data *data = NULL;
    *out = NULL;
    TSR_TRY(tsri_data_raw(&data, config, like));
    TSR_TRY(prepare(data, config, wants, like, false));
    *out = data;
    data = NULL;
done:
    tsr_data_destroy(data);
    return st;
}

/* ---- From one in memory --------------------------------------------------------------------- */

static tsr_status copy_names(char ***out, char *const *name, int64_t n)
{
    tsr_status st = TSR_OK;
    if (!name)
        return TSR_OK;
    TSR_TRY(tsri_alloc(out, n, sizeof **out));
    for (int64_t i = 0; i < n; i++)
        TSR_TRY(tsri_strdup(&(*out)[i], name[i]));
done:
    return st;
}

static tsr_status copy_raw(tsr_data *to, const tsr_data *from)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_strdup(&to->name, from->name));
    TSR_TRY(tsri_strdup(&to->source, from->source));
    to->channels = from->channels;
    to->height = from->height;
    to->width = from->width;
    to->dim = from->dim;
    to->targets = from->targets;
    to->sequences = from->sequences;
    to->missing = from->missing;
    to->missing_found = from->missing_found;
    to->normalize = from->normalize;
    to->target_scale = from->target_scale;
    to->keys = from->keys;
    to->classes = from->classes;
    TSR_TRY(copy_names(&to->class_name, from->class_name, from->classes));
    TSR_TRY(copy_names(&to->column, from->column, from->dim));
    TSR_TRY(tsri_data_schema_copy(&to->schema, &from->schema));
    TSR_TRY(tsri_part_copy(&to->train, &from->train, from));
    TSR_TRY(tsri_part_copy(&to->test, &from->test, from));
done:
    return st;
}

/* Class i of the data as the model numbers it, by its name; -1: the model does not know it. Words
 * mean nothing to a model whose classes are numbered. Two names may mean one number, 01 and 1. */
static int64_t class_there(const tsr_data *data, int64_t i, const tsri_like *like)
{
    const char *name = data->class_name ? data->class_name[i] : NULL;
    if (!name)
        return tsri_like_label(like, i);
    int64_t same = like->class_name ? tsri_like_class(like, name, strlen(name)) : -1;
    if (same >= 0)
        return same;
    if (strspn(name, "+-0123456789") == strlen(name))
        return tsri_like_label(like, strtoll(name, NULL, 10));
    return like->class_name ? tsri_like_class(like, name, strlen(name)) : i;
}

/* The samples of a part get the model's numbers. */
static tsr_status renumber(tsri_part *part, const tsr_data *data, const int64_t *there)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; part->label && i < part->n; i++) {
        int64_t is = part->label[i];
        char number[24];
        (void)snprintf(number, sizeof number, "%lld", (long long)is);
        TSR_CHECK(there[is] >= 0, TSR_USAGE,
                  "%s: sample %lld is of the class %s, which the model was not trained on",
                  tsri_quote(data->name), (long long)i,
                  data->class_name ? tsri_quote(data->class_name[is]) : number);
        part->label[i] = (int32_t)there[is];
    }
done:
    return st;
}

static tsr_status renumber_all(tsr_data *data, const tsri_like *like)
{
    tsr_status st = TSR_OK;
    int64_t *there = NULL;
    TSR_TRY(tsri_alloc_raw(&there, data->classes, sizeof *there));
    for (int64_t i = 0; i < data->classes; i++)
        there[i] = class_there(data, i, like);
    TSR_TRY(renumber(&data->train, data, there));
    TSR_TRY(renumber(&data->test, data, there));
done:
    tsri_free(there);
    return st;
}

/* Renumbers classes as the model has them: a data set may lack some, and number the rest
 * otherwise. */
static tsr_status fit_classes(tsr_data *data, const tsri_like *like)
{
    tsr_status st = TSR_OK;
    if (!like || !like->schema->kind)
        return TSR_OK;
    const char *differs = tsri_data_schema_differs(&data->schema, like->schema);
    TSR_CHECK(!differs, TSR_USAGE, "%s is not the table that the model was trained on: %s",
              tsri_quote(data->name), differs);
    TSR_CHECK((data->classes > 0) == (like->classes > 0) && data->classes <= like->classes,
              TSR_USAGE, "%s has %lld classes, but the model was trained on %lld",
              tsri_quote(data->name), (long long)data->classes, (long long)like->classes);
    if (data->classes > 0)
        TSR_TRY(renumber_all(data, like));
    names_free(data->class_name, data->classes);
    data->class_name = NULL;
    data->classes = data->schema.classes = like->classes;
    TSR_TRY(copy_names(&data->class_name, like->class_name, like->classes));
done:
    return st;
}

static tsr_status from_memory(tsr_data **out, const tsr_data *raw, const tsr_config *config,
                              const tsri_wants *wants, const tsri_like *like, bool whole)
{
    tsr_status st = TSR_OK;
    tsr_data *data = NULL;
    *out = NULL;
    TSR_CHECK(!raw->prepared, TSR_USAGE,
              "%s was split and scaled already (tsr_data_load): give what tsr_data_read gives",
              raw->name);
    TSR_TRY(tsri_alloc(&data, 1, sizeof *data));
    TSR_TRY(copy_raw(data, raw));
    tsri_free(data->schema.unit);
    data->schema.unit = NULL;
    TSR_TRY(finish_schema(data, config));
    TSR_TRY(fit_classes(data, like));
    TSR_TRY(prepare(data, config, wants, like, whole));
    *out = data;
    data = NULL;
done:
    tsr_data_destroy(data);
    return st;
}

tsr_status tsri_data_prepared(tsr_data **out, const tsr_data *raw, const tsr_config *config,
                              const tsri_wants *wants, const tsri_like *like)
{
    return from_memory(out, raw, config, wants, like, false);
}

tsr_status tsri_data_shown(tsr_data **out, const tsr_data *raw, const tsr_config *config,
                           const tsri_wants *wants, const tsri_like *like)
{
    return from_memory(out, raw, config, wants, like, true);
}

void tsr_data_destroy(tsr_data *data)
{
    if (!data)
        return;
    names_free(data->class_name, data->classes);
    names_free(data->column, data->dim);
    tsri_part_fini(&data->train);
    tsri_part_fini(&data->test);
    tsri_scaling_fini(&data->scaling);
    tsri_data_schema_fini(&data->schema);
    tsri_free(data->name);
    tsri_free(data->source);
    tsr_config_destroy(data->asked);
    tsri_free(data);
}
