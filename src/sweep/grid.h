/* grid.h - one axis of a sweep: a key of the run file and the values it takes.
 *
 *     scheme.xi=0.1:1:0.1            a range: first, last, step; both ends count
 *     scheme.workers=1,2,4,8         a list
 *     model.hidden=[256, 256],[64]   commas inside brackets do not separate
 */
#ifndef TSRI_GRID_H
#define TSRI_GRID_H

#include "io/config.h"

typedef struct tsri_grid {
    char *key;
    int64_t count;
    char **value; /* [count] texts, each checked against the key's row of the schema */
} tsri_grid;

/* Reads `text`, checking every value against `config`. USAGE with "--grid KEY" when the key is
 * unknown, a value is not what the key wants or appears twice, or there is none. Finish with
 * fini. */
tsr_status tsri_grid_read(tsri_grid *grid, const char *text, const tsr_config *config);
void tsri_grid_fini(tsri_grid *grid);

/* Sets value i in a config. */
tsr_status tsri_grid_set(const tsri_grid *grid, int64_t i, tsr_config *config);

#endif
