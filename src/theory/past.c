/* past.c - series of numbers over the rounds of a run. */
#include "theory/past.h"

#include "base/alloc.h"
#include "base/estimate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "certificate.series."

void tsri_past_fini(tsri_past *past)
{
    for (int64_t i = 0; i < past->count; i++)
        tsri_free(past->series[i].value);
    tsri_free(past->series);
    *past = (tsri_past){.memory = past->memory, .state = past->state};
}

void tsri_past_begin(tsri_past *past, int64_t round)
{
    past->round = round;
}

/* By halves, since the names stand in order (make): rows ask for every round of a series. */
static const tsri_kept *find(const tsri_past *past, const char *name)
{
    int64_t low = 0, high = past->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        int order = strcmp(past->series[middle].name, name);
        if (order == 0)
            return &past->series[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Series stand in the order of their names, as a file has them: a resumed run tells them alike. */
static tsr_status make(tsri_kept **out, tsri_past *past, const char *name)
{
    tsr_status st = tsri_reserve(&past->series, &past->room, past->count, sizeof *past->series);
    int64_t at = past->count;
    if (st != TSR_OK)
        return st;
    for (; at > 0 && strcmp(past->series[at - 1].name, name) > 0; at--)
        past->series[at] = past->series[at - 1];
    past->count++;
    *out = &past->series[at];
    **out = (tsri_kept){0};
    (void)snprintf((*out)->name, TSRI_KEPT_NAME, "%s", name);
    return TSR_OK;
}

tsr_status tsri_past_keep(tsri_past *past, const char *name, double value)
{
    tsr_status st = TSR_OK;
    tsri_kept *s = (tsri_kept *)(uintptr_t)find(past, name);
    if (!s)
        TSR_TRY(make(&s, past, name));
    while (s->count <= past->round) {
        TSR_TRY(tsri_reserve(&s->value, &s->room, s->count, sizeof *s->value));
        s->value[s->count++] = NAN;
    }
    s->value[past->round] = value;
done:
    return st;
}

tsr_status tsri_past_keep_mean(tsri_past *past, const char *name, const double *value, int64_t n)
{
    tsr_status st = TSR_OK;
    char text[TSRI_KEPT_NAME];
    tsri_estimate e = tsri_mean_of(value, n);
    TSR_TRY(tsri_past_keep(past, name, e.value));
    if (n < 2)
        return TSR_OK;
    (void)snprintf(text, sizeof text, "%s_low", name);
    TSR_TRY(tsri_past_keep(past, text, e.low));
    (void)snprintf(text, sizeof text, "%s_high", name);
    TSR_TRY(tsri_past_keep(past, text, e.high));
done:
    return st;
}

double tsri_past_at(const tsri_past *past, int64_t round, const char *name)
{
    const tsri_kept *s = find(past, name);
    return s && round >= 0 && round < s->count ? s->value[round] : (double)NAN;
}

double tsri_past_now(const tsri_past *past, const char *name)
{
    return tsri_past_at(past, past->round, name);
}

/* Least, most, sum and number of what was looked at up to now. */
typedef struct digest {
    double least, most, sum;
    int64_t seen;
} digest;

static digest digest_of(const tsri_past *past, const char *name)
{
    const tsri_kept *s = find(past, name);
    digest d = {NAN, NAN, 0, 0};
    for (int64_t r = 0; s && r <= past->round && r < s->count; r++) {
        d.least = fmin(d.least, s->value[r]); /* passes over NaN */
        d.most = fmax(d.most, s->value[r]);
        d.sum += isnan(s->value[r]) ? 0 : s->value[r];
        d.seen += !isnan(s->value[r]);
    }
    return d;
}

double tsri_past_least(const tsri_past *past, const char *name)
{
    return digest_of(past, name).least;
}

double tsri_past_most(const tsri_past *past, const char *name)
{
    return digest_of(past, name).most;
}

double tsri_past_sum(const tsri_past *past, const char *name)
{
    digest d = digest_of(past, name);
    return d.seen > 0 ? d.sum : (double)NAN;
}

tsri_seen tsri_past_seen(const tsri_past *past, const char *name)
{
    return tsri_saw(digest_of(past, name).seen, past->round + 1, "rounds");
}

/* ---- Files -------------------------------------------------------------------------------- */

void tsri_past_json(tsri_json *w, const tsri_past *past)
{
    tsri_json_open(w, '{');
    for (int64_t i = 0; i < past->count; i++)
        if (past->series[i].count > past->round)
            tsri_json_put_real(w, past->series[i].name, past->series[i].value[past->round]);
    tsri_json_close(w, '}');
}

tsr_status tsri_past_save(const tsri_past *past, tsri_parcel *parcel)
{
    tsr_status st = TSR_OK;
    for (int64_t i = 0; i < past->count; i++) {
        const tsri_kept *s = &past->series[i];
        tsri_tensor t = {
            .dtype = TSRI_F64, .dims = 1, .shape = {s->count}, .data = (void *)s->value};
        if (s->count > 0)
            TSR_TRY(tsri_parcel_add(parcel, &t, PREFIX "%s", s->name));
    }
done:
    return st;
}

static tsr_status load_one(tsri_past *past, const tsri_tensor *t, const char *path)
{
    tsr_status st = TSR_OK;
    tsri_kept *s = NULL;
    const char *name = t->name + strlen(PREFIX);
    TSR_CHECK(t->dtype == TSRI_F64 && t->dims == 1 && t->shape[0] > 0 &&
                  strlen(name) < TSRI_KEPT_NAME,
              TSR_BAD_FILE, "%s: %s is not a series of numbers", path, t->name);
    TSR_TRY(make(&s, past, name));
    TSR_TRY(tsri_alloc(&s->value, t->shape[0], sizeof *s->value));
    memcpy(s->value, t->data, (size_t)t->shape[0] * sizeof *s->value);
    s->count = s->room = t->shape[0];
done:
    return st;
}

tsr_status tsri_past_load(tsri_past *past, const tsri_tensors *file, const char *path)
{
    tsr_status st = TSR_OK;
    tsri_past_fini(past);
    for (int64_t i = 0; i < file->count; i++)
        if (strncmp(file->tensor[i].name, PREFIX, strlen(PREFIX)) == 0)
            TSR_TRY(load_one(past, &file->tensor[i], path));
done:
    return st;
}
