/* sweep_read.c - a sweep from its folder: to go on with it, or to look at it (also while it
 * runs). */
#include "sweep/sweep.h"

#include "base/alloc.h"
#include "base/log.h"
#include "io/file.h"
#include "io/json.h"

#include <math.h>
#include <string.h>

/* ---- Lines --------------------------------------------------------------------------------- */

static double real_or_nan(const tsri_json_value *line, const char *key)
{
    double value = NAN;
    const tsri_json_value *v = tsri_json_get(line, key);
    return v && tsri_json_as_real(v, &value) ? value : (double)NAN;
}

static int64_t int_or(const tsri_json_value *line, const char *key, int64_t preset)
{
    const tsri_json_value *v = tsri_json_get(line, key);
    int64_t value = preset;
    return v && tsri_json_as_int(v, &value) ? value : preset;
}

static tsr_status read_curve(tsri_outcome *o, const tsri_json_value *array)
{
    tsr_status st = TSR_OK;
    int64_t n = array && tsri_json_is_array(array) ? tsri_json_length(array) : 0;
    TSR_TRY(tsri_alloc(&o->curve, n, sizeof *o->curve));
    for (; o->curve_count < n; o->curve_count++)
        if (!tsri_json_as_real(tsri_json_at(array, o->curve_count), &o->curve[o->curve_count]))
            o->curve[o->curve_count] = NAN;
done:
    return st;
}

static tsr_status read_outcome(tsri_sweep *s, int64_t i, const tsri_json_value *line,
                               const char *place)
{
    tsr_status st = TSR_OK;
    tsri_outcome *o = &s->outcome[i];
    const char *status = "", *why = "";
    const tsri_json_value *v = tsri_json_get(line, "status");
    int64_t seed = tsri_config_int(s->config, "seed") + i % s->seeds;
    TSR_CHECK(v && tsri_json_as_text(v, &status) && int_or(line, "cell", -1) == i / s->seeds &&
                  int_or(line, "seed", -1) == seed,
              TSR_BAD_FILE,
              "%s: this is not the line of cell %lld, seed %lld: choose another folder", place,
              (long long)(i / s->seeds), (long long)seed);
    *o = (tsri_outcome){.done = true,
                        .diverged = strcmp(status, "diverged") == 0,
                        .rounds = int_or(line, "rounds", 0),
                        .loss = real_or_nan(line, "loss"),
                        .accuracy = real_or_nan(line, "accuracy"),
                        .train_loss = real_or_nan(line, "train_loss"),
                        .bytes = int_or(line, "bytes_total", 0),
                        .seconds = real_or_nan(line, "seconds")};
    if (strcmp(status, "refused") == 0) {
        (void)tsri_json_as_text(tsri_json_get(line, "why"), &why);
        TSR_TRY(tsri_strdup(&o->refused, why));
    }
    if (s->options.curves)
        TSR_TRY(read_curve(o, tsri_json_get(line, "curve")));
    s->done++;
    s->diverged += o->diverged;
    s->refused += o->refused != NULL;
done:
    return st;
}

tsr_status tsri_sweep_read_lines(tsri_sweep *s, int64_t *whole, const char *path)
{
    tsr_status st = TSR_OK;
    char *text = NULL;
    tsri_json_value *line = NULL;
    tsri_text place = {0};
    int64_t n = 0;
    *whole = 0;
    TSR_TRY(tsri_file_read(&text, &n, path, TSRI_SWEEP_MOST));
    for (char *at = text, *end; (end = memchr(at, '\n', (size_t)(text + n - at))); at = end + 1) {
        place.length = 0;
        TSR_TRY(tsri_text_add(&place, "%s:%lld", tsri_quote(path), (long long)s->done + 1));
        TSR_CHECK(s->done < s->runs, TSR_BAD_FILE, "%s: more lines than the sweep has runs",
                  place.data);
        st = tsri_json_parse(&line, at, end - at, place.data);
        if (st == TSR_BAD_FILE) {
            TSRI_WARN("%s; the runs from this line on are made again", tsr_last_error());
            st = TSR_OK;
            break;
        }
        TSR_TRY(st);
        TSR_TRY(read_outcome(s, s->done, line, place.data));
        tsri_json_destroy(line);
        line = NULL;
        *whole = end + 1 - text;
    }
    s->resumed = s->done;
done:
    tsri_json_destroy(line);
    tsri_text_fini(&place);
    tsri_free(text);
    return st;
}

/* ---- The grid ------------------------------------------------------------------------------ */

static tsr_status read_grid(tsri_grid *grid, const tsri_json_value *row, const char *path)
{
    tsr_status st = TSR_OK;
    const char *text = NULL;
    const tsri_json_value *key = tsri_json_get(row, "key"), *values = tsri_json_get(row, "values");
    int64_t n = values && tsri_json_is_array(values) ? tsri_json_length(values) : 0;
    TSR_CHECK(key && tsri_json_as_text(key, &text) && tsri_schema_find(text) >= 0 && n > 0,
              TSR_BAD_FILE, "%s: this is not a grid of a sweep", tsri_quote(path));
    TSR_TRY(tsri_strdup(&grid->key, text));
    TSR_TRY(tsri_alloc(&grid->value, n, sizeof *grid->value));
    for (; grid->count < n; grid->count++) {
        TSR_CHECK(tsri_json_as_text(tsri_json_at(values, grid->count), &text), TSR_BAD_FILE,
                  "%s: a value of %s is not text", tsri_quote(path), grid->key);
        TSR_TRY(tsri_strdup(&grid->value[grid->count], text));
    }
done:
    return st;
}

/* A grid with more runs than a sweep may have was not written by us. */
static tsr_status count_runs(tsri_sweep *s, const char *path)
{
    tsr_status st = TSR_OK;
    s->cells = 1;
    for (int64_t g = 0; g < s->options.grids; g++) {
        TSR_CHECK(s->cells <= TSRI_SWEEP_RUNS / s->grid[g].count, TSR_BAD_FILE,
                  "%s: more cells than a sweep may have", tsri_quote(path));
        s->cells *= s->grid[g].count;
    }
    TSR_CHECK(s->seeds >= 1 && s->cells <= TSRI_SWEEP_RUNS / s->seeds, TSR_BAD_FILE,
              "%s: more runs than a sweep may have", tsri_quote(path));
    s->runs = s->cells * s->seeds;
done:
    return st;
}

static tsr_status read_grids(tsri_sweep *s, const char *path)
{
    tsr_status st = TSR_OK;
    char *text = NULL;
    tsri_json_value *root = NULL;
    int64_t n = 0;
    TSR_TRY(tsri_file_read(&text, &n, path, TSRI_SWEEP_MOST));
    TSR_TRY(tsri_json_parse(&root, text, n, tsri_quote(path)));
    const tsri_json_value *grid = tsri_json_get(root, "grid"),
                          *curves = tsri_json_get(root, "curves");
    n = grid && tsri_json_is_array(grid) ? tsri_json_length(grid) : 0;
    TSR_CHECK(n > 0, TSR_BAD_FILE, "%s: this is not a grid of a sweep", tsri_quote(path));
    TSR_TRY(tsri_alloc(&s->grid, n, sizeof *s->grid));
    for (; s->options.grids < n; s->options.grids++) {
        tsri_grid *one = &s->grid[s->options.grids];
        st = read_grid(one, tsri_json_at(grid, s->options.grids), path);
        if (st != TSR_OK)
            tsri_grid_fini(one);
        TSR_TRY(st);
    }
    if (curves)
        (void)tsri_json_as_bool(curves, &s->options.curves);
    s->options.curve_every = int_or(root, "curve_every", 1);
    s->seeds = int_or(root, "seeds", 0);
    TSR_TRY(count_runs(s, path));
done:
    tsri_json_destroy(root);
    tsri_free(text);
    return st;
}

tsr_status tsri_sweep_read(tsri_sweep *sweep, const char *folder)
{
    tsr_status st = TSR_OK;
    char *run_yaml = NULL, *grid_json = NULL, *jsonl = NULL;
    int64_t whole = 0;
    *sweep = (tsri_sweep){.options = {.folder = folder}};
    TSR_TRY(tsri_path_join(&run_yaml, folder, "run.yaml"));
    TSR_TRY(tsri_path_join(&grid_json, folder, "grid.json"));
    TSR_TRY(tsri_path_join(&jsonl, folder, "sweep.jsonl"));
    TSR_TRY(tsr_config_read(&sweep->config, run_yaml));
    TSR_TRY(read_grids(sweep, grid_json));
    TSR_TRY(tsri_alloc(&sweep->outcome, sweep->runs, sizeof *sweep->outcome));
    if (tsri_file_exists(jsonl))
        TSR_TRY(tsri_sweep_read_lines(sweep, &whole, jsonl));
done:
    tsri_free(run_yaml);
    tsri_free(grid_json);
    tsri_free(jsonl);
    return st;
}
