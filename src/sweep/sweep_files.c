/* sweep_files.c - the folder of a sweep.
 *
 *     run.yaml       the run file, resolved
 *     grid.json      keys, values and seeds: with run.yaml all that decides the results; and what
 *                    the data and the machine were, so that no table is made of two of either
 *     sweep.jsonl    one line per run, in the order of the runs: always the beginning of the
 *                    finished file
 *     sweep.csv      the same as a table, without curves; written when the sweep ends or is stopped
 *
 * A killed sweep goes on after the last whole line. Numbers are written with the fewest digits
 * that read back to the same bits, so a table made of lines that were read is the table that would
 * have been made without the interruption. Only `seconds`, the last field, differs from one time to
 * another.
 */
#include "sweep/sweep.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/number.h"
#include "io/file.h"
#include "io/json.h"
#include "io/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct tsri_sweep_files {
    int lock;
    tsri_metrics *lines;
    char *csv;
};

/* ---- Is it this sweep? -------------------------------------------------------------------- */

/* Up to the last brace, which is left out. */
static tsr_status describe(tsri_json *w, const tsri_sweep *s)
{
    tsri_json_begin(w);
    tsri_json_key(w, "grid");
    tsri_json_open(w, '[');
    for (int64_t g = 0; g < s->options.grids; g++) {
        tsri_json_open(w, '{');
        tsri_json_put_text(w, "key", s->grid[g].key);
        tsri_json_key(w, "values");
        tsri_json_open(w, '[');
        for (int64_t i = 0; i < s->grid[g].count; i++)
            tsri_json_text(w, s->grid[g].value[i]);
        tsri_json_close(w, ']');
        tsri_json_close(w, '}');
    }
    tsri_json_close(w, ']');
    tsri_json_put_int(w, "seeds", s->seeds);
    tsri_json_put_bool(w, "curves", s->options.curves);
    if (s->options.curve_every > 1)
        tsri_json_put_int(w, "curve_every", s->options.curve_every);
    tsri_json_put_bool(w, "weights", s->options.weights);
    return tsri_json_end(w);
}

/* And on: what that is done with. */
static tsr_status describe_making(tsri_json *w, const tsri_sweep *s)
{
    char data[16];
    (void)snprintf(data, sizeof data, "%08" PRIx32, s->data);
    tsri_json_put_text(w, "data", data);
    tsri_json_put_text(w, "kernels", s->kernels);
    tsri_json_close(w, '}');
    return tsri_json_end(w);
}

static tsr_status same_run_file(const tsri_sweep *s, const char *path)
{
    tsr_status st = TSR_OK;
    tsr_config *old = NULL;
    tsri_text changes = {0};
    TSR_TRY(tsr_config_read(&old, path));
    TSR_TRY(tsri_config_differences(&changes, old, s->config));
    TSR_CHECK(
        changes.length == 0, TSR_USAGE,
        "the run file is not the one that %s was begun with:\n%sgo on with the old values, or "
        "choose another folder",
        tsri_quote(s->options.folder), changes.data);
done:
    tsri_text_fini(&changes);
    tsr_config_destroy(old);
    return st;
}

/* The text behind that key; NULL in a file of an older version. */
static const char *said(const tsri_json_value *file, const char *key)
{
    const char *text = NULL;
    return tsri_json_as_text(tsri_json_get(file, key), &text) ? text : NULL;
}

/* The file begins with the `n` bytes of `text` that say which sweep it is. *kernels = those that it
 * was begun with, or NULL; the caller frees them. */
static tsr_status same_grid(char **kernels, const tsri_sweep *s, const char *path, const char *text,
                            size_t length)
{
    tsr_status st = TSR_OK;
    char *old = NULL, here[16];
    int64_t n = 0;
    tsri_json_value *file = NULL;
    TSR_TRY(tsri_file_read(&old, &n, path, TSRI_SWEEP_MOST));
    bool same = strncmp(old, text, length) == 0;
    TSR_CHECK(same &&
                  (strcmp(old + length, "}") == 0 || strncmp(old + length, ",\"data\":", 8) == 0),
              TSR_USAGE, "%s holds another sweep:\n%s\nnot\n%s\nchoose another folder",
              tsri_quote(s->options.folder), tsri_printable(old, (size_t)n), text);
    TSR_TRY(tsri_json_parse_own(&file, old, n, tsri_quote(path)));
    const char *data = said(file, "data"), *made_by = said(file, "kernels");
    (void)snprintf(here, sizeof here, "%08" PRIx32, s->data);
    TSR_CHECK(
        !data || strcmp(data, here) == 0, TSR_USAGE,
        "%s was begun on other data (checksum %s) than there are now (%s): bring the old data "
        "back, or choose another folder",
        tsri_quote(s->options.folder), tsri_quote(data), here);
    if (made_by)
        TSR_TRY(tsri_strdup(kernels, made_by));
done:
    tsri_json_destroy(file);
    tsri_free(old);
    return st;
}

/* A sweep that is done is only told again. */
static tsr_status same_kernels(const tsri_sweep *s, const char *before)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(
        !before || strcmp(before, s->kernels) == 0 || s->done == s->runs, TSR_USAGE,
        "%s was begun with %s but this machine has %s: its table would be made of two kinds of "
        "numbers; go on there, or choose another folder",
        tsri_quote(s->options.folder), tsri_quote(before), s->kernels);
done:
    return st;
}

/* run.yaml comes last: where it is, all is. */
static tsr_status begin(const tsri_sweep *s, const char *run_yaml, const char *grid_json,
                        const char *grid)
{
    tsr_status st = TSR_OK;
    tsri_text yaml = {0};
    TSR_TRY(tsri_config_write(&yaml, s->config, NULL));
    TSR_TRY(tsri_file_write_text(grid_json, grid));
    TSR_TRY(tsri_file_write_text(run_yaml, yaml.data));
done:
    tsri_text_fini(&yaml);
    return st;
}

static tsr_status begin_or_compare(char **kernels, const tsri_sweep *s, const char *jsonl)
{
    tsr_status st = TSR_OK;
    char *run_yaml = NULL, *grid_json = NULL;
    tsri_json grid = {0};
    TSR_TRY(tsri_path_join(&run_yaml, s->options.folder, "run.yaml"));
    TSR_TRY(tsri_path_join(&grid_json, s->options.folder, "grid.json"));
    TSR_TRY(describe(&grid, s));
    size_t which = (size_t)grid.text.length;
    TSR_TRY(describe_making(&grid, s));
    bool begun = tsri_file_exists(run_yaml);
    TSR_CHECK(begun == tsri_file_exists(grid_json) || !begun, TSR_USAGE,
              "%s holds a run that is not a sweep: choose another folder",
              tsri_quote(s->options.folder));
    TSR_CHECK(begun || !tsri_file_exists(jsonl), TSR_USAGE,
              "%s is there but no run.yaml beside it: choose another folder, or remove it",
              tsri_quote(jsonl));
    if (begun) {
        TSR_TRY(same_run_file(s, run_yaml));
        TSR_TRY(same_grid(kernels, s, grid_json, grid.text.data, which));
    } else {
        TSR_TRY(begin(s, run_yaml, grid_json, grid.text.data));
    }
done:
    tsri_json_fini(&grid);
    tsri_free(run_yaml);
    tsri_free(grid_json);
    return st;
}

/* ---- Opening ------------------------------------------------------------------------------ */

/* The file stands after its last sound line. */
static tsr_status open_lines(tsri_sweep_files *f, tsri_sweep *s, const char *path)
{
    tsr_status st = TSR_OK;
    int64_t whole = 0;
    TSR_TRY(tsri_metrics_open(&f->lines, path, TSRI_METRICS_END));
    TSR_TRY(tsri_sweep_read_lines(s, &whole, path));
    if (whole < tsri_metrics_offset(f->lines)) {
        tsri_metrics_close(f->lines);
        f->lines = NULL;
        TSR_TRY(tsri_metrics_open(&f->lines, path, whole));
    }
done:
    return st;
}

tsr_status tsri_sweep_files_open(tsri_sweep_files **out, tsri_sweep *sweep)
{
    tsr_status st = TSR_OK;
    const char *folder = sweep->options.folder;
    tsri_sweep_files *f = NULL;
    char *jsonl = NULL, *kernels = NULL;
    *out = NULL;
    TSR_TRY(tsri_alloc(&f, 1, sizeof *f));
    f->lock = -1;
    TSR_TRY(tsri_path_join(&jsonl, folder, "sweep.jsonl"));
    TSR_TRY(tsri_path_join(&f->csv, folder, "sweep.csv"));
    TSR_TRY(tsri_make_folder(folder));
    TSR_TRY(tsri_lock_folder(&f->lock, folder));
    TSR_TRY(tsri_sweep_folder(folder));
    TSR_TRY(begin_or_compare(&kernels, sweep, jsonl));
    TSR_TRY(open_lines(f, sweep, jsonl));
    TSR_TRY(same_kernels(sweep, kernels));
    *out = f;
    f = NULL;
done:
    tsri_sweep_files_close(f);
    tsri_free(jsonl);
    tsri_free(kernels);
    return st;
}

void tsri_sweep_files_close(tsri_sweep_files *files)
{
    if (!files)
        return;
    tsri_metrics_close(files->lines);
    if (files->lock >= 0)
        tsri_unlock_folder(files->lock);
    tsri_free(files->csv);
    tsri_free(files);
}

/* ---- Writing lines ------------------------------------------------------------------------ */

/* What the value of a key is called beside a run's results, two of which have names of keys. */
static const char *column_of(const char *key)
{
    return strcmp(key, "loss") == 0     ? "grid.loss"
           : strcmp(key, "rounds") == 0 ? "grid.rounds"
                                        : key;
}

/* A value of the grid as JSON: a number, a truth, or a text. */
static tsr_status write_value(tsri_json *w, const tsr_config *config, const char *key)
{
    tsr_status st = TSR_OK;
    tsri_text text = {0};
    tsri_json_key(w, column_of(key));
    switch (tsri_schema[tsri_schema_find(key)].type) {
    case TSRI_TYPE_INT:
        tsri_json_int(w, tsri_config_int(config, key));
        break;
    case TSRI_TYPE_REAL:
        tsri_json_real(w, tsri_config_real(config, key));
        break;
    case TSRI_TYPE_BOOL:
        tsri_json_bool(w, tsri_config_bool(config, key));
        break;
    case TSRI_TYPE_TEXT:
    case TSRI_TYPE_CHOICE:
        tsri_json_text(w, tsri_config_text(config, key));
        break;
    case TSRI_TYPE_INTS:
    case TSRI_TYPE_REALS:
        TSR_TRY(tsri_config_write_value(&text, config, key));
        tsri_json_text(w, text.data);
        break;
    }
done:
    tsri_text_fini(&text);
    return st;
}

static const char *status_of(const tsri_outcome *o)
{
    return o->refused ? "refused" : o->diverged ? "diverged" : "ok";
}

static void write_numbers(tsri_json *w, const tsri_outcome *o)
{
    tsri_json_put_text(w, "status", status_of(o));
    if (o->refused)
        tsri_json_put_text(w, "why", o->refused);
    tsri_json_put_int(w, "rounds", o->rounds);
    tsri_json_put_real(w, "loss", o->loss);
    tsri_json_put_real(w, "accuracy", o->accuracy);
    tsri_json_put_real(w, "train_loss", o->train_loss);
    tsri_json_put_int(w, "bytes_total", o->bytes);
    if (o->curve) {
        tsri_json_key(w, "curve");
        tsri_json_open(w, '[');
        for (int64_t k = 0; k < o->curve_count; k++)
            tsri_json_real(w, o->curve[k]);
        tsri_json_close(w, ']');
    }
    tsri_json_put_real(w, "seconds", round(o->seconds * 1e4) / 1e4);
}

tsr_status tsri_sweep_files_line(tsri_sweep_files *files, const tsri_sweep *sweep, int64_t i)
{
    tsr_status st = TSR_OK;
    tsri_json w = {0};
    tsr_config *config = NULL;
    TSR_TRY(tsri_sweep_config(&config, sweep, i));
    tsri_json_open(&w, '{');
    tsri_json_put_int(&w, "cell", i / sweep->seeds);
    for (int64_t g = 0; g < sweep->options.grids; g++)
        TSR_TRY(write_value(&w, config, sweep->grid[g].key));
    tsri_json_put_int(&w, "seed", tsri_config_int(config, "seed"));
    write_numbers(&w, &sweep->outcome[i]);
    tsri_json_close(&w, '}');
    TSR_TRY(tsri_json_end(&w));
    TSR_TRY(tsri_metrics_line(files->lines, w.text.data));
    TSR_TRY(tsri_metrics_flush(files->lines)); /* a row is there, or the sweep ends */
done:
    tsri_json_fini(&w);
    tsr_config_destroy(config);
    return st;
}

/* ---- The table ---------------------------------------------------------------------------- */

static tsr_status add_field(tsri_text *t, const char *text)
{
    tsr_status st = TSR_OK;
    if (!strpbrk(text, ",\"\n"))
        return tsri_text_add(t, "%s,", text);
    TSR_TRY(tsri_text_add(t, "\""));
    for (; *text; text++)
        TSR_TRY(tsri_text_add_bytes(t, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1));
    TSR_TRY(tsri_text_add(t, "\","));
done:
    return st;
}

/* An unknown number is an empty field. */
static tsr_status add_real(tsri_text *t, double value, const char *behind)
{
    char text[TSRI_NUMBER_TEXT] = "";
    return tsri_text_add(t, "%s%s", isfinite(value) ? tsri_shortest(text, value) : "", behind);
}

static tsr_status add_row(tsri_text *t, const tsri_sweep *s, int64_t i)
{
    tsr_status st = TSR_OK;
    const tsri_outcome *o = &s->outcome[i];
    TSR_TRY(tsri_text_add(t, "%lld,", (long long)(i / s->seeds)));
    for (int64_t g = 0; g < s->options.grids; g++)
        TSR_TRY(add_field(t, s->grid[g].value[tsri_sweep_value(s, i / s->seeds, g)]));
    TSR_TRY(tsri_text_add(t, "%lld,%s,%lld,",
                          (long long)(tsri_config_int(s->config, "seed") + i % s->seeds),
                          status_of(o), (long long)o->rounds));
    TSR_TRY(add_real(t, o->loss, ","));
    TSR_TRY(add_real(t, o->accuracy, ","));
    TSR_TRY(add_real(t, o->train_loss, ","));
    TSR_TRY(tsri_text_add(t, "%lld,", (long long)o->bytes));
    TSR_TRY(add_real(t, round(o->seconds * 1e4) / 1e4, "\n"));
done:
    return st;
}

tsr_status tsri_sweep_files_table(tsri_sweep_files *files, const tsri_sweep *sweep)
{
    tsr_status st = TSR_OK;
    tsri_text t = {0};
    TSR_TRY(tsri_metrics_sync(files->lines)); /* where the table is, its lines are */
    TSR_TRY(tsri_text_add(&t, "cell,"));
    for (int64_t g = 0; g < sweep->options.grids; g++)
        TSR_TRY(tsri_text_add(&t, "%s,", column_of(sweep->grid[g].key)));
    TSR_TRY(tsri_text_add(&t, "seed,status,rounds,loss,accuracy,train_loss,bytes_total,seconds\n"));
    for (int64_t i = 0; i < sweep->runs; i++)
        if (sweep->outcome[i].done)
            TSR_TRY(add_row(&t, sweep, i));
    TSR_TRY(tsri_file_write_text(files->csv, t.data));
done:
    tsri_text_fini(&t);
    return st;
}
