/* reproduce.h - the papers' figures and tables, made again on this machine and judged.
 *
 * A reproduction is a row of its paper's list (one file per paper, named in reproductions.c): a
 * name, what it shows, and a function that makes it. The function gets a study and adds settings
 * and the numbers of each seed. What decides a claim is in criteria.c, written beforehand:
 *
 *     static tsr_status fig9(tsri_study *s)
 *     {
 *         tsr_status st = TSR_OK;
 *         tsri_chart c;
 *         double slope[3];
 *         int64_t width = s->quick ? 64 : 1024;
 *         tsri_study_setting(s, "width", "4096", "%lld", (long long)width);
 *         tsri_study_say(s, 0.2, "training at width %lld", (long long)width);
 *         ... train, measure ...
 *         tsri_chart_begin(&c, "Loss against rounds"); ...
 *         tsri_study_chart(s, "fig9", &c);
 *         tsri_study_judge(s, "paper/fig9/falls", NULL, slope, 3);
 *         TSR_TRY(tsri_study_end(s));                  the first failure of all calls above
 *     done:
 *         tsri_chart_fini(&c);
 *         return st;
 *     }
 *     const tsri_reproduction tsri_reproduce_paper[] = {
 *         {"paper/fig9", "loss against rounds, by width", fig9}, {0}};
 *
 * The folder then holds fig9.svg, .png and .csv, summary.md and summary.json. A claim that got no
 * numbers is listed as undecided.
 */
#ifndef TSRI_REPRODUCE_H
#define TSRI_REPRODUCE_H

#include "base/estimate.h"
#include "base/pool.h"
#include "report/chart.h"
#include "report/curves.h"
#include "report/table.h"
#include "reproduce/judge.h"
#include "sweep/sweep.h"

typedef struct tsri_study tsri_study;
typedef struct tsri_cell_book tsri_cell_book; /* ask.c */

typedef struct tsri_reproduction {
    const char *name; /* "masked/fig2a"; NULL ends a list */
    const char *help; /* what it shows, one line, no full stop */
    tsr_status (*make)(tsri_study *study);
    tsr_status (*paper)(tsri_study *study); /* the paper's own setting, in cells (cells.h), asked
                                               for in order of worth; NULL = none */
} tsri_reproduction;

/* All lists, ended by NULL. find: the row with that name, or NULL. */
extern const tsri_reproduction *const tsri_reproductions[];
const tsri_reproduction *tsri_reproduction_find(const char *name);

typedef struct tsri_study_options {
    const char *folder;     /* created if missing; a finished study in it is replaced */
    const char *data;       /* other data than the row's own, or NULL */
    bool quick;             /* minutes on two cores; else hours: sizes that one machine bears */
    bool paper;             /* the paper's own setting, in cells (cells.h) */
    const char *cells;      /* only these: patterns between commas; NULL = all */
    const char *const *set; /* "key=value" for every run of the study */
    int64_t sets;
    int64_t seeds;      /* repetitions; 0 = the row's own number */
    uint64_t seed;      /* the first one */
    int threads;        /* 0 = the cores there are */
    const char *commit; /* of the program, for the summary; NULL = not told */
    void (*say)(void *context, double part, const char *text); /* what is being done; or NULL */
    void *context;
} tsri_study_options;

/* A setting: the paper's and ours. Where the two texts differ, ours departs from the paper. */
typedef struct tsri_paper_setting {
    char *what, *paper, *here;
} tsri_paper_setting;

struct tsri_study {
    tsr_status st;
    const tsri_reproduction *row;
    const char *folder, *data;
    bool quick, paper;
    int64_t seeds; /* 0 = the row's own number */
    uint64_t seed;
    tsri_pool *pool;
    int64_t beside; /* runs of a sweep that fit into memory at once; 0 = not known */
    const tsri_study_options *options;
    tsri_cell_book *book; /* of a study that is made in cells, while it is; else NULL */

    char **note;
    int64_t notes, notes_room;
    tsri_paper_setting *setting;
    int64_t settings, settings_room;
    tsri_claim *claim;
    int64_t claims, claims_room;
    char **file; /* names in the folder */
    int64_t files, files_room;
    tsri_text tables; /* Markdown */
    double began, seconds;
};

/* ---- For a row's function ------------------------------------------------------------------- */

/* How many repetitions: --seeds, or `usual`, which is at least TSRI_SEEDS_LEAST. */
int64_t tsri_study_seeds(const tsri_study *s, int64_t usual);

/* The same, but no more than a study has room for. */
int64_t tsri_study_seeds_to(const tsri_study *s, int64_t usual, int64_t most);

/* The last part of the path in --data, or `usual`. */
const char *tsri_study_data_name(const tsri_study *s, const char *usual);

/* Says what is being done now; `part` of the work (0 to 1) is done. */
void tsri_study_say(tsri_study *s, double part, const char *fmt, ...) TSR_PRINTF(3, 4);

/* A sentence for the summary: sizes, where it departs from the paper and why. */
void tsri_study_note(tsri_study *s, const char *fmt, ...) TSR_PRINTF(2, 3);

/* Adds a setting: as in the paper ("not given" where it says nothing) and as it is here. Add all of
 * them before the first chart: those that differ are listed below it. A name that was added before
 * is ignored. */
void tsri_study_setting(tsri_study *s, const char *what, const char *paper, const char *fmt, ...)
    TSR_PRINTF(4, 5);
bool tsri_paper_setting_departs(const tsri_paper_setting *setting);

/* Says all settings that were added so far, before hours of work begin. */
void tsri_study_tell_settings(tsri_study *s);

/* The seeds' values for the claim `id` of criteria.c, or for one part of it (judge.h). */
void tsri_study_judge(tsri_study *s, const char *id, const char *part, const double *value,
                      int64_t seeds);

/* A claim, or a part of it, that cannot be measured here, and why. */
void tsri_study_leave(tsri_study *s, const char *id, const char *part, const char *why);

/* Writes name.svg, name.csv and, where the program can, name.png. What differs from the paper is
 * listed below the panels. */
void tsri_study_chart(tsri_study *s, const char *name, tsri_chart *chart);

/* Writes name.csv and shows the table, under its title, in the summary. */
void tsri_study_table(tsri_study *s, const char *name, const char *title, const tsri_table *table);

/* A run file from YAML text, with the study's threads, its seed + `repeat`, --data and --set.
 * The caller destroys *out. */
tsr_status tsri_study_config(tsr_config **out, const tsri_study *s, const char *yaml,
                             int64_t repeat);

/* Trains with that run file in FOLDER/name, or continues the run that was begun there (for a
 * finished run it only reads how it ended). *curves (or NULL) are its metrics. DIVERGED when it
 * diverged; the metrics then end there. With --paper the run is a cell: see tsri_study_lacks. */
tsr_status tsri_study_train(tsri_study *s, tsr_result *result, tsri_curves *curves,
                            const char *name, const char *yaml, int64_t repeat);

/* Is that run a cell that nobody made yet? Its curves have no line. */
bool tsri_study_lacks(const tsri_study *s, const tsri_curves *curves);

/* The same with a given run file in a given folder, from the model file `init` or, with NULL, from
 * first weights. */
tsr_status tsri_study_run(tsr_result *result, tsr_config *config, const char *folder,
                          const char *init);

/* Runs that file over a grid in FOLDER/name, or continues the sweep that was begun there, and says
 * which run it is at. It takes the study's progress from `from` to `to`. Of the options only grid,
 * grids, seeds, curves and curve_every are used. With --paper each run is a cell; those that nobody
 * made yet are not done, and their numbers NaN. Call tsri_sweep_fini, even after a failure. */
tsr_status tsri_study_sweep(tsri_study *s, tsri_sweep *sweep, const char *name, const char *yaml,
                            const tsri_sweep_options *options, double from, double to);

/* The first failure of the calls above. */
tsr_status tsri_study_end(const tsri_study *s);

/* ---- For the program ------------------------------------------------------------------------- */

tsri_study_options tsri_study_options_default(void);

/* Makes the reproduction and writes summary.md and summary.json. USAGE when the folder is a file or
 * holds something else than a study. *study has what was found; call tsri_study_fini, even after a
 * failure. */
tsr_status tsri_reproduce(tsri_study *study, const tsri_reproduction *row,
                          const tsri_study_options *options);
void tsri_study_fini(tsri_study *s);

/* Does the folder hold this study, made by this version with these options? */
tsr_status tsri_study_done(bool *done_already, const tsri_reproduction *row,
                           const tsri_study_options *options);

/* The names of the cells that options->cells picks of its --paper, one to a line. USAGE when it is
 * not made in cells, or none is called so. */
tsr_status tsri_study_cells(tsri_text *names, const tsri_reproduction *row,
                            const tsri_study_options *options);

/* Makes every reproduction in FOLDER/paper-figure, one after the other, and the page of all of them
 * (gallery.h). A study that is done already is left as it is. One that fails does not keep the
 * others from being made; the first failure is returned at the end. A stop request and a lack of
 * memory or disk end it at once. `told` (or NULL) hears of each: study is NULL where it was not
 * made; what went wrong is then the last error. */
typedef void (*tsri_study_told)(void *context, const tsri_reproduction *row,
                                const tsri_study *study, tsr_status st);
tsr_status tsri_reproduce_all(const tsri_study_options *options, tsri_study_told told);

/* How many claims have that verdict: the paper's, or our own. */
int64_t tsri_study_count(const tsri_study *s, tsri_finding verdict, bool ours);

/* One sentence: do the paper's claims hold here? */
tsr_status tsri_study_verdict(tsri_text *out, const tsri_study *s);

#endif
