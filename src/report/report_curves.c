/* report_curves.c - the sections that come from metrics.jsonl: facts, curves, traffic and time. */
#include "report/report_parts.h"

#include "base/alloc.h"
#include "base/number.h"
#include "base/text.h"
#include "io/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 470, HEIGHT = 320 }; /* of a chart: two beside each other, one on a phone */

/* ---- The columns --------------------------------------------------------------------------- */

/* The last finite number of a column, NaN when there is none. */
static double last_of(const tsri_page *p, const char *name)
{
    const double *value = tsri_curves_get(&p->lines, name);
    for (int64_t i = p->lines.n - 1; value && i >= 0; i--)
        if (isfinite(value[i]))
            return value[i];
    return (double)NAN;
}

static bool has_any(const tsri_page *p, const char *name)
{
    return isfinite(last_of(p, name));
}

/* The line of the iterate that is the model: the best one, where the run keeps it; -1: the last. */
static int64_t model_line(const tsri_page *p)
{
    const double *round = tsri_curves_get(&p->lines, "round");
    double best = last_of(p, "best_round");
    for (int64_t i = p->lines.n - 1; round && i >= 0; i--)
        if (round[i] == best)
            return i < p->lines.n - 1 ? i : -1;
    return -1;
}

/* What the model came to, by that column. */
static double judged(const tsri_page *p, const char *name)
{
    const double *value = tsri_curves_get(&p->lines, name);
    int64_t at = model_line(p);
    return value && at >= 0 && isfinite(value[at]) ? value[at] : last_of(p, name);
}

/* ---- Facts --------------------------------------------------------------------------------- */

/* One line: model, data, scheme and seed. */
void tsri_report_subtitle(tsri_page *p)
{
    const tsr_config *c = p->config;
    const char *data = tsri_config_text(c, "data.name");
    const char *scheme = tsri_config_text(c, "scheme.name");
    long long workers = (long long)tsri_config_int(c, "scheme.workers");
    char with[64] = "";
    if (!data)
        data = tsri_config_text(c, "data.path");
    if (workers > 1)
        (void)snprintf(with, sizeof with, " with %lld workers", workers);
    tsri_markup_add(&p->html, "<p class=\"quiet\">");
    tsri_markup_text(&p->html, tsri_config_text(c, "model.name"));
    tsri_markup_add(&p->html, " on ");
    tsri_markup_text(&p->html, data ? data : "the data that was there");
    tsri_markup_add(&p->html, ", scheme %s%s, seed %lld</p>\n", scheme, with,
                    (long long)tsri_config_int(c, "seed"));
}

/* The unit of real targets, "" without. */
static const char *unit_of(const tsri_page *p)
{
    const char *unit = tsri_config_text(p->config, "data.unit");
    return unit ? unit : "";
}

/* How a run ended that did not come to its end, from its last line: who sees curves alone takes a run
 * that diverged for one that was made. */
typedef struct ending {
    char status[24], why[600];
} ending;

static tsr_status take_ending(void *context, const tsri_json_value *line)
{
    ending *e = context;
    (void)snprintf(e->status, sizeof e->status, "%s", tsri_text_at(line, "status"));
    (void)snprintf(e->why, sizeof e->why, "%s", tsri_text_at(line, "why"));
    return TSR_OK;
}

static tsr_status say_ending(tsri_page *p, bool *ended)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    ending e = {0};
    TSR_TRY(tsri_path_join(&path, p->folder, "metrics.jsonl"));
    if (tsri_file_exists(path))
        TSR_TRY(tsri_lines_each(path, "ended", take_ending, &e));
    *ended = *e.status && *e.why;
    if (*ended)
        tsri_page_say(p, "The run %s: %s.",
                      strcmp(e.status, "interrupted") == 0 ? "was interrupted"
                      : strcmp(e.status, "diverged") == 0  ? "diverged"
                                                           : "failed",
                      e.why);
done:
    tsri_free(path);
    return st;
}

static void facts(tsri_page *p)
{
    double *seconds = NULL, bytes = last_of(p, "bytes_total"), error = judged(p, "test_rmse");
    char unit[48], best[48];
    bool ended = false;
    if (p->html.st == TSR_OK)
        p->html.st = say_ending(p, &ended);
    if (p->lines.n == 0) {
        tsri_page_say(p, "Nothing has been measured%s.", ended ? "" : " yet");
        return;
    }
    if (p->html.st == TSR_OK)
        p->html.st = tsri_curves_seconds(&seconds, &p->lines);
    tsri_markup_add(&p->html, "<dl class=\"facts\">\n");
    tsri_page_number(p, "test accuracy", 100 * judged(p, "test_accuracy"), 2, " %");
    (void)snprintf(unit, sizeof unit, "%s%.40s", *unit_of(p) ? " " : "", unit_of(p));
    tsri_page_number(p, "test error", error, fabs(error) < 1000 ? 4 : 1, unit);
    tsri_page_number(p, "test loss", judged(p, "test_loss"), 4, "");
    tsri_page_number(p, "epochs", last_of(p, "epoch"),
                     has_any(p, "epoch") && fmod(last_of(p, "epoch"), 1) > 1e-9 ? 2 : 0, "");
    tsri_page_number(p, "rounds", last_of(p, "round"), 0, "");
    if (model_line(p) >= 0) {
        (void)snprintf(best, sizeof best, "round %.0f, the best", last_of(p, "best_round"));
        tsri_page_fact(p, "the model is of", best);
    }
    if (bytes > 0)
        tsri_page_fact(p, "traffic", tsri_bytes_text(bytes));
    if (seconds) {
        double time = seconds[p->lines.n - 1];
        tsri_page_number(p, "time", time, time < 1 ? 2 : time < 100 ? 1 : 0, " s");
    }
    tsri_report_verdict(p, false);
    tsri_markup_add(&p->html, "</dl>\n");
    tsri_free(seconds);
}

/* ---- Charts -------------------------------------------------------------------------------- */

typedef struct plot {
    const char *title, *x_label, *y_label;
    const double *x;
    bool y_log;
    double y_high; /* > 0: y runs from 0 to this */
} plot;

static void begin(tsri_chart *c, const plot *about)
{
    tsri_chart_begin(c, NULL);
    c->width = WIDTH;
    c->height = HEIGHT;
    tsri_chart_panel(c, &(tsri_panel){.title = about->title,
                                      .x_label = about->x_label,
                                      .y_label = about->y_label,
                                      .y_log = about->y_log,
                                      .y_high = about->y_high});
}

static void add(tsri_chart *c, const tsri_page *p, const plot *about, const char *column,
                const char *name)
{
    const double *value = tsri_curves_get(&p->lines, column);
    tsri_marks marks = p->lines.n <= 40 ? TSRI_MARKS_BOTH : TSRI_MARKS_LINE;
    if (value && has_any(p, column))
        tsri_chart_series(
            c, &(tsri_series){
                   .name = name, .n = p->lines.n, .x = about->x, .y = value, .marks = marks});
}

static void show(tsri_page *p, tsri_chart *c, const char *caption)
{
    tsri_page_chart(p, c, caption);
    tsri_chart_fini(c);
}

/* Over more than a factor of twenty a loss is only seen on a log axis. */
static bool wide(const tsri_page *p, const char *name)
{
    const double *value = tsri_curves_get(&p->lines, name);
    double low = (double)INFINITY, high = 0;
    for (int64_t i = 0; value && i < p->lines.n; i++)
        if (value[i] > 0) {
            low = fmin(low, value[i]);
            high = fmax(high, value[i]);
        }
    return high > 20 * low;
}

static void loss_chart(tsri_page *p, const double *x, const char *title, const char *x_label)
{
    tsri_chart c;
    bool log = wide(p, "loss") || wide(p, "test_loss");
    plot about = {title, x_label, log ? "loss (log)" : "loss", x, log, 0};
    begin(&c, &about);
    add(&c, p, &about, "loss", "training");
    add(&c, p, &about, "test_loss", "test");
    show(p, &c, NULL);
}

/* A column in percent, drawn over x. */
static void accuracy_chart(tsri_page *p, const double *x, const char *title, const char *x_label)
{
    tsri_chart c;
    const double *part = tsri_curves_get(&p->lines, "test_accuracy");
    double *percent = NULL;
    plot about = {title, x_label, "test accuracy, %", x, false, 0};
    if (p->html.st == TSR_OK)
        p->html.st = tsri_alloc(&percent, p->lines.n, sizeof *percent);
    if (!percent)
        return;
    for (int64_t i = 0; i < p->lines.n; i++)
        percent[i] = 100 * part[i];
    begin(&c, &about);
    tsri_chart_series(
        &c, &(tsri_series){.n = p->lines.n,
                           .x = x,
                           .y = percent,
                           .colour = 2,
                           .marks = p->lines.n <= 40 ? TSRI_MARKS_BOTH : TSRI_MARKS_LINE});
    show(p, &c, NULL);
    tsri_free(percent);
}

/* Of real targets the error in their own unit: a loss is that of scaled ones. */
static void error_chart(tsri_page *p, const double *epoch)
{
    tsri_chart c;
    char label[64];
    bool log = wide(p, "test_rmse");
    (void)snprintf(label, sizeof label, "test error%s%.40s%s", *unit_of(p) ? ", " : "", unit_of(p),
                   log ? " (log)" : "");
    plot about = {"Error", "epoch", label, epoch, log, 0};
    begin(&c, &about);
    const double *value = tsri_curves_get(&p->lines, "test_rmse");
    tsri_chart_series(
        &c, &(tsri_series){.n = p->lines.n,
                           .x = epoch,
                           .y = value,
                           .colour = 2,
                           .marks = p->lines.n <= 40 ? TSRI_MARKS_BOTH : TSRI_MARKS_LINE});
    show(p, &c, NULL);
}

static tsr_status take_epoch(void *context, const tsri_json_value *line)
{
    *(double *)context = tsri_number_at(line, "epoch");
    return TSR_OK;
}

/* A gated network may become one of ReLUs on its way (convert_at): a step in its curves. */
static tsr_status say_converted(tsri_page *p)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    double epoch = (double)NAN;
    TSR_TRY(tsri_path_join(&path, p->folder, "metrics.jsonl"));
    TSR_TRY(tsri_lines_each(path, "converted", take_epoch, &epoch));
    if (isfinite(epoch))
        tsri_page_say(p, "After epoch %.4g the gated network was turned into one with ReLUs.",
                      epoch);
done:
    tsri_free(path);
    return st;
}

void tsri_report_learning(tsri_page *p, bool pretraining)
{
    const double *epoch = tsri_curves_get(&p->lines, "epoch");
    if (!pretraining)
        facts(p);
    if (p->lines.n == 0)
        return;
    tsri_section_open(p, pretraining ? "Pretraining" : "Learning");
    if (pretraining) {
        tsri_page_say(p, "From here on the page is about the network that the tickets were cut "
                         "from, before any fine-tuning.");
        facts(p);
    }
    if (p->html.st == TSR_OK)
        p->html.st = say_converted(p);
    tsri_markup_add(&p->html, "<div class=\"charts\">\n");
    loss_chart(p, epoch, "Loss", "epoch");
    if (has_any(p, "test_accuracy"))
        accuracy_chart(p, epoch, "Accuracy", "epoch");
    if (has_any(p, "test_rmse"))
        error_chart(p, epoch);
    if (wide(p, "rate")) {
        tsri_chart c;
        plot about = {"Learning rate", "epoch", "rate", epoch, false, 0};
        begin(&c, &about);
        add(&c, p, &about, "rate", NULL);
        show(p, &c, NULL);
    }
    tsri_markup_add(&p->html, "</div>\n");
    tsri_section_close(p);
}

/* ---- Traffic and time ----------------------------------------------------------------------- */

static double most_of(const double *value, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = value[i] > most ? value[i] : most;
    return most;
}

/* value[n] in a unit that suits its largest, drawn over x. */
static void bytes_series(tsri_page *p, tsri_chart *c, const double *x, const double *value,
                         int64_t n, double size, const char *name)
{
    double *scaled = NULL;
    if (p->html.st == TSR_OK)
        p->html.st = tsri_alloc(&scaled, n, sizeof *scaled);
    for (int64_t i = 0; scaled && i < n; i++)
        scaled[i] = value[i] / size;
    if (scaled)
        tsri_chart_series(c, &(tsri_series){.name = name,
                                            .n = n,
                                            .x = x,
                                            .y = scaled,
                                            .marks = n <= 40 ? TSRI_MARKS_BOTH : TSRI_MARKS_LINE});
    tsri_free(scaled);
}

static void traffic_chart(tsri_page *p)
{
    tsri_chart c;
    char label[80];
    double size;
    const double *total = tsri_curves_get(&p->lines, "bytes_total");
    double most = most_of(total, p->lines.n);
    (void)snprintf(label, sizeof label, "%s, both directions", tsri_byte_unit(most, &size));
    plot about = {.title = "Sent between workers",
                  .x_label = "epoch",
                  .y_label = label,
                  .x = tsri_curves_get(&p->lines, "epoch"),
                  .y_high = 1.05 * most / size};
    begin(&c, &about);
    bytes_series(p, &c, about.x, total, p->lines.n, size, NULL);
    show(p, &c, NULL);
}

static bool are_equal(const double *a, const double *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

static void round_chart(tsri_page *p)
{
    tsri_chart c;
    double size;
    const double *up = tsri_curves_get(&p->puts, "bytes_up");
    const double *down = tsri_curves_get(&p->puts, "bytes_down");
    const double *round = tsri_curves_get(&p->puts, "round");
    if (!up || !down || !round)
        return;
    double most = fmax(most_of(up, p->puts.n), most_of(down, p->puts.n));
    const char *unit = tsri_byte_unit(most, &size);
    plot about = {.title = "Traffic of each round",
                  .x_label = "round",
                  .y_label = unit,
                  .x = round,
                  .y_high = 1.15 * most / size};
    begin(&c, &about);
    if (are_equal(up, down, p->puts.n)) { /* one line would hide the other */
        bytes_series(p, &c, round, up, p->puts.n, size, "to the workers, and as much back");
    } else {
        bytes_series(p, &c, round, down, p->puts.n, size, "to the workers");
        bytes_series(p, &c, round, up, p->puts.n, size, "back");
    }
    show(p, &c, NULL);
}

/* Traffic of a run that did not write down every round: the mean between two evaluations. */
static void mean_round_chart(tsri_page *p)
{
    tsri_chart c;
    char label[80];
    double *mean = NULL, size, sent = 0, before = 0;
    const double *total = tsri_curves_get(&p->lines, "bytes_total");
    const double *round = tsri_curves_get(&p->lines, "round");
    if (p->html.st == TSR_OK)
        p->html.st = tsri_alloc(&mean, p->lines.n, sizeof *mean);
    if (!mean || !round)
        goto done;
    for (int64_t i = 0; i < p->lines.n; i++) {
        mean[i] = round[i] > before ? (total[i] - sent) / (round[i] - before) : (double)NAN;
        sent = total[i];
        before = round[i];
    }
    double most = most_of(mean, p->lines.n);
    (void)snprintf(label, sizeof label, "%s a round, both directions", tsri_byte_unit(most, &size));
    plot about = {.title = "Traffic of a round (means between evaluations)",
                  .x_label = "round",
                  .y_label = label,
                  .x = round,
                  .y_high = 1.15 * most / size};
    begin(&c, &about);
    bytes_series(p, &c, round, mean, p->lines.n, size, NULL);
    show(p, &c, NULL);
done:
    tsri_free(mean);
}

void tsri_report_cost(tsri_page *p)
{
    double *seconds = NULL, bytes = last_of(p, "bytes_total"), rounds = last_of(p, "round");
    if (p->lines.n == 0 || !tsri_curves_get(&p->lines, "epoch"))
        return;
    if (p->html.st == TSR_OK)
        p->html.st = tsri_curves_seconds(&seconds, &p->lines);
    tsri_section_open(p, bytes > 0 ? "Traffic and time" : "Time");
    if (bytes > 0 && rounds > 0)
        tsri_page_say(p, "%s in all, %s in a round.", tsri_bytes_text(bytes),
                      tsri_bytes_text(bytes / rounds));
    tsri_markup_add(&p->html, "<div class=\"charts\">\n");
    if (bytes > 0)
        traffic_chart(p);
    if (p->puts.n > 0 && bytes > 0)
        round_chart(p);
    else if (bytes > 0)
        mean_round_chart(p);
    if (seconds && has_any(p, "test_accuracy"))
        accuracy_chart(p, seconds, "Accuracy against time", "seconds");
    else if (seconds)
        loss_chart(p, seconds, "Loss against time", "seconds");
    tsri_markup_add(&p->html, "</div>\n");
    tsri_section_close(p);
    tsri_free(seconds);
}
