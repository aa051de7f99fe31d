/* table.c - a table of words and numbers, written as CSV, Markdown or HTML. */
#include "report/table.h"

#include "base/alloc.h"
#include "base/number.h"
#include "base/pieces.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Filling --------------------------------------------------------------------------------- */

static void add(tsri_table *t, const char *text, size_t n, bool number)
{
    char *copy = NULL;
    if (t->st == TSR_OK)
        t->st = tsri_reserve(&t->cell, &t->capacity, t->count, sizeof *t->cell);
    if (t->st == TSR_OK)
        t->st = tsri_strndup(&copy, text, n);
    if (t->st == TSR_OK)
        t->cell[t->count++] = (tsri_cell){copy, number};
}

void tsri_table_head(tsri_table *t, const char *heads)
{
    assert(t->count == 0 && "the heads come first");
    for (;; heads++) {
        size_t n = strcspn(heads, "|");
        add(t, heads, n, false);
        t->columns++;
        heads += n;
        if (!*heads)
            return;
    }
}

void tsri_table_text(tsri_table *t, const char *text)
{
    add(t, text ? text : "", text ? strlen(text) : 0, false);
}

void tsri_table_number(tsri_table *t, double value)
{
    char text[TSRI_NUMBER_TEXT];
    size_t n = isfinite(value) ? strlen(tsri_shortest(text, value)) : 0;
    if (n > 2 && strcmp(text + n - 2, ".0") == 0)
        n -= 2;
    add(t, text, n, true);
}

void tsri_table_real(tsri_table *t, double value, int digits)
{
    char text[TSRI_NUMBER_TEXT];
    add(t, text, isfinite(value) ? strlen(tsri_fixed(text, value, digits)) : 0, true);
}

void tsri_table_format(tsri_table *t, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    add(t, text, strlen(text), true);
}

void tsri_table_fini(tsri_table *t)
{
    for (int64_t i = 0; i < t->count; i++)
        tsri_free(t->cell[i].text);
    tsri_free(t->cell);
    *t = (tsri_table){0};
}

static int64_t rows_of(const tsri_table *t)
{
    return t->columns > 0 ? tsri_ceil_div(t->count, t->columns) : 0;
}

static const tsri_cell *cell_at(const tsri_table *t, int64_t row, int64_t column)
{
    static const tsri_cell empty = {(char *)"", false};
    int64_t i = row * t->columns + column;
    return i < t->count ? &t->cell[i] : &empty;
}

/* Does the column hold numbers, and gaps at most? */
static bool is_number(const tsri_table *t, int64_t column)
{
    bool any = false;
    for (int64_t row = 1; row < rows_of(t); row++) {
        const tsri_cell *cell = cell_at(t, row, column);
        if (*cell->text && !cell->number)
            return false;
        any |= cell->number;
    }
    return any;
}

/* ---- Writing --------------------------------------------------------------------------------- */

tsr_status tsri_table_csv(tsri_text *out, const tsri_table *t)
{
    tsr_status st = t->st;
    if (st != TSR_OK)
        return st;
    for (int64_t i = 0; i < rows_of(t) * t->columns; i++) {
        bool last = i % t->columns == t->columns - 1;
        TSR_TRY(tsri_text_add_field(out, cell_at(t, 0, i)->text));
        TSR_TRY(tsri_text_add_bytes(out, last ? "\n" : ",", 1));
    }
done:
    return st;
}

/* A bar or a line end inside a cell would end it; a '<' would begin HTML where it is shown. */
static tsr_status markdown_cell(tsri_text *out, const char *text)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_text_add(out, "| "));
    for (; *text; text++) {
        if (*text == '|')
            TSR_TRY(tsri_text_add(out, "\\|"));
        else if (*text == '<')
            TSR_TRY(tsri_text_add(out, "&lt;"));
        else
            TSR_TRY(tsri_text_add_bytes(out, *text == '\n' || *text == '\r' ? " " : text, 1));
    }
    TSR_TRY(tsri_text_add(out, " "));
done:
    return st;
}

tsr_status tsri_table_markdown(tsri_text *out, const tsri_table *t)
{
    tsr_status st = t->st;
    if (st != TSR_OK)
        return st;
    for (int64_t row = 0; row < rows_of(t); row++) {
        for (int64_t column = 0; column < t->columns; column++)
            TSR_TRY(markdown_cell(out, cell_at(t, row, column)->text));
        TSR_TRY(tsri_text_add(out, "|\n"));
        for (int64_t column = 0; row == 0 && column < t->columns; column++)
            TSR_TRY(tsri_text_add(out, is_number(t, column) ? "|--:" : "|---"));
        TSR_TRY(tsri_text_add(out, "%s", row == 0 ? "|\n" : ""));
    }
done:
    return st;
}

void tsri_table_html(tsri_markup *m, const tsri_table *t)
{
    bool *right = NULL; /* [columns] asked once: for every cell the time grew as rows squared */
    if (m->st == TSR_OK)
        m->st = t->st;
    if (m->st == TSR_OK)
        m->st = tsri_alloc(&right, t->columns, sizeof *right);
    if (m->st != TSR_OK)
        return;
    for (int64_t column = 0; column < t->columns; column++)
        right[column] = is_number(t, column);
    tsri_markup_add(m, "<div class=\"wide\"><table class=\"named\">\n");
    for (int64_t row = 0; row < rows_of(t); row++) {
        const char *kind = row == 0 ? "th" : "td";
        tsri_markup_add(m, row == 0 ? "<thead><tr" : "<tr");
        if (row > 0 && t->mark)
            t->mark(m, t->context, row - 1);
        tsri_markup_add(m, ">");
        for (int64_t column = 0; column < t->columns; column++) {
            tsri_markup_add(m, "<%s%s>", kind, right[column] ? " class=\"n\"" : "");
            tsri_markup_text(m, cell_at(t, row, column)->text);
            tsri_markup_add(m, "</%s>", kind);
        }
        tsri_markup_add(m, row == 0 ? "</tr></thead>\n<tbody>" : "</tr>\n");
    }
    tsri_markup_add(m, "</tbody></table></div>\n");
    tsri_free(right);
}
