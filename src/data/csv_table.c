/* csv_table.c - tables as text, read into cells.
 *
 * Two passes over the text. The survey finds out, for each column, whether it holds numbers or
 * words, and refuses what fits neither; the second pass fills the numbers in, words as their number
 * in a list. Columns in which numbers and words are mixed are taken for words only when they have
 * at most 100 different values: more of them mean that a cell is misspelt, and it is named.
 */
#include "data/csv_table.h"

#include "base/alloc.h"
#include "data/csv.h"
#include "data/part.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS_MAX = 65536,
    WORDS_MAX = 1000, /* different words in a column of inputs */
    MIXED_MAX = 100   /* the same where some are numbers */
};

/* "line 3, column 7 (price)" */
static const char *place(const tsri_tables *t, const tsri_csv *c)
{
    static _Thread_local char text[160];
    int64_t k = c->column - 1;
    const char *name = k < t->columns ? t->column[k].name : NULL;
    (void)snprintf(text, sizeof text, "line %lld, column %lld%s%.60s%s", (long long)c->line,
                   (long long)c->column, name ? " (" : "", name ? tsri_quote(name) : "",
                   name ? ")" : "");
    return text;
}

/* ---- The first lines ---------------------------------------------------------------------- */

static tsr_status count_columns(tsri_tables *t, const tsri_csv_table *p)
{
    tsr_status st = TSR_OK;
    tsri_csv c = tsri_csv_start(p->path, p->text, p->n, t->separator);
    TSR_CHECK(tsri_csv_row(&c), TSR_BAD_FILE, "%s: line 1: the file is empty; check the path",
              tsri_quote(p->path));
    while (!c.row_end) {
        TSR_TRY(tsri_csv_cell(&c));
        TSR_CHECK(c.column <= COLUMNS_MAX, TSR_BAD_FILE,
                  "%s: line %lld: more than %d columns; this is no table we can use, store it as "
                  ".npy",
                  tsri_quote(p->path), (long long)c.line, COLUMNS_MAX);
    }
    t->columns = c.column;
    TSR_TRY(tsri_alloc(&t->column, t->columns, sizeof *t->column));
done:
    tsri_csv_fini(&c);
    return st;
}

/* The first line is a header when a word stands above a number in it. */
static tsr_status looks_like_header(tsri_tables *t, const tsri_csv_table *p)
{
    tsr_status st = TSR_OK;
    tsri_csv c = tsri_csv_start(p->path, p->text, p->n, t->separator);
    bool *word = NULL;
    double value;
    TSR_TRY(tsri_alloc(&word, t->columns, sizeof *word));
    for (int line = 0; line < 2 && tsri_csv_row(&c); line++)
        while (!c.row_end) {
            TSR_TRY(tsri_csv_cell(&c));
            int64_t k = c.column - 1;
            if (k >= t->columns)
                break;
            tsri_cell kind = tsri_cell_kind(&value, c.cell, c.length, c.quoted);
            if (line == 0)
                word[k] = kind == TSRI_CELL_TEXT;
            else
                t->header = t->header || (word[k] && kind == TSRI_CELL_NUMBER);
        }
done:
    tsri_csv_fini(&c);
    tsri_free(word);
    return st;
}

static tsr_status read_header(tsri_tables *t, const tsri_csv_table *p)
{
    tsr_status st = TSR_OK;
    tsri_csv c = tsri_csv_start(p->path, p->text, p->n, t->separator);
    if (strcmp(t->want->header, "auto") == 0)
        TSR_TRY(looks_like_header(t, p));
    else
        t->header = strcmp(t->want->header, "yes") == 0;
    if (t->header && tsri_csv_row(&c))
        while (!c.row_end) {
            TSR_TRY(tsri_csv_cell(&c));
            TSR_TRY(tsri_strndup(&t->column[c.column - 1].name, c.cell, c.length));
        }
done:
    tsri_csv_fini(&c);
    return st;
}

/* ---- Which columns ------------------------------------------------------------------------ */

static int64_t find_column(const tsri_tables *t, const char *name, size_t n)
{
    for (int64_t k = 0; k < t->columns; k++)
        if (t->column[k].name && strlen(t->column[k].name) == n &&
            memcmp(t->column[k].name, name, n) == 0)
            return k;
    return -1;
}

/* "7", "1-5" or a name; *first and *last from 0. */
static tsr_status parse_range(int64_t *first, int64_t *last, const tsri_tables *t, const char *word,
                              size_t n, const char *key)
{
    tsr_status st = TSR_OK;
    char *end = NULL;
    *first = *last = find_column(t, word, n);
    if (*first >= 0)
        goto done;
    *first = strtoll(word, &end, 10) - 1;
    *last = *first;
    if (end > word && *end == '-' && end < word + n)
        *last = strtoll(end + 1, &end, 10) - 1;
    TSR_CHECK(end == word + n && n > 0, TSR_USAGE,
              "%s: there is no column \"%s\" in %s; name one of its header, or give its number "
              "from 1",
              key, tsri_printable(word, n), tsri_quote(t->part[0].path));
    TSR_CHECK(*first >= 0 && *last >= *first && *last < t->columns, TSR_USAGE,
              "%s: \"%s\" is outside of the columns 1 to %lld of %s", key, tsri_printable(word, n),
              (long long)t->columns, tsri_quote(t->part[0].path));
done:
    return st;
}

static tsr_status mark(tsri_tables *t, const char *list, bool target)
{
    tsr_status st = TSR_OK;
    const char *key = target ? "data.target" : "data.ignore";
    int64_t first, last;
    if (target && find_column(t, list, strlen(list)) >= 0) { /* a name with a comma in it */
        t->column[find_column(t, list, strlen(list))].target = true;
        goto done;
    }
    while (*list) {
        size_t n = strcspn(list, ",");
        TSR_TRY(parse_range(&first, &last, t, list, n, key));
        for (int64_t k = first; k <= last; k++) {
            t->column[k].target = t->column[k].target || target;
            t->column[k].ignored = t->column[k].ignored || !target;
        }
        list += n + (list[n] == ',');
    }
done:
    return st;
}

static tsr_status choose_columns(tsri_tables *t)
{
    tsr_status st = TSR_OK;
    int64_t inputs = 0;
    if (t->want->target)
        TSR_TRY(mark(t, t->want->target, true));
    else
        t->column[t->columns - 1].target = true;
    if (t->want->ignore)
        TSR_TRY(mark(t, t->want->ignore, false));
    for (int64_t k = 0; k < t->columns; k++) {
        t->column[k].ignored = t->column[k].ignored && !t->column[k].target;
        t->targets += t->column[k].target;
        inputs += !t->column[k].target && !t->column[k].ignored;
    }
    TSR_CHECK(inputs > 0 && t->targets > 0, TSR_BAD_FILE,
              "%s: line 1: of %lld columns %lld are inputs and %lld targets; at least one of each "
              "is needed, check data.target, data.ignore and the separator",
              tsri_quote(t->part[0].path), (long long)t->columns, (long long)inputs,
              (long long)t->targets);
done:
    return st;
}

/* ---- Survey ------------------------------------------------------------------------------- */

static tsr_status survey_cell(tsri_tables *t, tsr_data *data, const tsri_csv *c)
{
    tsr_status st = TSR_OK;
    tsri_column *k = &t->column[c->column - 1];
    double value;
    tsri_cell kind = tsri_cell_kind(&value, c->cell, c->length, c->quoted);
    data->missing_found += kind == TSRI_CELL_MISSING;
    if (k->ignored)
        goto done;
    TSR_CHECK(kind != TSRI_CELL_NOT_FINITE, TSR_BAD_FILE,
              "%s: %s: \"%s\" is no finite number; write ? or nothing for a missing value",
              tsri_quote(c->path), place(t, c), tsri_printable(c->cell, c->length));
    if (kind == TSRI_CELL_MISSING) {
        TSR_CHECK(!k->target, TSR_BAD_FILE,
                  "%s: %s: the target is missing; remove the row, or choose data.target",
                  tsri_quote(c->path), place(t, c));
        TSR_CHECK(strcmp(t->want->missing, "refuse") != 0, TSR_BAD_FILE,
                  "%s: %s: the value is missing; set data.missing to mean or zero, or leave the "
                  "column out with data.ignore",
                  tsri_quote(c->path), place(t, c));
        data->missing++;
    }
    k->numbers += kind == TSRI_CELL_NUMBER;
    if (kind == TSRI_CELL_TEXT && k->texts++ == 0) {
        k->text_line = c->line;
        (void)snprintf(k->text, sizeof k->text, "%.30s", tsri_printable(c->cell, c->length));
    }
done:
    return st;
}

/* Goes over the rows of a table; look(t, data, c) sees each cell. */
static tsr_status each_cell(tsri_tables *t, tsri_csv_table *p, tsr_data *data,
                            tsr_status (*look)(tsri_tables *, tsri_csv_table *, tsr_data *,
                                               const tsri_csv *))
{
    tsr_status st = TSR_OK;
    tsri_csv c = tsri_csv_start(p->path, p->text, p->n, t->separator);
    p->rows = 0;
    for (bool header = t->header; tsri_csv_row(&c); header = false) {
        while (!c.row_end) {
            TSR_TRY(tsri_csv_cell(&c));
            TSR_CHECK(c.column <= t->columns, TSR_BAD_FILE,
                      "%s: line %lld, column %lld: the first line has only %lld columns; repair "
                      "the row",
                      tsri_quote(p->path), (long long)c.line, (long long)c.column,
                      (long long)t->columns);
            if (!header)
                TSR_TRY(look(t, p, data, &c));
        }
        TSR_CHECK(c.column == t->columns, TSR_BAD_FILE,
                  "%s: line %lld, column %lld: the row ends here, but the first line has %lld "
                  "columns; repair the row",
                  tsri_quote(p->path), (long long)c.line, (long long)c.column,
                  (long long)t->columns);
        p->rows += !header;
    }
    TSR_CHECK(p->rows > 0, TSR_BAD_FILE, "%s: line %lld: there are no rows of data in the file",
              tsri_quote(p->path), (long long)c.line);
done:
    tsri_csv_fini(&c);
    return st;
}

static tsr_status survey(tsri_tables *t, tsri_csv_table *p, tsr_data *data, const tsri_csv *c)
{
    (void)p;
    return survey_cell(t, data, c);
}

/* ---- Fill --------------------------------------------------------------------------------- */

static tsr_status fill(tsri_tables *t, tsri_csv_table *p, tsr_data *data, const tsri_csv *c)
{
    tsr_status st = TSR_OK;
    tsri_column *k = &t->column[c->column - 1];
    double value = NAN;
    int64_t word;
    (void)data;
    if (k->ignored)
        goto done;
    tsri_cell kind = tsri_cell_kind(&value, c->cell, c->length, c->quoted);
    if (k->words && kind != TSRI_CELL_MISSING) {
        int64_t most = k->target ? TSRI_CLASSES_MAX : k->numbers > 0 ? MIXED_MAX : WORDS_MAX;
        TSR_TRY(tsri_words_add(&word, &k->list, c->cell, c->length));
        value = (double)word;
        if (k->list.count <= most)
            goto store;
        TSR_CHECK(k->numbers == 0, TSR_BAD_FILE,
                  "%s: line %lld, column %lld: \"%s\" stands in a column of numbers; repair the "
                  "cell, or leave the column out with data.ignore",
                  tsri_quote(p->path), (long long)k->text_line, (long long)c->column, k->text);
        TSR_CHECK(false, TSR_BAD_FILE,
                  "%s: %s: more than %lld different words in this column; leave it out with "
                  "data.ignore",
                  tsri_quote(p->path), place(t, c), (long long)most);
    }
store:
    p->cell[p->rows * t->columns + c->column - 1] = value;
done:
    return st;
}

static tsr_status fill_tables(tsri_tables *t, tsr_data *data)
{
    tsr_status st = TSR_OK;
    for (int64_t k = 0; k < t->columns; k++)
        t->column[k].words = t->column[k].texts > 0;
    for (int i = 0; i < t->parts; i++) {
        tsri_csv_table *p = &t->part[i];
        TSR_TRY(tsri_alloc_raw(&p->cell, p->rows * t->columns, sizeof *p->cell));
        TSR_TRY(each_cell(t, p, data, fill));
    }
    for (int64_t k = 0; k < t->columns; k++)
        if (t->column[k].words)
            TSR_TRY(tsri_words_rank(&t->column[k].rank, &t->column[k].list));
done:
    return st;
}

/* ---- Both tables -------------------------------------------------------------------------- */

void tsri_tables_fini(tsri_tables *t)
{
    for (int64_t k = 0; t->column && k < t->columns; k++) {
        tsri_free(t->column[k].name);
        tsri_free(t->column[k].rank);
        tsri_words_fini(&t->column[k].list);
    }
    tsri_free(t->column);
    for (int i = 0; i < 2; i++) {
        tsri_free(t->part[i].text);
        tsri_free(t->part[i].cell);
    }
}

tsr_status tsri_tables_read(tsri_tables *t, tsr_data *data, const tsri_read *want)
{
    tsr_status st = TSR_OK;
    t->want = want;
    t->parts = want->test_path ? 2 : 1;
    for (int i = 0; i < t->parts; i++) {
        t->part[i].path = i == 0 ? want->path : want->test_path;
        TSR_TRY(tsri_read_whole(&t->part[i].text, &t->part[i].n, t->part[i].path));
    }
    t->separator = tsri_csv_separator(t->part[0].text, t->part[0].n);
    TSR_TRY(count_columns(t, &t->part[0]));
    TSR_TRY(read_header(t, &t->part[0]));
    TSR_TRY(choose_columns(t));
    for (int i = 0; i < t->parts; i++)
        TSR_TRY(each_cell(t, &t->part[i], data, survey));
    TSR_TRY(fill_tables(t, data));
done:
    return st;
}
