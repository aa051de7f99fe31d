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
    const char *path;
    int64_t line, column; /* from 1; line 0: there is none */
    char text[40];
} tsri_cell_place;

typedef struct tsri_column {
    char *name; /* from the header of the first table, or NULL */
    bool target, ignored;
    bool asked_words;       /* named in data.words */
    const tsri_field *like; /* the same column in the schema of a model, or NULL */
    tsri_column_kind kind;
    /* Cells of each kind; points and commas that may stand before thousands: point_groups, groups;
     * dressed: texts that are numbers with the same thing around them (dressed.h). */
    int64_t numbers, points, point_groups, commas, groups, dates, vague, texts, dressed;
    int64_t days; /* numbers like 20240531 */
    tsri_cell_place number, point, comma, date, text, dress;
    tsri_cell_place zeros, huge; /* 00123; a whole number that no double holds, and their first */
    char around[2][16];          /* what stands before and after dressed numbers */
    tsri_words list;
    int64_t *position; /* input of each word: sorted by bytes, or as the model has them */
} tsri_column;

typedef struct tsri_csv_table {
    const char *path;
    char *text;
    int64_t n, rows;
    char separator;
    bool header;
    char **name;     /* [columns] cells of the first line: names, if that is a header */
    int64_t *column; /* [columns] which of tsri_tables.column each one is; -1: not used */
    int64_t columns;
    double *cell; /* [rows, columns] number, or number of the word; NaN = missing */
} tsri_csv_table;

typedef struct tsri_tables {
    const tsri_read *want;
    tsri_column *column; /* [columns] as the first file has them */
    int64_t columns, targets;
    int64_t *input;  /* [inputs] columns in the order of their inputs */
    int64_t *target; /* [targets] columns in the order of their targets */
    int64_t inputs;
    bool blank_targets;     /* some cells of a target that is not needed are missing */
    tsri_csv_table part[2]; /* training, test */
    int parts;
} tsri_tables;

/* Reads want->path and want->test_path: header, which columns are what, every cell. BAD_FILE with
 * line and column. */
tsr_status tsri_tables_read(tsri_tables *t, tsr_data *data, const tsri_read *want);
void tsri_tables_fini(tsri_tables *t);

/* ---- csv_header.c ---------------------------------------------------------------------------- */

/* Counts the columns of the table, reads its first line, and says whether that is a header. */
tsr_status tsri_header_read(tsri_tables *t, tsri_csv_table *p);

/* ---- csv_columns.c: roles -------------------------------------------------------------------- */

/* Reads the first lines, and says which columns are inputs, in which order, and which are targets:
 * as `want` says or, where a model is to be shown the table, by the names that the model knows. The
 * columns of a second table are those of the first, by name. */
tsr_status tsri_columns_choose(tsri_tables *t);

/* "line 3, column 7 (price)" of a file, with the name of column k; lives until the next call. */
const char *tsri_column_place(const tsri_tables *t, int64_t k, int64_t line, int64_t column);

/* ---- csv_kinds.c, csv_doubt.c: after every cell was seen -------------------------------------- */

/* Numbers, words or dates? A column that is none of them is refused, with line, column and
 * remedy. */
tsr_status tsri_columns_decide(tsri_tables *t);

/* Says what of the columns may be meant otherwise: codes that begin with zeros, words that look
 * alike, columns without a name. Refuses those whose numbers a float cannot tell apart. */
tsr_status tsri_columns_doubt(const tsri_tables *t);

#endif
