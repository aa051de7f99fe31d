/* report_ticket.c - the sections about tickets: their table, and how the ranking of filters settled. */
#include "report/report_parts.h"

#include "base/alloc.h"
#include "base/text.h"
#include "report/table.h"

#include <math.h>
#include <string.h>

/* ---- The table of tickets -------------------------------------------------------------------
 * ticket.json has "rows": flat objects. The members of the first row, in their order, are the
 * columns: what the command that writes the file tells, this page shows. Members that it knows have
 * a head and a form of their own. */

enum { MOST_COLUMNS = 24, MOST_ROWS = 1000 }; /* of more only the first are shown */

typedef enum form { PLAIN, PERCENT, BYTES, MILLIONS, HIDDEN } form;

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
    {"params", "parameters", PLAIN, 0},
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

/* A key nobody knows, "some_key", as people write it. */
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

static void number_cell(tsri_table *t, double value, const known *as)
{
    form how = as ? as->form : PLAIN;
    int digits = as ? as->digits : value == nearbyint(value) ? 0 : fabs(value) >= 100 ? 1 : 4;
    if (how == BYTES)
        tsri_table_format(t, "%s", value > 0 ? tsri_bytes_text(value) : "");
    else if (how == PERCENT)
        tsri_table_real(t, 100 * value, digits);
    else if (how == MILLIONS)
        tsri_table_real(t, value / 1e6, digits);
    else
        tsri_table_real(t, value, digits);
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

static tsr_status rows_table(tsri_page *p, const tsri_json_value *rows)
{
    tsr_status st = TSR_OK;
    heads h = {0};
    tsri_text line = {0};
    tsri_table t = {0};
    TSR_TRY(tsri_json_each(tsri_json_at(rows, 0), take_head, &h));
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

/* A ticket's layers beside the whole's, folded away: there can be a hundred. */
static void layers_table(tsri_page *p, const tsri_json_value *row)
{
    static const char *const keys[] = {"params_before", "params_after", "flops_before",
                                       "flops_after"};
    const tsri_json_value *layers = tsri_json_get(row, "layers");
    const char *name = "", *kind = "", *text;
    double sum[4] = {0}, value;
    tsri_table t = {0};
    (void)tsri_json_as_text(tsri_json_get(row, "network"), &name);
    (void)tsri_json_as_text(tsri_json_get(row, "kind"), &kind);
    if (!tsri_json_is_array(layers) || tsri_json_length(layers) == 0 ||
        strcmp(kind, "ticket") != 0) /* controls have their ticket's shape */
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
            tsri_table_real(&t, k < 2 ? value : value / 1e6, k < 2 ? 0 : 2);
        }
    }
    tsri_table_text(&t, "all");
    tsri_table_format(&t, "%s", "");
    tsri_table_format(&t, "%.1f %% of the operations", sum[2] > 0 ? 100 * sum[3] / sum[2] : 100);
    for (int k = 0; k < 4; k++)
        tsri_table_real(&t, k < 2 ? sum[k] : sum[k] / 1e6, k < 2 ? 0 : 2);
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

static double number_of(const tsri_json_value *row, const char *key)
{
    double value = (double)NAN;
    (void)tsri_json_as_real(tsri_json_get(row, key), &value);
    return value;
}

static const char *text_of(const tsri_json_value *row, const char *key)
{
    const char *text = NULL;
    (void)tsri_json_as_text(tsri_json_get(row, key), &text);
    return text;
}

static void best_facts(tsri_page *p, const tsri_json_value *best, const tsri_json_value *rows)
{
    const tsri_json_value *ticket = row_named(rows, text_of(best, "network"));
    const tsri_json_value *whole = row_named(rows, text_of(best, "whole"));
    bool faster = false;
    if (!ticket || !whole)
        return;
    (void)tsri_json_as_bool(tsri_json_get(best, "faster"), &faster);
    tsri_markup_add(&p->html, "<dl class=\"facts\">\n");
    tsri_page_fact(p, "best ticket", text_of(best, "network"));
    tsri_page_number(p, "its accuracy", 100 * number_of(ticket, "accuracy"), 2, " %");
    tsri_page_number(p, "accuracy of the whole", 100 * number_of(whole, "accuracy"), 2, " %");
    tsri_page_number(p, "its share of the parameters",
                     100 * number_of(ticket, "params") / number_of(whole, "params"), 1, " %");
    if (faster)
        tsri_page_number(p, "its speed", number_of(best, "times_as_fast"), 2, " times");
    else
        tsri_page_fact(p, "its speed", "not faster");
    tsri_markup_add(&p->html, "</dl>\n");
}

/* Every network as a point: how good it is, against what it costs. */
static void cost_chart(tsri_page *p, const tsri_json_value *rows, const char *key,
                       const char *title, const char *label)
{
    tsri_chart c;
    bool classes = isfinite(number_of(tsri_json_at(rows, 0), "accuracy"));
    tsri_chart_begin(&c, NULL);
    c.width = 470;
    c.height = 320;
    tsri_chart_panel(&c, &(tsri_panel){.title = title,
                                       .x_label = label,
                                       .y_label = classes ? "test accuracy, %" : "test loss"});
    for (int64_t i = 0; i < tsri_json_length(rows); i++) {
        const tsri_json_value *row = tsri_json_at(rows, i);
        double x = number_of(row, key);
        double y = classes ? 100 * number_of(row, "accuracy") : number_of(row, "loss");
        if (isfinite(x) && isfinite(y))
            tsri_chart_series(&c, &(tsri_series){.name = text_of(row, "network"),
                                                 .n = 1,
                                                 .x = &x,
                                                 .y = &y,
                                                 .marks = TSRI_MARKS_POINTS});
    }
    tsri_page_chart(p, &c, NULL);
    tsri_chart_fini(&c);
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
    const char *sentence = text_of(best, "sentence");
    best_facts(p, best, rows);
    tsri_section_open(p, "Tickets");
    if (sentence)
        tsri_page_say(p, "%.600s.", sentence);
    if (isfinite(number_of(tsri_json_at(rows, 0), "ms"))) {
        tsri_markup_add(&p->html, "<div class=\"charts\">\n");
        cost_chart(p, rows, "ms", "How good, how fast", "milliseconds a batch");
        cost_chart(p, rows, "params", "How good, how large", "parameters");
        tsri_markup_add(&p->html, "</div>\n");
    }
    TSR_TRY(rows_table(p, rows));
    for (int64_t i = 0; i < tsri_json_length(rows); i++)
        layers_table(p, tsri_json_at(rows, i));
    tsri_section_close(p);
done:
    tsri_json_destroy(root);
    return st;
}

/* ---- Filter distances ---------------------------------------------------------------------------
 */

enum { MOST_EPOCHS = 400, MOST_LAYERS = 12 };

static void numbers(double *out, const tsri_json_value *list, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!tsri_json_as_real(tsri_json_at(list, i), &out[i]))
            out[i] = (double)NAN;
}

/* matrix[n, n] from a list of lists; what is missing is NaN. */
static void matrix_of(double *matrix, const tsri_json_value *rows, int64_t n)
{
    for (int64_t i = 0; i < n * n; i++)
        matrix[i] = (double)NAN;
    for (int64_t i = 0; i < n && i < tsri_json_length(rows); i++)
        if (tsri_json_length(tsri_json_at(rows, i)) == n)
            numbers(matrix + i * n, tsri_json_at(rows, i), n);
}

static void layer_map(tsri_page *p, const tsri_json_value *layer, const double *epoch,
                      double *matrix, int64_t n)
{
    tsri_chart c;
    const char *name = NULL;
    const tsri_json_value *rows = tsri_json_get(layer, "distance");
    if (!tsri_json_is_array(rows))
        return;
    (void)tsri_json_as_text(tsri_json_get(layer, "name"), &name);
    matrix_of(matrix, rows, n);
    tsri_chart_begin(&c, NULL);
    c.width = 440;
    c.height = 380;
    tsri_chart_panel(
        &c, &(tsri_panel){.title = name, .x_label = "epoch", .y_label = "epoch (reference)"});
    tsri_chart_map(&c, &(tsri_map){.rows = n,
                                   .columns = n,
                                   .value = matrix,
                                   .x = epoch,
                                   .y = epoch,
                                   .label = "filter distance"});
    tsri_page_chart(p, &c, NULL);
    tsri_chart_fini(&c);
}

static tsr_status distance_maps(tsri_page *p, const tsri_json_value *epochs,
                                const tsri_json_value *layers)
{
    tsr_status st = TSR_OK;
    double *epoch = NULL, *matrix = NULL;
    int64_t n = tsri_json_length(epochs), count = tsri_json_length(layers);
    TSR_TRY(tsri_alloc(&epoch, n, sizeof *epoch));
    TSR_TRY(tsri_alloc(&matrix, n * n, sizeof *matrix));
    numbers(epoch, epochs, n);
    tsri_markup_add(&p->html, "<div class=\"charts\">\n");
    for (int64_t i = 0; i < count && i < MOST_LAYERS; i++)
        layer_map(p, tsri_json_at(layers, i), epoch, matrix, n);
    tsri_markup_add(&p->html, "</div>\n");
    if (count > MOST_LAYERS)
        tsri_page_say(p, "The first %d of %lld layers; distance.json has all.", MOST_LAYERS,
                      (long long)count);
done:
    tsri_free(epoch);
    tsri_free(matrix);
    return st;
}

tsr_status tsri_report_distance(tsri_page *p)
{
    tsr_status st = TSR_OK;
    tsri_json_value *root = NULL;
    TSR_TRY(tsri_page_json(&root, p, "distance.json"));
    const tsri_json_value *epochs = root ? tsri_json_get(root, "epochs") : NULL;
    const tsri_json_value *layers = root ? tsri_json_get(root, "layers") : NULL;
    if (!tsri_json_is_array(epochs) || !tsri_json_is_array(layers) ||
        tsri_json_length(epochs) < 1 || tsri_json_length(epochs) > MOST_EPOCHS)
        goto done;
    tsri_section_open(p, "Filter distance between epochs");
    tsri_page_say(p, "How differently two epochs rank the filters of a layer by their norm: dark "
                     "where they agree. Once the corner below right is dark the ticket no longer "
                     "changes.");
    TSR_TRY(distance_maps(p, epochs, layers));
    tsri_section_close(p);
done:
    tsri_json_destroy(root);
    return st;
}
