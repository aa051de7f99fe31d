/* handout.c - metrics.jsonl as CSV. */
#include "watch/handout.h"

#include "base/alloc.h"
#include "base/number.h"
#include "io/file.h"
#include "watch/flat.h"

#include <math.h>
#include <string.h>

/* ---- Lines ---------------------------------------------------------------------------------- */

typedef struct visit {
    tsr_status (*visit)(void *context, const char *event, const tsri_json_value *line);
    void *context;
    const char *path;
    int64_t number;
} visit;

static tsr_status one_line(void *context, const char *bytes, int64_t n)
{
    tsr_status st = TSR_OK;
    visit *v = context;
    tsri_json_value *line = NULL;
    const char *event = NULL;
    v->number++;
    st = tsri_json_parse(&line, bytes, n, "line");
    if (st == TSR_OK && !tsri_json_is_object(line))
        st = tsri_fail(TSR_BAD_FILE, "not an object");
    if (st == TSR_BAD_FILE)
        tsri_fail_prefix("%s, line %lld: ", tsri_quote(v->path), (long long)v->number);
    TSR_TRY(st);
    const tsri_json_value *named = tsri_json_get(line, "event");
    if (named)
        (void)tsri_json_as_text(named, &event);
    TSR_TRY(v->visit(v->context, event, line));
done:
    tsri_json_destroy(line);
    return st;
}

static void nothing_to_forget(void *context)
{
    ((visit *)context)->number = 0;
}

tsr_status tsri_handout_each(const tsri_followed *run,
                             tsr_status (*visit_line)(void *context, const char *event,
                                                      const tsri_json_value *line),
                             void *context)
{
    tsr_status st = TSR_OK;
    tsri_follow f = {0};
    visit v = {visit_line, context, run->metrics.path, 0};
    tsri_follow_visitor lines = {&v, nothing_to_forget, one_line};
    TSR_TRY(tsri_follow_begin(&f, run->metrics.path));
    do
        TSR_TRY(tsri_follow_look(&f, NULL, &lines));
    while (f.behind);
    TSR_CHECK(f.too_long == 0, TSR_BAD_FILE, "%s: a line of more than %d bytes",
              tsri_quote(run->metrics.path), TSRI_FOLLOW_LINE);
done:
    tsri_follow_fini(&f);
    return st;
}

/* ---- CSV ------------------------------------------------------------------------------------ */

enum { COLUMNS = 20000 };

typedef struct table {
    const char *event;
    const char *run; /* NULL: no such column */
    char **name;     /* [names] of the columns, in the order in which they came */
    int64_t names, capacity;
    char **cell; /* [names] of the line that is being written, or NULL */
    int64_t cells;
    tsri_text *out; /* NULL: only names are gathered */
    int64_t lines;
} table;

static int64_t find(const table *t, const char *name, int64_t hint)
{
    if (hint < t->names && strcmp(t->name[hint], name) == 0)
        return hint; /* lines of one kind have their names in one order */
    for (int64_t i = 0; i < t->names; i++)
        if (strcmp(t->name[i], name) == 0)
            return i;
    return -1;
}

static tsr_status gather(void *context, const char *name, double number, const char *text)
{
    tsr_status st = TSR_OK;
    table *t = context;
    (void)number;
    (void)text;
    if (find(t, name, t->cells++) >= 0)
        return TSR_OK;
    TSR_CHECK(t->names < COLUMNS, TSR_BAD_FILE, "more than %d different names", COLUMNS);
    TSR_TRY(tsri_reserve(&t->name, &t->capacity, t->names, sizeof *t->name));
    TSR_TRY(tsri_strdup(&t->name[t->names], name));
    t->names++;
done:
    return st;
}

/* Whole numbers without a point: rounds and bytes. */
static const char *digits(char text[TSRI_NUMBER_TEXT], double value)
{
    (void)tsri_shortest(text, value);
    size_t n = strlen(text);
    if (n > 2 && strcmp(text + n - 2, ".0") == 0)
        text[n - 2] = '\0';
    return text;
}

static tsr_status fill(void *context, const char *name, double number, const char *text)
{
    table *t = context;
    char digit[TSRI_NUMBER_TEXT];
    int64_t at = find(t, name, t->cells++);
    if (at < 0 || t->cell[at]) /* a line that came while we read; jansson refuses a name twice */
        return TSR_OK;
    return tsri_strdup(&t->cell[at], text ? text : digits(digit, number));
}

static tsr_status write_line(table *t)
{
    tsr_status st = TSR_OK;
    if (t->run)
        TSR_TRY(tsri_text_add_field(t->out, t->run));
    for (int64_t i = 0; i < t->names; i++) {
        if (i > 0 || t->run)
            TSR_TRY(tsri_text_add_bytes(t->out, ",", 1));
        if (t->cell[i])
            TSR_TRY(tsri_text_add_field(t->out, t->cell[i]));
        TSRI_FREE(t->cell[i]);
    }
    TSR_TRY(tsri_text_add_bytes(t->out, "\n", 1));
    t->lines++;
done:
    return st;
}

static tsr_status take_line(void *context, const char *event, const tsri_json_value *line)
{
    tsr_status st = TSR_OK;
    table *t = context;
    tsri_flat flat = {t, t->out ? fill : gather};
    if (t->event ? !event || strcmp(event, t->event) != 0 : event != NULL)
        return TSR_OK;
    t->cells = 0;
    TSR_TRY(tsri_flat_line(&flat, line, '.'));
    if (t->out)
        TSR_TRY(write_line(t));
done:
    return st;
}

static tsr_status write_names(table *t, bool several)
{
    tsr_status st = TSR_OK;
    if (several)
        TSR_TRY(tsri_text_add(t->out, "run"));
    for (int64_t i = 0; i < t->names; i++) {
        if (i > 0 || several)
            TSR_TRY(tsri_text_add_bytes(t->out, ",", 1));
        TSR_TRY(tsri_text_add_field(t->out, t->name[i]));
    }
    TSR_TRY(tsri_text_add_bytes(t->out, "\n", 1));
done:
    return st;
}

static bool has_metrics(const tsri_followed *run)
{
    return tsri_file_exists(run->metrics.path);
}

tsr_status tsri_handout_csv(tsri_text *out, int64_t *lines, const tsri_lookout *w,
                            const char *event)
{
    tsr_status st = TSR_OK;
    table t = {.event = event};
    for (int64_t i = 0; i < w->runs; i++)
        if (has_metrics(w->run[i]))
            TSR_TRY(tsri_handout_each(w->run[i], take_line, &t));
    TSR_TRY(tsri_alloc(&t.cell, t.names, sizeof *t.cell));
    t.out = out;
    TSR_TRY(write_names(&t, w->runs > 1));
    for (int64_t i = 0; i < w->runs; i++) {
        t.run = w->runs > 1 ? w->run[i]->name : NULL;
        if (has_metrics(w->run[i]))
            TSR_TRY(tsri_handout_each(w->run[i], take_line, &t));
    }
done:
    *lines = t.lines;
    for (int64_t i = 0; t.cell && i < t.names; i++)
        tsri_free(t.cell[i]);
    tsri_free(t.cell);
    tsri_names_free(t.name, t.names);
    return st;
}
