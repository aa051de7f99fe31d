/* csv_table.h - tables as text, read into cells.
 *
 *     tsri_tables t = {0};
 *     TSR_TRY(tsri_tables_read(&t, data, want));      counts missing cells into data
 *     ... t.part[0].cell[row * t.columns + k], t.column[k] ...
 *     tsri_tables_fini(&t);
 */
#ifndef TSRI_CSV_TABLE_H
#define TSRI_CSV_TABLE_H

#include "data/reader.h"
#include "data/words.h"

typedef enum tsri_column_kind { TSRI_NUMBERS, TSRI_WORDS, TSRI_DATES } tsri_column_kind;

/* The first cell of some kind, for messages. */
typedef struct tsri_cell_place {
    int64_t line;
    char text[40];
} tsri_cell_place;

typedef struct tsri_column {
    char *name; /* from the header, or NULL */
    bool target, ignored;
    bool asked_words;       /* named in data.words */
    const tsri_field *like; /* what a model takes it for, or NULL */
    tsri_column_kind kind;
    int64_t numbers, points, commas, groups, dates, vague, texts; /* cells; see survey_cell */
    tsri_cell_place number, comma, date, text;
    tsri_words list;
    int64_t *position; /* input of each word: sorted by bytes, or as the model has them */
} tsri_column;

typedef struct tsri_csv_table {
    const char *path;
    char *text;
    int64_t n, rows;
    double *cell; /* [rows, columns] number, or number of the word; NaN = missing */
} tsri_csv_table;

typedef struct tsri_tables {
    const tsri_read *want;
    tsri_column *column; /* [columns] as the file has them */
    int64_t columns, targets;
    int64_t *input; /* [inputs] columns in the order of their inputs */
    int64_t inputs;
    char separator;
    bool header;
    bool blank_targets;     /* some cells of a target that is not needed are missing */
    tsri_csv_table part[2]; /* training, test */
    int parts;
} tsri_tables;

/* Reads want->path and want->test_path: header, which columns are what, every cell. BAD_FILE with
 * line and column. */
tsr_status tsri_tables_read(tsri_tables *t, tsr_data *data, const tsri_read *want);
void tsri_tables_fini(tsri_tables *t);

/* ---- csv_columns.c --------------------------------------------------------------------------- */

/* Counts the columns, reads the header, and says which columns are inputs, in which order, and
 * which are targets: as `want` says or, where a model is to be shown the table, by the names that
 * the model knows. */
tsr_status tsri_columns_choose(tsri_tables *t);

/* After every cell was seen: numbers, words or dates? A column that is neither is refused, with
 * line, column and remedy. */
tsr_status tsri_columns_decide(tsri_tables *t);

/* "line 3, column 7 (price)"; lives until the next call. */
const char *tsri_column_place(const tsri_tables *t, int64_t k, int64_t line);

#endif
