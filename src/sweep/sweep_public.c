/* sweep_public.c - a sweep as programs see it: a grid in, JSON out. */
#include "base/alloc.h"
#include "base/sized.h"
#include "base/stop.h"
#include "io/json.h"
#include "sweep/sweep.h"

#include <math.h>

/* What the sweep's progress is handed on to. */
typedef struct listener {
    void (*progress)(void *context, int64_t done, int64_t runs);
    void (*counts)(void *context, int64_t done, int64_t runs, int64_t resumed, int64_t diverged);
    void *context;
} listener;

static void hand_on(void *context, const tsri_sweep *sweep)
{
    const listener *l = context;
    if (l->progress)
        l->progress(l->context, sweep->done, sweep->runs);
    if (l->counts)
        l->counts(l->context, sweep->done, sweep->runs, sweep->resumed, sweep->diverged);
}

static void write_curve(tsri_json *w, const tsri_outcome *o)
{
    tsri_json_key(w, "curve");
    if (!o->curve) {
        tsri_json_null(w);
        return;
    }
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < o->curve_count; i++)
        tsri_json_real(w, o->curve[i]);
    tsri_json_close(w, ']');
}

static tsr_status write_outcome(tsri_json *w, const tsri_sweep *sweep, int64_t i)
{
    tsr_status st = TSR_OK;
    tsri_text settings = {0};
    const tsri_outcome *o = &sweep->outcome[i];
    TSR_TRY(tsri_sweep_cell_text(&settings, sweep, i / sweep->seeds, " "));
    tsri_json_open(w, '{');
    tsri_json_put_int(w, "cell", i / sweep->seeds);
    tsri_json_put_int(w, "seed", i % sweep->seeds);
    tsri_json_put_text(w, "settings", settings.length > 0 ? settings.data + 1 : "");
    tsri_json_put_int(w, "rounds", o->rounds);
    tsri_json_put_real(w, "loss", o->loss);
    tsri_json_put_real(w, "accuracy", o->accuracy);
    tsri_json_put_real(w, "train_loss", o->train_loss);
    tsri_json_put_int(w, "bytes", o->bytes);
    tsri_json_put_real(w, "seconds", o->seconds);
    tsri_json_put_bool(w, "diverged", o->diverged);
    tsri_json_key(w, "refused");
    if (o->refused)
        tsri_json_text(w, o->refused);
    else
        tsri_json_null(w);
    write_curve(w, o);
    tsri_json_close(w, '}');
done:
    tsri_text_fini(&settings);
    return st;
}

static void write_spread(tsri_json *w, const char *key, const tsri_spread *s)
{
    tsri_json_key(w, key);
    tsri_json_open(w, '{');
    tsri_json_put_real(w, "mean", s->mean);
    tsri_json_put_real(w, "deviation", s->deviation);
    tsri_json_close(w, '}');
}

/* The mean over the seeds of each cell. */
static void write_cell(tsri_json *w, const tsri_sweep *sweep, int64_t cell)
{
    tsri_cell_sum u = tsri_sweep_sum(sweep, cell);
    tsri_json_open(w, '{');
    tsri_json_key(w, "values");
    tsri_json_open(w, '{');
    for (int64_t g = 0; g < sweep->options.grids; g++)
        tsri_json_put_text(w, sweep->grid[g].key,
                           sweep->grid[g].value[tsri_sweep_value(sweep, cell, g)]);
    tsri_json_close(w, '}');
    write_spread(w, "train_loss", &u.train_loss);
    write_spread(w, "loss", &u.loss);
    write_spread(w, "accuracy", &u.accuracy);
    tsri_json_put_int(w, "ended", u.count);
    tsri_json_put_int(w, "diverged", u.diverged);
    tsri_json_put_int(w, "refused", u.refused);
    tsri_json_close(w, '}');
}

/* The best cell, or null when there is no choice, no run finished or cells cannot be compared. */
static tsr_status write_best(tsri_json *w, const tsri_sweep *s)
{
    tsr_status st = TSR_OK;
    tsri_cell_sum *ranking = NULL;
    tsri_text cell = {0};
    const char *unlike = tsri_sweep_incomparable(s);
    TSR_TRY(tsri_sweep_ranking(&ranking, s));
    if (unlike)
        tsri_json_put_text(w, "incomparable", unlike);
    tsri_json_key(w, "best");
    if (s->cells < 2 || ranking[0].count == 0 || unlike) {
        tsri_json_null(w);
        goto done;
    }
    TSR_TRY(tsri_sweep_cell_text(&cell, s, ranking[0].cell, ""));
    tsri_json_open(w, '{');
    tsri_json_put_int(w, "cell", ranking[0].cell);
    tsri_json_put_text(w, "settings", cell.data);
    tsri_json_put_text(w, "by", tsri_sweep_by_accuracy(s) ? "accuracy" : "loss");
    tsri_json_put_real(w, "accuracy", ranking[0].accuracy.mean);
    tsri_json_put_real(w, "loss", ranking[0].loss.mean);
    tsri_json_close(w, '}');
done:
    tsri_text_fini(&cell);
    tsri_free(ranking);
    return st;
}

static tsr_status write_sweep(tsri_json *w, const tsri_sweep *sweep)
{
    tsr_status st = TSR_OK;
    tsri_json_begin(w);
    tsri_json_put_int(w, "cells", sweep->cells);
    tsri_json_put_int(w, "seeds", sweep->seeds);
    tsri_json_put_int(w, "runs", sweep->runs);
    tsri_json_put_int(w, "resumed", sweep->resumed);
    tsri_json_put_int(w, "diverged", sweep->diverged);
    tsri_json_put_int(w, "refused", sweep->refused);
    tsri_json_put_real(w, "seconds", sweep->seconds);
    tsri_json_key(w, "outcomes");
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < sweep->runs; i++)
        TSR_TRY(write_outcome(w, sweep, i));
    tsri_json_close(w, ']');
    tsri_json_key(w, "table");
    tsri_json_open(w, '[');
    for (int64_t cell = 0; cell < sweep->cells; cell++)
        write_cell(w, sweep, cell);
    tsri_json_close(w, ']');
    TSR_TRY(write_best(w, sweep));
    tsri_json_close(w, '}');
done:
    return st;
}

tsr_status tsr_sweep(char **json, const tsr_config *config, const tsr_sweep_options *options)
{
    tsr_status st = TSR_OK;
    tsri_sweep sweep = {0};
    tsri_json w = {0};
    tsr_sweep_options o;
    TSRI_GIVEN(json);
    *json = NULL;
    TSRI_GIVEN(config);
    TSR_TRY(TSRI_SIZED_TAKE(&o, options));
    TSR_CHECK(o.grid && o.grids > 0 && o.seeds >= 0, TSR_USAGE,
              "a sweep needs a grid: scheme.xi=0.1:0.9:0.1, or a list between commas");
    for (int64_t i = 0; i < o.grids; i++)
        TSR_CHECK(o.grid[i], TSR_USAGE, "grid %lld is NULL", (long long)i);
    listener l = {o.progress, o.counts, o.context};
    tsri_sweep_options how = {.grid = o.grid,
                              .grids = o.grids,
                              .seeds = o.seeds > 0 ? o.seeds : 1,
                              .curves = o.curves,
                              .weights = o.weights,
                              .folder = o.folder,
                              .progress = o.progress || o.counts ? hand_on : NULL,
                              .context = &l};
    TSR_TRY(tsri_sweep_run(&sweep, config, &how));
    TSR_TRY(write_sweep(&w, &sweep));
    TSR_TRY(tsri_json_give(json, &w));
done:
    tsri_json_fini(&w);
    tsri_sweep_fini(&sweep);
    tsri_stop_clear();
    return st;
}
