/* csv.h - the text of a table, cell by cell.
 *
 * RFC 4180 with what files in the wild need: comma, semicolon or tab; LF or CRLF; spaces around
 * cells; quotes with "" inside; blank lines and a byte-order mark are skipped.
 *
 *     tsri_csv c = tsri_csv_start(path, text, n, ',');
 *     while (tsri_csv_row(&c))
 *         do
 *             TSR_TRY(tsri_csv_cell(&c));        ... c.cell, c.length, c.line, c.column ...
 *         while (!c.row_end);
 *     tsri_csv_fini(&c);
 */
#ifndef TSRI_CSV_H
#define TSRI_CSV_H

#include "base/text.h"

typedef struct tsri_csv {
    const char *path, *text;
    int64_t n, at; /* bytes, and where we are */
    char separator;
    int64_t line, column; /* of the cell, from 1 */
    int64_t next_line;
    bool row_end;     /* it was the last of its row */
    const char *cell; /* without quotes and spaces; valid until the next */
    size_t length;
    bool quoted;
    tsri_text scratch; /* a cell that had "" inside */
} tsri_csv;

tsri_csv tsri_csv_start(const char *path, const char *text, int64_t n, char separator);
bool tsri_csv_row(tsri_csv *c); /* is there another row? moves to its start */
tsr_status tsri_csv_cell(tsri_csv *c);
void tsri_csv_fini(tsri_csv *c);

/* Semicolon, tab or comma: the first that cuts all of the first rows into as many cells, more than
 * one (0,5;3,1 are two numbers: files that separate cells by semicolons have commas in numbers).
 * Where rows differ, the comma, semicolon or tab that stands in the first line. */
tsr_status tsri_csv_separator(char *out, const char *path, const char *text, int64_t n);

typedef enum tsri_cell {
    TSRI_CELL_NUMBER,
    TSRI_CELL_COMMA, /* a number written with a decimal comma: 1,5 */
    TSRI_CELL_DATE,  /* 2024-05-31, 31-May-2024, 12:30: date.h */
    TSRI_CELL_TEXT,
    TSRI_CELL_MISSING,   /* empty, ?, -, NA, N/A, NaN, null, in any case */
    TSRI_CELL_NOT_FINITE /* inf, or beyond the range of a float */
} tsri_cell;

/* What the cell is; *value is set for a number, and for a date to its days since 1970-01-01 or NaN
 * (date.h). The same in every locale. */
tsri_cell tsri_cell_kind(double *value, const char *cell, size_t length, bool quoted);

#endif
