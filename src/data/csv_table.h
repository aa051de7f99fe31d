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

typedef struct tsri_column {
    char *name; /* from the header, or NULL */
    bool target, ignored;
    bool words; /* holds words, not numbers */
    int64_t numbers, texts;
    int64_t text_line; /* the first word, for messages */
    char text[40];
    tsri_words list;
    int64_t *rank; /* of the words, sorted by bytes */
} tsri_column;

typedef struct tsri_csv_table {
    const char *path;
    char *text;
    int64_t n, rows;
    double *cell; /* [rows, columns] number, or number of the word; NaN = missing */
} tsri_csv_table;

typedef struct tsri_tables {
    const tsri_read *want;
    tsri_column *column; /* [columns] */
    int64_t columns, targets;
    char separator;
    bool header;
    tsri_csv_table part[2]; /* training, test */
    int parts;
} tsri_tables;

/* Reads want->path and want->test_path: header, which columns are what, every cell. BAD_FILE with
 * line and column. */
tsr_status tsri_tables_read(tsri_tables *t, tsr_data *data, const tsri_read *want);
void tsri_tables_fini(tsri_tables *t);

#endif
