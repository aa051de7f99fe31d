/* cells.h - a study made in cells: each a file of its own, made on any machine, at any time.
 *
 * A cell is one number of a table, "preresnet18-loft-4-prune80-seed1", and the runs behind it. Its
 * file, FOLDER/cells/NAME.json, holds what was measured and the run file that it was measured with.
 * To merge what several machines made, copy their files into one folder `cells` and call the
 * command there: a cell that has its file is not made again, and one that was made with other
 * settings than those asked for now is refused.
 *
 *     tsri_study_cell c = tsri_cell_named("preresnet18-dense-seed1");
 *     TSR_TRY(tsri_cell_read(&c, &there, s, config));
 *     if (!there) {
 *         ... train ...
 *         tsri_cell_put(&c, "accuracy", 0.9518);
 *         TSR_TRY(tsri_cell_write(s, &c, config));
 *     }
 *     ... tsri_cell_value(&c, "accuracy") ...             NaN: it has none
 */
#ifndef TSRI_CELLS_H
#define TSRI_CELLS_H

#include "reproduce/reproduce.h"

enum { TSRI_CELL_NAME = 80, TSRI_CELL_VALUES = 16 };

typedef struct tsri_cell_number {
    char name[32];
    double value;
} tsri_cell_number;

typedef struct tsri_study_cell {
    char name[TSRI_CELL_NAME];
    tsri_cell_number number[TSRI_CELL_VALUES];
    int64_t numbers;
} tsri_study_cell;

/* The names of all cells of a study, in order of worth. */
typedef struct tsri_cell_list {
    char (*name)[TSRI_CELL_NAME];
    int64_t count, room;
} tsri_cell_list;

tsr_status tsri_cell_list_add(tsri_cell_list *list, const char *fmt, ...) TSR_PRINTF(2, 3);
void tsri_cell_list_fini(tsri_cell_list *list);

/* order[0 .. *picked) are the cells that `patterns` names, as a shell matches file names, in the
 * order of the patterns; NULL: all. USAGE when a pattern names none. */
tsr_status tsri_cells_pick(int64_t *order, int64_t *picked, const tsri_cell_list *list,
                           const char *patterns);

tsri_study_cell tsri_cell_named(const char *name);
void tsri_cell_put(tsri_study_cell *c, const char *name, double value);
double tsri_cell_value(const tsri_study_cell *c, const char *name);

/* *there = it has a file. USAGE when that was made with another run file than `config`: threads and
 * the place of named data do not count. */
tsr_status tsri_cell_read(tsri_study_cell *c, bool *there, const tsri_study *s,
                          const tsr_config *config);
tsr_status tsri_cell_write(const tsri_study *s, const tsri_study_cell *c, const tsr_config *config);

#endif
