/* report_phases.c - how each network of a ticket's table learned, all on one axis: epochs since the
 * pretraining began. Rows that go on from the pretrained network begin where that ended. */
#include "report/report_parts.h"

#include "base/alloc.h"
#include "io/file.h"
#include "ticket/rows.h"

#include <math.h>
#include <string.h>

enum { MOST_PHASES = 21 }; /* three times the colours; of more only the first are drawn */

bool tsri_folder_named(const char *network)
{
    return *network && *network != '.' && !strchr(network, '/');
}

typedef struct phases {
    tsri_page *page;
    tsri_chart chart;
    const char *column; /* what is drawn, of the lines of metrics */
    double unit, end;   /* of pretraining, in epochs */
} phases;

static void add_phase(phases *f, const tsri_curves *lines, const char *name, double from)
{
    const double *epoch = tsri_curves_get(lines, "epoch"),
                 *value = tsri_curves_get(lines, f->column);
    double *x = NULL, *y = NULL;
    tsr_status *st = &f->page->html.st;
    if (!epoch || !value)
        return;
    if (*st == TSR_OK)
        *st = tsri_alloc(&x, lines->n, sizeof *x);
    if (*st == TSR_OK)
        *st = tsri_alloc(&y, lines->n, sizeof *y);
    for (int64_t i = 0; y && i < lines->n; i++) {
        x[i] = from + epoch[i];
        y[i] = f->unit * value[i];
    }
    if (y)
        tsri_chart_series(
            &f->chart, &(tsri_series){.name = name,
                                      .n = lines->n,
                                      .x = x,
                                      .y = y,
                                      .marks = lines->n <= 40 ? TSRI_MARKS_BOTH : TSRI_MARKS_LINE});
    tsri_free(x);
    tsri_free(y);
}

static tsr_status row_phase(phases *f, const tsri_json_value *row)
{
    tsr_status st = TSR_OK;
    tsri_curves lines = {0};
    char *folder = NULL, *path = NULL;
    const char *name = tsri_text_at(row, "network");
    int kind = tsri_ticket_kind_named(tsri_text_at(row, "kind"));
    if (kind == TSRI_TICKET_PRETRAINED)
        add_phase(f, &f->page->lines, name, 0);
    if (kind == TSRI_TICKET_PRETRAINED || !tsri_folder_named(name))
        return TSR_OK;
    TSR_TRY(tsri_path_join(&folder, f->page->folder, name));
    TSR_TRY(tsri_path_join(&path, folder, "metrics.jsonl"));
    if (!tsri_file_exists(path))
        goto done;
    TSR_TRY(tsri_curves_read(&lines, path, NULL));
    add_phase(f, &lines, name, kind == TSRI_TICKET_DENSE ? 0 : f->end);
done:
    tsri_curves_fini(&lines);
    tsri_free(folder);
    tsri_free(path);
    return st;
}

tsr_status tsri_report_phases(tsri_page *p, const tsri_json_value *rows)
{
    tsr_status st = TSR_OK;
    bool classes = isfinite(tsri_number_at(tsri_json_at(rows, 0), "accuracy"));
    const double *epoch = tsri_curves_get(&p->lines, "epoch");
    phases f = {.page = p,
                .column = classes ? "test_accuracy" : "test_loss",
                .unit = classes ? 100 : 1,
                .end = epoch && p->lines.n > 0 ? epoch[p->lines.n - 1] : 0};
    tsri_chart_begin(&f.chart, NULL);
    f.chart.width = 940;
    f.chart.height = 380;
    tsri_chart_panel(&f.chart,
                     &(tsri_panel){.title = "How they learned",
                                   .x_label = "epoch, from the start of pretraining",
                                   .y_label = classes ? "test accuracy, %" : "test loss"});
    for (int64_t i = 0; i < tsri_json_length(rows) && i < MOST_PHASES; i++)
        TSR_TRY(row_phase(&f, tsri_json_at(rows, i)));
    if (tsri_chart_drawn(&f.chart))
        tsri_page_chart(p, &f.chart, NULL);
done:
    tsri_chart_fini(&f.chart);
    return st;
}
