/* followed.h - one run (or sweep) as its folder shows it: how far it is, how good, which worker the
 * others wait for.
 *
 *     tsri_followed w = {0};
 *     TSR_TRY(tsri_followed_begin(&w, "runs/a", "a"));
 *     each second:  TSR_TRY(tsri_followed_look(&w, &locks, &now));
 *     ... w.state, w.last.accuracy, w.left ...
 *     tsri_followed_fini(&w);
 *
 * Only files are read: metrics.jsonl as it grows, run.lock, run.yaml, the names of checkpoints,
 * whether there is a model. The run is not disturbed. What cannot be read is noted in `trouble` and
 * never ends the watching.
 */
#ifndef TSRI_FOLLOWED_H
#define TSRI_FOLLOWED_H

#include "io/json.h"
#include "report/ranks.h"
#include "watch/follow.h"
#include "watch/locks.h"

typedef enum tsri_run_state {
    TSRI_STATE_STARTING, /* it holds its folder and has told nothing yet */
    TSRI_STATE_RUNNING,
    TSRI_STATE_STALLED, /* it holds its folder but has written nothing for long, or is stopped */
    TSRI_STATE_FINISHED,
    TSRI_STATE_INTERRUPTED, /* asked to stop, or killed: --resume continues it */
    TSRI_STATE_DIVERGED,
    TSRI_STATE_FAILED /* it ended with an error */
} tsri_run_state;

const char *tsri_state_name(tsri_run_state state);
bool tsri_state_alive(tsri_run_state state); /* starting, running or stalled */

/* An evaluation; NaN where the line lacks a number. Of a sweep: one of its runs, `round` its
 * number. */
typedef struct tsri_point {
    double round, epoch, seconds, loss, test_loss, accuracy, rmse, rate, bytes;
} tsri_point;

enum { TSRI_POINTS = 1024, TSRI_RECENT = 16 };

typedef struct tsri_sweep_facts {
    int64_t runs, done, diverged, refused;
    bool by_accuracy;
    double best;     /* of the best cell: mean accuracy or loss; NaN: none yet */
    char *best_cell; /* "scheme.xi=0.5 scheme.workers=4", or NULL */
    double took;     /* seconds that reading it took, */
    double read_at;  /* and when that was */
} tsri_sweep_facts;

typedef struct tsri_stamp {
    bool there;
    int64_t size;
    double modified;
} tsri_stamp;

/* The two clocks: one that never jumps, and the one that files are stamped with. */
typedef struct tsri_now {
    double steady, date;
} tsri_now;

tsri_now tsri_now_read(void);

/* The phases of a ticket that come after the run in its own folder. */
typedef enum tsri_parts {
    TSRI_PARTS_NONE,   /* there are none, or all are done */
    TSRI_PARTS_GO_ON,  /* one trains, or the next is being prepared */
    TSRI_PARTS_STOPPED /* some are missing, and no process works on them */
} tsri_parts;

typedef struct tsri_followed {
    char *name, *folder;
    bool is_sweep;
    tsri_parts parts; /* of a ticket; the lookout, which knows them, sets it before each look */
    bool of_ticket;   /* it is a phase of one, the first or a later one; set likewise */
    double tickets;   /* the best last accuracy of a ticket's tickets; NaN: none; set likewise */
    tsri_follow metrics;

    /* From the lines. */
    tsri_point *point; /* [points], thinned out so that it never grows beyond TSRI_POINTS */
    int64_t points, stride, passed;
    tsri_point last;
    bool has_last;
    double before, raw; /* seconds of the processes before this one; what this one told last */
    struct {
        double round, seconds;
    } recent[TSRI_RECENT]; /* the last evaluations of this process: its pace */
    int64_t recents;
    tsri_rank_time *rank; /* [ranks] lately; 0 coordinates */
    int64_t ranks;
    double times_round; /* the round of the last of these times */
    int64_t lost, lost_rank, lost_round;
    char lost_why[24];
    int64_t rollbacks, certificates, bad_lines;
    bool forced;
    char ended[16];      /* the status of the line `ended`, while it is the last; "" */
    char ended_why[240]; /* its sentence */
    double best_accuracy;

    /* From run.yaml. */
    tsri_stamp yaml;
    int64_t rounds_asked, epochs_asked, workers;
    char scheme[24], model[24], data[80];
    bool may_stop; /* a rule of `stop:` may end it earlier */

    /* From the folder. */
    tsri_holder holder;
    int64_t held_here; /* the process that was last seen to hold it on this machine; 0: none */
    tsri_stamp model_file;
    int64_t checkpoint; /* the newest one's round; -1: none */
    double checkpoint_modified;
    tsri_sweep_facts sweep;
    tsri_stamp sweep_file;

    /* What follows from all that. */
    bool looked;                            /* at least once */
    double first_age, first_at, changed_at; /* changed_at < 0: no change seen yet */
    tsri_run_state state;
    double age;    /* seconds since it told something */
    double rounds; /* in all; 0: not known yet */
    double left;   /* seconds; NaN: not known */
    char trouble[240];
    int64_t version; /* grows with every change */
} tsri_followed;

tsr_status tsri_followed_begin(tsri_followed *w, const char *folder, const char *name);
void tsri_followed_fini(tsri_followed *w);

/* Reads what is new. Fails only without memory. */
tsr_status tsri_followed_look(tsri_followed *w, const tsri_locks *locks, const tsri_now *now);

/* ---- Parts; for its own files and for tests ------------------------------------------------- */

/* One line of metrics.jsonl; what is not a line of ours is counted in bad_lines. */
tsr_status tsri_followed_line(void *watched, const char *bytes, int64_t n);
void tsri_followed_forget(void *watched); /* all lines so far are void */
tsr_status tsri_followed_add(tsri_followed *w, const tsri_point *p);

/* Sets state, age, rounds and left from the rest. */
void tsri_followed_judge(tsri_followed *w, const tsri_now *now);

/* Reads sweep.jsonl when it has changed, but takes at most a hundredth of the time for it. */
tsr_status tsri_followed_sweep(tsri_followed *w, const tsri_now *now);

tsri_stamp tsri_stamp_of(const char *folder, const char *name);

/* The rank that workers wait for most (0: the coordinator), and the part of their time for which
 * they wait; -1: nobody waits noticeably, or there are no ranks. */
int64_t tsri_followed_slowest(const tsri_followed *w, double *waited);

#endif
