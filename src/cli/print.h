/* print.h - text for readers, aligned tables and wrapped paragraphs, and the JSON of --json.
 *
 *     cli_table t = {0};
 *     cli_table_head(&t, 2, "layer", "parameters");
 *     cli_table_text(&t, "linear 1");
 *     cli_table_int(&t, 200960);
 *     TSR_TRY(cli_table_print(&t, stdout));          the first failure of all calls above
 *     cli_table_fini(&t);
 *
 * Columns are as wide as their widest cell; columns of numbers are right-aligned; the last column
 * is wrapped at the screen's edge. Control characters in cells become '?': a data set's class names
 * cannot drive the terminal.
 */
#ifndef CLI_PRINT_H
#define CLI_PRINT_H

#include "cli/args.h"

#include <stdio.h>

enum { CLI_COLUMNS_MAX = 16 };

typedef struct cli_cell {
    char *text;
    bool number;
} cli_cell;

typedef struct cli_table {
    tsr_status st;
    int columns; /* cells of a row */
    int indent;  /* spaces before each row */
    bool headed;
    cli_cell *cell; /* [count], row after row, the heads first */
    int64_t count, capacity;
} cli_table;

/* The heads of the columns; or, without heads, just how many there are. */
void cli_table_head(cli_table *t, int columns, ...);
void cli_table_columns(cli_table *t, int columns, int indent);

/* The next cell, row after row. */
void cli_table_text(cli_table *t, const char *text);
void cli_table_format(cli_table *t, const char *fmt, ...) TSR_PRINTF(2, 3);
void cli_table_int(cli_table *t, int64_t value);
void cli_table_real(cli_table *t, double value, int digits); /* after the point */

tsr_status cli_table_print(const cli_table *t, FILE *to);
void cli_table_fini(cli_table *t);

/* Ends a document and prints it as one line; or the first failure of all calls that wrote it. */
tsr_status cli_json_print(tsr_json *w);

/* A document that the library gave: with --json as it is, else as `text` shows it. */
tsr_status cli_show(const cli_args *args, const char *json, tsr_status (*text)(const tsr_doc *doc));

/* Prints a text that the library gave, a line more behind it, and frees it. */
void cli_print(char *text);

/* Words of `text` in lines of at most `width` columns, each but the first after `indent` spaces. */
void cli_wrap(FILE *to, const char *text, int indent, int width);

/* Columns of the terminal that `to` is, 80 when it is none; at least 40. */
int cli_width(FILE *to);

/* Columns that a UTF-8 text takes on the screen, one per character. */
int cli_columns(const char *text);

#endif
