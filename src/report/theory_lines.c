/* theory_lines.c - certificates along a run, from lines of metrics to rows of looks. */
#include "report/theory_lines.h"

#include "base/alloc.h"
#include "io/file.h"
#include "report/report_parts.h"

#include <string.h>

enum { MOST_PAPERS = 8, MOST_ROWS = 400 };

static tsr_status count_one(void *context, const tsri_json_value *line)
{
    (void)line;
    ++*(int64_t *)context;
    return TSR_OK;
}

static int64_t rows_kept(const tsri_json_value *rows)
{
    int64_t n = tsri_json_length(rows);
    return n < MOST_ROWS ? n : MOST_ROWS;
}

static tsr_status begin_rows(tsri_theory_paper *p, const tsri_json_value *rows)
{
    tsr_status st = TSR_OK;
    int64_t n = rows_kept(rows);
    TSR_TRY(tsri_alloc(&p->row, n, sizeof *p->row));
    p->rows = n; /* empty ones can be freed */
    for (int64_t i = 0; i < n; i++) {
        const tsri_json_value *from = tsri_json_at(rows, i);
        tsri_theory_row *r = &p->row[i];
        TSR_TRY(tsri_strdup(&r->quantity, tsri_text_at(from, "quantity")));
        TSR_TRY(tsri_strdup(&r->where, tsri_text_at(from, "where")));
        TSR_TRY(tsri_strdup(&r->theorem, tsri_text_at(from, "theorem")));
        TSR_TRY(tsri_strdup(&r->sense, tsri_text_at(from, "sense")));
        TSR_TRY(tsri_alloc(&r->look, TSRI_LOOKS_ROOM, sizeof *r->look));
    }
done:
    return st;
}

static void drop_rows(tsri_theory_paper *p)
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

static void add_look(tsri_theory_paper *p, const tsri_json_value *rows, double round)
{
    for (int64_t i = 0; i < p->rows; i++) {
        const tsri_json_value *from = tsri_json_at(rows, i);
        p->row[i].look[p->looks] =
            (tsri_theory_look){.measured = tsri_number_at(from, "measured"),
                               .required = tsri_number_at(from, "required"),
                               .factor = tsri_number_at(from, "factor"),
                               .verdict = tsri_verdict_named(tsri_text_at(from, "verdict"))};
    }
    p->round[p->looks++] = round;
}

/* *out = the paper of that name, a new one if need be; NULL when there are too many. */
static tsr_status paper_of(tsri_theory_paper **out, tsri_theory_lines *lines, const char *name)
{
    tsr_status st = TSR_OK;
    *out = NULL;
    for (int i = 0; i < lines->papers; i++)
        if (strcmp(lines->paper[i].name, name) == 0)
            *out = &lines->paper[i];
    if (*out || lines->papers == MOST_PAPERS)
        return TSR_OK;
    TSR_TRY(tsri_strdup(&lines->paper[lines->papers].name, name));
    *out = &lines->paper[lines->papers++];
done:
    return st;
}

static tsr_status take(void *context, const tsri_json_value *line)
{
    tsr_status st = TSR_OK;
    tsri_theory_lines *lines = context;
    const tsri_json_value *rows = tsri_json_get(line, "rows");
    int64_t number = lines->seen++;
    tsri_theory_paper *p = NULL;
    if ((number % lines->stride != 0 && number != lines->last) || !tsri_json_is_array(rows))
        return TSR_OK;
    TSR_TRY(paper_of(&p, lines, tsri_text_at(line, "paper")));
    if (!p || p->looks >= TSRI_LOOKS_ROOM)
        return TSR_OK;
    if (p->row && rows_kept(rows) != p->rows) {
        lines->changed = true; /* before a run some papers have fewer rows than in it */
        drop_rows(p);
    }
    if (!p->row)
        TSR_TRY(begin_rows(p, rows));
    add_look(p, rows, tsri_number_at(line, "round"));
done:
    return st;
}

tsr_status tsri_theory_lines_read(tsri_theory_lines *lines, const char *folder)
{
    tsr_status st = TSR_OK;
    char *path = NULL;
    int64_t count = 0;
    TSR_TRY(tsri_alloc(&lines->paper, MOST_PAPERS, sizeof *lines->paper));
    TSR_TRY(tsri_path_join(&path, folder, "metrics.jsonl"));
    if (!tsri_file_exists(path))
        goto done;
    TSR_TRY(tsri_lines_each(path, "certificate", count_one, &count));
    lines->stride = 1 + (count - 1) / TSRI_LOOKS_MOST;
    lines->last = count - 1;
    if (count > 0)
        TSR_TRY(tsri_lines_each(path, "certificate", take, lines));
done:
    tsri_free(path);
    return st;
}

void tsri_theory_lines_fini(tsri_theory_lines *lines)
{
    for (int i = 0; lines->paper && i < lines->papers; i++) {
        drop_rows(&lines->paper[i]);
        tsri_free(lines->paper[i].name);
    }
    TSRI_FREE(lines->paper);
}
