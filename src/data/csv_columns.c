/* csv_columns.c - which columns of a table are what.
 *
 * Targets and ignored columns are named by the run file; the rest are inputs. A table that is shown
 * to a model is matched with the model's schema by name: columns may stand in any order, those that
 * the model does not know are left out with a remark, one that is missing is refused.
 */
#include "data/csv_table.h"

#include "base/alloc.h"
#include "base/log.h"
#include "data/alike.h"
#include "data/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *tsri_column_place(const tsri_tables *t, int64_t k, int64_t line, int64_t column)
{
    static _Thread_local char text[160];
    const char *name = k >= 0 && k < t->columns ? t->column[k].name : NULL;
    (void)snprintf(text, sizeof text, "line %lld, column %lld%s%.60s%s", (long long)line,
                   (long long)column, name ? " (" : "", name ? tsri_quote(name) : "",
                   name ? ")" : "");
    return text;
}

static bool same(const char *name, const char *cell, size_t n)
{
    return name && strlen(name) == n && memcmp(name, cell, n) == 0;
}

/* ---- As the run file says ------------------------------------------------------------------ */

static int64_t find_column(const tsri_tables *t, const char *name, size_t n)
{
    for (int64_t k = 0; k < t->columns; k++)
        if (same(t->column[k].name, name, n))
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

typedef enum role { TARGET, IGNORED, ASKED_WORDS } role;

static void give_role(tsri_column *k, role r)
{
    k->target = k->target || r == TARGET;
    k->ignored = k->ignored || r == IGNORED;
    k->asked_words = k->asked_words || r == ASKED_WORDS;
}

static tsr_status mark(tsri_tables *t, const char *list, role r)
{
    static const char *const keys[] = {"data.target", "data.ignore", "data.words"};
    tsr_status st = TSR_OK;
    int64_t first, last;
    if (r == TARGET && find_column(t, list, strlen(list)) >= 0) { /* a name with a comma in it */
        give_role(&t->column[find_column(t, list, strlen(list))], r);
        goto done;
    }
    while (*list) {
        size_t n = strcspn(list, ",");
        TSR_TRY(parse_range(&first, &last, t, list, n, keys[r]));
        for (int64_t k = first; k <= last; k++)
            give_role(&t->column[k], r);
        list += n + (list[n] == ',');
    }
done:
    return st;
}

/* A model finds its columns by their names. */
static tsr_status check_names(const tsri_tables *t)
{
    tsr_status st = TSR_OK;
    tsri_words names = {0};
    for (int64_t k = 0; k < t->columns; k++) {
        const char *name = t->column[k].name;
        int64_t number, before = names.count;
        if (!name || t->column[k].ignored)
            continue;
        TSR_TRY(tsri_words_add(&number, &names, name, strlen(name)));
        TSR_CHECK(number == before, TSR_BAD_FILE,
                  "%s: line 1, column %lld: an earlier column %s%s%s, too: give each its own name, "
                  "or leave one out with data.ignore, by its number",
                  tsri_quote(t->part[0].path), (long long)(k + 1),
                  *name ? "is called \"" : "has no name", tsri_quote(name), *name ? "\"" : "");
    }
done:
    tsri_words_fini(&names);
    return st;
}

static tsr_status choose_by_run_file(tsri_tables *t)
{
    tsr_status st = TSR_OK;
    if (t->want->target)
        TSR_TRY(mark(t, t->want->target, TARGET));
    else
        t->column[t->columns - 1].target = true;
    if (t->want->ignore)
        TSR_TRY(mark(t, t->want->ignore, IGNORED));
    if (t->want->words)
        TSR_TRY(mark(t, t->want->words, ASKED_WORDS));
    TSR_TRY(tsri_alloc(&t->input, t->columns, sizeof *t->input));
    for (int64_t k = 0; k < t->columns; k++) {
        tsri_column *c = &t->column[k];
        c->ignored = c->ignored && !c->target;
        if (c->target)
            t->target[t->targets++] = k;
        else if (!c->ignored)
            t->input[t->inputs++] = k;
    }
    TSR_CHECK(t->inputs > 0 && t->targets > 0, TSR_BAD_FILE,
              "%s: line 1: of %lld columns %lld are inputs and %lld targets; at least one of each "
              "is needed, check data.target, data.ignore and the separator",
              tsri_quote(t->part[0].path), (long long)t->columns, (long long)t->inputs,
              (long long)t->targets);
    TSR_TRY(check_names(t));
done:
    return st;
}

/* ---- As a model knows them ----------------------------------------------------------------- */

/* A name that stands twice in the header could mean either column. */
static tsr_status find_once(int64_t *out, const tsri_tables *t, const char *name)
{
    tsr_status st = TSR_OK;
    int64_t found = 0;
    *out = -1;
    for (int64_t k = 0; k < t->columns; k++)
        if (same(t->column[k].name, name, strlen(name))) {
            *out = k;
            found++;
        }
    TSR_CHECK(found < 2, TSR_BAD_FILE,
              "%s: line 1: column \"%s\" appears %lld times; rename those that are not the "
              "model's",
              tsri_quote(t->part[0].path), tsri_quote(name), (long long)found);
done:
    return st;
}

static bool was_ignored(const tsri_data_schema *s, const char *name)
{
    for (int64_t i = 0; i < s->ignoreds; i++)
        if (s->ignored[i] && strcmp(s->ignored[i], name) == 0)
            return true;
    return false;
}

/* Columns that the model does not know are left out; those that it was not trained with either need
 * no remark. */
static tsr_status leave_out_others(tsri_tables *t)
{
    tsr_status st = TSR_OK;
    tsri_text names = {0};
    int64_t others = 0;
    for (int64_t k = 0; k < t->columns; k++) {
        tsri_column *c = &t->column[k];
        c->ignored = !c->target && !c->like;
        if (c->ignored && !was_ignored(t->want->like->schema, c->name) && others++ < 8)
            TSR_TRY(tsri_text_add(&names, "%s%s", others > 1 ? ", " : "",
                                  *c->name ? tsri_quote(c->name) : "one without a name"));
    }
    if (others > 0)
        TSRI_INFO("%s: columns that the model does not know are left out: %s%s",
                  tsri_quote(t->part[0].path), names.data, others > 8 ? ", ..." : "");
done:
    tsri_text_fini(&names);
    return st;
}

static tsr_status match_targets(tsri_tables *t, const tsri_like *like)
{
    tsr_status st = TSR_OK;
    int64_t k, found = 0;
    const char *missing = "";
    for (int64_t i = 0; i < like->schema->targets; i++) {
        const char *name = like->schema->target[i];
        if (!name)
            continue;
        TSR_TRY(find_once(&k, t, name));
        missing = k < 0 ? name : missing;
        if (k < 0)
            continue;
        t->column[k].target = true;
        t->target[found++] = k;
    }
    TSR_CHECK(found == like->schema->targets || (found == 0 && like->unlabelled), TSR_BAD_FILE,
              "%s: line 1: there is no column \"%s\", the model's target%s",
              tsri_quote(t->part[0].path), tsri_quote(missing),
              like->unlabelled ? "; give all of its targets or none"
                               : ": without it nothing can be compared (tessera predict needs "
                                 "none)");
    t->targets = found;
done:
    return st;
}

/* Refuses a table without that column; one whose name looks the same is pointed at. */
static tsr_status refuse_missing(const tsri_tables *t, const char *name)
{
    tsr_status st = TSR_OK;
    bool same = false;
    int64_t k = 0;
    for (; k < t->columns && !same; k++)
        TSR_TRY(tsri_alike(&same, t->column[k].name, name));
    st = tsri_fail(TSR_BAD_FILE,
                   "%s: line 1: there is no column %s%s%s, which the model was trained with%s%s%s",
                   tsri_quote(t->part[0].path), *name ? "\"" : "without a name", tsri_quote(name),
                   *name ? "\"" : "", same ? "; \"" : "",
                   same ? tsri_quote(t->column[k - 1].name) : "",
                   same ? "\" is another name: rename it if it is meant" : "");
done:
    return st;
}

static tsr_status match_by_name(tsri_tables *t, const tsri_like *like)
{
    tsr_status st = TSR_OK;
    const tsri_data_schema *s = like->schema;
    TSR_TRY(match_targets(t, like));
    for (int64_t i = 0; i < s->fields; i++) {
        int64_t k;
        TSR_TRY(find_once(&k, t, s->field[i].name));
        if (k < 0)
            TSR_TRY(refuse_missing(t, s->field[i].name));
        t->column[k].like = &s->field[i];
        t->input[t->inputs++] = k;
    }
    TSR_TRY(leave_out_others(t));
done:
    return st;
}

/* Without names on either side only places can be matched: inputs in order, targets where the run
 * file has them. */
static tsr_status match_by_place(tsri_tables *t, const tsri_like *like)
{
    tsr_status st = TSR_OK;
    const tsri_data_schema *s = like->schema;
    bool without = like->unlabelled && t->columns == s->fields;
    if (!without && t->want->target)
        TSR_TRY(mark(t, t->want->target, TARGET));
    else if (!without)
        t->column[t->columns - 1].target = true;
    if (!without && t->want->ignore)
        TSR_TRY(mark(t, t->want->ignore, IGNORED));
    for (int64_t k = 0; k < t->columns; k++) {
        tsri_column *c = &t->column[k];
        if (c->target)
            t->target[t->targets++] = k;
        c->ignored = c->ignored && !c->target;
        if (c->target || c->ignored)
            continue;
        c->like = t->inputs < s->fields ? &s->field[t->inputs] : NULL;
        t->input[t->inputs++] = k;
    }
    TSR_CHECK(t->inputs == s->fields, TSR_BAD_FILE,
              "%s: line 1: %lld columns of inputs, but the model was trained with %lld%s",
              tsri_quote(t->part[0].path), (long long)t->inputs, (long long)s->fields,
              tsri_data_schema_named(s) ? "; give the table a header with its names" : "");
    TSRI_WARN(
        "%s: its columns are taken in their order, unchecked: %s", tsri_quote(t->part[0].path),
        t->part[0].header ? "the model knows no names of columns" : "the table has no header");
done:
    return st;
}

static tsr_status choose_by_model(tsri_tables *t, const tsri_like *like)
{
    tsr_status st = TSR_OK;
    int64_t most = t->columns > like->schema->fields ? t->columns : like->schema->fields;
    TSR_TRY(tsri_alloc(&t->input, most, sizeof *t->input));
    if (t->part[0].header && tsri_data_schema_named(like->schema))
        TSR_TRY(match_by_name(t, like));
    else
        TSR_TRY(match_by_place(t, like));
done:
    return st;
}

/* ---- The second of two tables --------------------------------------------------------------- */

/* Where column k of the first table is in this one; -1: nowhere. */
static tsr_status find_in(int64_t *out, const tsri_csv_table *p, const char *name)
{
    tsr_status st = TSR_OK;
    int64_t found = 0;
    *out = -1;
    for (int64_t j = 0; j < p->columns; j++)
        if (strcmp(p->name[j], name) == 0) {
            *out = j;
            found++;
        }
    TSR_CHECK(found < 2, TSR_BAD_FILE, "%s: line 1: column \"%s\" appears %lld times; rename them",
              tsri_quote(p->path), tsri_quote(name), (long long)found);
done:
    return st;
}

/* Columns that only this table has are left out: p->column is -1 for them. */
static void tell_left_out(const tsri_tables *t, const tsri_csv_table *p)
{
    for (int64_t j = 0; j < p->columns; j++)
        if (p->column[j] < 0 && find_column(t, p->name[j], strlen(p->name[j])) < 0)
            TSRI_INFO("%s: column %s, which %s does not have, is left out", tsri_quote(p->path),
                      tsri_quote(p->name[j]), tsri_quote(t->part[0].path));
}

static tsr_status match_second(const tsri_tables *t, tsri_csv_table *p)
{
    tsr_status st = TSR_OK;
    for (int64_t j = 0; j < p->columns; j++)
        p->column[j] = p->header || j >= t->columns ? -1 : j;
    for (int64_t k = 0; p->header && k < t->columns; k++) {
        int64_t j = -1;
        if (t->column[k].ignored)
            continue;
        TSR_TRY(find_in(&j, p, t->column[k].name));
        TSR_CHECK(j >= 0, TSR_BAD_FILE, "%s: line 1: there is no column \"%s\", which %s has",
                  tsri_quote(p->path), tsri_quote(t->column[k].name), tsri_quote(t->part[0].path));
        p->column[j] = k;
    }
    TSR_CHECK(p->header || p->columns == t->columns, TSR_BAD_FILE,
              "%s: line 1: %lld columns, but %s has %lld", tsri_quote(p->path),
              (long long)p->columns, tsri_quote(t->part[0].path), (long long)t->columns);
    tell_left_out(t, p);
done:
    return st;
}

/* ---- Both ----------------------------------------------------------------------------------- */

static tsr_status name_columns(tsri_tables *t, tsri_csv_table *p)
{
    tsr_status st = TSR_OK;
    t->columns = p->columns;
    TSR_TRY(tsri_alloc(&t->column, t->columns, sizeof *t->column));
    for (int64_t k = 0; p->header && k < t->columns; k++)
        TSR_TRY(tsri_strdup(&t->column[k].name, p->name[k]));
    for (int64_t k = 0; k < t->columns; k++)
        p->column[k] = k;
done:
    return st;
}

tsr_status tsri_columns_choose(tsri_tables *t)
{
    tsr_status st = TSR_OK;
    const tsri_like *like = t->want->like;
    for (int i = 0; i < t->parts; i++) {
        tsri_csv_table *p = &t->part[i];
        TSR_TRY(tsri_header_read(t, p));
        TSR_TRY(tsri_alloc(&p->column, p->columns, sizeof *p->column));
    }
    TSR_TRY(name_columns(t, &t->part[0]));
    TSR_TRY(tsri_alloc(&t->target, t->columns, sizeof *t->target));
    if (like && like->schema->fields > 0)
        TSR_TRY(choose_by_model(t, like));
    else
        TSR_TRY(choose_by_run_file(t));
    if (t->parts > 1)
        TSR_TRY(match_second(t, &t->part[1]));
done:
    return st;
}
