/* past.c - numbers that certificates keep in the metrics. */
#include "theory/past.h"

#include "base/alloc.h"
#include "io/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void tsri_past_fini(tsri_past *past)
{
    for (int64_t i = 0; i < past->count; i++)
        tsri_free(past->at[i].kept);
    tsri_free(past->at);
    *past = (tsri_past){0};
}

tsr_status tsri_past_begin(tsri_past *past, int64_t round)
{
    tsr_status st = tsri_reserve(&past->at, &past->room, past->count, sizeof *past->at);
    if (st == TSR_OK)
        past->at[past->count++] = (tsri_moment){.round = round};
    return st;
}

tsr_status tsri_past_keep(tsri_past *past, const char *name, double value)
{
    tsri_moment *m = &past->at[past->count - 1];
    tsr_status st = tsri_reserve(&m->kept, &m->room, m->count, sizeof *m->kept);
    if (st != TSR_OK)
        return st;
    (void)snprintf(m->kept[m->count].name, TSRI_KEPT_NAME, "%s", name);
    m->kept[m->count++].value = value;
    return TSR_OK;
}

double tsri_past_real(const tsri_past *past, int64_t i, const char *name)
{
    const tsri_moment *m = &past->at[i];
    for (int64_t k = 0; k < m->count; k++)
        if (strcmp(m->kept[k].name, name) == 0)
            return m->kept[k].value;
    return NAN;
}

double tsri_past_least(const tsri_past *past, const char *name)
{
    double least = NAN;
    for (int64_t i = 0; i < past->count; i++) /* fmin passes over NaN */
        least = fmin(least, tsri_past_real(past, i, name));
    return least;
}

double tsri_past_most(const tsri_past *past, const char *name)
{
    double most = NAN;
    for (int64_t i = 0; i < past->count; i++)
        most = fmax(most, tsri_past_real(past, i, name));
    return most;
}

/* ---- Files -------------------------------------------------------------------------------- */

void tsri_past_json(tsri_json *w, const tsri_past *past)
{
    const tsri_moment *m = &past->at[past->count - 1];
    tsri_json_open(w, '{');
    for (int64_t k = 0; k < m->count; k++)
        tsri_json_put_real(w, m->kept[k].name, m->kept[k].value);
    tsri_json_close(w, '}');
}

static tsr_status take(void *context, const char *key, const tsri_json_value *value)
{
    double real = NAN; /* null stays that */
    (void)tsri_json_as_real(value, &real);
    return tsri_past_keep(context, key, real);
}

static tsr_status read_line(tsri_past *past, const char *line, int64_t n, const char *paper)
{
    tsr_status st = TSR_OK;
    tsri_json_value *root = NULL;
    const char *event = NULL, *whose = NULL;
    int64_t round = 0;
    TSR_TRY(tsri_json_parse(&root, line, n, "metrics"));
    if (!tsri_json_as_text(tsri_json_get(root, "event"), &event) ||
        strcmp(event, "certificate") != 0 ||
        !tsri_json_as_text(tsri_json_get(root, "paper"), &whose) || strcmp(whose, paper) != 0 ||
        !tsri_json_as_int(tsri_json_get(root, "round"), &round))
        goto done;
    TSR_TRY(tsri_past_begin(past, round));
    if (tsri_json_is_object(tsri_json_get(root, "kept")))
        TSR_TRY(tsri_json_each(tsri_json_get(root, "kept"), take, past));
done:
    tsri_json_destroy(root);
    return st;
}

tsr_status tsri_past_read(tsri_past *past, const char *path, const char *paper)
{
    tsr_status st = TSR_OK;
    char *text = NULL;
    int64_t n = 0;
    *past = (tsri_past){0};
    if (!tsri_file_exists(path))
        return TSR_OK;
    TSR_TRY(tsri_file_read(&text, &n, path, INT64_MAX));
    for (int64_t at = 0; at < n;) {
        const char *end = memchr(text + at, '\n', (size_t)(n - at));
        int64_t length = end ? end - (text + at) : n - at;
        if (length > 0 && read_line(past, text + at, length, paper) == TSR_RESOURCES)
            TSR_TRY(TSR_RESOURCES); /* a torn line is passed over, missing memory is not */
        at += length + 1;
    }
done:
    tsri_free(text);
    if (st != TSR_OK)
        tsri_past_fini(past);
    return st;
}
