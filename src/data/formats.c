/* formats.c - the table of file formats, and what their readers share. */
#include "data/reader.h"

#include "base/alloc.h"
#include "data/part.h"
#include "io/archive.h"
#include "io/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { STDIN_MOST = 1000000000 }; /* bytes of a table on standard input */

/* The order matters for data.format: auto; csv comes last because it takes any text. */
const tsri_format tsri_formats[] = {
    {"npy", tsri_is_npy, tsri_read_npy, "task"},
    {"idx", tsri_is_idx, tsri_read_idx, "task"},
    {"cifar10", tsri_is_cifar10, tsri_read_cifar10, ""},
    {"cifar100", tsri_is_cifar100, tsri_read_cifar100, ""},
    {"sequences", tsri_is_sequences, tsri_read_sequences, "task"},
    {"imagefolder", tsri_is_images, tsri_read_images, "size"},
    {"csv", tsri_is_csv, tsri_read_csv,
     "task target ignore header missing words unknown decimal dates"},
};
const int64_t tsri_format_count = (int64_t)(sizeof tsri_formats / sizeof *tsri_formats);

tsri_read tsri_read_of(const tsr_config *config, const tsri_like *like)
{
    return (tsri_read){
        .path = tsri_config_text(config, "data.path"),
        .test_path = tsri_config_text(config, "data.test_path"),
        .target = tsri_config_text(config, "data.target"),
        .ignore = tsri_config_text(config, "data.ignore"),
        .header = tsri_config_text(config, "data.header"),
        .missing = tsri_config_text(config, "data.missing"),
        .words = tsri_config_text(config, "data.words"),
        .decimal = tsri_config_text(config, "data.decimal"),
        .dates = tsri_config_text(config, "data.dates"),
        .unknown = tsri_config_text(config, "data.unknown"),
        .task = tsri_config_text(config, "data.task"),
        .size = tsri_config_int(config, "data.size"),
        .like = like,
    };
}

tsr_status tsri_format_choose(const tsri_format **out, const char *format, const char *path)
{
    tsr_status st = TSR_OK;
    bool any = strcmp(format, "auto") == 0;
    *out = NULL;
    TSR_CHECK(tsri_is_folder(path) || tsri_is_file(path) || tsri_is_stdin(path), TSR_BAD_FILE,
              "%s: no such file or folder; check data.path", tsri_quote(path));
    for (int64_t i = 0; i < tsri_format_count && !*out; i++) {
        const tsri_format *f = &tsri_formats[i];
        bool is = strcmp(format, f->name) == 0;
        if (any)
            TSR_TRY(f->recognise(&is, path));
        *out = is ? f : NULL;
    }
    TSR_CHECK(*out, TSR_BAD_FILE,
              "%s: cannot tell the format of this data; say it with data.format (idx, cifar10, "
              "cifar100, csv, npy, imagefolder, sequences)",
              tsri_quote(path));
done:
    return st;
}

int64_t tsri_positions(const tsri_like *like, int64_t length, int64_t numbers)
{
    bool fits = like && like->channels == numbers && like->height > length;
    return fits ? like->height : length;
}

const char *tsri_format_keys(tsr_status (*read)(tsr_data *data, const tsri_read *want))
{
    for (int64_t i = 0; i < tsri_format_count; i++)
        if (tsri_formats[i].read == read)
            return tsri_formats[i].keys;
    return "";
}

/* ---- Paths -------------------------------------------------------------------------------- */

bool tsri_is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

bool tsri_is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

bool tsri_is_file(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

bool tsri_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcasecmp(text + n - m, end) == 0;
}

tsr_status tsri_find_in(char **out, const char *folder, const char *name)
{
    static const char *const endings[] = {"", ".gz", ".xz"};
    tsr_status st = TSR_OK;
    char *path = NULL;
    *out = NULL;
    for (size_t i = 0; i < sizeof endings / sizeof *endings && !*out; i++) {
        tsri_text full = {0};
        st = tsri_text_add(&full, "%s/%s%s", folder, name, endings[i]);
        path = full.data;
        if (st == TSR_OK && tsri_is_file(path)) {
            *out = path;
            path = NULL;
        }
        TSRI_FREE(path);
        if (st != TSR_OK)
            return st;
    }
    return st;
}

int64_t tsri_read_most(const char *path)
{
    struct stat s;
    int64_t size = stat(path, &s) == 0 ? (int64_t)s.st_size : 0;
    return 64000000 + 100 * (size < INT64_MAX / 400 ? size : INT64_MAX / 400);
}

tsr_status tsri_read_whole(char **bytes, int64_t *n, const char *path)
{
    *bytes = NULL;
    *n = 0;
    if (tsri_is_stdin(path))
        return tsri_file_read_stdin(bytes, n, STDIN_MOST);
    if (!tsri_is_file(path))
        return tsri_fail(TSR_BAD_FILE, "%s: no such file; check the path", tsri_quote(path));
    return tsri_archive_read_file(bytes, n, path, tsri_read_most(path));
}

/* ---- Labels ------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* value = the different values of both parts, in order. */
static tsr_status distinct(int64_t **value, int64_t *count, const tsr_data *data,
                           const int64_t *train, const int64_t *test)
{
    tsr_status st = TSR_OK;
    int64_t n = data->train.n, m = test ? data->test.n : 0;
    TSR_TRY(tsri_alloc_raw(value, n + m, sizeof **value));
    memcpy(*value, train, (size_t)n * sizeof **value);
    if (test)
        memcpy(*value + n, test, (size_t)m * sizeof **value);
    qsort(*value, (size_t)(n + m), sizeof **value, ascending);
    *count = 0;
    for (int64_t i = 0; i < n + m; i++)
        if (i == 0 || (*value)[i] != (*value)[*count - 1])
            (*value)[(*count)++] = (*value)[i];
done:
    return st;
}

static tsr_status set_labels(tsri_part *part, const int64_t *raw, const int64_t *value,
                             int64_t count, bool plain)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc_raw(&part->label, part->n, sizeof *part->label));
    for (int64_t i = 0; i < part->n; i++) {
        int64_t *at = bsearch(&raw[i], value, (size_t)count, sizeof *value, ascending);
        part->label[i] = (int32_t)(plain ? raw[i] : at - value);
    }
done:
    return st;
}

tsr_status tsri_take_classes(tsr_data *data)
{
    const tsri_like *like = data->like;
    data->classes = like->classes;
    data->targets = like->targets;
    return like->class_name ? tsri_data_name_classes(data, (const char *const *)like->class_name)
                            : TSR_OK;
}

static tsr_status labels_like(tsri_part *part, const tsri_like *like, const int64_t *v,
                              const char *path)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_alloc_raw(&part->label, part->n, sizeof *part->label));
    for (int64_t i = 0; i < part->n; i++) {
        int64_t class = tsri_like_label(like, v[i]);
        TSR_CHECK(
            class >= 0, TSR_BAD_FILE,
            "%s: sample %lld has the label %lld, which is not one of the model's %lld classes",
            tsri_quote(path), (long long)(i + 1), (long long)v[i], (long long)like->classes);
        part->label[i] = (int32_t) class;
    }
done:
    return st;
}

tsr_status tsri_labels_from(tsr_data *data, const int64_t *train, const int64_t *test, bool compact,
                            const char *path)
{
    tsr_status st = TSR_OK;
    int64_t *value = NULL, count = 0;
    if (data->like && data->like->classes > 0) {
        TSR_TRY(tsri_take_classes(data));
        TSR_TRY(labels_like(&data->train, data->like, train, path));
        if (test)
            TSR_TRY(labels_like(&data->test, data->like, test, path));
        goto done;
    }
    TSR_TRY(distinct(&value, &count, data, train, test));
    TSR_CHECK(count > 0, TSR_BAD_FILE, "%s: there are no labels in it", tsri_quote(path));
    bool plain = !compact && value[0] == 0 && value[count - 1] < TSRI_CLASSES_MAX;
    TSR_CHECK(plain || count <= TSRI_CLASSES_MAX, TSR_BAD_FILE,
              "%s: %lld different labels are too many for classes; set data.task to regress",
              tsri_quote(path), (long long)count);
    data->classes = plain ? value[count - 1] + 1 : count;
    TSR_TRY(set_labels(&data->train, train, value, count, plain));
    if (test)
        TSR_TRY(set_labels(&data->test, test, value, count, plain));
    if (!plain) {
        TSR_TRY(tsri_alloc(&data->class_name, count, sizeof *data->class_name));
        for (int64_t i = 0; i < count; i++) {
            tsri_text name = {0};
            st = tsri_text_add(&name, "%lld", (long long)value[i]);
            data->class_name[i] = name.data;
            if (st != TSR_OK)
                goto done;
        }
    }
done:
    tsri_free(value);
    return st;
}
