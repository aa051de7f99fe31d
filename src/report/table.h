/* table.h - a table of words and numbers, written as CSV, Markdown or HTML.
 *
 *     tsri_table t = {0};
 *     tsri_table_head(&t, "scheme|accuracy, %|bytes");
 *     tsri_table_text(&t, "LoFT");
 *     tsri_table_number(&t, 91.2);
 *     tsri_table_format(&t, "%lld", (long long)bytes);
 *     TSR_TRY(tsri_table_csv(&out, &t));              the first failure of all calls above
 *     tsri_table_fini(&t);
 *
 * Cells are added row by row. Texts may hold anything.
 */
#ifndef TSRI_TABLE_H
#define TSRI_TABLE_H

#include "report/markup.h"

typedef struct tsri_cell {
    char *text;
    bool number; /* right-aligned */
} tsri_cell;

typedef struct tsri_table {
    tsr_status st;
    int64_t columns;
    tsri_cell *cell; /* [count], the heads first */
    int64_t count, capacity;
    /* (optional) writes attributes of the HTML row, counted from 0 after the heads */
    void (*mark)(tsri_markup *m, const void *context, int64_t row);
    const void *context;
} tsri_table;

/* The heads, with '|' between them. */
void tsri_table_head(tsri_table *t, const char *heads);
void tsri_table_text(tsri_table *t, const char *text);
void tsri_table_number(tsri_table *t, double value); /* with all its digits; NaN = empty */
void tsri_table_real(tsri_table *t, double value, int digits); /* after the point; NaN = empty */
/* Our own words and numbers, aligned as a number. */
void tsri_table_format(tsri_table *t, const char *fmt, ...) TSR_PRINTF(2, 3);
void tsri_table_fini(tsri_table *t);

/* Each appends; the last row is filled up with empty cells. */
tsr_status tsri_table_csv(tsri_text *out, const tsri_table *t);
tsr_status tsri_table_markdown(tsri_text *out, const tsri_table *t);
void tsri_table_html(tsri_markup *m, const tsri_table *t);

#endif
