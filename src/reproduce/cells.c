/* cells.c - the files of cells, and which of them are asked for. See cells.h. */
#include "reproduce/cells.h"

#include "base/alloc.h"
#include "base/text.h"
#include "io/config.h"
#include "io/file.h"
#include "io/json.h"

#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Names ----------------------------------------------------------------------------------- */

tsr_status tsri_cell_list_add(tsri_cell_list *list, const char *fmt, ...)
{
    tsr_status st = TSR_OK;
    va_list args;
    TSR_TRY(tsri_reserve(&list->name, &list->room, list->count, sizeof *list->name));
    TSR_TRY(tsri_reserve(&list->flops, &list->flops_room, list->count, sizeof *list->flops));
    TSR_TRY(tsri_reserve(&list->there, &list->there_room, list->count, sizeof *list->there));
    va_start(args, fmt);
    int length = vsnprintf(list->name[list->count], TSRI_CELL_NAME, fmt, args);
    va_end(args);
    TSR_CHECK(length < TSRI_CELL_NAME, TSR_FAILURE, "the name of cell %s is too long",
              list->name[list->count]);
    list->flops[list->count] = 0;
    list->there[list->count++] = false;
done:
    return st;
}

void tsri_cell_list_fini(tsri_cell_list *list)
{
    tsri_free(list->name);
    tsri_free(list->flops);
    tsri_free(list->there);
    *list = (tsri_cell_list){0};
}

static bool is_picked(const int64_t *order, int64_t picked, int64_t cell)
{
    for (int64_t i = 0; i < picked; i++)
        if (order[i] == cell)
            return true;
    return false;
}

/* Those of one pattern that no earlier one named. */
static tsr_status pick_one(int64_t *order, int64_t *picked, const tsri_cell_list *list,
                           const char *pattern)
{
    tsr_status st = TSR_OK;
    bool any = false;
    for (int64_t i = 0; i < list->count; i++) {
        if (fnmatch(pattern, list->name[i], 0) != 0)
            continue;
        any = true;
        if (!is_picked(order, *picked, i))
            order[(*picked)++] = i;
    }
    TSR_CHECK(any, TSR_USAGE, "no cell is called %s: --list names them, the first is %s",
              tsri_quote(pattern), list->count > 0 ? list->name[0] : "missing");
done:
    return st;
}

tsr_status tsri_cells_pick(int64_t *order, int64_t *picked, const tsri_cell_list *list,
                           const char *patterns)
{
    tsr_status st = TSR_OK;
    char pattern[TSRI_CELL_NAME];
    const char *at = patterns ? patterns : "*";
    *picked = 0;
    if (strcmp(at, "none") == 0)
        return TSR_OK;
    while (*at) {
        size_t n = strcspn(at, ",");
        TSR_CHECK(n > 0 && n < sizeof pattern, TSR_USAGE,
                  "%s is not a list of patterns between commas", tsri_quote(patterns));
        (void)snprintf(pattern, sizeof pattern, "%.*s", (int)n, at);
        TSR_TRY(pick_one(order, picked, list, pattern));
        at += n + (at[n] == ',');
    }
done:
    return st;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

tsri_study_cell tsri_cell_named(const char *name)
{
    tsri_study_cell c = {0};
    (void)snprintf(c.name, sizeof c.name, "%s", name);
    return c;
}

void tsri_cell_fini(tsri_study_cell *c)
{
    for (int64_t i = 0; i < c->count; i++)
        tsri_free(c->series[i].value);
    tsri_free(c->series);
    c->series = NULL;
    c->count = c->room = 0;
}

static tsr_status add_series(tsri_study_cell *c, const char *name, const double *value, int64_t n,
                             bool number)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_reserve(&c->series, &c->room, c->count, sizeof *c->series));
    tsri_cell_series *one = &c->series[c->count];
    *one = (tsri_cell_series){.n = n, .number = number};
    (void)snprintf(one->name, sizeof one->name, "%s", name);
    TSR_TRY(tsri_alloc(&one->value, n > 0 ? n : 1, sizeof *one->value));
    if (n > 0)
        memcpy(one->value, value, (size_t)n * sizeof *value);
    c->count++;
done:
    return st;
}

void tsri_cell_put_series(tsri_study_cell *c, const char *name, const double *value, int64_t n)
{
    if (c->st == TSR_OK)
        c->st = add_series(c, name, value, n, false);
}

void tsri_cell_put(tsri_study_cell *c, const char *name, double value)
{
    if (c->st == TSR_OK)
        c->st = add_series(c, name, &value, 1, true);
}

static const tsri_cell_series *find(const tsri_study_cell *c, const char *name)
{
    for (int64_t i = 0; i < c->count; i++)
        if (strcmp(c->series[i].name, name) == 0)
            return &c->series[i];
    return NULL;
}

double tsri_cell_value(const tsri_study_cell *c, const char *name)
{
    const tsri_cell_series *one = find(c, name);
    return one && one->n > 0 ? one->value[0] : (double)NAN;
}

void tsri_cell_copy(double *value, int64_t n, const tsri_study_cell *c, const char *name)
{
    const tsri_cell_series *one = find(c, name);
    for (int64_t i = 0; i < n; i++)
        value[i] = one && i < one->n ? one->value[i] : (double)NAN;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static tsr_status place(tsri_text *path, const tsri_study *s, const char *name)
{
    return tsri_text_add(path, "%s/cells/%s.json", s->folder, name);
}

/* Where data of a known name lie is no part of a setting. */
static tsr_status without_places(tsr_config *config)
{
    tsr_status st = TSR_OK;
    if (!tsri_config_text(config, "data.name"))
        return TSR_OK;
    TSR_TRY(tsr_config_set(config, "data.path=-"));
    TSR_TRY(tsr_config_set(config, "data.test_path=-"));
done:
    return st;
}

static tsr_status same_settings(const char *text, const tsr_config *config, const char *path)
{
    tsr_status st = TSR_OK;
    tsr_config *old = NULL, *now = NULL;
    tsri_text changes = {0};
    TSR_TRY(tsri_config_parse(&old, text, (int64_t)strlen(text), path));
    TSR_TRY(tsri_config_copy(&now, config));
    TSR_TRY(without_places(old));
    TSR_TRY(without_places(now));
    TSR_TRY(tsri_config_differences(&changes, old, now));
    TSR_CHECK(changes.length == 0, TSR_USAGE,
              "%s was made with other settings:\n%smake it again (remove the file), or give the "
              "same settings",
              tsri_quote(path), changes.data);
done:
    tsri_text_fini(&changes);
    tsr_config_destroy(old);
    tsr_config_destroy(now);
    return st;
}

static double real_or_nan(const tsri_json_value *value)
{
    double number;
    return tsri_json_as_real(value, &number) ? number : (double)NAN;
}

static tsr_status take_number(void *context, const char *key, const tsri_json_value *value)
{
    tsri_study_cell *c = context;
    tsri_cell_put(c, key, real_or_nan(value));
    return c->st;
}

static tsr_status take_series(void *context, const char *key, const tsri_json_value *value)
{
    tsr_status st = TSR_OK;
    tsri_study_cell *c = context;
    int64_t n = tsri_json_is_array(value) ? tsri_json_length(value) : 0;
    double *numbers = NULL;
    TSR_TRY(tsri_alloc(&numbers, n > 0 ? n : 1, sizeof *numbers));
    for (int64_t i = 0; i < n; i++)
        numbers[i] = real_or_nan(tsri_json_at(value, i));
    TSR_TRY(add_series(c, key, numbers, n, false));
done:
    tsri_free(numbers);
    return st;
}

static void take_origin(tsri_study_cell *c, const tsri_json_value *root)
{
    const char *version = "?", *commit = NULL;
    (void)tsri_json_as_text(tsri_json_get(root, "version"), &version);
    (void)tsri_json_as_text(tsri_json_get(root, "commit"), &commit);
    (void)snprintf(c->origin, sizeof c->origin, "%s%s%s", version, commit ? ", commit " : "",
                   commit ? commit : "");
}

static tsr_status take(tsri_study_cell *c, const tsri_study *s, const tsri_json_value *root,
                       const tsr_config *config, const char *path)
{
    tsr_status st = TSR_OK;
    const char *study = "", *name = "", *run_file = NULL;
    const tsri_json_value *numbers = tsri_json_get(root, "measured");
    const tsri_json_value *series = tsri_json_get(root, "series");
    TSR_CHECK(tsri_json_as_text(tsri_json_get(root, "study"), &study) &&
                  tsri_json_as_text(tsri_json_get(root, "cell"), &name) &&
                  tsri_json_as_text(tsri_json_get(root, "run_file"), &run_file) &&
                  tsri_json_is_object(numbers),
              TSR_BAD_FILE, "%s is not a cell of a study", tsri_quote(path));
    TSR_CHECK(strcmp(study, s->row->name) == 0 && strcmp(name, c->name) == 0, TSR_BAD_FILE,
              "%s holds cell %s of %s", tsri_quote(path), tsri_quote(name), tsri_quote(study));
    TSR_TRY(same_settings(run_file, config, path));
    take_origin(c, root);
    tsri_cell_fini(c);
    TSR_TRY(tsri_json_each(numbers, take_number, c));
    if (tsri_json_is_object(series))
        TSR_TRY(tsri_json_each(series, take_series, c));
done:
    return st;
}

tsr_status tsri_cell_read(tsri_study_cell *c, bool *there, const tsri_study *s,
                          const tsr_config *config)
{
    tsr_status st = TSR_OK;
    tsri_text path = {0};
    char *bytes = NULL;
    int64_t n = 0;
    tsri_json_value *root = NULL;
    *there = false;
    TSR_TRY(place(&path, s, c->name));
    if (!tsri_file_exists(path.data))
        goto done;
    TSR_TRY(tsri_file_read(&bytes, &n, path.data, TSRI_JSON_MOST));
    TSR_TRY(tsri_json_parse(&root, bytes, n, tsri_quote(path.data)));
    TSR_TRY(take(c, s, root, config, path.data));
    *there = true;
done:
    tsri_json_destroy(root);
    tsri_free(bytes);
    tsri_text_fini(&path);
    return st;
}

/* Only where there are some. */
static void put_series(tsri_json *w, const tsri_study_cell *c)
{
    bool any = false;
    for (int64_t i = 0; i < c->count; i++) {
        const tsri_cell_series *one = &c->series[i];
        if (one->number)
            continue;
        if (!any) {
            tsri_json_key(w, "series");
            tsri_json_open(w, '{');
        }
        any = true;
        tsri_json_key(w, one->name);
        tsri_json_open(w, '[');
        for (int64_t k = 0; k < one->n; k++)
            tsri_json_real(w, one->value[k]);
        tsri_json_close(w, ']');
    }
    if (any)
        tsri_json_close(w, '}');
}

static void put_cell(tsri_json *w, const tsri_study *s, const tsri_study_cell *c,
                     const char *run_file)
{
    tsri_json_begin(w);
    tsri_json_put_text(w, "study", s->row->name);
    tsri_json_put_text(w, "cell", c->name);
    tsri_json_key(w, "measured");
    tsri_json_open(w, '{');
    for (int64_t i = 0; i < c->count; i++)
        if (c->series[i].number)
            tsri_json_put_real(w, c->series[i].name, c->series[i].value[0]);
    tsri_json_close(w, '}');
    put_series(w, c);
    tsri_json_put_text(w, "run_file", run_file);
    tsri_json_put_text(w, "version", tsr_version());
    if (s->options->commit)
        tsri_json_put_text(w, "commit", s->options->commit);
    tsri_json_close(w, '}');
}

tsr_status tsri_cell_write(const tsri_study *s, const tsri_study_cell *c, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    tsri_text path = {0}, folder = {0}, run_file = {0};
    tsri_json w = {0};
    TSR_TRY(c->st);
    TSR_TRY(tsri_text_add(&folder, "%s/cells", s->folder));
    TSR_TRY(tsri_make_folder(folder.data));
    TSR_TRY(place(&path, s, c->name));
    TSR_TRY(tsri_config_write_result(&run_file, config));
    put_cell(&w, s, c, run_file.data);
    TSR_TRY(tsri_json_end(&w));
    TSR_TRY(tsri_file_write_text(path.data, w.text.data));
done:
    tsri_json_fini(&w);
    tsri_text_fini(&run_file);
    tsri_text_fini(&folder);
    tsri_text_fini(&path);
    return st;
}
