/* followed.c - one run as its folder shows it: what is read, and the state that follows from it. */
#include "watch/followed.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "io/config.h"
#include "io/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

const char *tsri_state_name(tsri_run_state state)
{
    static const char *const name[] = {"starting",    "running",  "stalled", "finished",
                                       "interrupted", "diverged", "failed"};
    return name[state];
}

bool tsri_state_alive(tsri_run_state state)
{
    return state <= TSRI_STATE_STALLED;
}

tsri_now tsri_now_read(void)
{
    struct timespec date;
    (void)clock_gettime(CLOCK_REALTIME, &date);
    return (tsri_now){tsri_clock(), (double)date.tv_sec + 1e-9 * (double)date.tv_nsec};
}

/* ---- Beginning ------------------------------------------------------------------------------ */

tsr_status tsri_followed_begin(tsri_followed *w, const char *folder, const char *name)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    *w = (tsri_followed){.stride = 1, .changed_at = -1, .checkpoint = -1, .left = (double)NAN};
    w->sweep.best = w->times_round = w->best_accuracy = w->tickets = (double)NAN;
    TSR_TRY(tsri_strdup(&w->folder, folder));
    TSR_TRY(tsri_strdup(&w->name, name));
    TSR_TRY(tsri_path_join(&path, folder, "metrics.jsonl"));
    TSR_TRY(tsri_follow_begin(&w->metrics, path));
    w->is_sweep = tsri_stamp_of(folder, "grid.json").there;
done:
    tsri_free(path);
    if (st != TSR_OK)
        tsri_followed_fini(w);
    return st;
}

void tsri_followed_fini(tsri_followed *w)
{
    tsri_follow_fini(&w->metrics);
    tsri_free(w->name);
    tsri_free(w->folder);
    tsri_free(w->point);
    tsri_free(w->rank);
    tsri_free(w->sweep.best_cell);
    *w = (tsri_followed){0};
}

/* ---- Looking -------------------------------------------------------------------------------- */

tsri_stamp tsri_stamp_of(const char *folder, const char *name)
{
    tsri_stamp s = {0};
    struct stat about;
    char *path = NULL;
    if (tsri_path_join(&path, folder, name) == TSR_OK && stat(path, &about) == 0)
        s = (tsri_stamp){true, about.st_size,
                         (double)about.st_mtim.tv_sec + 1e-9 * (double)about.st_mtim.tv_nsec};
    tsri_free(path);
    return s;
}

static bool same_stamp(const tsri_stamp *a, const tsri_stamp *b)
{
    return a->there == b->there && a->size == b->size && a->modified - b->modified == 0;
}

/* Notes a failure that must not end the watching. */
static tsr_status bear(tsri_followed *w, tsr_status st)
{
    if (st == TSR_OK || st == TSR_RESOURCES)
        return st;
    (void)snprintf(w->trouble, sizeof w->trouble, "%s", tsr_last_error());
    return TSR_OK;
}

static void copy(char *to, size_t n, const char *from)
{
    (void)snprintf(to, n, "%s", from ? from : "");
}

static tsr_status read_yaml(tsri_followed *w)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    tsr_config *c = NULL;
    tsri_stamp now = tsri_stamp_of(w->folder, "run.yaml");
    if (same_stamp(&now, &w->yaml))
        return TSR_OK;
    w->yaml = now;
    w->version++;
    TSR_TRY(tsri_path_join(&path, w->folder, "run.yaml"));
    TSR_TRY(tsr_config_read(&c, path));
    w->rounds_asked = tsri_config_int(c, "rounds");
    w->epochs_asked = tsri_config_int(c, "epochs");
    w->workers = tsri_config_int(c, "scheme.workers");
    if (w->rounds_asked == 0 && w->epochs_asked == 0)
        w->epochs_asked = 10; /* as `tessera help epochs` says */
    w->may_stop = !tsri_config_is(c, "stop.metric", "none");
    copy(w->scheme, sizeof w->scheme, tsri_config_text(c, "scheme.name"));
    copy(w->model, sizeof w->model, tsri_config_text(c, "model.name"));
    const char *data = tsri_config_text(c, "data.name");
    copy(w->data, sizeof w->data, data && *data ? data : tsri_config_text(c, "data.path"));
done:
    tsr_config_destroy(c);
    tsri_free(path);
    return st;
}

/* The newest of checkpoints/ckpt-<round>.safetensors, by their names. */
static tsr_status find_checkpoint(tsri_followed *w)
{
    tsr_status st = TSR_OK;
    char *path = NULL, **names = NULL;
    int64_t count = 0, newest = -1;
    static const char before[] = "ckpt-";
    TSR_TRY(tsri_path_join(&path, w->folder, "checkpoints"));
    if (!tsri_file_exists(path))
        goto done;
    TSR_TRY(tsri_list_folder(&names, &count, path));
    for (int64_t i = 0; i < count; i++) {
        if (strncmp(names[i], before, sizeof before - 1) != 0)
            continue;
        int64_t round = strtoll(names[i] + sizeof before - 1, NULL, 10);
        if (round > newest) {
            newest = round;
            w->checkpoint_modified = tsri_stamp_of(path, names[i]).modified;
        }
    }
    w->version += newest != w->checkpoint;
    w->checkpoint = newest;
done:
    tsri_names_free(names, count);
    tsri_free(path);
    return st;
}

/* The time since the run last wrote something, by our own clock once we have seen a change: the
 * time of the file may come from another machine, and be wrong. */
static void note_age(tsri_followed *w, bool changed, const tsri_now *now)
{
    if (!w->looked) {
        double told = w->is_sweep ? w->sweep_file.modified : w->metrics.modified;
        w->first_at = now->steady;
        w->first_age = told > 0 && now->date > told ? now->date - told : 0;
    } else if (changed) {
        w->changed_at = now->steady;
    }
    w->age = w->changed_at >= 0 ? now->steady - w->changed_at
                                : w->first_age + (now->steady - w->first_at);
}

tsr_status tsri_followed_look(tsri_followed *w, const tsri_locks *locks, const tsri_now *now)
{
    tsr_status st = TSR_OK;
    bool changed = false;
    int64_t holder = w->holder.pid;
    tsri_run_state state = w->state;
    tsri_follow_visitor lines = {w, tsri_followed_forget, tsri_followed_line};
    w->trouble[0] = '\0';
    TSR_TRY(bear(w, read_yaml(w)));
    TSR_TRY(bear(w, tsri_holder_find(&w->holder, locks, w->folder)));
    if (w->holder.held)
        w->held_here = w->holder.pid;
    if (w->looked && w->holder.pid > 0 && w->holder.pid != holder)
        tsri_follow_again(&w->metrics); /* another process: it may have cut the file */
    TSR_TRY(bear(w, tsri_follow_look(&w->metrics, &changed, &lines)));
    TSR_TRY(bear(w, find_checkpoint(w)));
    w->model_file = tsri_stamp_of(w->folder, "model.safetensors");
    if (w->is_sweep) {
        int64_t done = w->sweep.done;
        TSR_TRY(bear(w, tsri_followed_sweep(w, now)));
        changed = changed || w->sweep.done != done;
    }
    note_age(w, changed, now);
    tsri_followed_judge(w, now);
    w->looked = true;
    w->version += w->state != state;
done:
    return st;
}

/* ---- Judging -------------------------------------------------------------------------------- */

/* A run that has written nothing for that many seconds is not going on as before. */
static double patience(const tsri_followed *w)
{
    static const double least = 60, times = 5;
    double gap = 0;
    for (int64_t i = 1; i < w->recents; i++)
        gap = fmax(gap, w->recent[i].seconds - w->recent[i - 1].seconds);
    if (w->recents == 1) /* the first evaluation: from the start */
        gap = w->recent[0].seconds;
    return fmax(least, times * gap);
}

/* Does a process work in the folder? This machine's list of locks tells; of a process on another
 * machine only growing files tell. One that was in the list is of this machine: gone, it was
 * killed. */
static bool is_alive(const tsri_followed *w)
{
    if (w->holder.pid <= 0 || w->holder.held || w->holder.pid == w->held_here)
        return w->holder.held;
    return (w->changed_at >= 0 || w->holder.remote) && w->age < patience(w) && !*w->ended;
}

/* The model is written after the last line: one that is older belongs to a run before. */
static bool has_finished(const tsri_followed *w)
{
    if (w->is_sweep)
        return w->sweep.runs > 0 && w->sweep.done >= w->sweep.runs;
    bool all = w->has_last && w->rounds > 0 && w->last.round >= w->rounds;
    return w->model_file.there && !*w->ended &&
           (all || w->model_file.modified >= w->metrics.modified);
}

static tsri_run_state state_of(const tsri_followed *w)
{
    bool told = w->has_last || (w->is_sweep && w->sweep.done > 0);
    if (is_alive(w)) {
        if (w->holder.stopped)
            return TSRI_STATE_STALLED;
        if (!told)
            return TSRI_STATE_STARTING;
        return w->age > patience(w) && !w->is_sweep ? TSRI_STATE_STALLED : TSRI_STATE_RUNNING;
    }
    if (has_finished(w))
        return w->parts == TSRI_PARTS_NONE    ? TSRI_STATE_FINISHED
               : w->parts == TSRI_PARTS_GO_ON ? TSRI_STATE_RUNNING
                                              : TSRI_STATE_INTERRUPTED;
    if (strcmp(w->ended, "diverged") == 0)
        return TSRI_STATE_DIVERGED;
    return *w->ended && strcmp(w->ended, "interrupted") != 0 ? TSRI_STATE_FAILED
                                                             : TSRI_STATE_INTERRUPTED;
}

static double rounds_of(const tsri_followed *w)
{
    if (w->is_sweep)
        return (double)w->sweep.runs;
    if (w->rounds_asked > 0)
        return (double)w->rounds_asked;
    double epochs = w->epochs_asked > 0 ? (double)w->epochs_asked : (double)NAN;
    double all = w->has_last ? round(epochs * w->last.round / w->last.epoch) : (double)NAN;
    return isfinite(all) && all >= 1 ? all : 0;
}

/* By the pace of the last evaluations of this process, and what has passed since the last. */
static double left_of(const tsri_followed *w)
{
    if (!tsri_state_alive(w->state) || w->recents == 0 || w->rounds <= 0 ||
        w->last.round >= w->rounds) /* the phases to come are others' */
        return (double)NAN;
    double rounds = w->recent[w->recents - 1].round, seconds = w->recent[w->recents - 1].seconds;
    if (w->recents > 1) {
        rounds -= w->recent[0].round;
        seconds -= w->recent[0].seconds;
    }
    double left = seconds / rounds * (w->rounds - w->last.round) - w->age;
    return isfinite(left) ? fmax(left, 0) : (double)NAN;
}

static double sweep_left(const tsri_followed *w)
{
    tsri_stamp begun = tsri_stamp_of(w->folder, "grid.json");
    double spent = w->sweep_file.modified - begun.modified, done = (double)w->sweep.done;
    if (!tsri_state_alive(w->state) || done < 1 || spent <= 0)
        return (double)NAN;
    return fmax(0, spent / done * ((double)w->sweep.runs - done) - w->age);
}

void tsri_followed_judge(tsri_followed *w, const tsri_now *now)
{
    (void)now;
    w->rounds = rounds_of(w);
    w->state = state_of(w);
    w->left = w->is_sweep ? sweep_left(w) : left_of(w);
}
