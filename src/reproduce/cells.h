/* cells.h - a study made in cells: each a file of its own, made on any machine, at any time.
 *
 * A cell is one run of a study, "preresnet18-loft-4-prune80-seed1", and what was measured on it.
 * Its file, FOLDER/cells/NAME.json, holds the measured numbers and the run file that they were
 * measured with. To merge what several machines made, copy their files into one folder `cells` and
 * call the command there: a cell that has its file is not made again, and one that was made with
 * other settings than those asked for now is refused.
 *
 * With --paper a study's function asks for its cells, one after the other, and works with what is
 * there. It never knows whether a cell was read or made:
 *
 *     tsri_cell_ask ask = {.name = "dense-seed1", .yaml = yaml, .repeat = 0, .make = train};
 *     TSR_TRY(tsri_study_ask(&cell, &there, s, &ask));
 *     accuracy = there ? tsri_cell_value(&cell, "accuracy") : NAN;    a cell that nobody made yet
 *     tsri_cell_fini(&cell);
 *
 * The function is called several times (tsri_study_in_cells): once to learn which cells there are,
 * once for each cell that is made, in the order of --cells, and once to show what is there. Only in
 * the last call do its charts, tables, notes and claims count.
 */
#ifndef TSRI_CELLS_H
#define TSRI_CELLS_H

#include "reproduce/reproduce.h"

enum { TSRI_CELL_NAME = 80, TSRI_CELL_KEY = 64 };

/* A number is a series of length 1 that stands under "measured"; others stand under "series". */
typedef struct tsri_cell_series {
    char name[TSRI_CELL_KEY];
    int64_t n;
    double *value;
    bool number;
} tsri_cell_series;

typedef struct tsri_study_cell {
    char name[TSRI_CELL_NAME];
    tsri_cell_series *series;
    int64_t count, room;
    char
        origin[64]; /* of a file that was read: the program that made it, "0.2.0, commit 16093ae" */
    tsr_status st;  /* the first failure of put: tsri_cell_write returns it */
} tsri_study_cell;

/* The names of all cells of a study, the most useful first, and what each takes. */
typedef struct tsri_cell_list {
    char (*name)[TSRI_CELL_NAME];
    double *flops; /* operations; 0 = not counted yet */
    bool *there;   /* it has its file */
    int64_t count, room, flops_room, there_room;
} tsri_cell_list;

tsr_status tsri_cell_list_add(tsri_cell_list *list, const char *fmt, ...) TSR_PRINTF(2, 3);
void tsri_cell_list_fini(tsri_cell_list *list);

/* order[0 .. *picked) are the cells that `patterns` names, as a shell matches file names, in the
 * order of the patterns; NULL: all; "none": none. USAGE when a pattern names none. */
tsr_status tsri_cells_pick(int64_t *order, int64_t *picked, const tsri_cell_list *list,
                           const char *patterns);

tsri_study_cell tsri_cell_named(const char *name);
void tsri_cell_fini(tsri_study_cell *c);
void tsri_cell_put(tsri_study_cell *c, const char *name, double value);
void tsri_cell_put_series(tsri_study_cell *c, const char *name, const double *value, int64_t n);
double tsri_cell_value(const tsri_study_cell *c, const char *name); /* NaN: it has none */
/* value[0 .. n) of the series; NaN where it is shorter or missing. */
void tsri_cell_copy(double *value, int64_t n, const tsri_study_cell *c, const char *name);

/* *there = it has a file. USAGE when that was made with another run file than `config`: threads and
 * the place of named data do not count. */
tsr_status tsri_cell_read(tsri_study_cell *c, bool *there, const tsri_study *s,
                          const tsr_config *config);
tsr_status tsri_cell_write(const tsri_study *s, const tsri_study_cell *c, const tsr_config *config);

/* ---- A study that asks: ask.c --------------------------------------------------------------- */

typedef struct tsri_cell_ask tsri_cell_ask;
struct tsri_cell_ask {
    const char *name;
    /* Its run file: YAML with the study's seed + repeat, or what `config` makes. */
    const char *yaml;
    int64_t repeat;
    tsr_status (*config)(tsr_config **out, const tsri_study *s, const tsri_cell_ask *ask);
    /* Makes it: trains with `config` in `folder`, which nobody else uses, and puts what it found. */
    tsr_status (*make)(tsri_study_cell *to, tsri_study *s, tsr_config *config, const char *folder,
                       const tsri_cell_ask *ask);
    const char *run;  /* name of that folder in FOLDER/runs, for cells that share it; NULL = name */
    const void *what; /* for `config` and `make` */
    double flops;     /* operations; 0: those of its run file */
    /* How many a second it takes here, where that is not what a training step does; or NULL. */
    tsr_status (*time)(double *rate, tsri_study *s, const tsri_cell_ask *ask);
    bool tunes; /* and of ticket.epochs epochs of fine-tuning */
};

/* *c is the cell, *there whether it has one; the caller calls tsri_cell_fini, also after a
 * failure. */
tsr_status tsri_study_ask(tsri_study_cell *c, bool *there, tsri_study *s, const tsri_cell_ask *ask);

/* All of a study with --paper: lists its cells, says settings and cost, makes those that --cells
 * picks, and shows what is there. */
tsr_status tsri_study_in_cells(tsri_study *s, tsr_status (*body)(tsri_study *));

/* The cells of a row's --paper, with what each takes when `count` is asked for: files and data need
 * not be there. Call tsri_cell_list_fini. */
tsr_status tsri_study_list_cells(tsri_cell_list *list, const tsri_reproduction *row,
                                 const tsri_study_options *options, bool count);

/* A run of a study with --paper: tsri_study_train and tsri_study_sweep are made of them. Keeps the
 * result and all columns of the metrics; *curves has no line where the cell is not there. */
tsr_status tsri_study_train_cell(tsri_study *s, tsr_result *result, tsri_curves *curves,
                                 const char *name, const char *yaml, int64_t repeat);
tsr_status tsri_study_sweep_cells(tsri_study *s, tsri_sweep *sweep, const char *name,
                                  const tsr_config *config, const tsri_sweep_options *options);

/* Are charts, notes and claims of the study's function wanted now? Always so without --paper. */
bool tsri_study_shows(const tsri_study *s);

/* Are its messages of work that is done now? Always so without --paper. */
bool tsri_study_speaks(const tsri_study *s);

#endif
