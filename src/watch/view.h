/* view.h - the parts of the screen of `tessera watch`; private to view*.c. */
#ifndef TSRI_VIEW_H
#define TSRI_VIEW_H

#include "base/number.h"
#include "watch/canvas.h"
#include "watch/lookout.h"

tsri_style tsri_state_style(tsri_run_state state);

/* The name of a run; of the watched folder itself that folder's. */
const char *tsri_view_name(const tsri_lookout *w, const tsri_followed *run);

/* How far it is, 0 to 1; NaN: not known. */
double tsri_view_part(const tsri_followed *run);

/* "0:42 left", "for 3:10", "12:00 ago": what is worth knowing about time in its state. */
void tsri_view_time(char text[64], const tsri_followed *run);

/* Four digits, "0.4321"; of large numbers all before the point and one behind it, "27,224.7": the
 * page shows them so. */
void tsri_view_number(char text[TSRI_NUMBER_TEXT + 8], double value);

/* Why it is in that state, where that is not obvious: "process 4242 is stopped"; else "". */
void tsri_view_why(char text[256], const tsri_followed *run);

/* One run in all the lines that are left but one. */
tsr_status tsri_view_run(tsri_canvas *f, const tsri_lookout *w, const tsri_followed *run);

/* A line for each run, those around the chosen one; `lines` at most. */
void tsri_view_list(tsri_canvas *f, const tsri_lookout *w, const tsri_screen *screen, int lines);

/* "3 runs: 1 running, 2 finished". */
void tsri_view_count(char text[160], const tsri_lookout *w);

#endif
