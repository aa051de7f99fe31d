/* theory_lines.h - the certificates along a run (certify.every), read back from its metrics.
 *
 *     tsri_theory_lines lines = {0};
 *     TSR_TRY(tsri_theory_lines_read(&lines, folder));
 *     ... lines.paper[i].row[k].look[j] at round lines.paper[i].round[j] ...
 *     tsri_theory_lines_fini(&lines);
 *
 * Lines are read one by one, and of each row only the numbers and the verdict are kept. Of more than
 * TSRI_LOOKS_MOST certificates some are left out, evenly; the first and the last always stay.
 */
#ifndef TSRI_THEORY_LINES_H
#define TSRI_THEORY_LINES_H

#include "base/status.h"
#include "theory/verdict.h"

enum { TSRI_LOOKS_MOST = 400, TSRI_LOOKS_ROOM = TSRI_LOOKS_MOST + 2 };

/* What one certificate says in a row. */
typedef struct tsri_theory_look {
    double measured, required, factor;
    tsri_verdict verdict;
} tsri_theory_look;

typedef struct tsri_theory_row {
    char *quantity, *where, *theorem, *sense;
    tsri_theory_look *look; /* [looks of the paper] */
} tsri_theory_row;

typedef struct tsri_theory_paper {
    char *name;
    tsri_theory_row *row;
    int64_t rows;
    double round[TSRI_LOOKS_ROOM];
    int64_t looks;
} tsri_theory_paper;

typedef struct tsri_theory_lines {
    tsri_theory_paper *paper;
    int papers;
    int64_t seen;   /* certificates in the metrics */
    int64_t stride; /* every so many of them are kept, */
    int64_t last;   /* and the last, which has this number */
    bool changed;   /* some had other rows than later ones, and were left out */
} tsri_theory_lines;

/* The certificates of the run in that folder; none when it has no metrics. Call fini also after a
 * failure. */
tsr_status tsri_theory_lines_read(tsri_theory_lines *lines, const char *folder);
void tsri_theory_lines_fini(tsri_theory_lines *lines);

#endif
