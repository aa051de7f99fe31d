/* report_ticket.c - the section about tickets: which one to take, what each costs, their table. */
#include "report/report_parts.h"

#include "base/alloc.h"
#include "base/number.h"
#include "base/text.h"
#include "report/table.h"
#include "ticket/rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- The table of tickets -------------------------------------------------------------------
 * ticket.json has "rows": flat objects. The members of the first row, in their order, are the
 * columns: the page shows whatever the command wrote. Members that the page knows have a head and a
 * form of their own. */

enum { MOST_COLUMNS = 24, MOST_ROWS = 1000, MOST_POINTS = 100 }; /* of more only the first */

typedef enum form { PLAIN, COUNT, PERCENT, BYTES, MILLIONS, HIDDEN } form;

typedef struct known {
    const char *key, *head;
    form form;
    int digits;
} known;

static const known members[] = {
    {"kind", "", HIDDEN, 0},
    {"measure", "", HIDDEN, 0},
    {"keep", "", HIDDEN, 0},
    {"reached", "", HIDDEN, 0},
    {"recalibrate", "", HIDDEN, 0},
    {"network", "network", PLAIN, 0},
    {"ratio", "filters gone, %", PERCENT, 0},
    {"params", "parameters", COUNT, 0},
    {"flops", "MFLOP", MILLIONS, 2},
    {"file_bytes", "file", BYTES, 0},
    {"accuracy_before", "before fine-tuning, %", PERCENT, 2},
    {"accuracy", "accuracy, %", PERCENT, 2},
    {"loss", "loss", PLAIN, 4},
    {"epochs", "epochs", PLAIN, 0},
    {"seconds", "seconds", PLAIN, 1},
    {"bytes_total", "traffic", BYTES, 0},
    {"ms", "ms a batch", PLAIN, 2},
    {"step_ms", "ms a step", PLAIN, 2},
};

static const known *known_as(const char *key)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strcmp(members[i].key, key) == 0)
            return &members[i];
    return NULL;
}

typedef struct heads {
    const char *key[MOST_COLUMNS];
    const known *as[MOST_COLUMNS]; /* or NULL */
    int count;
} heads;

static tsr_status take_head(void *context, const char *key, const tsri_json_value *value)
{
    heads *h = context;
    const known *as = known_as(key);
    bool shown =
        !tsri_json_is_array(value) && !tsri_json_is_object(value) && !(as && as->form == HIDDEN);
    if (h->count < MOST_COLUMNS && shown) {
        h->key[h->count] = key;
        h->as[h->count++] = as;
    }
    return TSR_OK;
}

/* An unknown key, "some_key", with spaces. */
static tsr_status head_line(tsri_text *line, const heads *h)
{
    tsr_status st = TSR_OK;
    for (int i = 0; i < h->count; i++) {
        const char *k = h->as[i] ? h->as[i]->head : h->key[i];
        TSR_TRY(tsri_text_add(line, "%s", i ? "|" : ""));
        for (; *k; k++)
            TSR_TRY(tsri_text_add_bytes(line, *k == '_' || *k == '|' ? " " : k, 1));
    }
done:
    return st;
}

/* Of what would be 0.00 two digits that count: 0.0016. */
static void real_cell(tsri_table *t, double value, int digits)
{
    if (value > 0 && value < 0.5 * pow(10, -digits))
        tsri_table_format(t, "%.2g", value);
    else
        tsri_table_real(t, value, digits);
}

static void number_cell(tsri_table *t, double value, const known *as)
{
    form how = as ? as->form : PLAIN;
    char text[TSRI_NUMBER_TEXT];
    int digits = as ? as->digits : value == nearbyint(value) ? 0 : fabs(value) >= 100 ? 1 : 4;
    if (how == BYTES)
        tsri_table_format(t, "%s", value > 0 ? tsri_bytes_text(value) : "");
    else if (how == COUNT)
        tsri_table_format(t, "%s", tsri_grouped(text, (int64_t)value));
    else if (how == PERCENT)
        tsri_table_real(t, 100 * value, digits);
    else if (how == MILLIONS)
        real_cell(t, value / 1e6, digits);
    else
        real_cell(t, value, digits);
}

static void cell(tsri_table *t, const tsri_json_value *value, const known *as)
{
    const char *text;
    double real;
    bool yes;
    if (tsri_json_as_real(value, &real))
        number_cell(t, real, as);
    else if (tsri_json_as_text(value, &text))
        tsri_table_text(t, text);
    else if (tsri_json_as_bool(value, &yes))
        tsri_table_text(t, yes ? "yes" : "no");
    else
        tsri_table_text(t, "");
}

/* Of real targets there is no accuracy, of one worker no traffic. */
static bool says_something(const tsri_json_value *value, const known *as)
{
    double real;
    const char *text;
    bool yes;
    if (tsri_json_as_real(value, &real))
        return !as || as->form != BYTES || real > 0;
    if (tsri_json_as_text(value, &text))
        return *text;
    return tsri_json_as_bool(value, &yes);
}

static bool says_any(const tsri_json_value *rows, const char *key, const known *as)
{
    for (int64_t i = 0; i < tsri_json_length(rows); i++)
        if (says_something(tsri_json_get(tsri_json_at(rows, i), key), as))
            return true;
    return false;
}

static void drop_empty(heads *h, const tsri_json_value *rows)
{
    int kept = 0;
    for (int i = 0; i < h->count; i++)
        if (says_any(rows, h->key[i], h->as[i])) {
            h->key[kept] = h->key[i];
            h->as[kept++] = h->as[i];
        }
    h->count = kept;
}

static tsr_status rows_table(tsri_page *p, const tsri_json_value *rows)
{
    tsr_status st = TSR_OK;
    heads h = {0};
    tsri_text line = {0};
    tsri_table t = {0};
    TSR_TRY(tsri_json_each(tsri_json_at(rows, 0), take_head, &h));
    drop_empty(&h, rows);
    if (h.count == 0)
        goto done;
    TSR_TRY(head_line(&line, &h));
    tsri_table_head(&t, line.data);
    int64_t all = tsri_json_length(rows), shown = all < MOST_ROWS ? all : MOST_ROWS;
    for (int64_t i = 0; i < shown; i++)
        for (int k = 0; k < h.count; k++)
            cell(&t, tsri_json_get(tsri_json_at(rows, i), h.key[k]), h.as[k]);
    tsri_table_html(&p->html, &t);
    if (shown < all)
        tsri_markup_add(&p->html, "<p>The first %lld of %lld rows.</p>\n", (long long)shown,
                        (long long)all);
done:
    tsri_table_fini(&t);
    tsri_text_fini(&line);
    return st;
}

/* Parameters (before, after), or operations in millions. */
static void amount(tsri_table *t, int k, double value)
{
    char text[TSRI_NUMBER_TEXT];
    if (k < 2)
        tsri_table_format(t, "%s", tsri_grouped(text, llround(value)));
    else
        tsri_table_real(t, value / 1e6, 2);
}

static void amounts(tsri_table *t, const char *name, const char *remark, const double value[4])
{
    tsri_table_text(t, name);
    tsri_table_text(t, "");
    tsri_table_text(t, remark);
    for (int k = 0; k < 4; k++)
        amount(t, k, value[k]);
}

/* What layers without weights of their own row have, and all: the totals of the table of
 * tickets. */
static void totals(tsri_table *t, const tsri_json_value *whole, const tsri_json_value *row,
                   const double sum[4])
{
    double all[4] = {tsri_number_at(whole, "params"), tsri_number_at(row, "params"),
                     tsri_number_at(whole, "flops"), tsri_number_at(row, "flops")};
    double rest[4];
    char part[80];
    bool complete = true;
    for (int k = 0; k < 4; k++) {
        rest[k] = all[k] - sum[k];
        complete &= rest[k] >= 0;
    }
    if (!complete) /* not a file that we wrote */
        return;
    amounts(t, "norms and others", "", rest);
    (void)snprintf(part, sizeof part, "%.1f %% of the operations",
                   all[2] > 0 ? 100 * all[3] / all[2] : 100);
    amounts(t, "all", part, all);
}

/* A ticket's layers beside the whole's, folded away: there can be a hundred. */
static void layers_table(tsri_page *p, const tsri_json_value *row, const tsri_json_value *whole)
{
    static const char *const keys[] = {"params_before", "params_after", "flops_before",
                                       "flops_after"};
    const tsri_json_value *layers = tsri_json_get(row, "layers");
    const char *name = "", *text;
    double sum[4] = {0}, value;
    tsri_table t = {0};
    (void)tsri_json_as_text(tsri_json_get(row, "network"), &name);
    if (!tsri_json_is_array(layers) || tsri_json_length(layers) == 0 ||
        tsri_ticket_kind_named(tsri_text_at(row, "kind")) !=
            TSRI_TICKET_PRUNED) /* controls have their ticket's shape */
        return;
    tsri_table_head(&t, "layer|shape before|after|parameters before|after|MFLOP before|after");
    for (int64_t i = 0; i < tsri_json_length(layers) && i < MOST_ROWS; i++) {
        const tsri_json_value *layer = tsri_json_at(layers, i);
        static const char *const texts[] = {"name", "shape_before", "shape_after"};
        for (int k = 0; k < 3; k++)
            tsri_table_text(&t,
                            tsri_json_as_text(tsri_json_get(layer, texts[k]), &text) ? text : "");
        for (int k = 0; k < 4; k++) {
            value = 0;
            (void)tsri_json_as_real(tsri_json_get(layer, keys[k]), &value);
            sum[k] += value;
            amount(&t, k, value);
        }
    }
    totals(&t, whole, row, sum);
    tsri_markup_add(&p->html, "<details><summary>The layers of ");
    tsri_markup_text(&p->html, name);
    tsri_markup_add(&p->html, " before and after</summary>\n");
    tsri_table_html(&p->html, &t);
    tsri_markup_add(&p->html, "</details>\n");
    tsri_table_fini(&t);
}

/* ---- The best ticket ------------------------------------------------------------------------
 * `tessera ticket` decided which it is (ticket/best.h) and wrote it down: the page repeats it. */

static const tsri_json_value *row_named(const tsri_json_value *rows, const char *name)
{
    const char *network;
    for (int64_t i = 0; name && i < tsri_json_length(rows); i++)
        if (tsri_json_as_text(tsri_json_get(tsri_json_at(rows, i), "network"), &network) &&
            strcmp(network, name) == 0)
            return tsri_json_at(rows, i);
    return NULL;
}

static void best_facts(tsri_page *p, const tsri_json_value *best, const tsri_json_value *rows)
{
    const tsri_json_value *ticket = row_named(rows, tsri_text_at(best, "network"));
    const tsri_json_value *whole = row_named(rows, tsri_text_at(best, "whole"));
    double sent = tsri_number_at(row_named(rows, "pretrained"), "bytes_total");
    bool faster = false;
    if (!ticket || !whole)
        return;
    (void)tsri_json_as_bool(tsri_json_get(best, "faster"), &faster);
    tsri_markup_add(&p->html, "<dl class=\"facts\">\n");
    tsri_page_fact(p, "best ticket", tsri_text_at(best, "network"));
    tsri_page_number(p, "its accuracy", 100 * tsri_number_at(ticket, "accuracy"), 2, " %");
    tsri_page_number(p, "accuracy of the whole", 100 * tsri_number_at(whole, "accuracy"), 2, " %");
    tsri_page_number(p, "its share of the parameters",
                     100 * tsri_number_at(ticket, "params") / tsri_number_at(whole, "params"), 1,
                     " %");
    tsri_page_number(p, "its share of the operations",
                     100 * tsri_number_at(ticket, "flops") / tsri_number_at(whole, "flops"), 1,
                     " %");
    if (faster)
        tsri_page_number(p, "its speed", tsri_number_at(best, "times_as_fast"), 2,
                         " times as fast");
    else
        tsri_page_fact(p, "its speed", "not clearly faster");
    if (sent > 0)
        tsri_page_fact(p, "sent between workers", tsri_bytes_text(sent));
    tsri_report_verdict(p, true);
    tsri_markup_add(&p->html, "</dl>\n");
}

/* What was done, step by step, for readers who have never heard of tickets. */
static void say_what(tsri_page *p, const tsri_json_value *rows)
{
    bool whole = false;
    for (int64_t i = 0; i < tsri_json_length(rows); i++)
        whole |= tsri_ticket_kind_named(tsri_text_at(tsri_json_at(rows, i), "kind")) ==
                 TSRI_TICKET_WHOLE;
    tsri_page_say(p,
                  "A network was trained. Smaller networks, its tickets, were cut out of it and "
                  "trained on.%s",
                  whole ? " So was the whole network, for comparison." : "");
}

/* Every network as a point: how good it is, against what it costs. */
static void cost_chart(tsri_page *p, const tsri_json_value *rows, const char *key,
                       const char *title, const char *label)
{
    tsri_chart c;
    bool classes = isfinite(tsri_number_at(tsri_json_at(rows, 0), "accuracy"));
    double unit = strcmp(key, "flops") == 0 ? 1e6 : 1;
    if (!isfinite(tsri_number_at(tsri_json_at(rows, 0), key)))
        return;
    tsri_chart_begin(&c, NULL);
    c.width = 470;
    c.height = 320;
    tsri_chart_panel(&c, &(tsri_panel){.title = title,
                                       .x_label = label,
                                       .y_label = classes ? "test accuracy, %" : "test loss"});
    for (int64_t i = 0; i < tsri_json_length(rows) && i < MOST_POINTS; i++) {
        const tsri_json_value *row = tsri_json_at(rows, i);
        double x = tsri_number_at(row, key) / unit;
        double y = classes ? 100 * tsri_number_at(row, "accuracy") : tsri_number_at(row, "loss");
        tsri_chart_series(&c, &(tsri_series){.name = tsri_text_at(row, "network"),
                                             .n = 1,
                                             .x = &x,
                                             .y = &y,
                                             .marks = TSRI_MARKS_POINTS});
    }
    tsri_page_chart(p, &c, NULL);
    tsri_chart_fini(&c);
}

static void cost_charts(tsri_page *p, const tsri_json_value *rows)
{
    tsri_markup_add(&p->html, "<div class=\"charts\">\n");
    cost_chart(p, rows, "ms", "How good, how fast", "milliseconds a batch");
    cost_chart(p, rows, "params", "How good, how large", "parameters");
    cost_chart(p, rows, "flops", "How good, how many operations", "MFLOP a sample");
    tsri_markup_add(&p->html, "</div>\n");
}

/* The ticket that we recommend, and the rule (ticket/best.h). */
static void choice(tsri_page *p, const tsri_json_value *best)
{
    const char *name = tsri_text_at(best, "network"), *sentence = tsri_text_at(best, "sentence");
    size_t n = strlen(name);
    if (!*sentence)
        return;
    bool named = n > 0 && strncmp(sentence, name, n) == 0 && sentence[n] == ' ';
    tsri_page_say(p, "We would take %.60s: %s%.600s.", name, named ? "it" : "",
                  sentence + (named ? n : 0)); /* the sentence begins with the name */
    tsri_markup_add(&p->html,
                    "<p class=\"quiet\">The rule: the smallest ticket that is as accurate as the "
                    "whole network in the digits shown; where none is, the most accurate.</p>\n");
}

/* What the chosen ticket gets wrong, with the whole network beside it. */
static tsr_status mistakes(tsri_page *p, const tsri_json_value *best)
{
    const char *whole = tsri_text_at(best, "whole");
    const char *network[] = {tsri_text_at(best, "network"),
                             strcmp(whole, "pretrained") ? whole : ""};
    return *network[0] ? tsri_report_evaluation(p, network, 2) : TSR_OK;
}

tsr_status tsri_best_ticket(char **network, const tsri_page *p)
{
    tsr_status st = TSR_OK;
    tsri_json_value *root = NULL;
    TSR_TRY(tsri_page_json(&root, p, "ticket.json"));
    const tsri_json_value *best = root ? tsri_json_get(root, "best") : NULL;
    TSR_TRY(tsri_strdup(network, best ? tsri_text_at(best, "network") : ""));
done:
    tsri_json_destroy(root);
    return st;
}

tsr_status tsri_report_ticket(tsri_page *p, bool *found)
{
    tsr_status st = TSR_OK;
    tsri_json_value *root = NULL;
    *found = false;
    TSR_TRY(tsri_page_json(&root, p, "ticket.json"));
    const tsri_json_value *rows = root ? tsri_json_get(root, "rows") : NULL;
    if (!tsri_json_is_array(rows) || tsri_json_length(rows) == 0 ||
        !tsri_json_is_object(tsri_json_at(rows, 0)))
        goto done;
    *found = true;
    const tsri_json_value *best = tsri_json_get(root, "best");
    say_what(p, rows);
    best_facts(p, best, rows);
    tsri_section_open(p, "Tickets");
    choice(p, best);
    cost_charts(p, rows);
    TSR_TRY(rows_table(p, rows));
    tsri_markup_add(&p->html,
                    "<p class=\"quiet\">MFLOP: million operations for one sample. ms a batch: to "
                    "predict one; ms a step: to train on one. Traffic: what was sent between "
                    "workers. Pretrained: the network that the tickets were cut from.</p>\n");
    for (int64_t i = 0; i < tsri_json_length(rows); i++)
        layers_table(p, tsri_json_at(rows, i), tsri_json_at(rows, 0));
    TSR_TRY(tsri_report_phases(p, rows));
    tsri_section_close(p);
    TSR_TRY(mistakes(p, best));
done:
    tsri_json_destroy(root);
    return st;
}
