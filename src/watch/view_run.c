/* view_run.c - one run on a screen: state, curves, workers, traffic. */
#include "watch/dots.h"
#include "watch/view.h"

#include <math.h>
#include <stdio.h>

/* ---- Above the curves ----------------------------------------------------------------------- */

static void headline(tsri_canvas *f, const tsri_lookout *w, const tsri_followed *r)
{
    char time[64];
    tsri_canvas_say(f, TSRI_BOLD, "%s", tsri_view_name(w, r));
    tsri_canvas_say(f, tsri_state_style(r->state), "  %s", tsri_state_name(r->state));
    tsri_view_time(time, r);
    tsri_canvas_right(f, TSRI_PLAIN, time);
    tsri_canvas_next(f);
}

static void progress(tsri_canvas *f, const tsri_followed *r)
{
    double part = tsri_view_part(r);
    char text[96] = "";
    if (r->is_sweep)
        (void)snprintf(text, sizeof text, "run %lld of %lld", (long long)r->sweep.done,
                       (long long)r->sweep.runs);
    else if (r->has_last && r->rounds > 0)
        (void)snprintf(text, sizeof text, "round %.0f of %.0f, epoch %.4g", r->last.round,
                       r->rounds, r->last.epoch);
    else if (r->has_last)
        (void)snprintf(text, sizeof text, "round %.0f", r->last.round);
    int cells = f->width - tsri_canvas_columns(text) - 9;
    if (isfinite(part) && cells >= 8) {
        tsri_canvas_bar(f, TSRI_FIRST, part, cells < 40 ? cells : 40);
        tsri_canvas_say(f, TSRI_PLAIN, " %3d %%  ", (int)(100 * part));
    }
    tsri_canvas_say(f, TSRI_PLAIN, "%s", text);
    tsri_canvas_next(f);
}

static void number(tsri_canvas *f, const char *name, double value)
{
    char text[TSRI_NUMBER_TEXT + 8];
    if (!isfinite(value))
        return;
    tsri_view_number(text, value);
    tsri_canvas_say(f, TSRI_QUIET, "%s%s ", f->column > 0 ? "  " : "", name);
    tsri_canvas_say(f, TSRI_PLAIN, "%s", text);
}

/* With the two digits that it has on every page. */
static void accuracy(tsri_canvas *f, const char *name, double part)
{
    if (!isfinite(part))
        return;
    tsri_canvas_say(f, TSRI_QUIET, "%s%s ", f->column > 0 ? "  " : "", name);
    tsri_canvas_say(f, TSRI_PLAIN, "%.2f %%", 100 * part);
}

enum { NARROW = 60 }; /* below that, what people look for first and nothing else */

static void numbers(tsri_canvas *f, const tsri_followed *r)
{
    bool narrow = f->width < NARROW;
    if (r->is_sweep) {
        if (r->sweep.by_accuracy)
            accuracy(f, "best accuracy", r->sweep.best);
        else
            number(f, "best loss", r->sweep.best);
        if (r->sweep.best_cell)
            tsri_canvas_say(f, TSRI_QUIET, "  at %s", r->sweep.best_cell);
    } else if (r->has_last) {
        number(f, "loss", r->last.loss);
        if (!narrow)
            number(f, "test loss", r->last.test_loss);
        accuracy(f, "test accuracy", r->last.accuracy);
        if (!narrow && r->best_accuracy > r->last.accuracy)
            accuracy(f, "best", r->best_accuracy);
        if (isfinite(r->tickets))
            accuracy(f, "best ticket", r->tickets);
        number(f, "test error", r->last.rmse);
        if (!narrow)
            number(f, "rate", r->last.rate);
    }
    tsri_canvas_next(f);
}

/* ---- Curves --------------------------------------------------------------------------------- */

typedef double (*column)(const tsri_point *p);

static double loss_of(const tsri_point *p)
{
    return p->loss;
}

static double test_loss_of(const tsri_point *p)
{
    return p->test_loss;
}

static double accuracy_of(const tsri_point *p)
{
    return p->accuracy;
}

static double rmse_of(const tsri_point *p)
{
    return p->rmse;
}

static double x_of(const tsri_followed *r, const tsri_point *p)
{
    return r->is_sweep || !isfinite(p->epoch) ? p->round : p->epoch;
}

static void see(tsri_dots *d, const tsri_followed *r, column y)
{
    for (int64_t i = 0; y && i < r->points; i++)
        tsri_dots_see(d, x_of(r, &r->point[i]), y(&r->point[i]));
    if (y && r->has_last)
        tsri_dots_see(d, x_of(r, &r->last), y(&r->last));
}

/* The runs of a sweep are dots, not a curve. */
static void draw(tsri_dots *d, const tsri_followed *r, column y, tsri_style style)
{
    tsri_dots_pen(d, style);
    for (int64_t i = 0; y && i < r->points; i++) {
        if (r->is_sweep)
            tsri_dots_pen(d, style);
        tsri_dots_to(d, x_of(r, &r->point[i]), y(&r->point[i]));
    }
    if (y && r->has_last && !r->is_sweep)
        tsri_dots_to(d, x_of(r, &r->last), y(&r->last));
}

static tsr_status chart(tsri_dots *d, bool unicode, const tsri_followed *r, column a, column b)
{
    tsr_status st = TSR_OK;
    d->x_name = r->is_sweep ? "run" : r->has_last && isfinite(r->last.epoch) ? "epoch" : "round";
    TSR_TRY(tsri_dots_begin(d, unicode));
    see(d, r, a);
    see(d, r, b);
    if (d->seen > 0) {
        draw(d, r, a, TSRI_FIRST);
        draw(d, r, b, TSRI_SECOND);
    }
done:
    return st;
}

static bool has(const tsri_followed *r, column y)
{
    for (int64_t i = 0; i < r->points; i++)
        if (isfinite(y(&r->point[i])))
            return true;
    return r->has_last && isfinite(y(&r->last));
}

/* Losses, and accuracy or error where there is one: beside each other on a wide screen. */
static tsr_status curves(tsri_canvas *f, const tsri_followed *r, int lines)
{
    tsr_status st = TSR_OK;
    column second = has(r, accuracy_of) ? accuracy_of : has(r, rmse_of) ? rmse_of : NULL;
    bool beside = second && f->width >= 100;
    int height = second && !beside ? lines / 2 : lines, gap = 2;
    int width = beside ? (f->width - gap) / 2 : f->width;
    tsri_dots d[2] = {
        {.width = width,
         .height = height,
         .title = "loss",
         .log = true,
         .legend = {has(r, loss_of) ? "training" : NULL, has(r, test_loss_of) ? "test" : NULL}},
        {.width = width,
         .height = height,
         .title = second == accuracy_of ? "test accuracy, %" : "test error",
         .factor = second == accuracy_of ? 100 : 1}};
    if (height < TSRI_DOTS_LEAST) { /* one of them, the one people look for */
        second = NULL;
        d[0].height = height = lines;
    }
    if (height < TSRI_DOTS_LEAST)
        return TSR_OK;
    TSR_TRY(chart(&d[0], f->unicode, r, loss_of, test_loss_of));
    if (second)
        TSR_TRY(chart(&d[1], f->unicode, r, second, NULL));
    for (int row = 0; row < height; row++) {
        tsri_dots_row(f, &d[0], row);
        if (beside && second) {
            tsri_canvas_to(f, width + gap);
            tsri_dots_row(f, &d[1], row);
        }
        tsri_canvas_next(f);
    }
    for (int row = 0; !beside && second && row < height; row++) {
        tsri_dots_row(f, &d[1], row);
        tsri_canvas_next(f);
    }
done:
    tsri_dots_end(&d[0]);
    tsri_dots_end(&d[1]);
    return st;
}

/* ---- Below the curves ----------------------------------------------------------------------- */

enum { RANKS_SHOWN = 8 };

static void worker(tsri_canvas *f, const tsri_followed *r, int64_t i)
{
    const tsri_rank_time *t = &r->rank[i];
    double all = t->compute + t->send + t->wait, unit = all > 0 ? 100 / all : 0;
    tsri_canvas_say(f, TSRI_PLAIN, i == 0 ? "rank 0 *" : "rank %-3lld", (long long)i);
    tsri_canvas_to(f, 9);
    if (f->width >= 72)
        tsri_canvas_bar(f, TSRI_FIRST, all > 0 ? t->compute / all : 0, 20);
    if (f->width < NARROW)
        tsri_canvas_say(f, TSRI_PLAIN, " computes %3.0f %%, waits %2.0f %%", unit * t->compute,
                        unit * t->wait);
    else
        tsri_canvas_say(f, TSRI_PLAIN, " computes %3.0f %%, sends %2.0f %%, waits %2.0f %%",
                        unit * t->compute, unit * t->send, unit * t->wait);
    if (f->width >= NARROW && i > 0 && (t->received > 0 || t->sent > 0)) {
        tsri_canvas_say(f, TSRI_QUIET, "  %s in", tsri_bytes_text(t->received));
        tsri_canvas_say(f, TSRI_QUIET, ", %s out", tsri_bytes_text(t->sent));
    }
    tsri_canvas_next(f);
}

static void workers(tsri_canvas *f, const tsri_followed *r)
{
    double waited;
    int64_t slowest = tsri_followed_slowest(r, &waited);
    int64_t shown = r->ranks < RANKS_SHOWN ? r->ranks : RANKS_SHOWN;
    for (int64_t i = 0; i < shown; i++)
        worker(f, r, i);
    if (r->ranks > shown)
        tsri_canvas_say(f, TSRI_QUIET, "and %lld more; ", (long long)(r->ranks - shown));
    if (slowest >= 0 && f->width < NARROW)
        tsri_canvas_say(f, TSRI_PLAIN, "they wait %.0f %%, most for rank %lld", 100 * waited,
                        (long long)slowest);
    else if (slowest > 0)
        tsri_canvas_say(f, TSRI_PLAIN,
                        "workers wait %.0f %% of their time, most for rank %lld, which computes "
                        "longest",
                        100 * waited, (long long)slowest);
    else if (slowest == 0)
        tsri_canvas_say(f, TSRI_PLAIN,
                        "workers wait %.0f %% of their time, most for rank 0 *, which coordinates",
                        100 * waited);
    else
        tsri_canvas_say(f, TSRI_QUIET, "* coordinates; no worker waits long");
    tsri_canvas_next(f);
}

static void traffic(tsri_canvas *f, const tsri_followed *r)
{
    double bytes = r->last.bytes;
    tsri_canvas_say(f, TSRI_QUIET, "traffic ");
    tsri_canvas_say(f, TSRI_PLAIN, "%s", tsri_bytes_text(bytes));
    if (r->last.round > 0)
        tsri_canvas_say(f, TSRI_QUIET, ", %s a round", tsri_bytes_text(bytes / r->last.round));
    if (r->last.seconds > 0)
        tsri_canvas_say(f, TSRI_QUIET, ", %s/s", tsri_bytes_text(bytes / r->last.seconds));
    tsri_canvas_next(f);
}

/* What is told of the run beside its numbers; counted first (f NULL), then written. */
static int notes(tsri_canvas *f, const tsri_followed *r, const tsri_now *now)
{
    char text[256], time[TSRI_TIME_TEXT];
    int n = 0;
    tsri_view_why(text, r);
    if (*text && ++n && f) {
        tsri_canvas_say(f, tsri_state_style(r->state), "%s", text);
        tsri_canvas_next(f);
    }
    if (r->lost > 0 && ++n && f) {
        tsri_canvas_say(
            f, TSRI_WARN, "shares lost: %lld, the last in round %lld with rank %lld (%s)",
            (long long)r->lost, (long long)r->lost_round, (long long)r->lost_rank, r->lost_why);
        tsri_canvas_next(f);
    }
    if (r->rollbacks > 0 && ++n && f) {
        tsri_canvas_say(f, TSRI_WARN,
                        "returns to an earlier checkpoint after diverging, each with half the "
                        "rate: %lld",
                        (long long)r->rollbacks);
        tsri_canvas_next(f);
    }
    if (r->bad_lines + r->metrics.too_long > 0 && ++n && f) {
        tsri_canvas_say(f, TSRI_WARN, "lines of metrics.jsonl that cannot be read: %lld",
                        (long long)(r->bad_lines + r->metrics.too_long));
        tsri_canvas_next(f);
    }
    if (r->sweep.diverged + r->sweep.refused > 0 && ++n && f) {
        tsri_canvas_say(f, TSRI_WARN, "runs that diverged: %lld; refused: %lld",
                        (long long)r->sweep.diverged, (long long)r->sweep.refused);
        tsri_canvas_next(f);
    }
    if (r->checkpoint >= 0 && tsri_state_alive(r->state) && ++n && f) {
        double ago = fmax(0, now->date - r->checkpoint_modified);
        tsri_canvas_say(f, TSRI_QUIET, "checkpoint of round %lld, %s ago", (long long)r->checkpoint,
                        tsri_time_text(time, ago));
        tsri_canvas_next(f);
    }
    return n;
}

tsr_status tsri_view_run(tsri_canvas *f, const tsri_lookout *w, const tsri_followed *r)
{
    tsr_status st = TSR_OK;
    int below = notes(NULL, r, &w->now), ranks = 0;
    bool sent = r->has_last && r->last.bytes > 0 && !r->is_sweep;
    headline(f, w, r);
    progress(f, r);
    numbers(f, r);
    below += sent;
    if (r->ranks > 0)
        ranks = 1 + (int)(r->ranks < RANKS_SHOWN ? r->ranks : RANKS_SHOWN);
    int lines = f->height - 1 - f->line - below - ranks;
    if (lines < 2 * TSRI_DOTS_LEAST && ranks > 0) { /* a low screen: curves before workers */
        lines += ranks;
        ranks = 0;
    }
    if (r->has_last)
        TSR_TRY(curves(f, r, lines));
    if (ranks > 0)
        workers(f, r);
    if (sent)
        traffic(f, r);
    (void)notes(f, r, &w->now);
done:
    return st;
}
