/* curves.c - metrics.jsonl read back: the columns of a run, ready to be drawn. */
#include "report/curves.h"

#include "base/alloc.h"
#include "base/text.h"
#include "io/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_BYTES = 1 << 30, MOST_COLUMNS = 1000 };

static tsri_curve *find(const tsri_curves *c, const char *name)
{
    for (int64_t i = 0; i < c->count; i++)
        if (strcmp(c->curve[i].name, name) == 0)
            return &c->curve[i];
    return NULL;
}

const double *tsri_curves_get(const tsri_curves *c, const char *name)
{
    const tsri_curve *curve = find(c, name);
    return curve ? curve->value : NULL;
}

/* Room for the line that is being read, NaN in what was not. */
static tsr_status extend(tsri_curve *curve, int64_t n)
{
    tsr_status st = TSR_OK;
    int64_t before = curve->capacity;
    if (n < before)
        return TSR_OK;
    int64_t capacity = n < 128 ? 256 : 2 * n;
    TSR_TRY(tsri_realloc(&curve->value, capacity, sizeof *curve->value));
    curve->capacity = capacity;
    for (int64_t i = before; i < capacity; i++)
        curve->value[i] = (double)NAN;
done:
    return st;
}

static tsr_status column_of(tsri_curve **out, tsri_curves *c, const char *name)
{
    tsr_status st = TSR_OK;
    *out = find(c, name);
    if (*out)
        return TSR_OK;
    TSR_CHECK(c->count < MOST_COLUMNS, TSR_BAD_FILE, "more than %d different members",
              MOST_COLUMNS);
    TSR_TRY(tsri_reserve(&c->curve, &c->capacity, c->count, sizeof *c->curve));
    c->curve[c->count] = (tsri_curve){0};
    TSR_TRY(tsri_strdup(&c->curve[c->count].name, name));
    *out = &c->curve[c->count++];
done:
    return st;
}

static bool number_of(double *out, const tsri_json_value *value)
{
    double sum = 0, one;
    if (!tsri_json_is_array(value))
        return tsri_json_as_real(value, out);
    for (int64_t i = 0; i < tsri_json_length(value); i++) {
        if (!tsri_json_as_real(tsri_json_at(value, i), &one))
            return false;
        sum += one;
    }
    *out = sum;
    return true;
}

static tsr_status take_member(void *context, const char *key, const tsri_json_value *value)
{
    tsr_status st = TSR_OK;
    tsri_curves *c = context;
    tsri_curve *curve;
    double number;
    if (!number_of(&number, value))
        return TSR_OK;
    TSR_TRY(column_of(&curve, c, key));
    TSR_TRY(extend(curve, c->n));
    curve->value[c->n] = number;
done:
    return st;
}

static bool wanted(const tsri_json_value *line, const char *event)
{
    const char *what = NULL;
    (void)tsri_json_as_text(tsri_json_get(line, "event"), &what);
    return event ? what && strcmp(what, event) == 0 : !what;
}

static tsr_status take_line(void *context, const tsri_json_value *line)
{
    tsr_status st = TSR_OK;
    tsri_curves *c = context;
    TSR_TRY(tsri_json_each(line, take_member, c));
    c->n++;
    for (int64_t i = 0; i < c->count; i++) /* a column without a number in this line gets a gap */
        TSR_TRY(extend(&c->curve[i], c->n));
done:
    return st;
}

typedef struct visitor {
    const char *event;
    tsr_status (*visit)(void *context, const tsri_json_value *line);
    void *context;
} visitor;

static tsr_status one_line(const visitor *v, const char *bytes, int64_t n, const char *name)
{
    tsr_status st = TSR_OK;
    tsri_json_value *line = NULL;
    TSR_TRY(tsri_json_parse(&line, bytes, n, name));
    TSR_CHECK(tsri_json_is_object(line), TSR_BAD_FILE, "%s is not a JSON object", name);
    if (wanted(line, v->event))
        TSR_TRY(v->visit(v->context, line));
done:
    tsri_json_destroy(line);
    return st;
}

tsr_status tsri_lines_each(const char *path, const char *event,
                           tsr_status (*visit)(void *context, const tsri_json_value *line),
                           void *context)
{
    tsr_status st = TSR_OK;
    char *bytes = NULL, name[300];
    int64_t size = 0, number = 0;
    visitor v = {event, visit, context};
    TSR_TRY(tsri_file_read(&bytes, &size, path, MOST_BYTES));
    for (char *at = bytes, *end; (end = memchr(at, '\n', (size_t)(bytes + size - at)));
         at = end + 1) {
        (void)snprintf(name, sizeof name, "%.256s:%lld", tsri_quote(path), (long long)++number);
        if (end > at)
            TSR_TRY(one_line(&v, at, end - at, name));
    }
done:
    tsri_free(bytes);
    return st;
}

tsr_status tsri_curves_read(tsri_curves *c, const char *path, const char *event)
{
    *c = (tsri_curves){0};
    tsr_status st = tsri_lines_each(path, event, take_line, c);
    if (st != TSR_OK)
        tsri_curves_fini(c);
    return st;
}

tsr_status tsri_curves_seconds(double **out, const tsri_curves *c)
{
    tsr_status st = TSR_OK;
    const double *value = tsri_curves_get(c, "seconds");
    double before = 0, last = 0;
    TSR_TRY(tsri_alloc(out, c->n, sizeof **out));
    for (int64_t i = 0; value && i < c->n; i++) {
        if (value[i] < last)
            before += last;
        last = isfinite(value[i]) ? value[i] : last;
        (*out)[i] = before + last;
    }
done:
    return st;
}

void tsri_curves_fini(tsri_curves *c)
{
    for (int64_t i = 0; i < c->count; i++) {
        tsri_free(c->curve[i].name);
        tsri_free(c->curve[i].value);
    }
    tsri_free(c->curve);
    *c = (tsri_curves){0};
}
