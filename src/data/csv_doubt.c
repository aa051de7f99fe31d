/* csv_doubt.c - what of a table's columns may be meant otherwise.
 *
 * Nothing here changes how a table is read. A column that can be read in one way only, but probably
 * means another, gets a warning; one whose numbers a float cannot tell apart is refused.
 */
#include "data/csv_table.h"

#include "base/log.h"
#include "data/alike.h"
#include "data/resolution.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDE = 50, ROWS_LEAST = 8 };

/* "column 3 (price)"; lives until the next call. */
static const char *named(const tsri_tables *t, int64_t k)
{
    static _Thread_local char text[120];
    const char *name = t->column[k].name;
    (void)snprintf(text, sizeof text, "column %lld%s%.80s%s", (long long)(k + 1), name ? " (" : "",
                   name ? tsri_quote(name) : "", name ? ")" : "");
    return text;
}

/* ---- Words ---------------------------------------------------------------------------------- */

static tsr_status doubt_words(const tsri_tables *t, int64_t k, const char *path)
{
    tsr_status st = TSR_OK;
    const tsri_words *list = &t->column[k].list;
    int64_t first, second;
    if (!t->column[k].target && list->count > WIDE)
        TSRI_WARN("%s: %s has %lld different words and becomes as many inputs; leave it out with "
                  "data.ignore if that is not meant",
                  path, named(t, k), (long long)list->count);
    TSR_TRY(tsri_alike_pair(&first, &second, list->word, list->count));
    if (first >= 0)
        TSRI_WARN("%s: %s: \"%s\" and \"%s\" are two %s, although they differ only in capitals, "
                  "spaces or accents",
                  path, named(t, k), tsri_quote(list->word[first]), tsri_quote(list->word[second]),
                  t->column[k].target ? "classes" : "words");
done:
    return st;
}

/* ---- Columns of one value ------------------------------------------------------------------- */

/* Does the column hold one value and no other? *missing counts its gaps. */
static bool never_varies(int64_t *missing, const tsri_tables *t, int64_t k)
{
    double first = (double)NAN;
    int64_t rows = 0;
    *missing = 0;
    for (int i = 0; i < t->parts; i++)
        for (int64_t row = 0; row < t->part[i].rows; row++, rows++) {
            double v = t->part[i].cell[row * t->columns + k];
            *missing += isnan(v);
            first = isnan(first) ? v : first;
            if (!isnan(v) && v != first)
                return false;
        }
    return rows >= ROWS_LEAST && *missing < rows;
}

/* Gaps that mean something, as in a column of crosses, are lost once they are filled with the mean:
 * all rows are the same then. */
static void doubt_constants(const tsri_tables *t, const char *path)
{
    int64_t missing, same = 0, first = -1;
    for (int64_t i = 0; i < t->inputs; i++) {
        int64_t k = t->input[i];
        if (!never_varies(&missing, t, k))
            continue;
        if (missing > 0 && strcmp(t->want->missing, "mean") == 0)
            TSRI_WARN(
                "%s: %s holds one value and %lld gaps, which are filled with it, so that "
                "nothing can be learned from it: if they mean something, write that into them",
                path, named(t, k), (long long)missing);
        first = same++ == 0 ? k : first;
    }
    if (same == 1)
        TSRI_INFO("%s: %s is the same in all rows", path, named(t, first));
    else if (same > 1)
        TSRI_INFO("%s: %s and %lld more are the same in all rows", path, named(t, first),
                  (long long)(same - 1));
}

/* ---- Numbers -------------------------------------------------------------------------------- */

static tsr_status check_resolution(const tsri_tables *t, int64_t k)
{
    tsri_resolution r = {0};
    for (int i = 0; i < t->parts; i++)
        for (int64_t row = 0; row < t->part[i].rows; row++)
            tsri_resolution_see(&r, t->part[i].cell[row * t->columns + k]);
    return tsri_resolution_check(&r, t->part[0].path, named(t, k));
}

static tsr_status doubt_numbers(const tsri_tables *t, int64_t k, const char *path)
{
    const tsri_column *c = &t->column[k];
    if (c->zeros.line > 0)
        TSRI_INFO("%s: %s: \"%s\" begins with a zero and is taken for a number; name the column in "
                  "data.words if its cells are codes",
                  path, named(t, k), c->zeros.text);
    if (c->days >= ROWS_LEAST && c->days == c->numbers)
        TSRI_WARN("%s: %s: \"%s\" looks like a date written as a number, and months are 100 apart "
                  "then: write 2024-05-31, with data.dates: days",
                  path, named(t, k), c->number.text);
    return check_resolution(t, k);
}

tsr_status tsri_columns_doubt(const tsri_tables *t)
{
    tsr_status st = TSR_OK;
    const char *path = t->part[0].path;
    for (int64_t k = 0; k < t->columns; k++) {
        const tsri_column *c = &t->column[k];
        if (c->ignored)
            continue;
        if (c->name && !*c->name)
            TSRI_INFO("%s: column %lld has no name and is %s; data.ignore: %lld leaves it out",
                      tsri_quote(path), (long long)(k + 1), c->target ? "the target" : "an input",
                      (long long)(k + 1));
        if (c->kind == TSRI_WORDS)
            TSR_TRY(doubt_words(t, k, tsri_quote(path)));
        else
            TSR_TRY(doubt_numbers(t, k, tsri_quote(path)));
    }
    doubt_constants(t, tsri_quote(path));
done:
    return st;
}
