/* report_theory.c - certificates along a run (certify.every): verdicts as a matrix of theorems and
 * rounds, both sides of every inequality that moves, and what is known of the spectrum. */
#include "report/report_parts.h"

#include "base/alloc.h"
#include "io/file.h"
#include "net/net.h"
#include "report/scale.h"
#include "report/theory_lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_COLUMNS = 12, MOST_CHARTS = 24 };

typedef tsri_theory_look look;
typedef tsri_theory_row row;
typedef tsri_theory_paper paper;

/* How a cell of the matrix shows a verdict. */
static const struct {
    const char *sign, *class;
} shown[TSRI_VERDICTS] = {[TSRI_NO_VERDICT] = {"", ""},  [TSRI_HOLDS] = {"✓", "holds"},
                          [TSRI_FAILS] = {"✕", "fails"}, [TSRI_VACUOUS] = {"∅", "quiet"},
                          [TSRI_OPEN] = {"?", "quiet"},  [TSRI_DOES_NOT_APPLY] = {"–", "quiet"}};

/* ---- The matrix ----------------------------------------------------------------------------- */

static bool judged(const paper *p, const row *r)
{
    for (int64_t i = 0; i < p->looks; i++)
        if (r->look[i].verdict != TSRI_NO_VERDICT)
            return true;
    return false;
}

/* The look that column k of so many shows. */
static int64_t look_of(const paper *p, int64_t k, int64_t columns)
{
    return columns > 1 ? k * (p->looks - 1) / (columns - 1) : 0;
}

/* What is under the cursor: "round 5: fails by 3.1; 0.2 measured, at most 0.065 required". */
static void put_title(tsri_markup *m, const row *r, const look *l, double round)
{
    char measured[TSRI_LABEL], required[TSRI_LABEL], factor[TSRI_LABEL], text[300];
    tsri_tick_text(measured, l->measured);
    tsri_tick_text(required, l->required);
    tsri_tick_text(factor, l->factor);
    bool fails = l->verdict == TSRI_FAILS && isfinite(l->factor);
    (void)snprintf(text, sizeof text, "round %.0f: %s%s%s; %s measured, %.20s %s required", round,
                   tsri_verdicts[l->verdict].name, fails ? " by a factor of " : "",
                   fails ? factor : "", isfinite(l->measured) ? measured : "nothing", r->sense,
                   isfinite(l->required) ? required : "nothing");
    tsri_markup_text(m, text);
}

/* By how much it fails: seen without a cursor, too. */
static void put_factor(tsri_markup *m, const look *l)
{
    char factor[TSRI_LABEL];
    if (l->verdict != TSRI_FAILS || !isfinite(l->factor))
        return;
    double power = pow(10, floor(log10(l->factor)) - 1); /* two digits */
    tsri_tick_text(factor, l->factor >= 1 ? round(l->factor / power) * power : l->factor);
    tsri_markup_add(m, "<small>");
    tsri_markup_text(m, factor);
    tsri_markup_add(m, "</small>");
}

static void matrix_row(tsri_markup *m, const paper *p, const row *r, int64_t columns)
{
    tsri_markup_add(m, "<tr><th scope=\"row\">");
    if (*r->where) {
        tsri_markup_add(m, "<span class=\"quiet\">");
        tsri_markup_text(m, r->where);
        tsri_markup_add(m, "</span> ");
    }
    tsri_markup_text(m, r->quantity);
    tsri_markup_add(m, "</th>");
    for (int64_t k = 0; k < columns; k++) {
        int64_t i = look_of(p, k, columns);
        const look *l = &r->look[i];
        tsri_markup_add(m, "<td class=\"%s\" title=\"", shown[l->verdict].class);
        if (l->verdict != TSRI_NO_VERDICT)
            put_title(m, r, l, p->round[i]);
        tsri_markup_add(m, "\">%s", shown[l->verdict].sign);
        put_factor(m, l);
        tsri_markup_add(m, "</td>");
    }
    tsri_markup_add(m, "</tr>\n");
}

/* Rows of one theorem stand together, in the order in which the theorems come. */
static void matrix(tsri_page *page, const paper *p)
{
    tsri_markup *m = &page->html;
    int64_t columns = p->looks < MOST_COLUMNS ? p->looks : MOST_COLUMNS;
    tsri_markup_add(m, "<div class=\"wide\"><table class=\"judgements\">\n<thead><tr><th>after "
                       "round</th>");
    for (int64_t k = 0; k < columns; k++)
        tsri_markup_add(m, "<th>%.0f</th>", p->round[look_of(p, k, columns)]);
    tsri_markup_add(m, "</tr></thead>\n<tbody>");
    for (int64_t i = 0; i < p->rows; i++)
        if (judged(p, &p->row[i]))
            matrix_row(m, p, &p->row[i], columns);
    tsri_markup_add(m, "</tbody></table></div>\n");
}

/* ---- Curves --------------------------------------------------------------------------------- */

/* Does either side change from one round to the next? */
static bool moves(const paper *p, const row *r)
{
    look before = {.measured = (double)NAN, .required = (double)NAN};
    for (int64_t i = 0; i < p->looks; i++) {
        const look *l = &r->look[i];
        if (fabs(l->measured - before.measured) > 0 || fabs(l->required - before.required) > 0)
            return true; /* comparisons with NaN are false */
        before = (look){.measured = isfinite(l->measured) ? l->measured : before.measured,
                        .required = isfinite(l->required) ? l->required : before.required};
    }
    return false;
}

static void sides(double *measured, double *required, const paper *p, const row *r)
{
    for (int64_t i = 0; i < p->looks; i++) {
        measured[i] = r->look[i].measured;
        required[i] = r->look[i].required;
    }
}

/* A log axis where all is positive and spans more than a factor of twenty. */
static bool wide(const double *a, const double *b, int64_t n)
{
    double low = (double)INFINITY, high = 0;
    for (int64_t i = 0; i < n; i++) {
        const double both[] = {a[i], b ? b[i] : (double)NAN};
        for (int k = 0; k < 2; k++) {
            if (both[k] <= 0)
                return false;
            low = both[k] < low ? both[k] : low;
            high = both[k] > high ? both[k] : high;
        }
    }
    return high > 20 * low;
}

static void inequality(tsri_page *page, const paper *p, const row *r)
{
    tsri_chart c;
    double measured[TSRI_LOOKS_ROOM], required[TSRI_LOOKS_ROOM];
    sides(measured, required, p, r);
    bool log = wide(measured, required, p->looks);
    tsri_chart_begin(&c, NULL);
    c.width = 470;
    c.height = 260;
    tsri_chart_panel(&c, &(tsri_panel){.title = *r->where ? r->where : r->theorem,
                                       .x_label = "round",
                                       .y_label = log ? "value (log)" : "value",
                                       .y_log = log});
    tsri_chart_series(&c,
                      &(tsri_series){.name = "measured",
                                     .n = p->looks,
                                     .x = p->round,
                                     .y = measured,
                                     .marks = p->looks <= 40 ? TSRI_MARKS_BOTH : TSRI_MARKS_LINE});
    char name[60];
    (void)snprintf(name, sizeof name, "required: %.30s", r->sense);
    tsri_chart_series(&c, &(tsri_series){.name = name,
                                         .n = p->looks,
                                         .x = p->round,
                                         .y = required,
                                         .colour = 2,
                                         .dashed = true});
    tsri_page_chart(page, &c, r->quantity);
    tsri_chart_fini(&c);
}

static void inequalities(tsri_page *page, const paper *p)
{
    int64_t drawn = 0, left = 0, still = 0;
    for (int64_t i = 0; i < p->rows; i++) {
        still += judged(p, &p->row[i]) && !moves(p, &p->row[i]);
        if (!judged(p, &p->row[i]) || !moves(p, &p->row[i]))
            continue;
        if (drawn == 0)
            tsri_markup_add(&page->html, "<h3>Both sides of each inequality that changes</h3>\n"
                                         "<div class=\"charts\">\n");
        if (drawn < MOST_CHARTS)
            inequality(page, p, &p->row[i]);
        left += drawn >= MOST_CHARTS;
        drawn++;
    }
    if (drawn > 0)
        tsri_markup_add(&page->html, "</div>\n");
    if (left > 0)
        tsri_page_say(page, "%lld more rows change; metrics.jsonl has all of them.",
                      (long long)left);
    if (still > 0)
        tsri_page_say(page, "Rows whose sides stay as they are: %lld. The certificate has them.",
                      (long long)still);
}

/* ---- The spectrum --------------------------------------------------------------------------- */

/* Rows that speak of eigenvalues, by the words that certificates use for them. */
static bool is_spectral(const row *r)
{
    return strstr(r->quantity, "eigenvalue") || strstr(r->quantity, "lambda_min");
}

static void spectrum(tsri_page *page, const paper *p)
{
    tsri_chart c;
    double measured[TSRI_LOOKS_ROOM], required[TSRI_LOOKS_ROOM];
    tsri_chart_begin(&c, NULL);
    c.width = 940;
    c.height = 380;
    tsri_chart_panel(&c, &(tsri_panel){.title = "The spectrum over the rounds",
                                       .x_label = "round",
                                       .y_label = "eigenvalue (log)",
                                       .y_log = true});
    for (int64_t i = 0; i < p->rows; i++) {
        const row *r = &p->row[i];
        char name[80];
        if (!is_spectral(r))
            continue;
        sides(measured, required, p, r);
        (void)snprintf(name, sizeof name, "%.66s%s", r->quantity,
                       strlen(r->quantity) > 66 ? "..." : "");
        tsri_chart_series(
            &c, &(tsri_series){.name = name,
                               .n = p->looks,
                               .x = p->round,
                               .y = measured,
                               .marks = p->looks <= 40 ? TSRI_MARKS_BOTH : TSRI_MARKS_LINE});
    }
    if (tsri_chart_drawn(&c))
        tsri_page_chart(page, &c, NULL);
    tsri_chart_fini(&c);
}

/* ---- The section ---------------------------------------------------------------------------- */

static void one_paper(tsri_page *page, const paper *p)
{
    int64_t count[TSRI_VERDICTS] = {0};
    for (int64_t i = 0; i < p->rows; i++)
        count[p->row[i].look[p->looks - 1].verdict]++;
    tsri_markup_add(&page->html, "<h3>");
    tsri_markup_text(&page->html, p->name);
    tsri_markup_add(&page->html, "</h3>\n");
    tsri_page_say(page,
                  "After round %.0f: %lld of %lld judged rows hold, %lld fail, %lld are vacuous, "
                  "%lld open, %lld do not apply.",
                  p->round[p->looks - 1], (long long)count[TSRI_HOLDS],
                  (long long)(p->rows - count[TSRI_NO_VERDICT]), (long long)count[TSRI_FAILS],
                  (long long)count[TSRI_VACUOUS], (long long)count[TSRI_OPEN],
                  (long long)count[TSRI_DOES_NOT_APPLY]);
    matrix(page, p);
    spectrum(page, p);
    inequalities(page, p);
}

typedef struct tally {
    int64_t holds, fails, judged;
} tally;

/* Each certificate replaces the one before it: the last one counts. */
static tsr_status take_tally(void *context, const tsri_json_value *line)
{
    tally *t = context;
    const tsri_json_value *rows = tsri_json_get(line, "rows");
    *t = (tally){0};
    for (int64_t i = 0; i < tsri_json_length(rows); i++) {
        tsri_verdict v = tsri_verdict_named(tsri_text_at(tsri_json_at(rows, i), "verdict"));
        t->holds += v == TSRI_HOLDS;
        t->fails += v == TSRI_FAILS;
        t->judged += v != TSRI_NO_VERDICT;
    }
    return TSR_OK;
}

static tsr_status verdict_fact(tsri_page *page, bool always)
{
    tsr_status st = TSR_OK;
    tally last = {0};
    char *path = NULL, text[120];
    const tsri_model *model = tsri_model_of(page->config);
    TSR_TRY(tsri_path_join(&path, page->folder, "metrics.jsonl"));
    if (tsri_file_exists(path))
        TSR_TRY(tsri_lines_each(path, "certificate", take_tally, &last));
    if (last.fails > 0) /* a theorem holds only if all of its rows do */
        (void)snprintf(text, sizeof text, "no: %lld of %lld rows fail", (long long)last.fails,
                       (long long)last.judged);
    else if (last.judged > 0)
        (void)snprintf(text, sizeof text, "%lld of %lld rows hold, none fails",
                       (long long)last.holds, (long long)last.judged);
    else
        (void)snprintf(text, sizeof text, "no theorem for %.60s",
                       model ? model->name : "this model");
    if (last.judged > 0 || always)
        tsri_page_fact(page, "does the theorem hold?",
                       last.judged == 0 && model && model->paper ? "not measured" : text);
done:
    tsri_free(path);
    return st;
}

void tsri_report_verdict(tsri_page *page, bool always)
{
    if (page->html.st == TSR_OK)
        page->html.st = verdict_fact(page, always);
}

tsr_status tsri_report_theory(tsri_page *page)
{
    tsr_status st = TSR_OK;
    tsri_theory_lines lines = {0};
    TSR_TRY(tsri_theory_lines_read(&lines, page->folder));
    if (lines.papers == 0 || lines.paper[0].looks < 2) /* one certificate: its table says all */
        goto done;
    tsri_section_open(page, "Theory");
    tsri_markup_add(
        &page->html,
        "<p>Does what the theorems ask for hold, round by round? <span "
        "class=\"holds\">✓</span> holds, <span class=\"fails\">✕</span> fails, by this factor, ∅ "
        "vacuous: met, but could not have been missed, ? open: a part was not looked "
        "at, – does not apply. Numbers are under the cursor, and in the "
        "<a href=\"#certificates\">last certificate</a>.</p>\n");
    for (int i = 0; i < lines.papers; i++)
        if (lines.paper[i].looks > 1)
            one_paper(page, &lines.paper[i]);
    if (lines.stride > 1)
        tsri_page_say(page, "Every %lldth of %lld certificates is drawn.", (long long)lines.stride,
                      (long long)lines.seen);
    if (lines.changed)
        tsri_page_say(page, "Certificates with other rows than the last are left out here.");
    tsri_section_close(page);
done:
    tsri_theory_lines_fini(&lines);
    return st;
}
