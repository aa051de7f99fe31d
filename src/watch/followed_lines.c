/* followed_lines.c - the lines of metrics.jsonl, one by one, as numbers that a screen can show. */
#include "base/alloc.h"
#include "watch/followed.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double real_of(const tsri_json_value *line, const char *key)
{
    double value = (double)NAN;
    const tsri_json_value *v = tsri_json_get(line, key);
    return v && tsri_json_as_real(v, &value) ? value : (double)NAN;
}

static int64_t whole_of(const tsri_json_value *line, const char *key)
{
    int64_t value = -1;
    const tsri_json_value *v = tsri_json_get(line, key);
    return v && tsri_json_as_int(v, &value) ? value : -1;
}

static const char *text_of(const tsri_json_value *line, const char *key)
{
    const char *text = "";
    const tsri_json_value *v = tsri_json_get(line, key);
    return v && tsri_json_as_text(v, &text) ? text : "";
}

void tsri_followed_forget(void *watched)
{
    tsri_followed *w = watched;
    w->points = w->passed = w->recents = w->ranks = 0;
    w->stride = 1;
    w->has_last = false;
    w->before = w->raw = 0;
    w->lost = w->rollbacks = w->certificates = w->bad_lines = 0;
    w->forced = false;
    w->ended[0] = w->ended_why[0] = '\0';
    w->times_round = w->best_accuracy = (double)NAN;
    w->version++;
}

/* ---- Evaluations ---------------------------------------------------------------------------- */

/* When the list is full, every other point goes, and from then on every other one is left out. */
tsr_status tsri_followed_add(tsri_followed *w, const tsri_point *p)
{
    tsr_status st = TSR_OK;
    w->last = *p;
    w->has_last = true;
    if (w->passed++ % w->stride != 0)
        return TSR_OK;
    if (w->points == TSRI_POINTS) {
        for (int64_t i = 0; i < TSRI_POINTS / 2; i++)
            w->point[i] = w->point[2 * i];
        w->points = TSRI_POINTS / 2;
        w->stride *= 2;
        if ((w->passed - 1) % w->stride != 0)
            return TSR_OK;
    }
    if (!w->point)
        TSR_TRY(tsri_alloc(&w->point, TSRI_POINTS, sizeof *w->point));
    w->point[w->points++] = *p;
done:
    return st;
}

/* Seconds begin at 0 again with every process. */
static double whole_seconds(tsri_followed *w, double raw)
{
    if (!isfinite(raw))
        return w->before + w->raw;
    if (raw < w->raw) {
        w->before += w->raw;
        w->recents = 0;
    }
    w->raw = raw;
    return w->before + raw;
}

static void note_pace(tsri_followed *w, double round)
{
    if (!isfinite(round))
        return;
    if (w->recents == TSRI_RECENT) {
        memmove(w->recent, w->recent + 1, sizeof w->recent - sizeof *w->recent);
        w->recents--;
    }
    w->recent[w->recents].round = round;
    w->recent[w->recents++].seconds = w->raw;
}

static tsr_status take_evaluation(tsri_followed *w, const tsri_json_value *line)
{
    tsri_point p = {.round = real_of(line, "round"),
                    .epoch = real_of(line, "epoch"),
                    .loss = real_of(line, "loss"),
                    .test_loss = real_of(line, "test_loss"),
                    .accuracy = real_of(line, "test_accuracy"),
                    .rmse = real_of(line, "test_rmse"),
                    .rate = real_of(line, "rate"),
                    .bytes = real_of(line, "bytes_total")};
    if (isnan(p.round)) { /* no line of ours */
        w->bad_lines++;
        return TSR_OK;
    }
    p.seconds = whole_seconds(w, real_of(line, "seconds"));
    note_pace(w, p.round);
    if (p.accuracy > w->best_accuracy || isnan(w->best_accuracy))
        w->best_accuracy = p.accuracy;
    return tsri_followed_add(w, &p);
}

/* ---- Events --------------------------------------------------------------------------------- */

static tsr_status take_times(tsri_followed *w, const tsri_json_value *line)
{
    tsr_status st = TSR_OK;
    static const double fades = 0.8; /* the last five or so lines count */
    int64_t n = tsri_ranks_count(line);
    if (!w->rank)
        TSR_TRY(tsri_alloc(&w->rank, TSRI_MEMBERS, sizeof *w->rank));
    if (n != w->ranks)
        memset(w->rank, 0, TSRI_MEMBERS * sizeof *w->rank);
    w->ranks = n;
    tsri_ranks_add(w->rank, n, line, fades);
    w->times_round = real_of(line, "round");
done:
    return st;
}

static void take_lost(tsri_followed *w, const tsri_json_value *line)
{
    w->lost++;
    w->lost_rank = whole_of(line, "rank");
    w->lost_round = whole_of(line, "round");
    (void)snprintf(w->lost_why, sizeof w->lost_why, "%s", text_of(line, "why"));
}

static tsr_status take_event(tsri_followed *w, const char *event, const tsri_json_value *line)
{
    if (strcmp(event, "times") == 0)
        return take_times(w, line);
    if (strcmp(event, "lost") == 0)
        take_lost(w, line);
    w->rollbacks += strcmp(event, "rollback") == 0;
    w->certificates += strcmp(event, "certificate") == 0;
    w->forced = w->forced || strcmp(event, "forced") == 0;
    if (strcmp(event, "ended") == 0) {
        (void)snprintf(w->ended, sizeof w->ended, "%s", text_of(line, "status"));
        (void)snprintf(w->ended_why, sizeof w->ended_why, "%s", text_of(line, "why"));
    }
    return TSR_OK;
}

tsr_status tsri_followed_line(void *watched, const char *bytes, int64_t n)
{
    tsr_status st = TSR_OK;
    tsri_followed *w = watched;
    tsri_json_value *line = NULL;
    st = tsri_json_parse(&line, bytes, n, "metrics.jsonl");
    if (st == TSR_BAD_FILE || (st == TSR_OK && !tsri_json_is_object(line))) {
        w->bad_lines++;
        st = TSR_OK;
        goto done;
    }
    TSR_TRY(st);
    w->version++;
    w->ended[0] = w->ended_why[0] = '\0'; /* the run was resumed after that line */
    const char *event = text_of(line, "event");
    TSR_TRY(*event ? take_event(w, event, line) : take_evaluation(w, line));
done:
    tsri_json_destroy(line);
    return st;
}

int64_t tsri_followed_slowest(const tsri_followed *w, double *waited)
{
    return tsri_ranks_slowest(w->rank, w->ranks, waited);
}
