/* flat.c - a line of metrics.jsonl as a list of names and values. */
#include "watch/flat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 512, DEPTH = 8 };

typedef struct walk {
    const tsri_flat *to;
    char separator, name[NAME];
    size_t length; /* of the name so far */
    int depth;
} walk;

static tsr_status take(walk *w, const tsri_json_value *value);

/* `part` after the name, for as long as the value is visited. */
static tsr_status step_in(walk *w, const char *part, const tsri_json_value *value)
{
    tsr_status st = TSR_OK;
    size_t before = w->length, n = strlen(part);
    TSR_CHECK(before + n + 2 < NAME && w->depth < DEPTH, TSR_BAD_FILE,
              "a line of metrics with names longer than %d bytes, or lists deeper than %d", NAME,
              DEPTH);
    if (before > 0)
        w->name[w->length++] = w->separator;
    memcpy(w->name + w->length, part, n + 1);
    w->length += n;
    w->depth++;
    st = take(w, value);
    w->depth--;
    w->length = before;
    w->name[before] = '\0';
done:
    return st;
}

static tsr_status take_member(void *context, const char *key, const tsri_json_value *value)
{
    walk *w = context;
    if (w->depth == 0 && strcmp(key, "event") == 0)
        return TSR_OK;
    return step_in(w, key, value);
}

static tsr_status take_list(walk *w, const tsri_json_value *list)
{
    tsr_status st = TSR_OK;
    char index[24];
    for (int64_t i = 0; i < tsri_json_length(list); i++) {
        (void)snprintf(index, sizeof index, "%lld", (long long)i);
        TSR_TRY(step_in(w, index, tsri_json_at(list, i)));
    }
done:
    return st;
}

static tsr_status take(walk *w, const tsri_json_value *value)
{
    double number;
    const char *text;
    bool yes;
    if (tsri_json_is_object(value))
        return tsri_json_each(value, take_member, w);
    if (tsri_json_is_array(value))
        return take_list(w, value);
    if (tsri_json_as_real(value, &number))
        return w->to->value(w->to->context, w->name, number, NULL);
    if (tsri_json_as_bool(value, &yes))
        return w->to->value(w->to->context, w->name, yes, NULL);
    if (tsri_json_as_text(value, &text))
        return w->to->value(w->to->context, w->name, (double)NAN, text);
    return TSR_OK; /* null */
}

tsr_status tsri_flat_line(const tsri_flat *to, const tsri_json_value *line, char separator)
{
    walk w = {.to = to, .separator = separator};
    return tsri_json_each(line, take_member, &w);
}
