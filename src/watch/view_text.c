/* view_text.c - the runs as plain text and as a JSON document: for scripts, and once. */
#include "watch/view.h"

#include <math.h>
#include <stdio.h>

static void number(tsri_canvas *f, const char *name, double value)
{
    char text[TSRI_NUMBER_TEXT + 8];
    tsri_view_number(text, value);
    tsri_canvas_say(f, TSRI_PLAIN, ", %s %s", name, text);
}

/* Of a sweep the best cell, as the list and the document have it. */
static void best(tsri_canvas *f, const tsri_followed *r)
{
    if (!isfinite(r->sweep.best))
        return;
    if (r->sweep.by_accuracy)
        tsri_canvas_say(f, TSRI_PLAIN, ", best accuracy %.2f %%", 100 * r->sweep.best);
    else
        number(f, "best loss", r->sweep.best);
    if (r->sweep.best_cell && *r->sweep.best_cell)
        tsri_canvas_say(f, TSRI_PLAIN, " at %s", r->sweep.best_cell);
}

static void last(tsri_canvas *f, const tsri_followed *r)
{
    if (isfinite(r->last.loss))
        number(f, "loss", r->last.loss);
    if (isfinite(r->last.accuracy))
        tsri_canvas_say(f, TSRI_PLAIN, ", test accuracy %.2f %%", 100 * r->last.accuracy);
    else if (isfinite(r->last.rmse))
        number(f, "test error", r->last.rmse);
    else if (isfinite(r->last.test_loss))
        number(f, "test loss", r->last.test_loss);
}

/* The same words as on a screen, without its curves. */
static void paragraph(tsri_canvas *f, const tsri_lookout *w, const tsri_followed *r)
{
    char text[256], time[64];
    double part = tsri_view_part(r);
    tsri_view_time(time, r);
    tsri_canvas_say(f, TSRI_PLAIN, "%s: %s", tsri_view_name(w, r), tsri_state_name(r->state));
    if (r->is_sweep)
        tsri_canvas_say(f, TSRI_PLAIN, ", run %lld of %lld", (long long)r->sweep.done,
                        (long long)r->sweep.runs);
    else if (r->has_last && r->rounds > 0)
        tsri_canvas_say(f, TSRI_PLAIN, ", round %.0f of %.0f", r->last.round, r->rounds);
    if (isfinite(part))
        tsri_canvas_say(f, TSRI_PLAIN, " (%d %%)", (int)(100 * part));
    if (r->is_sweep) /* its last line is one run of many */
        best(f, r);
    else if (r->has_last)
        last(f, r);
    if (isfinite(r->tickets)) /* what was told until here is the pretrained network's */
        tsri_canvas_say(f, TSRI_PLAIN, ", best ticket %.2f %%", 100 * r->tickets);
    if (*time)
        tsri_canvas_say(f, TSRI_PLAIN, ", %s", time);
    tsri_canvas_next(f);
    tsri_view_why(text, r);
    if (*text) {
        tsri_canvas_say(f, TSRI_PLAIN, "  %s", text);
        tsri_canvas_next(f);
    }
}

tsr_status tsri_lookout_text(tsri_text *out, const tsri_lookout *w)
{
    tsri_canvas f = {.out = out, .width = 1000, .height = 1 << 30, .unicode = true};
    if (w->runs == 0) {
        tsri_canvas_say(&f, TSRI_PLAIN, "%s: no runs", w->folder);
        tsri_canvas_next(&f);
    }
    for (int64_t i = 0; i < w->runs; i++)
        paragraph(&f, w, w->run[i]);
    return f.st;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void put_ranks(tsri_json *j, const tsri_followed *r)
{
    tsri_json_key(j, "ranks");
    tsri_json_open(j, '[');
    for (int64_t i = 0; i < r->ranks; i++) {
        const tsri_rank_time *t = &r->rank[i];
        double all = t->compute + t->send + t->wait;
        tsri_json_open(j, '{');
        tsri_json_put_int(j, "rank", i);
        tsri_json_put_real(j, "compute", t->compute / all);
        tsri_json_put_real(j, "send", t->send / all);
        tsri_json_put_real(j, "wait", t->wait / all);
        tsri_json_close(j, '}');
    }
    tsri_json_close(j, ']');
}

static double known(const tsri_followed *r, double value)
{
    return r->has_last && !r->is_sweep ? value : (double)NAN;
}

/* A whole number, or null. */
static void put_count(tsri_json *j, const char *key, double value)
{
    if (isfinite(value) && fabs(value) < 9e15)
        tsri_json_put_int(j, key, (int64_t)llround(value));
    else
        tsri_json_put_real(j, key, (double)NAN);
}

static void put_run(tsri_json *j, const tsri_lookout *w, int64_t i)
{
    const tsri_followed *r = w->run[i];
    char why[256];
    double waited;
    tsri_view_why(why, r);
    tsri_json_open(j, '{');
    tsri_json_put_text(j, "run", r->name);
    tsri_json_put_text(j, "kind",
                       r->is_sweep                    ? "sweep"
                       : tsri_lookout_is_ticket(w, i) ? "ticket"
                                                      : "run");
    tsri_json_put_text(j, "state", tsri_state_name(r->state));
    tsri_json_put_text(j, "why", why);
    tsri_json_put_real(j, "done", tsri_view_part(r));
    put_count(j, "round", r->is_sweep ? (double)r->sweep.done : known(r, r->last.round));
    put_count(j, "rounds", r->rounds > 0 ? r->rounds : (double)NAN);
    tsri_json_put_real(j, "epoch", known(r, r->last.epoch));
    tsri_json_put_real(j, "loss", known(r, r->last.loss));
    tsri_json_put_real(j, "test_loss", known(r, r->last.test_loss));
    tsri_json_put_real(j, "test_accuracy",
                       r->is_sweep && r->sweep.by_accuracy ? r->sweep.best
                                                           : known(r, r->last.accuracy));
    if (isfinite(r->tickets))
        tsri_json_put_real(j, "ticket_accuracy", r->tickets);
    tsri_json_put_real(j, "test_rmse", known(r, r->last.rmse));
    put_count(j, "bytes_total", known(r, r->last.bytes));
    tsri_json_put_real(j, "seconds", known(r, r->last.seconds));
    tsri_json_put_real(j, "seconds_left", r->left);
    tsri_json_put_real(j, "seconds_silent", r->age);
    tsri_json_put_int(j, "checkpoint", r->checkpoint);
    tsri_json_put_int(j, "lost", r->lost);
    tsri_json_put_int(j, "rollbacks", r->rollbacks);
    tsri_json_put_int(j, "version", r->version);
    tsri_json_put_int(j, "slowest", tsri_followed_slowest(r, &waited));
    put_ranks(j, r);
    tsri_json_close(j, '}');
}

tsr_status tsri_lookout_json(tsri_text *out, const tsri_lookout *w)
{
    tsr_status st = TSR_OK;
    tsri_json j = {0};
    tsri_json_begin(&j);
    tsri_json_put_text(&j, "folder", w->folder);
    tsri_json_key(&j, "runs");
    tsri_json_open(&j, '[');
    for (int64_t i = 0; i < w->runs; i++)
        put_run(&j, w, i);
    tsri_json_close(&j, ']');
    tsri_json_close(&j, '}');
    TSR_TRY(tsri_json_end(&j));
    TSR_TRY(tsri_text_add_bytes(out, j.text.data, (size_t)j.text.length));
done:
    tsri_json_fini(&j);
    return st;
}
