/* view.c - what a terminal shows: a list of runs, or one run with its curves. */
#include "watch/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

tsri_style tsri_state_style(tsri_run_state state)
{
    static const tsri_style style[] = {
        [TSRI_STATE_STARTING] = TSRI_GOOD,    [TSRI_STATE_RUNNING] = TSRI_GOOD,
        [TSRI_STATE_STALLED] = TSRI_WARN,     [TSRI_STATE_FINISHED] = TSRI_FIRST,
        [TSRI_STATE_INTERRUPTED] = TSRI_WARN, [TSRI_STATE_DIVERGED] = TSRI_BAD,
        [TSRI_STATE_FAILED] = TSRI_BAD};
    return style[state];
}

const char *tsri_view_name(const tsri_lookout *w, const tsri_followed *run)
{
    return *run->name ? run->name : w->folder;
}

double tsri_view_part(const tsri_followed *run)
{
    if (run->state == TSRI_STATE_FINISHED)
        return 1;
    if (run->is_sweep)
        return run->sweep.runs > 0 ? (double)run->sweep.done / (double)run->sweep.runs
                                   : (double)NAN;
    return run->has_last && run->rounds > 0 ? run->last.round / run->rounds : (double)NAN;
}

void tsri_view_time(char text[64], const tsri_followed *run)
{
    char time[TSRI_TIME_TEXT];
    text[0] = '\0';
    switch (run->state) {
    case TSRI_STATE_RUNNING:
        if (isfinite(run->left))
            (void)snprintf(text, 64, "%s%s left", run->may_stop ? "at most " : "",
                           tsri_time_text(time, run->left));
        break;
    case TSRI_STATE_STARTING:
        break;
    case TSRI_STATE_STALLED:
        (void)snprintf(text, 64, "silent for %s", tsri_time_text(time, run->age));
        break;
    default:
        if (run->has_last && run->last.seconds > 0)
            (void)snprintf(text, 64, "took %s", tsri_time_text(time, run->last.seconds));
    }
}

void tsri_view_number(char text[TSRI_NUMBER_TEXT + 8], double value)
{
    char whole[TSRI_NUMBER_TEXT];
    int64_t tenths = fabs(value) < 1e12 ? llround(10 * fabs(value)) : 0;
    if (tenths >= 10000)
        (void)snprintf(text, TSRI_NUMBER_TEXT + 8, "%s%s.%d", value < 0 ? "-" : "",
                       tsri_grouped(whole, tenths / 10), (int)(tenths % 10));
    else
        (void)snprintf(text, TSRI_NUMBER_TEXT + 8, "%.4g", value);
}

void tsri_view_why(char text[256], const tsri_followed *run)
{
    text[0] = '\0';
    if (run->holder.stopped)
        (void)snprintf(text, 256, "process %lld is stopped: 'kill -CONT %lld' lets it go on",
                       (long long)run->holder.pid, (long long)run->holder.pid);
    else if (run->state == TSRI_STATE_INTERRUPTED && run->holder.pid > 0)
        (void)snprintf(text, 256, "process %lld was killed%s; 'tessera %s --resume' goes on",
                       (long long)run->holder.pid,
                       run->holder.pid == run->held_here ? "" : ", or runs on another machine",
                       run->of_ticket ? "ticket" : "train");
    else if (*run->ended_why)
        (void)snprintf(text, 256, "%s", run->ended_why);
    else if (*run->trouble)
        (void)snprintf(text, 256, "%s", run->trouble);
}

void tsri_view_count(char text[160], const tsri_lookout *w)
{
    int64_t count[TSRI_STATE_FAILED + 1] = {0};
    for (int64_t i = 0; i < w->runs; i++)
        count[w->run[i]->state]++;
    int n = snprintf(text, 160, "%lld run%s", (long long)w->runs, w->runs == 1 ? "" : "s");
    const char *mark = ": ";
    for (int s = 0; s <= TSRI_STATE_FAILED; s++)
        if (count[s] > 0 && n > 0 && n < 160) {
            n += snprintf(text + n, 160 - (size_t)n, "%s%lld %s", mark, (long long)count[s],
                          tsri_state_name((tsri_run_state)s));
            mark = ", ";
        }
    if (w->passed > 0 && n > 0 && n < 160)
        (void)snprintf(text + n, 160 - (size_t)n, "; %lld more are not shown",
                       (long long)w->passed);
}

static void foot(tsri_canvas *f, const tsri_lookout *w, bool open)
{
    f->kept = 0;
    while (f->line < f->height - 1)
        tsri_canvas_next(f);
    if (w->runs < 2)
        tsri_canvas_say(f, TSRI_QUIET, "q leave; the run goes on");
    else if (open)
        tsri_canvas_say(f, TSRI_QUIET, "q leave  esc list  up/down other run");
    else
        tsri_canvas_say(f, TSRI_QUIET, "q leave  up/down choose  enter open");
}

/* What does not fit goes as a whole: "12 finished, 1" would be read as something. */
static void shorten(char *count, int columns)
{
    while (*count && tsri_canvas_columns(count) > columns) {
        char *end = strrchr(count, ',');
        end = end ? end : strchr(count, ':');
        end = end ? end : count;
        *end = '\0';
    }
}

/* The list, and where there is room the chosen run below it. */
static tsr_status list_and_run(tsri_canvas *f, const tsri_lookout *w, const tsri_screen *s)
{
    tsr_status st = TSR_OK;
    char count[160];
    enum { RUN_LEAST = 14 };
    int room = f->height - 2, list = (int)w->runs + 1;
    if (list > room / 2 && room / 2 >= RUN_LEAST)
        list = room / 2;
    if (list > room || room - list < RUN_LEAST)
        list = room;
    tsri_view_count(count, w);
    shorten(count, f->width - tsri_canvas_columns(w->folder) - 2);
    tsri_canvas_say(f, TSRI_BOLD, "%s", w->folder);
    tsri_canvas_say(f, TSRI_QUIET, "  %s", count);
    tsri_canvas_next(f);
    tsri_view_list(f, w, s, list);
    if (room - list >= RUN_LEAST) {
        tsri_canvas_next(f);
        TSR_TRY(tsri_view_run(f, w, w->run[s->chosen]));
    }
done:
    return st;
}

static void nothing_yet(tsri_canvas *f, const tsri_lookout *w)
{
    tsri_canvas_say(f, TSRI_BOLD, "%s", w->folder);
    tsri_canvas_next(f);
    tsri_canvas_say(f, TSRI_PLAIN, "No run here yet: there is no run.yaml in it or below it.");
    tsri_canvas_next(f);
    tsri_canvas_say(f, TSRI_PLAIN, "One that begins is shown at once.");
    tsri_canvas_next(f);
}

tsr_status tsri_lookout_draw(tsri_text *out, const tsri_lookout *w, const tsri_screen *screen)
{
    tsr_status st = TSR_OK;
    tsri_screen s = *screen;
    tsri_canvas f = {.out = out,
                     .width = s.width,
                     .height = s.height,
                     .kept = 1,
                     /* for the keys */ .colour = s.colour,
                     .unicode = s.unicode};
    s.chosen = s.chosen >= w->runs ? w->runs - 1 : s.chosen < 0 ? 0 : s.chosen;
    if (w->runs == 0)
        nothing_yet(&f, w);
    else if (s.open || w->runs == 1)
        TSR_TRY(tsri_view_run(&f, w, w->run[s.chosen]));
    else
        TSR_TRY(list_and_run(&f, w, &s));
    foot(&f, w, s.open);
    TSR_TRY(tsri_canvas_end(&f));
done:
    return st;
}
