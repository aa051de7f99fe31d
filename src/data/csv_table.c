/* csv_table.c - tables as text, read into cells.
 *
 * Two passes over the text. The survey counts what the cells of each column are (csv_kinds.c
 * decides from that whether it holds numbers, words or dates); the second pass fills the numbers
 * in, words as their number in a list.
 */
#include "data/csv_table.h"

#include "base/alloc.h"
#include "data/csv.h"
#include "data/dressed.h"
#include "data/encoding.h"
#include "data/part.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 1000 }; /* different words in a column of inputs */

/* Which column of the tables a cell is in; -1: one that is not used. */
static int64_t column_of(const tsri_csv_table *p, const tsri_csv *c)
{
    return p->column[c->column - 1];
}

static const char *place(const tsri_tables *t, const tsri_csv_table *p, const tsri_csv *c)
{
    return tsri_column_place(t, column_of(p, c), c->line, c->column);
}

/* ---- Survey ------------------------------------------------------------------------------- */

static void note(tsri_cell_place *at, const tsri_csv *c)
{
    if (at->line > 0)
        return;
    at->path = c->path;
    at->line = c->line;
    at->column = c->column;
    (void)snprintf(at->text, sizeof at->text, "%.30s", tsri_printable(c->cell, c->length));
}

/* "1,234": a comma with three digits after it and none else. */
static bool is_group(const tsri_csv *c)
{
    const char *comma = memchr(c->cell, ',', c->length);
    return comma && c->cell + c->length - comma == 4;
}

/* "1.234": the same with a point; "0.123" is no thousand. */
static bool is_point_group(const tsri_csv *c)
{
    const char *point = memchr(c->cell, '.', c->length), *first = c->cell;
    first += c->length > 0 && (*first == '-' || *first == '+');
    return point && c->cell + c->length - point == 4 && point > first && point - first <= 3 &&
           *first != '0' && !memchr(c->cell, 'e', c->length) && !memchr(c->cell, 'E', c->length);
}

/* A text that is a number with the same thing around it as the others. */
static void count_dressed(tsri_column *k, const tsri_csv *c)
{
    tsri_dress d;
    char around[2][16];
    if (!tsri_dressed(&d, c->cell, c->length))
        return;
    (void)snprintf(around[0], sizeof around[0], "%.*s", (int)d.before_length, d.before);
    (void)snprintf(around[1], sizeof around[1], "%.*s", (int)d.behind_length, d.behind);
    if (k->dressed == 0)
        memcpy(k->around, around, sizeof around);
    k->dressed += memcmp(k->around[0], around[0], strlen(around[0]) + 1) == 0 &&
                  memcmp(k->around[1], around[1], strlen(around[1]) + 1) == 0;
    note(&k->dress, c);
}

static bool has_only_digits(const tsri_csv *c)
{
    for (size_t i = 0; i < c->length; i++)
        if (c->cell[i] < '0' || c->cell[i] > '9')
            return false;
    return true;
}

/* Digits that may mean something else than a number: a code, a day of the calendar, a name. */
static void count_digits(tsri_column *k, const tsri_csv *c, double value)
{
    int64_t day = (int64_t)value % 100, month = (int64_t)value / 100 % 100;
    k->days += c->length == 8 && value >= 19000101 && value < 21000000 && month >= 1 &&
               month <= 12 && day >= 1 && day <= 31;
    if (c->length > 1 && c->cell[0] == '0')
        note(&k->zeros, c);
    if (value >= 0x1p53)
        note(&k->huge, c);
}

static void count_cell(tsri_column *k, const tsri_csv *c, tsri_cell kind, double value)
{
    switch (kind) {
    case TSRI_CELL_NUMBER:
        k->numbers++;
        if (has_only_digits(c))
            count_digits(k, c, value);
        if (memchr(c->cell, '.', c->length)) {
            k->points++;
            k->point_groups += is_point_group(c);
            note(&k->point, c);
        }
        note(&k->number, c);
        break;
    case TSRI_CELL_COMMA:
        k->commas++;
        k->groups += is_group(c);
        note(&k->comma, c);
        break;
    case TSRI_CELL_DATE:
        k->dates++;
        k->vague += isnan(value);
        note(&k->date, c);
        break;
    case TSRI_CELL_TEXT:
        k->texts++;
        note(&k->text, c);
        count_dressed(k, c);
        break;
    default:
        break;
    }
}

static tsr_status survey(tsri_tables *t, tsri_csv_table *p, tsr_data *data, const tsri_csv *c)
{
    tsr_status st = TSR_OK;
    tsri_column *k = &t->column[column_of(p, c)];
    double value = 0;
    tsri_cell kind = tsri_cell_kind(&value, c->cell, c->length, c->quoted);
    data->missing_found += kind == TSRI_CELL_MISSING;
    if (k->ignored)
        goto done;
    TSR_CHECK(kind != TSRI_CELL_NOT_FINITE, TSR_BAD_FILE,
              "%s: %s: \"%s\" is not a finite number; write ? or nothing for a missing value",
              tsri_quote(c->path), place(t, p, c), tsri_printable(c->cell, c->length));
    if (kind == TSRI_CELL_MISSING) {
        bool asked_only = k->target && t->want->like && t->want->like->unlabelled;
        t->blank_targets = t->blank_targets || asked_only;
        TSR_CHECK(!k->target || asked_only, TSR_BAD_FILE,
                  "%s: %s: the target is missing; remove the row, or choose data.target",
                  tsri_quote(c->path), place(t, p, c));
        if (asked_only)
            goto done;
        TSR_CHECK(strcmp(t->want->missing, "refuse") != 0, TSR_BAD_FILE,
                  "%s: %s: the value is missing; set data.missing to mean or zero, or leave the "
                  "column out with data.ignore",
                  tsri_quote(c->path), place(t, p, c));
        data->missing++;
    }
    count_cell(k, c, kind, value);
done:
    return st;
}

/* An empty line in a table of one column may be a missing value, and is refused. Empty lines before
 * the first row and after the last mean nothing. */
static tsr_status check_gap(const tsri_csv_table *p, const tsri_csv *c, int64_t line)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(p->columns > 1 || c->line == line, TSR_BAD_FILE,
              "%s: line %lld is empty: in a table of one column it may be a missing value; write "
              "NA there, or remove the line",
              tsri_quote(p->path), (long long)line);
done:
    return st;
}

/* Goes over the rows of a table; look(t, data, c) sees each cell. */
static tsr_status each_cell(tsri_tables *t, tsri_csv_table *p, tsr_data *data,
                            tsr_status (*look)(tsri_tables *, tsri_csv_table *, tsr_data *,
                                               const tsri_csv *))
{
    tsr_status st = TSR_OK;
    tsri_csv c = tsri_csv_start(p->path, p->text, p->n, p->separator);
    int64_t line = 1; /* where the next row is, if none is left out */
    p->rows = 0;
    for (bool header = p->header, first = true; tsri_csv_row(&c); header = first = false) {
        if (!first)
            TSR_TRY(check_gap(p, &c, line));
        while (!c.row_end) {
            TSR_TRY(tsri_csv_cell(&c));
            TSR_CHECK(c.column <= p->columns, TSR_BAD_FILE,
                      "%s: line %lld, column %lld: the first line has only %lld columns; repair "
                      "the row",
                      tsri_quote(p->path), (long long)c.line, (long long)c.column,
                      (long long)p->columns);
            if (!header && column_of(p, &c) >= 0)
                TSR_TRY(look(t, p, data, &c));
        }
        TSR_CHECK(c.column == p->columns, TSR_BAD_FILE,
                  "%s: line %lld, column %lld: the row ends here, but the first line has %lld "
                  "columns; repair the row",
                  tsri_quote(p->path), (long long)c.line, (long long)c.column,
                  (long long)p->columns);
        p->rows += !header;
        line = c.next_line;
    }
    TSR_CHECK(p->rows > 0, TSR_BAD_FILE, "%s: line %lld: there are no rows of data in the file",
              tsri_quote(p->path), (long long)c.line);
done:
    tsri_csv_fini(&c);
    return st;
}

/* ---- Fill --------------------------------------------------------------------------------- */

/* The number of a word: in the model's list, or in one that grows as words come. */
static tsr_status word_of(double *value, tsri_tables *t, tsri_csv_table *p, tsr_data *data,
                          const tsri_csv *c)
{
    tsr_status st = TSR_OK;
    tsri_column *k = &t->column[column_of(p, c)];
    int64_t most = k->target ? TSRI_CLASSES_MAX : WORDS_MAX, word;
    if (k->like) {
        word = tsri_field_word(k->like, c->cell, c->length);
        bool missing = word < 0 && strcmp(t->want->unknown, "missing") == 0;
        TSR_CHECK(word >= 0 || missing, TSR_BAD_FILE,
                  "%s: %s: the model has never seen the word \"%s\" in this column; set "
                  "data.unknown to missing to treat it as a missing value",
                  tsri_quote(c->path), place(t, p, c), tsri_printable(c->cell, c->length));
        *value = missing ? (double)NAN : (double)word;
        data->missing += missing;
        goto done;
    }
    TSR_TRY(tsri_words_add(&word, &k->list, c->cell, c->length));
    TSR_CHECK(k->list.count <= most, TSR_BAD_FILE,
              "%s: %s: more than %lld different words in this column; leave it out with "
              "data.ignore",
              tsri_quote(c->path), place(t, p, c), (long long)most);
    *value = (double)word;
done:
    return st;
}

static tsr_status fill(tsri_tables *t, tsri_csv_table *p, tsr_data *data, const tsri_csv *c)
{
    tsr_status st = TSR_OK;
    const tsri_column *k = &t->column[column_of(p, c)];
    double value = NAN;
    if (k->ignored)
        goto done;
    tsri_cell kind = tsri_cell_kind(&value, c->cell, c->length, c->quoted);
    if (k->kind == TSRI_WORDS && kind != TSRI_CELL_MISSING)
        TSR_TRY(word_of(&value, t, p, data, c));
    p->cell[p->rows * t->columns + column_of(p, c)] =
        kind == TSRI_CELL_MISSING ? (double)NAN : value;
done:
    return st;
}

/* Where each word of a column has its input: sorted by bytes, or where the model has it. */
static tsr_status sort_words(tsri_column *k)
{
    tsr_status st = TSR_OK;
    if (!k->like)
        return tsri_words_positions(&k->position, &k->list);
    TSR_TRY(tsri_alloc(&k->position, k->like->words, sizeof *k->position));
    for (int64_t w = 0; w < k->like->words; w++)
        k->position[w] = w;
done:
    return st;
}

static tsr_status fill_tables(tsri_tables *t, tsr_data *data)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_columns_decide(t));
    for (int i = 0; i < t->parts; i++) {
        tsri_csv_table *p = &t->part[i];
        TSR_TRY(tsri_alloc_raw(&p->cell, p->rows * t->columns, sizeof *p->cell));
        TSR_TRY(each_cell(t, p, data, fill));
    }
    for (int64_t k = 0; k < t->columns; k++)
        if (!t->column[k].ignored && t->column[k].kind == TSRI_WORDS)
            TSR_TRY(sort_words(&t->column[k]));
    if (!t->want->like)
        TSR_TRY(tsri_columns_doubt(t));
done:
    return st;
}

/* ---- Both tables -------------------------------------------------------------------------- */

void tsri_tables_fini(tsri_tables *t)
{
    for (int64_t k = 0; t->column && k < t->columns; k++) {
        tsri_free(t->column[k].name);
        tsri_free(t->column[k].position);
        tsri_words_fini(&t->column[k].list);
    }
    tsri_free(t->column);
    tsri_free(t->input);
    tsri_free(t->target);
    for (int i = 0; i < 2; i++) {
        tsri_csv_table *p = &t->part[i];
        for (int64_t k = 0; k < p->columns; k++)
            tsri_free(p->name[k]);
        tsri_free(p->name);
        tsri_free(p->column);
        tsri_free(p->text);
        tsri_free(p->cell);
    }
}

tsr_status tsri_tables_read(tsri_tables *t, tsr_data *data, const tsri_read *want)
{
    tsr_status st = TSR_OK;
    t->want = want;
    t->parts = want->test_path ? 2 : 1;
    for (int i = 0; i < t->parts; i++) {
        tsri_csv_table *p = &t->part[i];
        p->path = i == 0 ? want->path : want->test_path;
        TSR_TRY(tsri_read_whole(&p->text, &p->n, p->path));
        TSR_TRY(tsri_to_utf8(&p->text, &p->n, p->path));
        TSR_TRY(tsri_csv_separator(&p->separator, p->path, p->text, p->n));
    }
    TSR_TRY(tsri_columns_choose(t));
    for (int i = 0; i < t->parts; i++)
        TSR_TRY(each_cell(t, &t->part[i], data, survey));
    TSR_TRY(fill_tables(t, data));
done:
    return st;
}
