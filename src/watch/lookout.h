/* lookout.h - the runs below a folder, watched through their files alone.
 *
 *     tsri_lookout *w = NULL;
 *     TSR_TRY(tsri_lookout_open(&w, "runs"));
 *     each second:
 *         TSR_TRY(tsri_lookout_look(w));
 *         TSR_TRY(tsri_lookout_draw(&text, w, &screen));      for a terminal
 *     or  TSR_TRY(tsri_lookout_text(&text, w));               once, as plain text
 *     or  TSR_TRY(tsri_lookout_json(&text, w));               once, as a document
 *     tsri_lookout_close(w);
 *
 * The folder may be that of one run, of a sweep, of a ticket (a run with others inside), or any
 * folder with runs below it. Nothing is written, locked or signalled: a run that is watched takes
 * the time and gives the bits of one that is not.
 */
#ifndef TSRI_LOOKOUT_H
#define TSRI_LOOKOUT_H

#include "watch/followed.h"

enum {
    TSRI_LOOKOUT_RUNS = 1000,   /* at most that many runs are shown; more are counted */
    TSRI_LOOKOUT_DEPTH = 5,     /* folders below the one that is watched */
    TSRI_LOOKOUT_LOOKED = 20000 /* folders looked into in one search */
};

typedef struct tsri_lookout {
    char *folder;
    tsri_followed **run; /* [runs] by name; a ticket's own run is before those inside it */
    int64_t runs, capacity;
    int64_t passed; /* runs beyond TSRI_LOOKOUT_RUNS */
    tsri_locks locks;
    tsri_now now;
    double searched, search_took;
    int64_t version; /* grows with every change of anything */
} tsri_lookout;

/* USAGE when there is no such folder. */
tsr_status tsri_lookout_open(tsri_lookout **out, const char *folder);
void tsri_lookout_close(tsri_lookout *w); /* NULL is fine */

/* Reads what is new; looks for new runs every few seconds. Fails only without memory. */
tsr_status tsri_lookout_look(tsri_lookout *w);

/* The run of that name, or -1. */
int64_t tsri_lookout_find(const tsri_lookout *w, const char *name);

/* The one that is shown first: running before others, then the one that told something last. -1:
 * there is none. */
int64_t tsri_lookout_liveliest(const tsri_lookout *w);

/* Is run i the first phase of a ticket, with the others in folders inside its own? */
bool tsri_lookout_is_ticket(const tsri_lookout *w, int64_t i);

/* ---- What a terminal shows ------------------------------------------------------------------ */

typedef struct tsri_screen {
    int width, height;
    bool colour, unicode;
    int64_t chosen; /* the line of the list that is marked */
    bool open;      /* that run alone, with its curves; else the list (of one run: that run) */
} tsri_screen;

/* Appends `height` lines of at most `width` columns, separated by '\n', with colours as escape
 * sequences. Text from files has lost its control characters. */
tsr_status tsri_lookout_draw(tsri_text *out, const tsri_lookout *w, const tsri_screen *screen);

/* A paragraph for each run, without charts; and the same as one JSON document. */
tsr_status tsri_lookout_text(tsri_text *out, const tsri_lookout *w);
tsr_status tsri_lookout_json(tsri_text *out, const tsri_lookout *w);

/* OpenMetrics 1.0, for Prometheus and others. */
tsr_status tsri_lookout_openmetrics(tsri_text *out, const tsri_lookout *w);

#endif
