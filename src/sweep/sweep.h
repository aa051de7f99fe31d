/* sweep.h - many runs of one run file: a grid of values times some seeds.
 *
 * A cell is one choice of a value for every key of the grid (the last key changes fastest); each
 * cell is run once for each of `seeds` seeds, the run file's and those that follow it. Data are
 * loaded once (unless the grid changes them), cells run beside each other on the pool, one thread
 * each when there are enough of them, and nothing of a cell outlives it but its line of results. A
 * cell that diverges, or is refused on its way (a conversion that cannot be: convert_run.h), is a
 * result like any other.
 *
 *     tsri_sweep_options o = {.grid = grid, .grids = 2, .seeds = 5, .folder = "out"};
 *     TSR_TRY(tsri_sweep_run(&sweep, config, &o));
 *     ... sweep.outcome[cell * sweep.seeds + s].train_loss ...
 *     tsri_sweep_fini(&sweep);
 *
 * With a folder the sweep can be killed at any moment: the same call continues where it was and ends
 * with the same results. Lines are written in the order of the runs, whatever order they end in, so
 * the file is always the beginning of the finished one.
 */
#ifndef TSRI_SWEEP_H
#define TSRI_SWEEP_H

#include "sweep/grid.h"

/* What came out of one run. */
typedef struct tsri_outcome {
    bool done, diverged;
    char *refused;   /* the reason why it could not continue, or NULL */
    int64_t rounds;  /* done */
    double loss;     /* on the test set (the training set where there is none), as train says it */
    double accuracy; /* of classes; NaN for real targets */
    double train_loss; /* of the whole network on the training set */
    int64_t bytes;     /* sent between workers */
    double *curve;     /* [curve_count] train_loss along the run, or NULL */
    int64_t curve_count;
    double seconds; /* of this run, on however many threads it had */
} tsri_outcome;

typedef struct tsri_sweep tsri_sweep;

enum { TSRI_SWEEP_RUNS = 10000000 }; /* at most that many runs: each takes memory */

typedef struct tsri_sweep_options {
    const char *const *grid; /* [grids] as on the command line */
    int64_t grids;
    int64_t seeds;       /* at least 1 */
    bool curves;         /* keep train_loss along the run */
    int64_t curve_every; /* rounds from one of its points to the next; 0 = 1 */
    bool weights;        /* no run in the space of its samples (samples.h) */
    int64_t beside;      /* most runs at once, each on more threads; 0 = one a thread */
    const char *folder;  /* run.yaml, grid.json, sweep.jsonl, sweep.csv; NULL = only in memory */
    /* (optional) After every run, and at the start; from any thread, one at a time. */
    void (*progress)(void *context, const tsri_sweep *sweep);
    void *context;
} tsri_sweep_options;

struct tsri_sweep {
    tsri_sweep_options options;
    tsr_config *config;         /* the run file, resolved */
    tsri_grid *grid;            /* [options.grids] */
    int64_t cells, seeds, runs; /* runs = cells x seeds */
    tsri_outcome *outcome;      /* [runs] */
    uint32_t data;              /* checksum of what all cells are trained and judged on */
    const char *kernels;        /* what computes them; NULL: nothing is run */
    int64_t done;               /* in all */
    int64_t resumed;            /* of them found in the folder */
    int64_t diverged, refused;
    double seconds;
};

/* Collective over the process: one at a time. USAGE, before the folder is touched, when the grid is
 * wrong, when a cell cannot be run, or when the folder holds another sweep; INTERRUPTED after
 * tsr_request_stop, with all finished runs on disk. `config` is not changed. Finish with fini. */
tsr_status tsri_sweep_run(tsri_sweep *sweep, const tsr_config *config,
                          const tsri_sweep_options *options);
void tsri_sweep_fini(tsri_sweep *sweep);

/* Lays out a sweep without running it: grid, cells, seeds, room for outcomes. USAGE when the grid
 * is wrong. Finish with fini, also after a failure. */
tsr_status tsri_sweep_plan(tsri_sweep *sweep, const tsr_config *config,
                           const tsri_sweep_options *options);

/* Which value of grid g the cell has. */
int64_t tsri_sweep_value(const tsri_sweep *sweep, int64_t cell, int64_t g);

/* The run file of run i. The caller destroys *out. */
tsr_status tsri_sweep_config(tsr_config **out, const tsri_sweep *sweep, int64_t i);

/* ---- sweep_sum.c --------------------------------------------------------------------------- */

typedef struct tsri_spread {
    double mean, deviation; /* NaN without runs; the deviation also of a single one */
} tsri_spread;

/* The outcome of a cell over its seeds, from the runs that finished. */
typedef struct tsri_cell_sum {
    int64_t cell;
    int64_t count, diverged, refused; /* the others were not run yet */
    tsri_spread loss, accuracy, train_loss;
    double seconds; /* of all */
} tsri_cell_sum;

tsri_cell_sum tsri_sweep_sum(const tsri_sweep *sweep, int64_t cell);

/* *sums = [cells] from the best to the worst: by accuracy for classes, else by loss. Cells with a
 * run that diverged or was refused come after the others, cells of which no run finished come last.
 * The caller frees them. */
tsr_status tsri_sweep_ranking(tsri_cell_sum **sums, const tsri_sweep *sweep);

/* Is it judged by accuracy? And the number that decides. */
bool tsri_sweep_by_accuracy(const tsri_sweep *sweep);
const tsri_spread *tsri_sweep_measure(const tsri_sweep *sweep, const tsri_cell_sum *sum);

/* The key of the grid whose values give results that cannot be compared, so that no cell is the best:
 * other data, or, where losses decide, other losses or targets. NULL: there is none. */
const char *tsri_sweep_incomparable(const tsri_sweep *sweep);

/* Appends "scheme.xi=0.5 scheme.workers=4", each after `before`. */
tsr_status tsri_sweep_cell_text(tsri_text *out, const tsri_sweep *sweep, int64_t cell,
                                const char *before);

/* ---- sweep_read.c -------------------------------------------------------------------------- */

enum { TSRI_SWEEP_MOST = 1 << 30 }; /* bytes of a file */

/* The sweep of a folder as far as it has come; nothing is locked. BAD_FILE when one of its files is
 * damaged. Finish with fini, also after a failure. */
tsr_status tsri_sweep_read(tsri_sweep *sweep, const char *folder);

/* Reads the lines of a sweep.jsonl into sweep->outcome and counts them. *whole = the bytes of those
 * that could be read. The system writes lines to the disk when it likes, so after a power cut zeros
 * or other bytes may stand in the place of some. From the first of those on the runs are made
 * again. */
tsr_status tsri_sweep_read_lines(tsri_sweep *sweep, int64_t *whole, const char *path);

/* ---- sweep_files.c ------------------------------------------------------------------------- */

typedef struct tsri_sweep_files tsri_sweep_files;

/* Opens the folder and reads what a run before left there: sweep->outcome of the first runs, which
 * are counted in sweep->done and ->resumed. USAGE when it holds another sweep. */
tsr_status tsri_sweep_files_open(tsri_sweep_files **out, tsri_sweep *sweep);

/* Adds the line of run i: the one after the last. */
tsr_status tsri_sweep_files_line(tsri_sweep_files *files, const tsri_sweep *sweep, int64_t i);

/* sweep.csv from all that is done. */
tsr_status tsri_sweep_files_table(tsri_sweep_files *files, const tsri_sweep *sweep);
void tsri_sweep_files_close(tsri_sweep_files *files); /* NULL is fine */

#endif
