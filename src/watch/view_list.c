/* view_list.c - the runs of a folder, one line each. */
#include "base/number.h"
#include "watch/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER = 10 }; /* columns of a number, and of the gap behind it */

/* Columns, from the right: what a narrow screen has no room for is left out. */
typedef struct columns {
    int name, state, bar, loss, good, time;
} columns;

static columns columns_of(int width)
{
    columns c = {.state = 13, .bar = 6};
    int left = width - c.state - c.bar - 12;
    if (left >= NUMBER)
        left -= c.good = NUMBER;
    if (left >= 16)
        left -= c.time = 18;
    if (left >= NUMBER)
        left -= c.loss = NUMBER;
    if (left >= 24) {
        c.bar = 18;
        left -= 12;
    }
    c.name = left > 0 ? left + 12 : 12;
    return c;
}

static void head(tsri_canvas *f, const columns *c)
{
    tsri_canvas_say(f, TSRI_QUIET, "run");
    tsri_canvas_to(f, c->name);
    tsri_canvas_say(f, TSRI_QUIET, "state");
    tsri_canvas_to(f, c->name + c->state);
    tsri_canvas_say(f, TSRI_QUIET, "done");
    if (c->good > 0) {
        tsri_canvas_to(f, c->name + c->state + c->bar);
        tsri_canvas_say(f, TSRI_QUIET, "test");
    }
    if (c->loss > 0) {
        tsri_canvas_to(f, c->name + c->state + c->bar + c->good);
        tsri_canvas_say(f, TSRI_QUIET, "loss");
    }
    if (c->time > 0) {
        tsri_canvas_to(f, c->name + c->state + c->bar + c->good + c->loss);
        tsri_canvas_say(f, TSRI_QUIET, "time");
    }
    tsri_canvas_next(f);
}

/* 3,375,428.0 ran into the number beside it. */
static void fitted(char text[TSRI_NUMBER_TEXT + 8], double value)
{
    char whole[TSRI_NUMBER_TEXT];
    tsri_view_number(text, value);
    if (strlen(text) >= NUMBER && fabs(value) < 1e12)
        (void)snprintf(text, TSRI_NUMBER_TEXT + 8, "%s%s", value < 0 ? "-" : "",
                       tsri_grouped(whole, llround(fabs(value))));
    if (strlen(text) >= NUMBER)
        (void)snprintf(text, TSRI_NUMBER_TEXT + 8, "%.3g", value);
}

/* "88.12 %" of classes, "0.312" of real targets. Of a sweep the best cell's, of a ticket the best
 * ticket's as soon as there is one. */
static void goodness(char text[TSRI_NUMBER_TEXT + 8], const tsri_followed *run)
{
    bool sweep = run->is_sweep, by_accuracy = sweep && run->sweep.by_accuracy;
    double accuracy = by_accuracy              ? run->sweep.best
                      : sweep                  ? (double)NAN
                      : isfinite(run->tickets) ? run->tickets
                                               : run->last.accuracy;
    double other = sweep                      ? run->sweep.best
                   : isfinite(run->last.rmse) ? run->last.rmse
                                              : run->last.test_loss;
    text[0] = '\0';
    if (!sweep && !run->has_last)
        return;
    if (isfinite(accuracy))
        (void)snprintf(text, TSRI_NUMBER_TEXT + 8, "%.2f %%", 100 * accuracy);
    else if (isfinite(other) && !by_accuracy)
        fitted(text, other);
}

static void line(tsri_canvas *f, const columns *c, const tsri_lookout *w, int64_t i, bool chosen)
{
    const tsri_followed *run = w->run[i];
    char text[64], good[TSRI_NUMBER_TEXT + 8], name[256];
    double part = tsri_view_part(run);
    int at = c->name, width = f->width;
    if (chosen)
        f->ground = TSRI_MARKED;
    (void)snprintf(name, sizeof name, "%s%s", tsri_view_name(w, run),
                   run->is_sweep                  ? " (sweep)"
                   : tsri_lookout_is_ticket(w, i) ? " (ticket)"
                                                  : "");
    f->width = at - 1 < width ? at - 1 : width;
    tsri_canvas_say(f, TSRI_PLAIN, "%s", name);
    f->width = width;
    tsri_canvas_to(f, at);
    tsri_canvas_say(f, chosen ? TSRI_PLAIN : tsri_state_style(run->state), "%s",
                    tsri_state_name(run->state));
    tsri_canvas_to(f, at += c->state);
    if (isfinite(part)) {
        if (c->bar > 12) {
            tsri_canvas_bar(f, chosen ? TSRI_PLAIN : TSRI_FIRST, part, c->bar - 7);
            tsri_canvas_say(f, TSRI_PLAIN, " ");
        }
        tsri_canvas_say(f, TSRI_PLAIN, "%3d %%", (int)(100 * part));
    }
    tsri_canvas_to(f, at += c->bar);
    goodness(good, run);
    if (c->good > 0)
        tsri_canvas_say(f, TSRI_PLAIN, "%s", good);
    tsri_canvas_to(f, at += c->good);
    if (c->loss > 0 && run->has_last && !run->is_sweep && isfinite(run->last.loss)) {
        fitted(good, run->last.loss);
        tsri_canvas_say(f, TSRI_PLAIN, "%s", good);
    }
    tsri_canvas_to(f, at + c->loss);
    tsri_view_time(text, run);
    if (c->time > 0)
        tsri_canvas_say(f, TSRI_PLAIN, "%s", text);
    tsri_canvas_next(f);
}

void tsri_view_list(tsri_canvas *f, const tsri_lookout *w, const tsri_screen *screen, int lines)
{
    columns c = columns_of(f->width);
    int64_t shown = lines - 1, first = 0;
    head(f, &c);
    if (screen->chosen >= shown)
        first = screen->chosen - shown + 1;
    for (int64_t i = first; i < w->runs && i < first + shown; i++)
        line(f, &c, w, i, i == screen->chosen);
}
