/* cost_estimate.c - what a study will cost. See cost_estimate.h. */
#include "reproduce/cost_estimate.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "linalg/gemm.h"
#include "linalg/openblas.h"

#include <stdio.h>
#include <string.h>

enum { SIDE = 1024, ROWS = 256, TRIES = 5 }; /* of the product that is timed: 0.27e9 each */

void tsri_cost_estimate_add(tsri_cost_estimate *t, int64_t runs, double products, double bytes)
{
    t->runs += runs;
    t->products += (double)runs * products;
    t->bytes = bytes > t->bytes ? bytes : t->bytes;
}

static void add_words(tsri_cost_estimate *t, const char *before, const char *words,
                      const char *behind)
{
    size_t used = strlen(t->sizes);
    (void)snprintf(t->sizes + used, sizeof t->sizes - used, "%s%s%s", before, words, behind);
}

/* Is it one of a list between commas? */
static bool listed(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == '\0' || at[n] == ','))
            return true;
    return false;
}

void tsri_cost_estimate_net(tsri_cost_estimate *t, const char *net, const char *data)
{
    bool same = strcmp(t->data, data) == 0;
    const char *at = same ? strrchr(t->sizes, ';') : NULL; /* those on the same data */
    if (same && listed(at ? at : t->sizes, net))
        return;
    if (!same && t->data[0])
        add_words(t, " (", t->data, "); ");
    (void)snprintf(t->data, sizeof t->data, "%s", data);
    add_words(t, same ? ", " : "", net, "");
}

/* Multiplications a second of a large product on the study's threads, the best of some. */
static tsr_status rate_here(double *rate, tsri_study *s)
{
    tsr_status st = TSR_OK;
    float *a = NULL, *b = NULL, *c = NULL;
    *rate = 0;
    TSR_TRY(tsri_openblas_start(tsri_pool_threads(s->pool)));
    TSR_TRY(tsri_alloc(&a, ROWS * SIDE, sizeof *a));
    TSR_TRY(tsri_alloc(&b, SIDE * SIDE, sizeof *b));
    TSR_TRY(tsri_alloc(&c, ROWS * SIDE, sizeof *c));
    tsri_gemm g = {.b_transposed = true, .m = ROWS, .n = SIDE, .k = SIDE, .a = a, .b = b, .c = c};
    for (int i = 0; i < TRIES; i++) {
        double start = tsri_clock();
        TSR_TRY(tsri_gemm_run(&g, s->pool));
        double now = (double)ROWS * SIDE * SIDE / (tsri_clock() - start);
        *rate = now > *rate ? now : *rate;
    }
done:
    tsri_free(a);
    tsri_free(b);
    tsri_free(c);
    return st;
}

/* "40 s", "12 min", "7.5 h", "11 days" */
static const char *duration(char text[32], double seconds)
{
    if (seconds < 100)
        (void)snprintf(text, 32, "%.2g s", seconds);
    else if (seconds < 100 * 60)
        (void)snprintf(text, 32, "%.0f min", seconds / 60);
    else if (seconds < 72 * 3600)
        (void)snprintf(text, 32, "%.1f h", seconds / 3600);
    else
        (void)snprintf(text, 32, "%.0f days", seconds / 86400);
    return text;
}

tsr_status tsri_study_tell_cost(tsri_study *s, const tsri_cost_estimate *t)
{
    tsr_status st = TSR_OK;
    double rate, have = (double)tsri_memory_available();
    const char *need = tsri_bytes_text(t->bytes), *there = tsri_bytes_text(have);
    char time[32];
    if (s->book) /* cells tell their own, and may be made elsewhere */
        return TSR_OK;
    TSR_CHECK(t->bytes <= have, TSR_RESOURCES,
              "%s needs about %s of memory for one run, %s are free on this machine: use a larger "
              "one, or --quick",
              s->row->name, need, there);
    TSR_TRY(rate_here(&rate, s));
    s->beside = (int64_t)(have / (t->bytes > 1 ? t->bytes : 1));
    (void)duration(time, t->products / rate);
    if (t->data[0])
        tsri_study_say(s, 0, "nets, depth x width: %s (%s)", t->sizes, t->data);
    tsri_study_say(s, 0,
                   "%lld runs, %.2g multiplications: about %s at the %.3g a second of this machine "
                   "now (small layers are slower); %s a run, %s are free",
                   (long long)t->runs, t->products, time, rate, need, there);
    tsri_study_note(s,
                    "Cost, estimated before it began: %lld runs, %.2g multiplications, about %s "
                    "at the %.2g a second of a large product here; %s of memory a run.",
                    (long long)t->runs, t->products, time, rate, need);
done:
    return st;
}
