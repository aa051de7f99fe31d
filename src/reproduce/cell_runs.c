/* cell_runs.c - runs and sweeps as cells: what a study reads of a run is kept in the cell's file,
 * so that it can be shown where the run is not. See cells.h. */
#include "reproduce/cells.h"

#include "base/alloc.h"
#include "base/text.h"
#include "io/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- A run ------------------------------------------------------------------------------------ */

#define COLUMN "metrics." /* before the names of the columns, in a cell's file */

static tsr_status keep_curves(tsri_study_cell *to, const char *folder)
{
    tsr_status st = TSR_OK;
    tsri_curves curves = {0};
    char *metrics = NULL, name[TSRI_CELL_KEY];
    TSR_TRY(tsri_path_join(&metrics, folder, "metrics.jsonl"));
    TSR_TRY(tsri_curves_read(&curves, metrics, NULL));
    for (int64_t i = 0; i < curves.count; i++) {
        (void)snprintf(name, sizeof name, COLUMN "%s", curves.curve[i].name);
        tsri_cell_put_series(to, name, curves.curve[i].value, curves.n);
    }
done:
    tsri_curves_fini(&curves);
    tsri_free(metrics);
    return st;
}

/* A run that diverges is a result. */
static tsr_status train(tsri_study_cell *to, tsri_study *s, tsr_config *config, const char *folder,
                        const tsri_cell_ask *ask)
{
    tsr_status st = TSR_OK;
    tsr_result r = tsr_result_default();
    (void)s;
    (void)ask;
    tsr_status ended = tsri_study_run(&r, config, folder, NULL);
    if (ended != TSR_DIVERGED)
        TSR_TRY(ended);
    tsri_cell_put(to, "diverged", ended == TSR_DIVERGED);
    tsri_cell_put(to, "accuracy", ended == TSR_DIVERGED ? (double)NAN : r.accuracy);
    tsri_cell_put(to, "loss", ended == TSR_DIVERGED ? (double)NAN : r.loss);
    tsri_cell_put(to, "samples", (double)r.n);
    TSR_TRY(keep_curves(to, folder));
done:
    return st;
}

static tsr_status curves_of(tsri_curves *curves, const tsri_study_cell *c)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < c->count; i++) {
        const tsri_cell_series *one = &c->series[i];
        if (strncmp(one->name, COLUMN, strlen(COLUMN)) != 0)
            continue;
        TSR_TRY(
            tsri_reserve(&curves->curve, &curves->capacity, curves->count, sizeof *curves->curve));
        tsri_curve *to = &curves->curve[curves->count];
        *to = (tsri_curve){.capacity = one->n};
        TSR_TRY(tsri_strdup(&to->name, one->name + strlen(COLUMN)));
        curves->count++;
        TSR_TRY(tsri_alloc(&to->value, one->n > 0 ? one->n : 1, sizeof *to->value));
        memcpy(to->value, one->value, (size_t)one->n * sizeof *to->value);
        curves->n = one->n;
    }
done:
    return st;
}

/* "gd-1" of a study is the cell "gd-seed1", whatever its first seed is. */
static void seed_name(char out[TSRI_CELL_NAME], const tsri_study *s, const char *name,
                      int64_t repeat)
{
    const char *end = strrchr(name, '-');
    (void)snprintf(out, TSRI_CELL_NAME, "%.*s-seed%llu", (int)(end ? end - name : 0), name,
                   (unsigned long long)s->seed + (unsigned long long)repeat);
}

tsr_status tsri_study_train_cell(tsri_study *s, tsr_result *result, tsri_curves *curves,
                                 const char *name, const char *yaml, int64_t repeat)
{
    tsr_status st = TSR_OK;
    char cell_name[TSRI_CELL_NAME];
    tsri_study_cell c = {0};
    bool there = false;
    seed_name(cell_name, s, name, repeat);
    tsri_cell_ask ask = {.name = cell_name, .yaml = yaml, .repeat = repeat, .make = train};
    if (curves)
        *curves = (tsri_curves){0};
    TSR_TRY(tsri_study_ask(&c, &there, s, &ask));
    result->accuracy = tsri_cell_value(&c, "accuracy");
    result->loss = tsri_cell_value(&c, "loss");
    result->n = there ? (int64_t)tsri_cell_value(&c, "samples") : 0;
    if (there && curves)
        TSR_TRY(curves_of(curves, &c));
    st = there && tsri_cell_value(&c, "diverged") > 0 ? TSR_DIVERGED : TSR_OK;
done:
    tsri_cell_fini(&c);
    return st;
}

/* ---- A sweep ---------------------------------------------------------------------------------- */

/* Which run of which sweep a cell is. */
typedef struct place {
    const tsri_sweep *sweep;
    int64_t run;
} place;

static tsr_status sweep_config(tsr_config **out, const tsri_study *s, const tsri_cell_ask *ask)
{
    const place *p = ask->what;
    (void)s;
    return tsri_sweep_config(out, p->sweep, p->run);
}

static tsr_status run_one(tsri_study_cell *to, tsri_study *s, tsr_config *config,
                          const char *folder, const tsri_cell_ask *ask)
{
    tsr_status st = TSR_OK;
    const place *p = ask->what;
    tsri_sweep one = {0};
    tsri_sweep_options o = {.seeds = 1,
                            .curves = p->sweep->options.curves,
                            .curve_every = p->sweep->options.curve_every};
    (void)s;
    (void)folder;
    TSR_TRY(tsri_sweep_run(&one, config, &o));
    const tsri_outcome *out = &one.outcome[0];
    TSR_CHECK(!out->refused, TSR_FAILURE, "%s: %s", to->name, out->refused);
    tsri_cell_put(to, "diverged", out->diverged);
    tsri_cell_put(to, "rounds", (double)out->rounds);
    tsri_cell_put(to, "loss", out->loss);
    tsri_cell_put(to, "accuracy", out->accuracy);
    tsri_cell_put(to, "train_loss", out->train_loss);
    if (out->curve)
        tsri_cell_put_series(to, "curve", out->curve, out->curve_count);
done:
    tsri_sweep_fini(&one);
    return st;
}

/* "sweep-workers2-xi0.4-seed1": the last words of the keys. */
static void run_name(char name[TSRI_CELL_NAME], const char *first, const tsri_sweep *w, int64_t i)
{
    size_t used = (size_t)snprintf(name, TSRI_CELL_NAME, "%s", first);
    for (int64_t g = 0; g < w->options.grids && used < TSRI_CELL_NAME; g++) {
        const char *dot = strrchr(w->grid[g].key, '.');
        const char *value = w->grid[g].value[tsri_sweep_value(w, i / w->seeds, g)];
        used += (size_t)snprintf(name + used, TSRI_CELL_NAME - used, "-%s%s",
                                 dot ? dot + 1 : w->grid[g].key, value);
    }
    if (used < TSRI_CELL_NAME)
        (void)snprintf(name + used, TSRI_CELL_NAME - used, "-seed%lld",
                       (long long)tsri_config_int(w->config, "seed") + (long long)(i % w->seeds));
}

static tsr_status take_outcome(tsri_outcome *to, const tsri_study_cell *c, bool there)
{
    tsr_status st = TSR_OK;
    *to = (tsri_outcome){.done = there,
                         .diverged = tsri_cell_value(c, "diverged") > 0,
                         .loss = tsri_cell_value(c, "loss"),
                         .accuracy = tsri_cell_value(c, "accuracy"),
                         .train_loss = tsri_cell_value(c, "train_loss"),
                         .rounds = there ? (int64_t)tsri_cell_value(c, "rounds") : 0,
                         .seconds = tsri_cell_value(c, "seconds")};
    for (int64_t i = 0; i < c->count; i++)
        if (strcmp(c->series[i].name, "curve") == 0) {
            TSR_TRY(tsri_alloc(&to->curve, c->series[i].n, sizeof *to->curve));
            to->curve_count = c->series[i].n;
            tsri_cell_copy(to->curve, to->curve_count, c, "curve");
        }
done:
    return st;
}

tsr_status tsri_study_sweep_cells(tsri_study *s, tsri_sweep *sweep, const char *name,
                                  const tsr_config *config, const tsri_sweep_options *options)
{
    tsr_status st = TSR_OK;
    char cell_name[TSRI_CELL_NAME];
    TSR_TRY(tsri_sweep_plan(sweep, config, options));
    for (int64_t i = 0; i < sweep->runs; i++) {
        place at = {sweep, i};
        tsri_study_cell c = {0};
        bool there = false;
        run_name(cell_name, name, sweep, i);
        tsri_cell_ask ask = {
            .name = cell_name, .config = sweep_config, .make = run_one, .what = &at};
        st = tsri_study_ask(&c, &there, s, &ask);
        if (st == TSR_OK)
            st = take_outcome(&sweep->outcome[i], &c, there);
        tsri_cell_fini(&c);
        TSR_TRY(st);
        sweep->done += there;
    }
done:
    return st;
}
