/* report_theory.c - certificates along a run (certify.every): verdicts as a matrix of theorems and
 * rounds, both sides of every inequality that moves, and what is known of the spectrum.
 *
 * The lines of metrics are read one by one; of each row only numbers and verdict are kept. Of more
 * than MOST_LOOKS certificates some are left out, evenly; the first and the last always stay. */
#include "report/report_parts.h"

#include "base/alloc.h"
#include "io/file.h"
#include "net/net.h"
#include "report/scale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_PAPERS = 8, MOST_LOOKS = 400, MOST_COLUMNS = 12, MOST_CHARTS = 24, MOST_ROWS = 400 };

typedef enum verdict { NONE, HOLDS, FAILS, VACUOUS, OPEN, BESIDE, VERDICTS } verdict;

static const struct {
    const char *word, *sign, *class;
} verdicts[VERDICTS] = {[NONE] = {"", "", ""},
                        [HOLDS] = {"holds", "✓", "holds"},
                        [FAILS] = {"fails", "✕", "fails"},
                        [VACUOUS] = {"vacuous", "∅", "quiet"},
                        [OPEN] = {"open", "?", "quiet"},
                        [BESIDE] = {"does not apply", "–", "quiet"}};

typedef struct look {
    double measured, required, factor;
    verdict verdict;
} look;

typedef struct row {
    char *quantity, *where, *theorem, *sense;
    look *look; /* [looks of the paper] */
} row;

typedef struct paper {
    char *name;
    row *row;
    int64_t rows;
    double round[MOST_LOOKS + 2];
    int64_t looks;
} paper;

typedef struct reading {
    paper *paper;
    int papers;
    int64_t seen, stride, last; /* certificates so far; which are kept; the number of the last */
    bool changed;               /* some had other rows than those before */
} reading;

/* ---- Reading -------------------------------------------------------------------------------- */

static tsr_status count_one(void *context, const tsri_json_value *line)
{
    (void)line;
    ++*(int64_t *)context;
    return TSR_OK;
}

static tsr_status begin_rows(paper *p, const tsri_json_value *rows)
{
    tsr_status st = TSR_OK;
    int64_t n = tsri_json_length(rows);
    n = n < MOST_ROWS ? n : MOST_ROWS;
    TSR_TRY(tsri_alloc(&p->row, n, sizeof *p->row));
    p->rows = n; /* empty ones can be freed */
    for (int64_t i = 0; i < n; i++) {
        const tsri_json_value *from = tsri_json_at(rows, i);
        row *r = &p->row[i];
        TSR_TRY(tsri_strdup(&r->quantity, tsri_text_at(from, "quantity")));
        TSR_TRY(tsri_strdup(&r->where, tsri_text_at(from, "where")));
        TSR_TRY(tsri_strdup(&r->theorem, tsri_text_at(from, "theorem")));
        TSR_TRY(tsri_strdup(&r->sense, tsri_text_at(from, "sense")));
        TSR_TRY(tsri_alloc(&r->look, MOST_LOOKS + 2, sizeof *r->look));
    }
done:
    return st;
}

static verdict verdict_named(const char *word)
{
    for (int i = HOLDS; i < VERDICTS; i++)
        if (strcmp(word, verdicts[i].word) == 0)
            return (verdict)i;
    return NONE;
}

static void take_looks(paper *p, const tsri_json_value *rows)
{
    for (int64_t i = 0; i < p->rows; i++) {
        const tsri_json_value *from = tsri_json_at(rows, i);
        p->row[i].look[p->looks] = (look){.measured = tsri_number_at(from, "measured"),
                                          .required = tsri_number_at(from, "required"),
                                          .factor = tsri_number_at(from, "factor"),
                                          .verdict = verdict_named(tsri_text_at(from, "verdict"))};
    }
}

static tsr_status paper_of(paper **out, reading *r, const char *name)
{
    tsr_status st = TSR_OK;
    *out = NULL;
    for (int i = 0; i < r->papers; i++)
        if (strcmp(r->paper[i].name, name) == 0)
            *out = &r->paper[i];
    if (*out || r->papers == MOST_PAPERS)
        return TSR_OK;
    TSR_TRY(tsri_strdup(&r->paper[r->papers].name, name));
    *out = &r->paper[r->papers++];
done:
    return st;
}

static void forget_rows(paper *p)
{
    for (int64_t k = 0; k < p->rows; k++) {
        tsri_free(p->row[k].quantity);
        tsri_free(p->row[k].where);
        tsri_free(p->row[k].theorem);
        tsri_free(p->row[k].sense);
        tsri_free(p->row[k].look);
    }
    TSRI_FREE(p->row);
    p->rows = p->looks = 0;
}

static tsr_status take(void *context, const tsri_json_value *line)
{
    tsr_status st = TSR_OK;
    reading *r = context;
    const tsri_json_value *rows = tsri_json_get(line, "rows");
    int64_t number = r->seen++;
    paper *p = NULL;
    if ((number % r->stride != 0 && number != r->last) || !tsri_json_is_array(rows))
        return TSR_OK;
    TSR_TRY(paper_of(&p, r, tsri_text_at(line, "paper")));
    if (!p || p->looks >= MOST_LOOKS + 2)
        return TSR_OK;
    int64_t n = tsri_json_length(rows);
    if (p->row && (n < MOST_ROWS ? n : MOST_ROWS) != p->rows) {
        r->changed = true; /* before a run some papers have fewer rows than in it */
        forget_rows(p);
    }
    if (!p->row)
        TSR_TRY(begin_rows(p, rows));
    take_looks(p, rows);
    p->round[p->looks++] = tsri_number_at(line, "round");
done:
    return st;
}

static tsr_status read_all(reading *r, const tsri_page *p)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    int64_t count = 0;
    TSR_TRY(tsri_alloc(&r->paper, MOST_PAPERS, sizeof *r->paper));
    TSR_TRY(tsri_path_join(&path, p->folder, "metrics.jsonl"));
    if (!tsri_file_exists(path))
        goto done;
    TSR_TRY(tsri_lines_each(path, "certificate", count_one, &count));
    r->stride = 1 + (count - 1) / MOST_LOOKS;
    r->last = count - 1;
    if (count > 0)
        TSR_TRY(tsri_lines_each(path, "certificate", take, r));
done:
    tsri_free(path);
    return st;
}

static void forget(reading *r)
{
    for (int i = 0; r->paper && i < r->papers; i++) {
        forget_rows(&r->paper[i]);
        tsri_free(r->paper[i].name);
    }
    tsri_free(r->paper);
}

/* ---- The matrix ----------------------------------------------------------------------------- */

static bool judged(const paper *p, const row *r)
{
    for (int64_t i = 0; i < p->looks; i++)
        if (r->look[i].verdict != NONE)
            return true;
    return false;
}

/* Which look stands in column k of that many. */
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
    bool fails = l->verdict == FAILS && isfinite(l->factor);
    (void)snprintf(text, sizeof text, "round %.0f: %s%s%s; %s measured, %.20s %s required", round,
                   verdicts[l->verdict].word, fails ? " by a factor of " : "", fails ? factor : "",
                   isfinite(l->measured) ? measured : "nothing", r->sense,
                   isfinite(l->required) ? required : "nothing");
    tsri_markup_text(m, text);
}

/* By how much it fails: seen without a cursor, too. */
static void put_factor(tsri_markup *m, const look *l)
{
    char factor[TSRI_LABEL];
    if (l->verdict != FAILS || !isfinite(l->factor))
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
        tsri_markup_add(m, "<td class=\"%s\" title=\"", verdicts[l->verdict].class);
        if (l->verdict != NONE)
            put_title(m, r, l, p->round[i]);
        tsri_markup_add(m, "\">%s", verdicts[l->verdict].sign);
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

/* Is either side another number in some round than in the round before? */
static bool moves(const paper *p, const row *r)
{
    look before = {.measured = (double)NAN, .required = (double)NAN};
    for (int64_t i = 0; i < p->looks; i++) {
        const look *l = &r->look[i];
        if (fabs(l->measured - before.measured) > 0 || fabs(l->required - before.required) > 0)
            return true; /* not of what is no number */
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
    double measured[MOST_LOOKS + 2], required[MOST_LOOKS + 2];
    sides(measured, required, p, r);
    bool log = wide(measured, required, p->looks);
    tsri_chart_begin(&c, NULL);
    c.width = 470;
    c.height = 260;
    tsri_chart_panel(&c, &(tsri_panel){.title = *r->where ? r->where : r->theorem,
                                       .x_label = "round",
                                       .y_label = log ? "value (log)" : NULL,
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
    double measured[MOST_LOOKS + 2], required[MOST_LOOKS + 2];
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
    int64_t count[VERDICTS] = {0};
    for (int64_t i = 0; i < p->rows; i++)
        count[p->row[i].look[p->looks - 1].verdict]++;
    tsri_markup_add(&page->html, "<h3>");
    tsri_markup_text(&page->html, p->name);
    tsri_markup_add(&page->html, "</h3>\n");
    tsri_page_say(page,
                  "After round %.0f: %lld of %lld judged rows hold, %lld fail, %lld are vacuous, "
                  "%lld open, %lld do not apply.",
                  p->round[p->looks - 1], (long long)count[HOLDS],
                  (long long)(p->rows - count[NONE]), (long long)count[FAILS],
                  (long long)count[VACUOUS], (long long)count[OPEN], (long long)count[BESIDE]);
    matrix(page, p);
    spectrum(page, p);
    inequalities(page, p);
}

typedef struct tally {
    int64_t holds, fails, judged;
} tally;

/* Each certificate replaces the one before. */
static tsr_status take_tally(void *context, const tsri_json_value *line)
{
    tally *t = context;
    const tsri_json_value *rows = tsri_json_get(line, "rows");
    *t = (tally){0};
    for (int64_t i = 0; i < tsri_json_length(rows); i++) {
        verdict v = verdict_named(tsri_text_at(tsri_json_at(rows, i), "verdict"));
        t->holds += v == HOLDS;
        t->fails += v == FAILS;
        t->judged += v != NONE;
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
    if (last.fails > 0) /* a theorem asks for all of its rows */
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
    reading r = {0};
    TSR_TRY(read_all(&r, page));
    if (r.papers == 0 || r.paper[0].looks < 2) /* one certificate: the table below says all */
        goto done;
    tsri_section_open(page, "Theory");
    tsri_markup_add(
        &page->html,
        "<p>Does what the theorems ask for hold, round by round? <span "
        "class=\"holds\">✓</span> holds, <span class=\"fails\">✕</span> fails, by this factor, ∅ "
        "vacuous: met, but could not have been missed, ? open: a part was not looked "
        "at, – does not apply. Numbers are under the cursor, and in the "
        "<a href=\"#certificates\">last certificate</a>.</p>\n");
    for (int i = 0; i < r.papers; i++)
        if (r.paper[i].looks > 1)
            one_paper(page, &r.paper[i]);
    if (r.stride > 1)
        tsri_page_say(page, "Every %lldth of %lld certificates is drawn.", (long long)r.stride,
                      (long long)r.seen);
    if (r.changed)
        tsri_page_say(page, "Certificates with other rows than the last are left out here.");
    tsri_section_close(page);
done:
    forget(&r);
    return st;
}
