/* csv_kinds.c - what the cells of a column are: numbers, words or dates.
 *
 * A column holds words only when most of its cells are words. Where most are numbers or dates, a
 * few others are taken for slips, and the first of them is refused. Numbers with units or marks
 * between thousands are refused, and so are dates unless data.dates asks for days.
 */
#include "data/csv_table.h"

#include "base/log.h"

#include <stdio.h>
#include <string.h>

static tsr_status refuse(const tsri_tables *t, int64_t k, const tsri_cell_place *at,
                         const char *why)
{
    return tsri_fail(TSR_BAD_FILE, "%s: %s: \"%s\" %s", tsri_quote(at->path),
                     tsri_column_place(t, k, at->line, at->column), at->text, why);
}

/* Does another column have commas that cannot stand before thousands? */
static bool has_decimal_commas(const tsri_tables *t)
{
    for (int64_t k = 0; k < t->columns; k++)
        if (!t->column[k].ignored && t->column[k].commas > t->column[k].groups)
            return true;
    return false;
}

static tsr_status decide_numbers(const tsri_tables *t, int64_t k)
{
    const tsri_column *c = &t->column[k];
    bool comma = strcmp(t->want->decimal, "comma") == 0;
    if (c->commas > 0 && strcmp(t->want->decimal, "point") == 0)
        return refuse(t, k, &c->comma, "has a comma; data.decimal says that numbers have a point");
    if (c->commas > 0 && c->points > 0)
        return refuse(t, k, &c->comma,
                      "has a decimal comma where other cells of the column have a point; write "
                      "all alike");
    if (c->commas > 0 && c->groups == c->commas && !comma)
        return refuse(t, k, &c->comma,
                      "may be a thousand or a fraction; write it without a comma, or set "
                      "data.decimal to comma");
    if (c->points > 0 && c->points == c->point_groups && (comma || has_decimal_commas(t)))
        return refuse(t, k, &c->point,
                      "may be a thousand or a fraction, since other numbers have decimal commas; "
                      "write all alike");
    return TSR_OK;
}

static tsr_status decide_dates(const tsri_tables *t, int64_t k)
{
    const tsri_column *c = &t->column[k];
    if (strcmp(t->want->dates, "days") != 0)
        return refuse(t, k, &c->date,
                      "is a date; leave the column out with data.ignore, or set data.dates to days "
                      "to use days since 1970 (of times of day, the part of a day)");
    if (c->vague > 0)
        return refuse(t, k, &c->date, "does not say which is the month; write dates as 2024-05-31");
    return TSR_OK;
}

/* Refuses numbers that are written for people: their meaning cannot be guessed. */
static tsr_status refuse_dressed(const tsri_tables *t, int64_t k)
{
    const tsri_column *c = &t->column[k];
    bool around = c->around[0][0] || c->around[1][0];
    char why[200];
    (void)snprintf(why, sizeof why,
                   "is a number with %s%s%s%s; write plain numbers, or name the column in "
                   "data.words if its cells are words",
                   around ? "\"" : "marks between its thousands", around ? c->around[0] : "",
                   around ? c->around[1] : "", around ? "\" at it" : "");
    return refuse(t, k, &c->dress, why);
}

/* Words beside numbers or dates: if most cells are words it is a column of words; a few words among
 * numbers are slips, and the first is refused. */
static tsr_status decide_mixed(const tsri_tables *t, int64_t k)
{
    tsri_column *c = &t->column[k];
    int64_t numbers = c->numbers + c->commas;
    if (numbers == 0 && c->texts <= c->dates)
        return refuse(t, k, &c->text,
                      "is in a column of dates; repair the cell, name the column in data.words if "
                      "its cells are words, or leave it out with data.ignore");
    if (numbers > 0 && c->texts + c->dates <= numbers)
        return refuse(t, k, c->texts > 0 ? &c->text : &c->date,
                      "is in a column of numbers; repair the cell, name the column in "
                      "data.words if its cells are words, or leave it out with data.ignore");
    TSRI_INFO("%s: column %lld%s%s holds words, and %lld numbers or dates that are taken for words",
              tsri_quote(t->part[0].path), (long long)(k + 1), c->name ? " " : "",
              c->name ? tsri_quote(c->name) : "", (long long)(numbers + c->dates));
    c->kind = TSRI_WORDS;
    return TSR_OK;
}

/* Cells must be what the model takes the column for. */
static tsr_status decide_like(const tsri_tables *t, int64_t k)
{
    tsri_column *c = &t->column[k];
    c->kind = c->like->word ? TSRI_WORDS : TSRI_NUMBERS;
    if (c->kind == TSRI_WORDS)
        return TSR_OK;
    if (c->like->dates == 1 && c->numbers + c->commas > 0)
        return refuse(t, k, c->numbers > 0 ? &c->number : &c->comma,
                      "is not a date, but the model takes this column for dates");
    if (c->texts > 0)
        return refuse(t, k, &c->text,
                      "is not a number, but the model takes this column for numbers");
    if (c->dates > 0 &&
        (c->numbers + c->commas > 0 || c->like->dates == 0 || strcmp(t->want->dates, "days") != 0))
        return refuse(t, k, &c->date, "is a date, but the model takes this column for numbers");
    c->kind = c->dates > 0 ? TSRI_DATES : TSRI_NUMBERS;
    return c->dates > 0 ? decide_dates(t, k) : decide_numbers(t, k);
}

static tsr_status decide(const tsri_tables *t, int64_t k)
{
    tsri_column *c = &t->column[k];
    bool numbers = c->numbers + c->commas > 0;
    bool classes = c->target && strcmp(t->want->task, "classify") == 0;
    c->kind = TSRI_NUMBERS;
    if (c->like)
        return decide_like(t, k);
    if (c->asked_words || (c->target && t->want->like && t->want->like->classes > 0)) {
        c->kind = TSRI_WORDS;
        return TSR_OK;
    }
    if (c->texts == 0 && c->dates == 0)
        return decide_numbers(t, k);
    if (2 * c->dressed > c->texts && c->texts > c->numbers + c->commas && !classes)
        return refuse_dressed(t, k);
    if (numbers || (c->texts > 0 && c->dates > 0))
        return decide_mixed(t, k);
    c->kind = c->texts == 0 ? TSRI_DATES : TSRI_WORDS;
    return c->kind == TSRI_DATES ? decide_dates(t, k) : TSR_OK;
}

/* A table that a model only predicts for needs no targets: where some are missing, all are left
 * out. */
static void drop_targets(tsri_tables *t)
{
    int64_t given = 0;
    for (int64_t k = 0; k < t->columns; k++) {
        tsri_column *c = &t->column[k];
        given += c->target ? c->numbers + c->commas + c->dates + c->texts : 0;
        c->ignored = c->ignored || c->target;
        c->target = false;
    }
    t->targets = 0;
    if (given > 0)
        TSRI_INFO("%s: some rows have no target: targets are left out",
                  tsri_quote(t->part[0].path));
}

tsr_status tsri_columns_decide(tsri_tables *t)
{
    tsr_status st = TSR_OK;
    if (t->blank_targets)
        drop_targets(t);
    for (int64_t k = 0; k < t->columns; k++)
        if (!t->column[k].ignored)
            TSR_TRY(decide(t, k));
done:
    return st;
}
