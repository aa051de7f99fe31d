/* sweep.c - many runs of one run file. */
#include "sweep/sweep.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/pool.h"
#include "base/stop.h"
#include "io/crc32c.h"
#include "sweep/cell.h"
#include "train/describe.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* All runs at once: what the threads share. */
typedef struct crew {
    tsri_sweep *sweep;
    tsri_ground ground;
    tsri_sweep_files *files; /* or NULL */
    int64_t first;           /* run that the pool's number 0 is */
    int64_t next;            /* run whose line comes next */
    pthread_mutex_t lock;    /* of all below, and of sweep */
    tsr_status st;           /* the first failure */
    char error[1024];
} crew;

/* ---- Cells -------------------------------------------------------------------------------- */

int64_t tsri_sweep_value(const tsri_sweep *sweep, int64_t cell, int64_t g)
{
    for (int64_t k = sweep->options.grids - 1; k > g; k--)
        cell /= sweep->grid[k].count;
    return cell % sweep->grid[g].count;
}

static int64_t seed_of(const tsri_sweep *sweep, int64_t i)
{
    return tsri_config_int(sweep->config, "seed") + i % sweep->seeds;
}

/* "scheme.xi=0.1, scheme.workers=4, seed 2" of run i, added to `text`. */
static tsr_status add_name(tsri_text *text, const tsri_sweep *sweep, int64_t i)
{
    tsr_status st = TSR_OK;
    for (int64_t g = 0; g < sweep->options.grids; g++)
        TSR_TRY(tsri_text_add(text, "%s=%s, ", sweep->grid[g].key,
                              sweep->grid[g].value[tsri_sweep_value(sweep, i / sweep->seeds, g)]));
    TSR_TRY(tsri_text_add(text, "seed %lld", (long long)seed_of(sweep, i)));
done:
    return st;
}

tsr_status tsri_sweep_config(tsr_config **out, const tsri_sweep *sweep, int64_t i)
{
    tsr_status st = TSR_OK;
    char seed[48];
    TSR_TRY(tsri_config_copy(out, sweep->config));
    for (int64_t g = 0; g < sweep->options.grids; g++)
        TSR_TRY(tsri_grid_set(&sweep->grid[g], tsri_sweep_value(sweep, i / sweep->seeds, g), *out));
    (void)snprintf(seed, sizeof seed, "seed=%lld", (long long)seed_of(sweep, i));
    TSR_TRY(tsri_config_assign(*out, "--seeds", seed));
done:
    if (st != TSR_OK) {
        tsr_config_destroy(*out);
        *out = NULL;
    }
    return st;
}

static void name_the_run(const tsri_sweep *sweep, int64_t i)
{
    tsri_text name = {0};
    if (add_name(&name, sweep, i) == TSR_OK)
        tsri_fail_prefix("%s: ", name.data);
    tsri_text_fini(&name);
}

/* ---- Before the first run ----------------------------------------------------------------- */

static tsr_status read_grids(tsri_sweep *s)
{
    tsr_status st = TSR_OK;
    const tsri_sweep_options *o = &s->options;
    TSR_TRY(tsri_alloc(&s->grid, o->grids, sizeof *s->grid));
    s->cells = 1;
    for (int64_t g = 0; g < o->grids; g++) {
        TSR_TRY(tsri_grid_read(&s->grid[g], o->grid[g], s->config));
        for (int64_t k = 0; k < g; k++)
            TSR_CHECK(strcmp(s->grid[k].key, s->grid[g].key) != 0, TSR_USAGE,
                      "--grid %s is given twice: give all its values in one", s->grid[g].key);
        s->cells *= s->grid[g].count;
        TSR_CHECK(s->cells <= TSRI_SWEEP_RUNS / s->seeds, TSR_USAGE,
                  "the grid has more than %d runs", TSRI_SWEEP_RUNS);
    }
    s->runs = s->cells * s->seeds;
    TSR_TRY(tsri_alloc(&s->outcome, s->runs, sizeof *s->outcome));
done:
    return st;
}

static bool varies(const tsri_sweep *s, const char *key)
{
    bool is = false;
    for (int64_t g = 0; g < s->options.grids; g++)
        is = is || strcmp(s->grid[g].key, key) == 0;
    return is;
}

/* Do all cells see the same data? `auto` normalisation asks for the model. */
static bool one_data(const tsri_sweep *s)
{
    for (int64_t g = 0; g < s->options.grids; g++)
        if (strncmp(s->grid[g].key, "data.", 5) == 0)
            return false;
    return !varies(s, "model.name");
}

/* Checks every cell beforehand, so that nothing is refused after hours. *suit: all could be trained
 * in the space of their samples. */
static tsr_status check_cells(bool *suit, crew *c)
{
    tsr_status st = TSR_OK;
    tsri_ground dry = c->ground;
    dry.dry = true;
    *suit = true;
    for (int64_t cell = 0; cell < c->sweep->cells; cell++) {
        tsr_config *config = NULL;
        bool suits = false;
        uint32_t data = 0;
        TSR_TRY(tsri_sweep_config(&config, c->sweep, cell * c->sweep->seeds));
        st = tsri_cell_check(&suits, &data, config, &dry);
        *suit = *suit && suits;
        c->sweep->data = tsri_crc32c(c->sweep->data, &data, sizeof data);
        tsr_config_destroy(config);
        if (st != TSR_OK)
            name_the_run(c->sweep, cell * c->sweep->seeds);
        if (st != TSR_OK)
            goto done;
    }
done:
    return st;
}

/* Shallow networks on a GPU train their weights, step by step, each a hundred launches. Processors
 * train them in the space of their samples, faster by orders of magnitude (docs/gpu.md). */
static tsr_status go_to_processors(tsri_sweep *s, const tsri_backend **backend, int *threads)
{
    tsr_status st = TSR_OK;
    TSRI_INFO("backend: %s: these runs train in the space of their samples, which this machine's "
              "processors do faster: backend: cpu is taken",
              (*backend)->name);
    TSR_TRY(tsr_config_put(s->config, "backend", tsri_backend_cpu.name));
    TSR_TRY(tsri_start_backend(backend, threads, s->config));
done:
    return st;
}

/* ---- Runs --------------------------------------------------------------------------------- */

static void note_failure(crew *c, tsr_status st)
{
    if (c->st != TSR_OK)
        return;
    c->st = st;
    (void)snprintf(c->error, sizeof c->error, "%s", tsr_last_error());
}

/* Writes the lines of all runs that are done and have only done ones before them. */
static tsr_status write_lines(crew *c)
{
    tsr_status st = TSR_OK;
    tsri_sweep *s = c->sweep;
    for (; c->next < s->runs && s->outcome[c->next].done; c->next++)
        if (c->files)
            TSR_TRY(tsri_sweep_files_line(c->files, s, c->next));
done:
    return st;
}

static void take_in(crew *c, int64_t i, const tsri_outcome *outcome)
{
    tsri_sweep *s = c->sweep;
    s->outcome[i] = *outcome;
    s->outcome[i].done = true;
    s->done++;
    s->diverged += outcome->diverged;
    s->refused += outcome->refused != NULL;
    tsr_status st = write_lines(c);
    if (st != TSR_OK)
        note_failure(c, st);
    if (s->options.progress)
        s->options.progress(s->options.context, s);
}

static bool given_up(crew *c)
{
    pthread_mutex_lock(&c->lock);
    bool is = c->st != TSR_OK;
    pthread_mutex_unlock(&c->lock);
    return is || tsri_stop_asked();
}

static void one_run(void *context, int64_t number, int thread)
{
    crew *c = context;
    int64_t i = c->first + number;
    tsr_config *config = NULL;
    tsri_outcome outcome = {0};
    (void)thread;
    if (given_up(c))
        return;
    tsr_status st = tsri_sweep_config(&config, c->sweep, i);
    if (st == TSR_OK)
        st = tsri_cell_run(&outcome, config, &c->ground, &c->sweep->options);
    if (st != TSR_OK && st != TSR_INTERRUPTED)
        name_the_run(c->sweep, i);
    pthread_mutex_lock(&c->lock);
    if (st == TSR_OK)
        take_in(c, i, &outcome);
    else if (st != TSR_INTERRUPTED)
        note_failure(c, st);
    pthread_mutex_unlock(&c->lock);
    tsr_config_destroy(config);
}

static tsr_status all_runs(crew *c, int threads)
{
    tsr_status st = TSR_OK;
    tsri_sweep *s = c->sweep;
    tsri_pool *pool = NULL;
    int64_t left = s->runs - s->done, beside = left < threads ? left : threads;
    if (s->options.beside > 0 && s->options.beside < beside)
        beside = s->options.beside;
    c->first = c->next = s->done;
    c->ground.threads = beside > 0 ? threads / (int)beside : threads;
    TSR_TRY(tsri_pool_create(&pool, beside > 0 ? (int)beside : 1));
    tsri_pool_run(pool, one_run, c, left);
    if (c->st != TSR_OK)
        TSR_TRY(tsri_fail(c->st, "%s", c->error));
    TSR_CHECK(s->done == s->runs, TSR_INTERRUPTED,
              "stopped after %lld of %lld runs, which are saved: give the same command again to go "
              "on",
              (long long)s->done, (long long)s->runs);
done:
    tsri_pool_destroy(pool);
    return st;
}

tsr_status tsri_sweep_plan(tsri_sweep *sweep, const tsr_config *config,
                           const tsri_sweep_options *options)
{
    tsr_status st = TSR_OK;
    *sweep = (tsri_sweep){.options = *options, .seeds = options->seeds};
    assert(options->seeds >= 1);
    TSR_TRY(tsri_config_copy(&sweep->config, config));
    TSR_TRY(read_grids(sweep));
done:
    return st;
}

tsr_status tsri_sweep_run(tsri_sweep *sweep, const tsr_config *config,
                          const tsri_sweep_options *options)
{
    tsr_status st = TSR_OK;
    const tsri_backend *backend;
    int threads = 1;
    bool suit = false;
    double start = tsri_clock();
    crew c = {.sweep = sweep, .lock = PTHREAD_MUTEX_INITIALIZER, .ground = {.threads = 1}};
    TSR_TRY(tsri_sweep_plan(sweep, config, options));
    TSR_TRY(tsri_start_backend(&backend, &threads, sweep->config));
    if (one_data(sweep))
        TSR_TRY(tsri_run_data(&c.ground.data, sweep->config));
    TSR_TRY(check_cells(&suit, &c));
    if (suit && !options->weights && tsri_backend_is_module(backend->name) &&
        !varies(sweep, "backend"))
        TSR_TRY(go_to_processors(sweep, &backend, &threads));
    sweep->kernels = tsri_backend_vendor(backend);
    if (options->folder)
        TSR_TRY(tsri_sweep_files_open(&c.files, sweep));
    if (options->progress)
        options->progress(options->context, sweep);
    st = all_runs(&c, threads);
    sweep->seconds = tsri_clock() - start;
    if (c.files && (st == TSR_OK || st == TSR_INTERRUPTED)) {
        tsr_status table = tsri_sweep_files_table(c.files, sweep);
        st = st == TSR_OK ? table : st;
    }
done:
    tsri_sweep_files_close(c.files);
    tsr_data_destroy(c.ground.data);
    return st;
}

void tsri_sweep_fini(tsri_sweep *sweep)
{
    for (int64_t i = 0; sweep->outcome && i < sweep->runs; i++) {
        tsri_free(sweep->outcome[i].curve);
        tsri_free(sweep->outcome[i].refused);
    }
    for (int64_t g = 0; sweep->grid && g < sweep->options.grids; g++)
        tsri_grid_fini(&sweep->grid[g]);
    tsri_free(sweep->outcome);
    tsri_free(sweep->grid);
    tsr_config_destroy(sweep->config);
    *sweep = (tsri_sweep){0};
}
