/* lookout.c - the runs below a folder: found, and looked at one after the other. */
#include "watch/lookout.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "io/file.h"
#include "ticket/rows.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* ---- Finding -------------------------------------------------------------------------------- */

typedef struct search {
    tsri_lookout *w;
    int64_t left; /* folders that may still be looked into */
} search;

int64_t tsri_lookout_find(const tsri_lookout *w, const char *name)
{
    for (int64_t i = 0; i < w->runs; i++)
        if (strcmp(w->run[i]->name, name) == 0)
            return i;
    return -1;
}

static tsr_status add(tsri_lookout *w, const char *folder, const char *name)
{
    tsr_status st = TSR_OK;
    tsri_followed *one = NULL;
    if (tsri_lookout_find(w, name) >= 0)
        return TSR_OK;
    if (w->runs >= TSRI_LOOKOUT_RUNS) {
        w->passed++;
        return TSR_OK;
    }
    TSR_TRY(tsri_reserve(&w->run, &w->capacity, w->runs, sizeof *w->run));
    TSR_TRY(tsri_alloc(&one, 1, sizeof *one));
    TSR_TRY(tsri_followed_begin(one, folder, name));
    int64_t at = w->runs++;
    for (; at > 0 && strcmp(w->run[at - 1]->name, name) > 0; at--)
        w->run[at] = w->run[at - 1];
    w->run[at] = one;
    w->version++;
    one = NULL;
done:
    tsri_free(one);
    return st;
}

static bool is_folder(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 && S_ISDIR(about.st_mode); /* links are not followed */
}

static bool passed_over(const char *name)
{
    return name[0] == '.' || strcmp(name, "checkpoints") == 0 || strcmp(name, "trace") == 0;
}

static tsr_status look_below(search *s, const char *folder, const char *name, int depth);

/* What is a run or holds some; a folder that cannot be listed holds none. */
static tsr_status look_inside(search *s, const char *folder, const char *name, int depth)
{
    tsr_status st = TSR_OK;
    char **names = NULL, *path = NULL, *inner = NULL;
    int64_t count = 0;
    st = tsri_list_folder(&names, &count, folder);
    if (st == TSR_BAD_FILE)
        st = TSR_OK;
    TSR_TRY(st);
    for (int64_t i = 0; i < count && s->left > 0; i++) {
        if (passed_over(names[i]))
            continue;
        TSR_TRY(tsri_path_join(&path, folder, names[i]));
        TSR_TRY(*name ? tsri_path_join(&inner, name, names[i]) : tsri_strdup(&inner, names[i]));
        if (is_folder(path))
            TSR_TRY(look_below(s, path, inner, depth + 1));
        TSRI_FREE(path);
        TSRI_FREE(inner);
    }
done:
    tsri_names_free(names, count);
    tsri_free(path);
    tsri_free(inner);
    return st;
}

/* A run.yaml alone is a file that somebody wrote, beside which the runs are. */
static bool is_run(const char *folder)
{
    static const char *const written[] = {"metrics.jsonl", "grid.json", "model.safetensors"};
    bool found = tsri_stamp_of(folder, "run.lock").there;
    for (size_t i = 0; !found && i < sizeof written / sizeof *written; i++)
        found = tsri_stamp_of(folder, written[i]).there && tsri_stamp_of(folder, "run.yaml").there;
    return found;
}

static tsr_status look_below(search *s, const char *folder, const char *name, int depth)
{
    tsr_status st = TSR_OK;
    s->left--;
    if (is_run(folder))
        TSR_TRY(add(s->w, folder, name));
    if (depth < TSRI_LOOKOUT_DEPTH)
        TSR_TRY(look_inside(s, folder, name, depth));
done:
    return st;
}

/* A run whose folder is gone is forgotten. */
static void drop_gone(tsri_lookout *w)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < w->runs; i++) {
        if (is_folder(w->run[i]->folder) || !*w->run[i]->name) {
            w->run[kept++] = w->run[i];
            continue;
        }
        tsri_followed_fini(w->run[i]);
        tsri_free(w->run[i]);
        w->version++;
    }
    w->runs = kept;
}

/* Every few seconds, and for at most a fiftieth of the time. */
static tsr_status search_when_due(tsri_lookout *w)
{
    static const double pause = 3, rest = 50;
    search s = {w, TSRI_LOOKOUT_LOOKED};
    double begin = tsri_clock();
    if (w->searched > 0 && begin - w->searched < fmax(pause, rest * w->search_took))
        return TSR_OK;
    w->passed = 0;
    drop_gone(w);
    tsr_status st = look_below(&s, w->folder, "", 0);
    w->searched = tsri_clock();
    w->search_took = w->searched - begin;
    return st;
}

/* ---- Looking -------------------------------------------------------------------------------- */

tsr_status tsri_lookout_open(tsri_lookout **out, const char *folder)
{
    tsr_status st = TSR_OK;
    tsri_lookout *w = NULL;
    struct stat about;
    *out = NULL;
    TSR_CHECK(stat(folder, &about) == 0 && S_ISDIR(about.st_mode), TSR_USAGE,
              "%s: there is no such folder; give that of a run, or one with runs below it",
              tsri_quote(folder));
    TSR_TRY(tsri_alloc(&w, 1, sizeof *w));
    TSR_TRY(tsri_strdup(&w->folder, folder));
    *out = w;
    w = NULL;
done:
    tsri_lookout_close(w);
    return st;
}

void tsri_lookout_close(tsri_lookout *w)
{
    if (!w)
        return;
    for (int64_t i = 0; i < w->runs; i++) {
        tsri_followed_fini(w->run[i]);
        tsri_free(w->run[i]);
    }
    tsri_free(w->run);
    tsri_free(w->folder);
    tsri_locks_fini(&w->locks);
    tsri_free(w);
}

/* Is run k in a folder inside that of run i? */
static bool is_inside(const tsri_lookout *w, int64_t k, int64_t i)
{
    const char *name = w->run[i]->name, *other = w->run[k]->name;
    size_t n = strlen(name);
    return n == 0 || (strncmp(other, name, n) == 0 && other[n] == '/');
}

/* A ticket's table is written when all is done. Before that a process cuts, evaluates and times
 * between one phase and the next, and holds no folder meanwhile: it gets a minute for that. */
static tsri_parts parts_of(const tsri_lookout *w, int64_t i)
{
    static const double between = 60;
    if (!tsri_lookout_is_ticket(w, i) || tsri_stamp_of(w->run[i]->folder, "ticket.json").there)
        return TSRI_PARTS_NONE;
    for (int64_t k = i + 1; k < w->runs; k++) {
        const tsri_followed *part = w->run[k];
        if (is_inside(w, k, i) && (tsri_state_alive(part->state) ||
                                   (part->state == TSRI_STATE_FINISHED && part->age < between)))
            return TSRI_PARTS_GO_ON;
    }
    return TSRI_PARTS_STOPPED;
}

/* The name of run k within the folder of run i, where it is. */
static const char *inner_name(const tsri_lookout *w, int64_t k, int64_t i)
{
    size_t n = strlen(w->run[i]->name);
    return w->run[k]->name + n + (n > 0);
}

/* Is run i made by `tessera ticket`? */
static bool is_of_ticket(const tsri_lookout *w, int64_t i)
{
    bool found = tsri_lookout_is_ticket(w, i);
    for (int64_t k = 0; !found && k < i; k++) /* what it is inside of comes before it */
        found = is_inside(w, i, k) && tsri_tickets_folder(inner_name(w, i, k)) &&
                tsri_lookout_is_ticket(w, k);
    return found;
}

/* Of the tickets of run i, each as it is now, the best accuracy; NaN when there is none yet. The
 * whole network, trained on beside them, is none. */
static double best_of_tickets(const tsri_lookout *w, int64_t i)
{
    double best = (double)NAN;
    for (int64_t k = i + 1; k < w->runs; k++) {
        const tsri_followed *one = w->run[k];
        if (is_inside(w, k, i) && strncmp(inner_name(w, k, i), "ticket-", 7) == 0 &&
            tsri_tickets_folder(inner_name(w, k, i)) && one->has_last)
            best = fmax(best, one->last.accuracy); /* fmax passes over NaN */
    }
    return best;
}

static void note_ticket(tsri_lookout *w, int64_t i)
{
    tsri_followed *run = w->run[i];
    double best = best_of_tickets(w, i);
    run->parts = parts_of(w, i);
    run->of_ticket = is_of_ticket(w, i);
    run->version += isfinite(best) && !(best <= run->tickets && best >= run->tickets);
    run->tickets = best;
}

tsr_status tsri_lookout_look(tsri_lookout *w)
{
    tsr_status st = TSR_OK;
    TSR_TRY(search_when_due(w));
    TSR_TRY(tsri_locks_read(&w->locks));
    w->now = tsri_now_read();
    for (int64_t i = w->runs - 1; i >= 0; i--) { /* what is inside comes first */
        int64_t version = w->run[i]->version;
        note_ticket(w, i);
        TSR_TRY(tsri_followed_look(w->run[i], &w->locks, &w->now));
        w->version += w->run[i]->version != version;
    }
done:
    return st;
}

int64_t tsri_lookout_liveliest(const tsri_lookout *w)
{
    int64_t best = -1;
    for (int64_t i = 0; i < w->runs; i++) {
        if (best < 0) {
            best = i;
            continue;
        }
        bool alive = tsri_state_alive(w->run[i]->state);
        bool other = tsri_state_alive(w->run[best]->state);
        if (alive != other ? alive : w->run[i]->age < w->run[best]->age)
            best = i;
    }
    return best;
}

bool tsri_lookout_is_ticket(const tsri_lookout *w, int64_t i)
{
    size_t n = strlen(w->run[i]->name);
    for (int64_t k = i + 1; k < w->runs; k++)
        if (is_inside(w, k, i) && tsri_tickets_folder(w->run[k]->name + n + (n > 0)))
            return true;
    return false;
}
