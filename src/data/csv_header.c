/* csv_header.c - does a table begin with the names of its columns?
 *
 * It does when a word stands above a column of numbers or dates, or, in a table of words alone, when
 * no cell of the first line is found again below it in a column whose words repeat. For a model that
 * knows names it does when one of them stands in the first line, and the second of two tables has a
 * header when the first has.
 */
#include "data/csv_table.h"

#include "base/alloc.h"
#include "base/log.h"
#include "data/csv.h"
#include "data/dressed.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS_MAX = 65536, ROWS_SEEN = 200, ROWS_LEAST = 8 };

/* What stands below the first cell of a column. */
typedef struct below {
    int64_t numbers, whole, dates, texts; /* whole: of the numbers */
    bool again;                           /* the first cell, once more */
    tsri_words words;
} below;

static tsri_cell kind_of(const char *cell, size_t n, bool quoted)
{
    double value;
    tsri_dress around;
    tsri_cell kind = tsri_cell_kind(&value, cell, n, quoted);
    if (kind == TSRI_CELL_COMMA || (kind == TSRI_CELL_TEXT && tsri_dressed(&around, cell, n)))
        return TSRI_CELL_NUMBER;
    return kind;
}

/* Digits at the beginning of the cell. */
static size_t leading_digits(const char *cell, size_t n)
{
    size_t i = 0;
    while (i < n && cell[i] >= '0' && cell[i] <= '9')
        i++;
    return i;
}

static tsr_status see(below *b, const tsri_csv *c, const char *name)
{
    tsr_status st = TSR_OK;
    int64_t number;
    switch (kind_of(c->cell, c->length, c->quoted)) {
    case TSRI_CELL_NUMBER:
        b->numbers++;
        b->whole += leading_digits(c->cell, c->length) == c->length;
        break;
    case TSRI_CELL_DATE:
        b->dates++;
        break;
    case TSRI_CELL_TEXT:
        b->texts++;
        b->again = b->again || (strlen(name) == c->length && !memcmp(name, c->cell, c->length));
        TSR_TRY(tsri_words_add(&number, &b->words, c->cell, c->length));
        break;
    default:
        break;
    }
done:
    return st;
}

static tsr_status look_below(below *b, const tsri_csv_table *p)
{
    tsr_status st = TSR_OK;
    tsri_csv c = tsri_csv_start(p->path, p->text, p->n, p->separator);
    for (int row = 0; row <= ROWS_SEEN && tsri_csv_row(&c); row++)
        while (!c.row_end) {
            TSR_TRY(tsri_csv_cell(&c));
            if (row > 0 && c.column <= p->columns)
                TSR_TRY(see(&b[c.column - 1], &c, p->name[c.column - 1]));
        }
done:
    tsri_csv_fini(&c);
    return st;
}

/* A word above numbers or dates, a date above numbers. */
static bool stands_above(const char *name, const below *b)
{
    tsri_cell kind = kind_of(name, strlen(name), false);
    return (kind == TSRI_CELL_TEXT && b->numbers + b->dates > b->texts) ||
           (kind == TSRI_CELL_DATE && b->numbers > b->dates + b->texts);
}

static bool appears_twice(const tsri_csv_table *p, int64_t k)
{
    for (int64_t i = 0; i < k; i++)
        if (strcmp(p->name[i], p->name[k]) == 0)
            return true;
    return false;
}

/* Of a table of words alone. */
static bool never_again(const tsri_csv_table *p, const below *b)
{
    bool repeats = false;
    for (int64_t k = 0; k < p->columns; k++) {
        const char *name = p->name[k];
        if (kind_of(name, strlen(name), false) != TSRI_CELL_TEXT || b[k].again ||
            appears_twice(p, k))
            return false;
        repeats = repeats || (b[k].texts >= ROWS_LEAST && 2 * b[k].words.count <= b[k].texts);
    }
    return repeats;
}

/* Years above measurements: nothing tells such names from numbers for sure. */
static bool may_be_names(const tsri_csv_table *p, const below *b)
{
    for (int64_t k = 0; k < p->columns; k++) {
        size_t n = strlen(p->name[k]);
        if (n == 0 || leading_digits(p->name[k], n) < n || appears_twice(p, k) ||
            b[k].numbers < ROWS_LEAST || 4 * b[k].whole > b[k].numbers)
            return false;
    }
    return true;
}

/* 0, 1, 2, ... or 1, 2, 3, ...: what programs call columns that have no names, perhaps behind an
 * empty cell above the numbers of the rows. */
static bool counts_up(const tsri_csv_table *p)
{
    enum { LEAST = 4 };
    int64_t from = *p->name[0] == '\0', first;
    if (p->columns - from < LEAST)
        return false;
    first = *p->name[from] - '0';
    for (int64_t k = from; k < p->columns; k++) {
        char number[24];
        (void)snprintf(number, sizeof number, "%lld", (long long)(first + k - from));
        if ((first != 0 && first != 1) || strcmp(p->name[k], number) != 0)
            return false;
    }
    return true;
}

static tsr_status guess(bool *header, const tsri_csv_table *p)
{
    tsr_status st = TSR_OK;
    below *b = NULL;
    *header = false;
    TSR_TRY(tsri_alloc(&b, p->columns, sizeof *b));
    TSR_TRY(look_below(b, p));
    for (int64_t k = 0; k < p->columns && !*header; k++)
        *header = stands_above(p->name[k], &b[k]);
    if (!*header && (may_be_names(p, b) || counts_up(p)))
        TSRI_WARN("%s: line 1 is taken for data, but %s: if these are the names of columns, set "
                  "data.header to yes",
                  tsri_quote(p->path),
                  counts_up(p) ? "counts its columns" : "has whole numbers above fractions");
    if (*header || !never_again(p, b))
        goto done;
    *header = true;
    TSRI_INFO("%s: the first line is taken for the names of columns, since none of it is found "
              "below; if it is data, set data.header to no",
              tsri_quote(p->path));
done:
    for (int64_t k = 0; b && k < p->columns; k++)
        tsri_words_fini(&b[k].words);
    tsri_free(b);
    return st;
}

/* The cells of the first line. */
static tsr_status first_line(tsri_csv_table *p)
{
    tsr_status st = TSR_OK;
    tsri_csv c = tsri_csv_start(p->path, p->text, p->n, p->separator);
    int64_t capacity = 0;
    TSR_CHECK(tsri_csv_row(&c), TSR_BAD_FILE, "%s: line 1: the file is empty; check the path",
              tsri_quote(p->path));
    while (!c.row_end) {
        TSR_TRY(tsri_csv_cell(&c));
        TSR_CHECK(
            c.column <= COLUMNS_MAX, TSR_BAD_FILE,
            "%s: line %lld: more than %d columns; this is not a table we can use, store it as "
            ".npy",
            tsri_quote(p->path), (long long)c.line, COLUMNS_MAX);
        TSR_TRY(tsri_reserve(&p->name, &capacity, p->columns, sizeof *p->name));
        TSR_TRY(tsri_strndup(&p->name[p->columns], c.cell, c.length));
        p->columns++;
    }
done:
    tsri_csv_fini(&c);
    return st;
}

static bool model_knows(const tsri_data_schema *s, const char *name)
{
    for (int64_t k = 0; k < s->fields; k++)
        if (s->field[k].name && strcmp(s->field[k].name, name) == 0)
            return true;
    for (int64_t k = 0; k < s->targets; k++)
        if (s->target[k] && strcmp(s->target[k], name) == 0)
            return true;
    return false;
}

static bool names_one_of(const tsri_csv_table *p, const tsri_csv_table *first)
{
    for (int64_t k = 0; k < p->columns; k++)
        for (int64_t i = 0; i < first->columns; i++)
            if (strcmp(p->name[k], first->name[i]) == 0)
                return true;
    return false;
}

tsr_status tsri_header_read(tsri_tables *t, tsri_csv_table *p)
{
    tsr_status st = TSR_OK;
    const tsri_csv_table *first = &t->part[0];
    const tsri_like *like = t->want->like;
    TSR_TRY(first_line(p));
    if (strcmp(t->want->header, "auto") != 0) {
        p->header = strcmp(t->want->header, "yes") == 0;
    } else if (p != first && first->header) {
        p->header = names_one_of(p, first);
    } else {
        TSR_TRY(guess(&p->header, p));
        for (int64_t k = 0; like && k < p->columns; k++)
            p->header = p->header || model_knows(like->schema, p->name[k]);
    }
    TSR_CHECK(p == first || p->header == first->header, TSR_BAD_FILE,
              "%s: line 1: %s, but %s has %s: give both the same names, or set data.header",
              tsri_quote(p->path), p->header ? "a header" : "no header with the names of columns",
              tsri_quote(first->path), first->header ? "one" : "none");
done:
    return st;
}
